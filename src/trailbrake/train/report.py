"""The report of a training: how it went, and the pictures that the policy gets most wrong. One file, no network."""

import base64
import html
import math
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.control.votes import elected
from trailbrake.errors import UsageError
from trailbrake.observe.glance import Glance
from trailbrake.record.format import PNG
from trailbrake.train.dataset import Dataset
from trailbrake.train.fit import Epoch
from trailbrake.train.sources import Source

Floats = NDArray[np.float32]

WORST = 24  # pictures shown
APART = 12  # rows: neighbours of a picture that is shown are nearly the same
POINTS = 2500  # of the scatter, at most
BINS = 41
_WIDE, _TALL, _EDGE = 460, 250, 44  # pixels of a chart, and of its margin
_STYLE = """
body { margin: 0 auto; max-width: 1180px; padding: 1.5rem; font: 15px/1.45 system-ui, sans-serif;
  background: var(--back); color: var(--text); }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 1.8rem 0 .5rem; }
p, dd, figcaption { color: var(--quiet); }
dl { display: flex; flex-wrap: wrap; gap: .4rem 1.6rem; } dl div { display: flex; gap: .5rem; }
dt { color: var(--quiet); } dd { margin: 0; color: var(--text); overflow-wrap: anywhere; }
.charts, .worst { display: grid; gap: 1rem; }
.charts { grid-template-columns: repeat(auto-fit, minmax(320px, 1fr)); }
.worst { grid-template-columns: repeat(auto-fill, minmax(260px, 1fr)); }
figure { margin: 0; background: var(--panel); padding: .6rem; border-radius: 6px; }
figure svg { width: 100%; height: auto; display: block; }
figcaption { font-size: .85rem; margin-top: .4rem; overflow-wrap: anywhere; }
text { fill: var(--quiet); font-size: 12px; } .axis { stroke: var(--line); } .grid { stroke: var(--grid); }
.one { stroke: #d55e00; fill: none; stroke-width: 2; } .two { stroke: #0072b2; fill: none; stroke-width: 2; }
.dots { fill: #0072b2; fill-opacity: .35; } .bars { fill: #0072b2; }
.key1 { color: #d55e00; font-weight: 600; } .key2 { color: #3a8fc4; font-weight: 600; }
"""


def write_report(
    path: Path, name: str, about: dict[str, Any], sources: Sequence[Source], data: Dataset, outputs: Floats,
    epochs: Sequence[Epoch], glance: Glance,
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
        glance: what the network sees of a picture.

    Raises:
        UsageError: it cannot be written.
    """
    answers = elected(outputs[:, :-1])
    judged = np.flatnonzero(data.held) if data.held.any() else np.arange(len(data))
    which = "held out" if data.held.any() else "learned from (nothing was held out)"
    theme = (files("trailbrake.analysis") / "page" / "theme.css").read_text("utf-8")
    page = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src
 'unsafe-inline'; img-src data:"><title>{html.escape(name)}: how it learned</title>
<style>{theme}{_STYLE}</style>
<script>if (matchMedia("(prefers-color-scheme: dark)").matches)
 document.documentElement.dataset.theme = "dark";</script>
</head><body>
<h1>{html.escape(name)}</h1>
<p>{len(data)} pictures, {int(data.held.sum())} of them held out, {len(epochs)} epochs</p>
<dl>{_about(about)}</dl>
<h2>How it learned</h2>
<p><span class="key1">learned from</span> (mirrored, shifted, dimmed: so harder), <span class="key2">held out</span></p>
<div class="charts">
{_curves("loss", [e.loss for e in epochs], [e.held_loss for e in epochs])}
{_curves("mean error of the steer, share of the lock", [e.error for e in epochs], [e.held_error for e in epochs])}
</div>
<h2>How it steers</h2>
<div class="charts">
{_scatter(data.steer[judged], answers[judged], f"steer of the policy over the recorded one, {which}")}
{_histogram(data.steer, "recorded steers, share of the lock: left is right of the middle")}
</div>
<h2>Not used</h2>
<p>{_skipped(data)}</p>
<h2>What it gets most wrong, of what was {which}</h2>
<p><span class="key1">recorded</span> and <span class="key2">policy</span>: where the wheels point, at the lower
 edge. The bright part of a picture is what the policy sees.</p>
<div class="worst">
{_worst(sources, data, answers, judged, glance)}
</div>
</body></html>
"""
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UsageError("cannot write the report", where=str(path), got=error.strerror or str(error)) from error
    return path


def _about(about: dict[str, Any]) -> str:
    items = []
    for key, value in about.items():
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        items.append(f"<div><dt>{html.escape(key.replace('_', ' '))}</dt><dd>{html.escape(text)}</dd></div>")
    return "".join(items)


def _skipped(data: Dataset) -> str:
    return html.escape(", ".join(f"{count} rows {why}" for why, count in data.skipped.items()) or "Every row was used.")


def _frame(body: str, title: str, x: tuple[float, float], y: tuple[float, float]) -> str:
    """Return a chart: `body` is drawn in pixels, the axes go from x[0] to x[1] and from y[0] to y[1]."""
    right, bottom = _WIDE - 12, _TALL - 24
    parts = []
    for k in range(5):
        share = k / 4
        height, value = bottom - share * (bottom - 12), y[0] + share * (y[1] - y[0])
        parts.append(f'<line class="grid" x1="{_EDGE}" x2="{right}" y1="{height:.1f}" y2="{height:.1f}"/>'
                     f'<text x="{_EDGE - 6}" y="{height + 4:.1f}" text-anchor="end">{value:.4g}</text>')  # fmt: skip
        across = _EDGE + share * (right - _EDGE)
        parts.append(f'<text x="{across:.1f}" y="{_TALL - 6}" text-anchor="middle">'
                     f"{x[0] + share * (x[1] - x[0]):.3g}</text>")  # fmt: skip
    return (f'<figure><svg viewBox="0 0 {_WIDE} {_TALL}" role="img" aria-label="{html.escape(title)}">'
            f"{''.join(parts)}{body}</svg><figcaption>{html.escape(title)}</figcaption></figure>")  # fmt: skip


def _at(value: float, lo: float, hi: float, upright: bool) -> float:
    share = (value - lo) / ((hi - lo) or 1.0)
    return _TALL - 24 - share * (_TALL - 36) if upright else _EDGE + share * (_WIDE - 12 - _EDGE)


def _curves(title: str, learned: Sequence[float], held: Sequence[float]) -> str:
    values = [v for v in (*learned, *held) if math.isfinite(v)]
    top, last = max(values, default=1.0) * 1.05, max(len(learned), 2)
    body = ""
    for line, style in ((learned, "one"), (held, "two")):
        points = " ".join(
            f"{_at(i, 1, last, False):.1f},{_at(v, 0.0, top, True):.1f}"
            for i, v in enumerate(line, 1)
            if math.isfinite(v)
        )
        body += f'<polyline class="{style}" points="{points}"/>'
    return _frame(body, f"{title}, over epochs", (1, last), (0.0, top))


def _scatter(recorded: Floats, answered: Floats, title: str) -> str:
    step = max(len(recorded) // POINTS, 1)
    dots = "".join(
        f'<circle cx="{_at(a, -1, 1, False):.1f}" cy="{_at(b, -1, 1, True):.1f}" r="1.6"/>'
        for a, b in zip(recorded[::step].tolist(), answered[::step].tolist(), strict=True)
    )
    line = f'<line class="axis" x1="{_at(-1, -1, 1, False)}" y1="{_at(-1, -1, 1, True)}" x2="{_at(1, -1, 1, False)}" '
    return _frame(f'{line}y2="{_at(1, -1, 1, True)}"/><g class="dots">{dots}</g>', title, (-1, 1), (-1, 1))


def _histogram(steers: Floats, title: str) -> str:
    counts, edges = np.histogram(steers, BINS, (-1.0, 1.0))
    top = float(max(counts.max(initial=0), 1))
    bars = "".join(
        f'<rect x="{_at(lo, -1, 1, False):.1f}" y="{_at(n, 0, top, True):.1f}" '
        f'width="{(_WIDE - 12 - _EDGE) / BINS - 1:.1f}" height="{_at(0, 0, top, True) - _at(n, 0, top, True):.1f}"/>'
        for n, lo in zip(counts.tolist(), edges[:-1].tolist(), strict=True)
    )
    return _frame(f'<g class="bars">{bars}</g>', title, (-1, 1), (0, top))


def worst_of(error: Floats, place: Sequence[tuple[int, int]], judged: NDArray[np.int64]) -> list[int]:
    """Return the indices with the largest errors, no two of them neighbours in one source."""
    chosen: list[int] = []
    for i in judged[np.argsort(-error[judged], kind="stable")].tolist():
        owner, row = place[i]
        if all(place[k][0] != owner or abs(place[k][1] - row) >= APART for k in chosen):
            chosen.append(i)
            if len(chosen) == WORST:
                break
    return chosen


def _worst(sources: Sequence[Source], data: Dataset, answers: Floats, judged: NDArray[np.int64], glance: Glance) -> str:
    chosen = worst_of(np.abs(answers - data.steer), data.place, judged)
    pictures: dict[tuple[int, int], bytes] = {}
    for owner in {data.place[i][0] for i in chosen}:
        rows = sorted(data.place[i][1] for i in chosen if data.place[i][0] == owner)
        pictures |= {(owner, row): picture for row, picture in sources[owner].pictures(rows)}
    return "".join(
        _shown(pictures[data.place[i]], float(data.steer[i]), float(answers[i]), glance,
               f"{Path(data.names[data.place[i][0]]).name}, row {data.place[i][1]}")
        for i in chosen if data.place[i] in pictures
    )  # fmt: skip


def _shown(picture: bytes, recorded: float, answered: float, glance: Glance, where: str) -> str:
    kind = "png" if picture.startswith(PNG) else "jpeg"
    source = f"data:image/{kind};base64,{base64.b64encode(picture).decode('ascii')}"
    wheels = "".join(
        f'<line class="{style}" x1="160" y1="238" x2="{160 - 90 * math.sin(steer):.1f}" '
        f'y2="{238 - 90 * math.cos(steer):.1f}"/>'
        for steer, style in ((recorded, "one"), (answered, "two"))
    )
    dim = "".join(
        f'<rect x="0" width="320" y="{240 * lo:.1f}" height="{240 * (hi - lo):.1f}" fill="#000" fill-opacity=".45"/>'
        for lo, hi in ((0.0, glance.top), (glance.bottom, 1.0))
    )
    return (
        f'<figure><svg viewBox="0 0 320 240"><image width="320" height="240" preserveAspectRatio="none" '
        f'href="{source}"/>{dim}{wheels}</svg><figcaption>recorded {recorded:+.2f}, policy {answered:+.2f}<br>'
        f"{html.escape(where)}</figcaption></figure>"
    )
