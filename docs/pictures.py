"""Makes the pictures of the documents in docs/images: `python docs/pictures.py [NAME ...]`, of a drive made for them.

`lap.svg` is drawn here: a lap as an animation without a script, which code hosts show in a README. The others are pages
as a browser shows them (`chromium` on the path); make them again when a page has changed its looks. `live.webp` is
taken by hand, of `trailbrake replay RECORDING --watch` with the view from behind the car: it needs WebGL.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import trailbrake
from trailbrake.record import Recording
from trailbrake.tracks.track import Track
from trailbrake.units import KMH

IMAGES = Path(__file__).resolve().parent / "images"
WIDTH, HEIGHT, MARGIN = 900.0, 480.0, 26.0  # of lap.svg, in its units
SHADES = ("#2b6cb0", "#2f9e9e", "#56a836", "#d9a514", "#d4542c")  # slow to fast
SPEEDUP = 4.0  # of the animation
BATCH = 12  # ticks between two points of the path


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


def run(*tokens: str) -> dict[str, Any]:
    """Run a verb of trailbrake in a process and return what it prints with --json."""
    done = subprocess.run([sys.executable, "-m", "trailbrake", *tokens, "--json"], check=True, capture_output=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def main() -> None:
    """Make the pictures that are named, or all."""
    wanted = set(sys.argv[1:]) or {"lap", "report", "compare", "line"}
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        if wanted & {"lap", "report"}:
            drive = run("drive", "--out", folder)
            if "lap" in wanted:
                text = draw_lap(Recording.open(drive["recording"]), trailbrake.load_track("hartmoor"))
                (IMAGES / "lap.svg").write_text(text, encoding="utf-8")
            if "report" in wanted:
                photograph(Path(drive["report"]), "report", (1280, 900))
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
