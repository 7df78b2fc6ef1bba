"""Charts of curves and points as SVG, for pages without scripts. `shared/chart.css` has their styles."""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trailbrake.pages.rendering import escape_html

Pixels = NDArray[np.float64]
Range = tuple[float, float]

CHART_STYLE = "shared/chart.css"
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 12, 12, 24  # pixels of the margins
_MOST_STEPS = 5  # of an axis
_ROUND_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def find_ticks(bounds: Range) -> list[float]:
    """Return the round numbers within `bounds` at which an axis has lines: three to six of them."""
    low, high = bounds
    if not high > low:
        return [low]
    size = 10.0 ** math.floor(math.log10((high - low) / _MOST_STEPS))
    step = next(size * k for k in _ROUND_STEPS if (high - low) / (size * k) <= _MOST_STEPS)
    return [step * k for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def find_range(values: Iterable[ArrayLike]) -> Range:
    """Return the least and the largest finite number of several arrays; 0 and 1 where there is none."""
    arrays = [np.asarray(each, float).ravel() for each in values]
    numbers = np.concatenate(arrays) if arrays else np.empty(0)
    numbers = numbers[np.isfinite(numbers)]
    return (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 1.0)


class ChartFrame(NamedTuple):
    """The axes of a chart: size in pixels, and the range of each axis."""

    x: Range
    y: Range
    width: int = 460
    height: int = 250

    def place_x(self, values: ArrayLike) -> Pixels:
        """Return pixels from the left."""
        low, high = self.x
        return _LEFT + (np.asarray(values, float) - low) / ((high - low) or 1.0) * (self.width - _LEFT - _RIGHT)

    def place_y(self, values: ArrayLike) -> Pixels:
        """Return pixels from the top."""
        low, high = self.y
        bottom = self.height - _BOTTOM
        return bottom - (np.asarray(values, float) - low) / ((high - low) or 1.0) * (bottom - _TOP)

    def draw_curve(self, style: str, x: ArrayLike, y: ArrayLike) -> str:
        """Return a curve through points, without those that are no numbers; `style`: `one`, `two` or `three`."""
        return draw_polyline(style, self.place_x(x), self.place_y(y))

    def draw_points(self, x: ArrayLike, y: ArrayLike) -> str:
        """Return points, without those that are no numbers."""
        pixels = _finite_pairs(self.place_x(x), self.place_y(y))
        dots = "".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="1.6"/>' for a, b in pixels)
        return f'<g class="dots">{dots}</g>'

    def draw_figure(self, title: str, *parts: str) -> str:
        """Return the figure: axes, `parts` drawn in this frame, and the title below."""
        right, bottom = self.width - _RIGHT, self.height - _BOTTOM
        axes = [
            f'<line class="grid" x1="{_LEFT}" x2="{right}" y1="{height:.1f}" y2="{height:.1f}"/>'
            f'<text x="{_LEFT - 6}" y="{height + 4:.1f}" text-anchor="end">{tick:.6g}</text>'
            for tick in find_ticks(self.y)
            for height in (float(self.place_y(tick)),)
        ]
        for tick in find_ticks(self.x):
            across = float(self.place_x(tick))
            anchor = "end" if across > right - 16 else "middle"  # else it is cut off
            axes.append(f'<text x="{across:.1f}" y="{bottom + 18}" text-anchor="{anchor}">{tick:.6g}</text>')
        label = escape_html(title)
        return (f'<figure><svg viewBox="0 0 {self.width} {self.height}" role="img" aria-label="{label}">'
                f"{''.join(axes)}{''.join(parts)}</svg><figcaption>{label}</figcaption></figure>")  # fmt: skip


def draw_polyline(style: str, x: Pixels, y: Pixels) -> str:
    """Return a line through pixels, without those that are no numbers."""
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in _finite_pairs(x, y))
    return f'<polyline class="{style}" points="{points}"/>'


def _finite_pairs(x: Pixels, y: Pixels) -> list[tuple[float, float]]:
    known = np.isfinite(x) & np.isfinite(y)
    return list(zip(x[known].tolist(), y[known].tolist(), strict=True))
