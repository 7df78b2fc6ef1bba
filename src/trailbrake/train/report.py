"""The report of a training: how it went, and the pictures that the policy gets most wrong. One file, no network."""

import base64
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.control.steer_distribution import elect_steer
from trailbrake.errors import UsageError
from trailbrake.observe.image_crop import CropSpec
from trailbrake.pages.rendering import THEME, escape_html, render_page
from trailbrake.record.format import PNG
from trailbrake.train.dataset import Dataset
from trailbrake.train.learner import Epoch
from trailbrake.train.sources import TrainingSource

Floats = NDArray[np.float32]

WORST_COUNT = 24  # pictures shown
MIN_ROWS_APART = 12  # rows: neighbours of a picture that is shown are nearly the same
MAX_POINTS = 2500  # of the scatter, at most
HISTOGRAM_BINS = 41
_CHART_WIDTH, _CHART_HEIGHT, _CHART_MARGIN = 460, 250, 44  # pixels of a chart, and of its margin


def write_report(
    path: Path, name: str, about: dict[str, Any], sources: Sequence[TrainingSource], data: Dataset, outputs: Floats,
    epochs: Sequence[Epoch], crop: CropSpec,
) -> Path:  # fmt: skip
    """Write the report.

    Args:
        path: of the file.
        name: of the policy.
        about: what the policy says about itself.
        sources: in the order of `data.place`.
        data: what was learned from, and what was held out.
        outputs: the network's for each picture of `data`.
        epochs: how learning went.
        crop: what the network sees of a picture.

    Raises:
        UsageError: it cannot be written.
    """
    answers = elect_steer(outputs[:, :-1])
    judged = np.flatnonzero(data.held) if data.held.any() else np.arange(len(data))
    which = "held out" if data.held.any() else "learned from (nothing was held out)"
    page = render_page(
        "training/training.html",
        styles=(THEME, "training/training.css"),
        title=escape_html(f"{name}: how it learned"),
        name=escape_html(name),
        counts=f"{len(data)} pictures, {int(data.held.sum())} of them held out, {len(epochs)} epochs",
        about=_details_list(about),
        loss=_curve_chart("loss", [e.loss for e in epochs], [e.held_loss for e in epochs]),
        error=_curve_chart(
            "mean error of the steer, share of the lock", [e.error for e in epochs], [e.held_error for e in epochs]
        ),
        scatter=_scatter_chart(
            data.steer[judged], answers[judged], f"steer of the policy over the recorded one, {which}"
        ),
        histogram=_histogram_chart(data.steer, "recorded steers, share of the lock: left is right of the middle"),
        skipped=_skipped_text(data),
        which=which,
        worst=_worst_figures(sources, data, answers, judged, crop),
    )
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UsageError("cannot write the report", where=str(path), got=error.strerror or str(error)) from error
    return path


def _details_list(about: dict[str, Any]) -> str:
    items = []
    for key, value in about.items():
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        items.append(f"<div><dt>{escape_html(key.replace('_', ' '))}</dt><dd>{escape_html(text)}</dd></div>")
    return "".join(items)


def _skipped_text(data: Dataset) -> str:
    return escape_html(", ".join(f"{count} rows {why}" for why, count in data.skipped.items()) or "Every row was used.")


def _draw_chart(body: str, title: str, x: tuple[float, float], y: tuple[float, float]) -> str:
    """Return a chart: `body` is drawn in pixels, the axes go from x[0] to x[1] and from y[0] to y[1]."""
    right, bottom = _CHART_WIDTH - 12, _CHART_HEIGHT - 24
    parts = []
    for k in range(5):
        share = k / 4
        height, value = bottom - share * (bottom - 12), y[0] + share * (y[1] - y[0])
        parts.append(
            f'<line class="grid" x1="{_CHART_MARGIN}" x2="{right}" y1="{height:.1f}" y2="{height:.1f}"/>'
            f'<text x="{_CHART_MARGIN - 6}" y="{height + 4:.1f}" text-anchor="end">{value:.4g}</text>'
        )
        across = _CHART_MARGIN + share * (right - _CHART_MARGIN)
        parts.append(f'<text x="{across:.1f}" y="{_CHART_HEIGHT - 6}" text-anchor="middle">'
                     f"{x[0] + share * (x[1] - x[0]):.3g}</text>")  # fmt: skip
    return (f'<figure><svg viewBox="0 0 {_CHART_WIDTH} {_CHART_HEIGHT}" role="img" aria-label="{escape_html(title)}">'
            f"{''.join(parts)}{body}</svg><figcaption>{escape_html(title)}</figcaption></figure>")  # fmt: skip


def _pixel_x(value: float, lo: float, hi: float) -> float:
    return _CHART_MARGIN + (value - lo) / ((hi - lo) or 1.0) * (_CHART_WIDTH - 12 - _CHART_MARGIN)


def _pixel_y(value: float, lo: float, hi: float) -> float:
    return _CHART_HEIGHT - 24 - (value - lo) / ((hi - lo) or 1.0) * (_CHART_HEIGHT - 36)


def _curve_chart(title: str, learned: Sequence[float], held: Sequence[float]) -> str:
    values = [v for v in (*learned, *held) if math.isfinite(v)]
    top, last = max(values, default=1.0) * 1.05, max(len(learned), 2)
    body = ""
    for line, style in ((learned, "one"), (held, "two")):
        points = " ".join(
            f"{_pixel_x(i, 1, last):.1f},{_pixel_y(v, 0.0, top):.1f}" for i, v in enumerate(line, 1) if math.isfinite(v)
        )
        body += f'<polyline class="{style}" points="{points}"/>'
    return _draw_chart(body, f"{title}, over epochs", (1, last), (0.0, top))


def _scatter_chart(recorded: Floats, answered: Floats, title: str) -> str:
    step = max(len(recorded) // MAX_POINTS, 1)
    dots = "".join(
        f'<circle cx="{_pixel_x(a, -1, 1):.1f}" cy="{_pixel_y(b, -1, 1):.1f}" r="1.6"/>'
        for a, b in zip(recorded[::step].tolist(), answered[::step].tolist(), strict=True)
    )
    left, right, bottom, top = _pixel_x(-1, -1, 1), _pixel_x(1, -1, 1), _pixel_y(-1, -1, 1), _pixel_y(1, -1, 1)
    line = f'<line class="axis" x1="{left}" y1="{bottom}" x2="{right}" y2="{top}"/>'
    return _draw_chart(f'{line}<g class="dots">{dots}</g>', title, (-1, 1), (-1, 1))


def _histogram_chart(steers: Floats, title: str) -> str:
    counts, edges = np.histogram(steers, HISTOGRAM_BINS, (-1.0, 1.0))
    top = float(max(counts.max(initial=0), 1))
    width = (_CHART_WIDTH - 12 - _CHART_MARGIN) / HISTOGRAM_BINS - 1
    bars = "".join(
        f'<rect x="{_pixel_x(lo, -1, 1):.1f}" y="{_pixel_y(n, 0, top):.1f}" '
        f'width="{width:.1f}" height="{_pixel_y(0, 0, top) - _pixel_y(n, 0, top):.1f}"/>'
        for n, lo in zip(counts.tolist(), edges[:-1].tolist(), strict=True)
    )
    return _draw_chart(f'<g class="bars">{bars}</g>', title, (-1, 1), (0, top))


def find_worst(error: Floats, origins: Sequence[tuple[int, int]], judged: NDArray[np.int64]) -> list[int]:
    """Return the indices with the largest errors, no two of them neighbours in one source."""
    chosen: list[int] = []
    for i in judged[np.argsort(-error[judged], kind="stable")].tolist():
        owner, row = origins[i]
        if all(origins[k][0] != owner or abs(origins[k][1] - row) >= MIN_ROWS_APART for k in chosen):
            chosen.append(i)
            if len(chosen) == WORST_COUNT:
                break
    return chosen


def _worst_figures(
    sources: Sequence[TrainingSource], data: Dataset, answers: Floats, judged: NDArray[np.int64], crop: CropSpec
) -> str:
    chosen = find_worst(np.abs(answers - data.steer), data.origins, judged)
    pictures: dict[tuple[int, int], bytes] = {}
    for owner in {data.origins[i][0] for i in chosen}:
        rows = sorted(data.origins[i][1] for i in chosen if data.origins[i][0] == owner)
        pictures |= {(owner, row): picture for row, picture in sources[owner].read_pictures(rows)}
    return "".join(
        _picture_figure(pictures[data.origins[i]], float(data.steer[i]), float(answers[i]), crop,
               f"{Path(data.names[data.origins[i][0]]).name}, row {data.origins[i][1]}")
        for i in chosen if data.origins[i] in pictures
    )  # fmt: skip


def _picture_figure(picture: bytes, recorded: float, answered: float, crop: CropSpec, where: str) -> str:
    kind = "png" if picture.startswith(PNG) else "jpeg"
    source = f"data:image/{kind};base64,{base64.b64encode(picture).decode('ascii')}"
    wheels = "".join(
        f'<line class="{style}" x1="160" y1="238" x2="{160 - 90 * math.sin(steer):.1f}" '
        f'y2="{238 - 90 * math.cos(steer):.1f}"/>'
        for steer, style in ((recorded, "one"), (answered, "two"))
    )
    dim = "".join(
        f'<rect x="0" width="320" y="{240 * lo:.1f}" height="{240 * (hi - lo):.1f}" fill="#000" fill-opacity=".45"/>'
        for lo, hi in ((0.0, crop.top), (crop.bottom, 1.0))
    )
    return (
        f'<figure><svg viewBox="0 0 320 240"><image width="320" height="240" preserveAspectRatio="none" '
        f'href="{source}"/>{dim}{wheels}</svg><figcaption>recorded {recorded:+.2f}, policy {answered:+.2f}<br>'
        f"{escape_html(where)}</figcaption></figure>"
    )
