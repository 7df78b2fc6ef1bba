"""The curves of a training: JSON lines in a file, and TensorBoard's event files where TensorBoard is installed.

`write_curves_page`: how a training went, as one HTML file that needs nothing else.
"""

import contextlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import DataError, OsErrors
from trailbrake.pages.rendering import THEME, escape_html, render_framed_page, render_table, write_page_file
from trailbrake.pages.svg_chart import CHART_STYLE, ChartFrame, find_range
from trailbrake.user_files import parse_json, read_user_text, write_whole

FILE_NAME = "progress.jsonl"
MAX_CURVES = 256 << 20  # bytes
PAGE_FILE = "curves.html"
MOST_POINTS = 400  # of a curve; more are averaged
MOST_TRACKS = 3  # with a curve of their own: the colours of charts
MOST_ROWS = 30  # of the table
WIDE = 1100  # pixels of the chart of laps, which has the page's width
_LAP = "lap_s/"
_COLOURS = ("one", "two", "three")

Row = Mapping[str, Any]
Floats = NDArray[np.float64]


def read_curves(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a file of curves, up to the first that is none: the last one may have been cut off.

    Raises:
        UsageError: it cannot be read.
        DataError: it is no text.
    """
    rows: list[dict[str, Any]] = []
    for line in read_user_text(path, "file of curves", MAX_CURVES).splitlines() if path.exists() else []:
        try:
            row = parse_json(line, str(path))
        except DataError:
            break
        if not isinstance(row, dict) or type(row.get("iteration")) is not int:
            break
        rows.append(row)
    return rows


class CurveWriter:
    """Writes the figures of each iteration.

    Args:
        folder: of the run.
        iteration: the last one that counts; later ones of a run that was stopped are deleted.

    Attributes:
        has_tensorboard: whether event files are written as well.
    """

    def __init__(self, folder: Path, iteration: int) -> None:
        path = self._path = folder / FILE_NAME
        kept = [row for row in read_curves(path) if row["iteration"] <= iteration]
        write_whole(path, "".join(json.dumps(row) + "\n" for row in kept).encode(), "the curves")
        with OsErrors("cannot write the curves", where=str(path)):
            self._file = path.open("a", encoding="utf-8")
        self._events: Any = None
        try:
            from trailbrake.train.rl.event_file import EventFile
        except ImportError:
            self.has_tensorboard = False
        else:
            self.has_tensorboard = True
            with contextlib.suppress(OSError):
                self._events = EventFile(folder / "tensorboard", iteration + 1)

    def add(self, iteration: int, figures: Mapping[str, Any]) -> None:
        """Write the figures of an iteration; numbers that are not finite become null."""
        plain = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in figures.items()}
        with contextlib.suppress(OSError):  # a full disk must not end the learning; the checkpoint says so
            self._file.write(json.dumps({"iteration": iteration, **plain}) + "\n")
            self._file.flush()
            if self._events is not None:
                self._events.add(iteration, {k: v for k, v in plain.items() if isinstance(v, int | float)})

    def read_rows(self) -> list[dict[str, Any]]:
        """Return what was written so far."""
        return read_curves(self._path)

    def close(self) -> None:
        """Close the files."""
        with contextlib.suppress(OSError):
            self._file.close()
        if self._events is not None:
            with contextlib.suppress(OSError):
                self._events.close()


def write_curves_page(path: Path, name: str, rows: Sequence[Row]) -> Path:
    """Write the page of a training and return where it is.

    Args:
        path: of the page.
        name: of the run.
        rows: of its curves (`curves.read_curves`).

    Raises:
        UsageError: it cannot be written.
    """
    tracks = list(dict.fromkeys(key.removeprefix(_LAP) for row in rows for key in row if key.startswith(_LAP)))
    last = rows[-1] if rows else {}
    page = render_framed_page(
        "training/curves.html",
        title=escape_html(f"{name}: how it learned to drive"),
        styles=(THEME, CHART_STYLE),
        counts=escape_html(
            f"{last.get('iteration', 0)} iterations, {_number(last, 'steps') / 1e6:.1f} M steps, "
            f"{_number(last, 'wall_s') / 60.0:.1f} min, {_number(last, 'cpu_s') / 60.0:.1f} min of processor time"
        ),
        tracks=", ".join(
            f'<span class="key{i}">{escape_html(track)}</span>' for i, track in enumerate(tracks[:MOST_TRACKS], 1)
        ),
        laps=_draw_laps(rows, tracks),
        charts="".join(
            _draw_curve(rows, title, key)
            for title, key in (
                ("speed along the road, m/s", "speed"),
                ("reward of a step", "reward"),
                ("crashes for each kilometre", "crashes_per_km"),
                ("deviation of the outputs", "deviation"),
                ("steps a second", "steps_per_s"),
            )
        ),
        shares=_draw_shares(rows),
        policies=_build_table(rows, tracks),
    )
    return write_page_file(path, page)


def _number(row: Row, key: str) -> float:
    value = row.get(key)
    return float(value) if isinstance(value, int | float) else math.nan


def _column(rows: Sequence[Row], read: Callable[[Row], float]) -> tuple[Floats, Floats]:
    # Millions of steps and values, averaged over groups of rows where there are more than a chart shows.
    steps = np.array([_number(row, "steps") / 1e6 for row in rows])
    values = np.array([read(row) for row in rows])
    known = np.isfinite(steps) & np.isfinite(values)
    groups = max(min(MOST_POINTS, int(known.sum())), 1)
    pairs = zip(np.array_split(steps[known], groups), np.array_split(values[known], groups), strict=True)
    means = [(part.mean(), value.mean()) for part, value in pairs if len(part)]
    return (np.array([m[0] for m in means]), np.array([m[1] for m in means]))


def _draw(title: str, curves: Sequence[tuple[Floats, Floats]], low: float | None = None, width: int = 460) -> str:
    bottom, top = find_range([values for _, values in curves])
    bottom = bottom if low is None else min(low, bottom)
    steps = max(find_range([x for x, _ in curves])[1], 1e-3)
    frame = ChartFrame((0.0, steps), (bottom, max(top, bottom + 1e-6)), width)
    lines = [frame.draw_curve(style, x, y) for style, (x, y) in zip(_COLOURS, curves, strict=False)]
    return frame.draw_figure(f"{title}, over millions of steps", *lines)


def _draw_curve(rows: Sequence[Row], title: str, key: str) -> str:
    return _draw(title, [_column(rows, lambda row: _number(row, key))], 0.0)


def _draw_laps(rows: Sequence[Row], tracks: Sequence[str]) -> str:
    judged = [row for row in rows if any(math.isfinite(_number(row, _LAP + track)) for track in tracks)]
    if not judged:
        return "<p>No policy that was judged has driven a lap yet.</p>"
    return _draw(
        "flying lap of the judged policy, s",
        [_column(judged, lambda row, key=_LAP + track: _number(row, key)) for track in tracks[:MOST_TRACKS]],  # type: ignore[misc]
        width=WIDE,
    )


def _draw_shares(rows: Sequence[Row]) -> str:
    parts = [_column(rows, lambda row, key=key: _number(row, key)) for key in  # type: ignore[misc]
             ("world_share", "actor_share", "learning_share")]  # fmt: skip
    return _draw("share of the processor time", parts, 0.0)


def _build_table(rows: Sequence[Row], tracks: Sequence[str]) -> str:
    judged = [row for row in rows if "score" in row]
    if not judged:
        return "<p>None was judged yet.</p>"
    ranked = sorted(judged, key=lambda row: _number(row, "score") if math.isfinite(_number(row, "score")) else math.inf)
    heads = ("iteration", "M steps", "min", "crashes", *tracks)
    lines = (
        "<tr>" + "".join(
            f"<td>{text}</td>" for text in (
                str(row["iteration"]), _format(_number(row, "steps") / 1e6, ".1f"),
                _format(_number(row, "wall_s") / 60.0, ".1f"), _format(_number(row, "crashes"), ".0f"),
                *(_format(_number(row, _LAP + track), ".2f") for track in tracks),
            )
        ) + "</tr>"
        for row in ranked[:MOST_ROWS]
    )  # fmt: skip
    return f'<div class="rows">{render_table(heads, lines)}</div>'


def _format(value: float, form: str) -> str:
    return format(value, form) if math.isfinite(value) else "-"
