"""What a validation case is: checks against a truth from elsewhere, each with its bar, and curves to look at."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Check:
    """One figure of the world against the truth.

    Attributes:
        what: in words.
        truth: the closed form's or the other model's value, as text with its unit; empty where the truth is 0.
        world: the world's, likewise.
        difference: between them, >= 0, as a share of what the bar is a share of.
        bar: what the difference must not exceed.
    """

    what: str
    truth: str
    world: str
    difference: float
    bar: float

    @property
    def holds(self) -> bool:
        """Whether the difference is within the bar; NaN is not."""
        return self.difference <= self.bar


@dataclass(frozen=True)
class Curve:
    """Points (n,) of one line of a plot; `style` is "-", "--" or "o"."""

    label: str
    x: Array
    y: Array
    style: str = "-"


@dataclass(frozen=True)
class Plot:
    """Curves over a common axis."""

    name: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    log: bool = False


@dataclass(frozen=True)
class Case:
    """A section of the page.

    Attributes:
        title: heading.
        setup: what drives, where, how.
        truth: the closed form, or the other model, with its source.
        checks: figures, with
        share_of: what their differences are shares of.
        plots: to look at.
        remarks: what is different by modelling, and how much it makes.
    """

    title: str
    setup: str
    truth: str
    checks: tuple[Check, ...]
    share_of: str = "the closed form's value"
    plots: tuple[Plot, ...] = ()
    remarks: tuple[str, ...] = field(default=())


def against(what: str, truth: float, world: float, unit: str, bar: float = 0.01, scale: float | None = None) -> Check:
    """Return the check of `world` against `truth`, both in `unit`, relative to `scale` (default: the truth)."""
    difference = abs(world - truth) / abs(truth if scale is None else scale)
    return Check(what, f"{truth:.5g} {unit}".strip(), f"{world:.5g} {unit}".strip(), float(difference), bar)


def below(what: str, value: float, unit: str, bar: float, shown: float = 1.0) -> Check:
    """Return the check that `value`, whose truth is 0, is within `bar`; shown as `value * shown` in `unit`."""
    return Check(what, "0", f"{value * shown:.3g} {unit}".strip(), float(abs(value)), bar)


def rms(values: ArrayLike) -> float:
    """Return the root of the mean square."""
    return float(np.sqrt(np.mean(np.square(np.asarray(values, np.float64)))))
