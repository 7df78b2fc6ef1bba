"""The report of a training: how it went, and the pictures that the policy gets most wrong. One file, no network."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Floats
from trailbrake.control.network import elect_steer
from trailbrake.observe.image_crop import CropSpec
from trailbrake.pages.rendering import THEME, encode_data_url, escape_html, render_framed_page, write_page_file
from trailbrake.pages.svg_chart import CHART_STYLE, ChartFrame
from trailbrake.train.dataset import Dataset
from trailbrake.train.learner import Epoch
from trailbrake.train.sources import TrainingSource

WORST_COUNT = 24  # pictures shown
MIN_ROWS_APART = 12  # rows: neighbours of a picture that is shown are nearly the same
MAX_POINTS = 2500  # of the scatter, at most
HISTOGRAM_BINS = 41


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
    page = render_framed_page(
        "training/training.html",
        styles=(THEME, CHART_STYLE, "training/training.css"),
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
    return write_page_file(path, page)


def _details_list(about: dict[str, Any]) -> str:
    items = []
    for key, value in about.items():
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        items.append(f"<div><dt>{escape_html(key.replace('_', ' '))}</dt><dd>{escape_html(text)}</dd></div>")
    return "".join(items)


def _skipped_text(data: Dataset) -> str:
    return escape_html(", ".join(f"{count} rows {why}" for why, count in data.skipped.items()) or "Every row was used.")


def _curve_chart(title: str, learned: Sequence[float], held: Sequence[float]) -> str:
    top = 1.05 * max((v for v in (*learned, *held) if math.isfinite(v)), default=1.0)
    frame, epochs = ChartFrame((1.0, max(len(learned), 2)), (0.0, top)), range(1, len(learned) + 1)
    return frame.draw_figure(
        f"{title}, over epochs", frame.draw_curve("one", epochs, learned), frame.draw_curve("two", epochs, held)
    )


def _scatter_chart(recorded: Floats, answered: Floats, title: str) -> str:
    step, frame = max(len(recorded) // MAX_POINTS, 1), ChartFrame((-1.0, 1.0), (-1.0, 1.0))
    diagonal = frame.draw_curve("axis", (-1.0, 1.0), (-1.0, 1.0))
    return frame.draw_figure(title, diagonal, frame.draw_points(recorded[::step], answered[::step]))


def _histogram_chart(steers: Floats, title: str) -> str:
    counts, edges = np.histogram(steers, HISTOGRAM_BINS, (-1.0, 1.0))
    frame = ChartFrame((-1.0, 1.0), (0.0, float(max(counts.max(initial=0), 1))))
    left, tops, bottom = frame.place_x(edges).tolist(), frame.place_y(counts).tolist(), float(frame.place_y(0.0))
    bars = "".join(
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{left[1] - left[0] - 1.0:.1f}" height="{bottom - y:.1f}"/>'
        for x, y in zip(left[:-1], tops, strict=True)
    )
    return frame.draw_figure(title, f'<g class="bars">{bars}</g>')


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
        f'href="{encode_data_url(picture)}"/>{dim}{wheels}</svg><figcaption>recorded {recorded:+.2f}, '
        f"policy {answered:+.2f}<br>{escape_html(where)}</figcaption></figure>"
    )
