"""Makes the pictures of the documents in docs/images: `python docs/pictures.py [NAME ...]`, of a drive made for them.

`lap.svg` is drawn here: a lap as an animation without a script, which code hosts show in a README. The others are pages
as a browser shows them (`chromium` on the path); make them again when a page has changed its looks. `film.webp` shows
20 s of a lap in three dimensions, `live.webp` the page around it; both take some minutes without a graphics chip.
"""

import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import trailbrake
from trailbrake.record import Recording
from trailbrake.tracks.track import Track
from trailbrake.units import KMH

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))
from helpers.browser import Browser

IMAGES = Path(__file__).resolve().parent / "images"
WIDTH, HEIGHT, MARGIN = 900.0, 480.0, 26.0  # of lap.svg, in its units
SHADES = ("#2b6cb0", "#2f9e9e", "#56a836", "#d9a514", "#d4542c")  # slow to fast
SPEEDUP = 4.0  # of the animation
BATCH = 12  # ticks between two points of the path
SHOTS = ("chase", "trackside", "helicopter", "cockpit")  # views of the film, one for each quarter of the lap
SHOT_S, FILM_RATE = 5.0, 15  # s of each view; frames per s
FILM_SIZE = (640, 450)  # pixels; the page is shown at twice as many: the dash, and below it the scene, 16 to 9


def draw_lap(recording: Recording, track: Track) -> str:
    """Return an SVG: the road, the path of the last lap coloured by speed, and the car that drives it."""
    lap = recording.laps[-1]
    time = recording.state["time"]
    rows = np.flatnonzero((time >= lap.end - lap.time_s) & (time <= lap.end))[::BATCH]
    path = np.column_stack([recording.state["x"][rows], recording.state["y"][rows]])
    speed = recording.state["speed"][rows]
    left, right = track.road.edge_lines()
    outline = np.vstack([left, right])[:, :2]
    low, high = outline.min(axis=0), outline.max(axis=0)
    scale = float(((np.array([WIDTH, HEIGHT]) - 2.0 * MARGIN) / (high - low)).min())
    aside = 0.5 * (WIDTH - scale * (high[0] - low[0]))

    def place(points: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array([aside, HEIGHT - MARGIN]) + scale * (points[:, :2] - low) * np.array([1.0, -1.0])

    shade = np.minimum((speed - speed.min()) / np.ptp(speed) * len(SHADES), len(SHADES) - 1).astype(int)
    screen = place(path)
    pieces = []
    start = 0
    for k in range(1, len(shade) + 1):
        if k == len(shade) or shade[k] != shade[start]:
            pieces.append(_polyline(screen[start : k + 1], SHADES[shade[start]]))
            start = k
    lengths = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(screen, axis=0).T))])
    elapsed = time[rows] - time[rows[0]]
    every = slice(None, None, 4)
    motion = (
        f'<animateMotion dur="{lap.time_s / SPEEDUP:.2f}s" repeatCount="indefinite" calcMode="linear" '
        f'path="{_path(screen)}" keyPoints="{_numbers(lengths[every] / lengths[-1])};1" '
        f'keyTimes="{_numbers(elapsed[every] / elapsed[-1])};1"/>'
    )
    edges = "".join(f'<path d="{_path(place(edge[::6]), closed=True)}"/>' for edge in (left, right))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}" '
        f'font-family="sans-serif" font-size="15"><title>A lap of {track.name}</title>'
        f'<g fill="none" stroke="#8a94a0" stroke-width="1">{edges}</g>'
        f'<g fill="none" stroke-width="3.5" stroke-linecap="round">{"".join(pieces)}</g>'
        f'<circle r="7.5" fill="#fff" stroke="#111" stroke-width="3">{motion}</circle>'
        f'<text x="{MARGIN}" y="{HEIGHT - 6:.0f}" fill="#8a94a0">{track.title}: {lap.time_s:.2f} s, '
        f"{speed.min() / KMH:.0f} (blue) to {speed.max() / KMH:.0f} km/h (red), {SPEEDUP:.0f} times as fast"
        "</text></svg>\n"
    )


def _polyline(points: NDArray[np.float64], colour: str) -> str:
    return f'<polyline stroke="{colour}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def _path(points: NDArray[np.float64], *, closed: bool = False) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + ("Z" if closed else "")


def _numbers(values: NDArray[np.float64]) -> str:
    return ";".join(f"{min(value, 1.0):.4f}" for value in values[:-1])


def photograph(page: Path, name: str, size: tuple[int, int]) -> None:
    """Write docs/images/NAME.webp of a page as a browser shows it; `size` in pixels."""
    with tempfile.TemporaryDirectory() as folder:
        shot = Path(folder) / "shot.png"
        command = ["chromium", "--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={size[0]},{size[1]}",
                   "--virtual-time-budget=4000", f"--screenshot={shot}", page.as_uri()]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True, cwd=folder)
        Image.open(shot).convert("RGB").save(IMAGES / f"{name}.webp", quality=80, method=6)


# The page's own functions draw, at the time of the recording, not of the browser, and with all pixels.
BEGIN_FILM = """(async () => {
  const until = async (met) => { while (!met()) await new Promise((go) => setTimeout(go, 5)); };
  const hidden = "header, .right, .views, .pair, #map-box, #delta-box";
  for (const box of document.querySelectorAll(hidden)) box.style.display = "none";
  Object.assign(document.body.style, { padding: 0, maxWidth: "none", overflow: "hidden" });
  Object.assign(document.querySelector("main").style, { display: "block" });
  request("pause");
  await chooseView("chase");
  draw = () => {};
  sceneView.view.judge = () => {};
  sceneView.view.scale = 0;
  showAt = async (time, kind) => {
    request("seek", [time]);
    await until(() => value("health", "position") === time);
    sceneView.kind = kind;
    drawScene(1000 * time);
    drawDash();
  };
})()"""


@contextlib.contextmanager
def open_replay(recording: str, size: tuple[int, int]) -> Iterator[Browser]:
    """Show a recording on the live page; yields the browser, `size` in pixels."""
    serve = [sys.executable, "-m", "trailbrake", "replay", recording, "--watch"]
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen(serve, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        with contextlib.ExitStack() as ends:
            ends.callback(server.terminate)
            browser = ends.enter_context(contextlib.closing(Browser(Path(folder))))
            browser.size(*size)
            browser.open(next(line for line in server.stderr if "http://" in line).split()[-1])
            browser.wait("live.frame")
            yield browser


def film_lap(recording: str) -> None:
    """Write docs/images/film.webp: the views of SHOTS, each SHOT_S of its quarter of the best lap, in real time."""
    lap = Recording.open(recording).laps.best()
    frames = []
    with tempfile.TemporaryDirectory() as folder, open_replay(recording, (2 * FILM_SIZE[0], 2 * FILM_SIZE[1])) as page:
        page.evaluate(BEGIN_FILM)
        for k, kind in enumerate(SHOTS):
            for moment in lap.end - lap.time_s * (1.0 - k / len(SHOTS)) + np.arange(0.0, SHOT_S, 1.0 / FILM_RATE):
                page.evaluate(f"showAt({moment}, '{kind}')")
                page.picture(shot := Path(folder) / "shot.png")
                frames.append(Image.open(shot).convert("RGB").resize(FILM_SIZE))
    frames[0].save(IMAGES / "film.webp", save_all=True, append_images=frames[1:], duration=round(1000 / FILM_RATE),
                   loop=0, quality=45, method=6)  # fmt: skip


def photograph_replay(recording: str) -> None:
    """Write docs/images/live.webp: the live page in the middle of the best lap, with the view from behind the car."""
    lap = Recording.open(recording).laps.best()
    with tempfile.TemporaryDirectory() as folder, open_replay(recording, (1280, 1000)) as page:
        page.evaluate(f"request('pause'); request('seek', [{lap.end - 0.5 * lap.time_s}]); chooseView('chase')")
        time.sleep(4.0)  # until path and charts have followed
        page.picture(shot := Path(folder) / "shot.png")
        Image.open(shot).convert("RGB").save(IMAGES / "live.webp", quality=80, method=6)


def run(*tokens: str) -> dict[str, Any]:
    """Run a verb of trailbrake in a process and return what it prints with --json."""
    done = subprocess.run([sys.executable, "-m", "trailbrake", *tokens, "--json"], check=True, capture_output=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def main() -> None:
    """Make the pictures that are named, or all."""
    wanted = set(sys.argv[1:]) or {"lap", "report", "film", "live", "compare", "line"}
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        if wanted & {"lap", "report"}:
            drive = run("drive", "--out", folder)
            if "lap" in wanted:
                text = draw_lap(Recording.open(drive["recording"]), trailbrake.load_track("hartmoor"))
                (IMAGES / "lap.svg").write_text(text, encoding="utf-8")
            if "report" in wanted:
                photograph(Path(drive["report"]), "report", (1280, 900))
        if wanted & {"film", "live"}:
            lap = run("drive", "--track", "pinegrove", "--out", folder)["recording"]
            if "film" in wanted:
                film_lap(lap)
            if "live" in wanted:
                photograph_replay(lap)
        if "compare" in wanted:
            ten_lines = str(IMAGES.parent.parent / "examples" / "ten_line_driver.py")
            drives = [run("drive", "--track", "pinegrove", "--out", folder, "--driver", who)["recording"]
                      for who in ("line_follow", ten_lines)]  # fmt: skip
            page = Path(folder) / "compare.html"
            run("compare", *drives, "--out", str(page))
            photograph(page, "compare", (1280, 1000))
        if "line" in wanted:
            page = Path(folder) / "line.html"
            run("line", "--track", "pinegrove", "--out", str(page.with_suffix(".csv")))
            photograph(page, "line", (1280, 1000))


if __name__ == "__main__":
    main()
