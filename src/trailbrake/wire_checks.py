"""Checks that decide, from the samples of a short drive, what published documents leave open of a wire.

Pure functions. They compare means over windows of WINDOW_S, so that noise and single wrong samples do not count.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from trailbrake.state import CarState, Controls

WINDOW_S = 0.4  # s
STARTS_PER_WINDOW = 4
LEAST_WINDOWS = 4
CLEAR = 3.0  # standard errors that a slope must be off a limit
STILL = 0.3  # m/s below which places do not say where a car heads
REST, START, STRAIGHT, LEFT, RIGHT, BRAKE = "rest", "start", "straight", "left", "right", "brake"
BENDS = (LEFT, RIGHT)
SPEED_CHANGES = (START, BRAKE)
Verdict = Literal["holds", "does not hold", "undecided"]
Floats = NDArray[np.float64]
_ANGLES = ("yaw", "pitch", "roll")


class Judgement(NamedTuple):
    """The verdict of a check, and what it has measured."""

    verdict: Verdict
    found: str


class Sample(NamedTuple):
    """One sample of the drive.

    Attributes:
        step: name of the step.
        clock: s, of a clock that is not the wire's.
        state: as the link reads it, with its signals.
        controls: the answer to it; `command` is what the step has requested when it began.
    """

    step: str
    clock: float
    state: CarState
    controls: Controls


class DriveSamples:
    """The samples of a drive, or of some of its steps, as columns.

    Args:
        drive: all samples.
        steps: names of the steps that count; () = all.
    """

    def __init__(self, drive: Sequence[Sample], steps: Sequence[str] = ()) -> None:
        self._drive = drive
        self._index = np.array([i for i, s in enumerate(drive) if not steps or s.step in steps], dtype=np.int64)
        self.samples = [drive[i] for i in self._index]

    def during(self, *steps: str) -> "DriveSamples":
        """Return those of some steps; () = all."""
        return DriveSamples(self._drive, steps)

    def column(self, name: str) -> Floats:
        """Return a field of the state, a signal, "clock" or "controls.NAME", (n,); of "wheels.NAME" (n, 4)."""
        values = [_read_value(sample, name) for sample in self.samples]
        column = np.array([math.nan if value is None else value for value in values], dtype=np.float64)
        return np.unwrap(column) if name in _ANGLES and np.isfinite(column).all() else column

    def mean(self, values: Floats) -> Floats:
        """Return the means of values (n, ...) over the windows, (w, ...)."""
        length, starts = self._windows()
        return np.array([values[i : i + length].mean(axis=0) for i in starts], dtype=np.float64)

    def rate(self, values: Floats, over: str = "time") -> Floats:
        """Return the change of values (n,) over each window, per unit of the column `over`, (w,)."""
        length, starts = self._windows()
        ends, base = starts + length, self.column(over)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((values[ends] - values[starts]) / (base[ends] - base[starts]), dtype=np.float64)

    def _windows(self) -> tuple[int, NDArray[np.int64]]:
        """Return the length of the windows and where they start; none reaches over a step that does not count."""
        count = len(self._index)
        if count < 3:
            return 1, np.zeros(0, dtype=np.int64)
        period = float(np.median(np.diff(self.column("clock"))))
        length = int(min(max(round(WINDOW_S / period), 1), count - 1)) if period > 0.0 else 1
        starts = np.arange(0, count - length, max(length // STARTS_PER_WINDOW, 1))
        return length, starts[self._index[starts + length] - self._index[starts] == length]


def _read_value(sample: Sample, name: str) -> Any:
    owner, _, field = name.rpartition(".")
    if owner == "wheels":
        return [getattr(wheel, field) for wheel in sample.state.wheels]
    if owner == "controls":
        return getattr(sample.controls, field)
    if owner:
        return sample.state.signals.get(name, math.nan)
    return sample.clock if name == "clock" else getattr(sample.state, name)


class WireQuantity(NamedTuple):
    """What a check looks at: its name for people, and its values over the windows of samples, (w,)."""

    text: str
    compute: Callable[[DriveSamples], Floats]


def mean_of(name: str) -> WireQuantity:
    """Return the mean of a column; of four wheels, the mean of all."""

    def compute(samples: DriveSamples) -> Floats:
        means = samples.mean(samples.column(name))
        return means.mean(axis=1) if means.ndim == 2 else means

    return WireQuantity(f"`{name}`", compute)


def size_of(name: str) -> WireQuantity:
    """Return the mean of a column without its sign."""
    return WireQuantity(f"size of `{name}`", lambda samples: np.abs(mean_of(name).compute(samples)))


def rate_of(name: str, over: str = "time") -> WireQuantity:
    """Return the rate of change of a column."""
    return WireQuantity(
        f"rate of `{name}`" + (f" by the {over}" if over != "time" else ""),
        lambda samples: samples.rate(samples.column(name), over),
    )


def right_less_left(name: str) -> WireQuantity:
    """Return the mean of the right wheels less that of the left ones, of "wheels.NAME" or of four signals with a *."""

    def compute(samples: DriveSamples) -> Floats:
        if "*" in name:
            fl, fr, rl, rr = (samples.column(name.replace("*", wheel)) for wheel in ("fl", "fr", "rl", "rr"))
        else:
            fl, fr, rl, rr = samples.column(name).reshape(-1, 4).T
        return samples.mean((fr + rr - fl - rl) / 2.0)

    return WireQuantity(f"`{name}`, right less left", compute)


def _velocity_by_place(samples: DriveSamples) -> tuple[Floats, Floats]:
    return samples.rate(samples.column("x")), samples.rate(samples.column("y"))


def _forward_by_place(samples: DriveSamples) -> Floats:
    (vx, vy), yaw = _velocity_by_place(samples), samples.mean(samples.column("yaw"))
    return np.asarray(vx * np.cos(yaw) + vy * np.sin(yaw), dtype=np.float64)


def _left_by_place(samples: DriveSamples) -> Floats:
    (vx, vy), yaw = _velocity_by_place(samples), samples.mean(samples.column("yaw"))
    return np.asarray(vy * np.cos(yaw) - vx * np.sin(yaw), dtype=np.float64)


def _drift(samples: DriveSamples) -> Floats:
    """Return the angle from yaw to the way that the places show, rad, -pi to pi; NaN where the car stands."""
    vx, vy = _velocity_by_place(samples)
    angle = np.arctan2(vy, vx) - samples.mean(samples.column("yaw"))
    return np.where(np.hypot(vx, vy) > STILL, np.remainder(angle + math.pi, 2.0 * math.pi) - math.pi, math.nan)


def _left_of_first_heading(samples: DriveSamples) -> Floats:
    x, y, yaw = samples.column("x"), samples.column("y"), samples.column("yaw")
    return samples.mean((y - y[:1]) * np.cos(yaw[:1]) - (x - x[:1]) * np.sin(yaw[:1]))


def _turn(values: Floats) -> Floats:
    """Return the changes of an angle (w,), rad, from one window to the next."""
    change = values[STARTS_PER_WINDOW:] - values[:-STARTS_PER_WINDOW]
    return np.asarray(np.remainder(change + math.pi, 2.0 * math.pi) - math.pi, dtype=np.float64)


FORWARD_BY_PLACE = WireQuantity("speed along `yaw` by places", _forward_by_place)
LEFT_BY_PLACE = WireQuantity("speed to the left of `yaw` by places", _left_by_place)
DRIFT = WireQuantity("angle (rad) between `yaw` and the way by places", lambda samples: np.abs(_drift(samples)))
LEFT_OF_START = WireQuantity("way to the left by places", _left_of_first_heading)
CENTRIPETAL = WireQuantity(
    "turning by `yaw` times `speed`",
    lambda samples: np.asarray(rate_of("yaw").compute(samples) * mean_of("speed").compute(samples), dtype=np.float64),
)
YAW_TURN = WireQuantity("turning by `yaw`", lambda samples: _turn(mean_of("yaw").compute(samples)))
COURSE_TURN = WireQuantity(
    "turning by places", lambda samples: _turn(_drift(samples) + mean_of("yaw").compute(samples))
)  # fmt: skip


class Check(Protocol):
    """Decides an assumption from the samples of a whole drive."""

    @property
    def text(self) -> str:
        """How it decides."""

    def judge(self, samples: DriveSamples) -> Judgement:
        """Return the verdict."""


@dataclass(frozen=True)
class LevelCheck:
    """The median of a quantity lies from `lo` to `hi`, in the steps named; () = in all."""

    quantity: WireQuantity
    lo: float
    hi: float
    steps: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """How it decides."""
        return f"{self.quantity.text}: {_describe_limits(self.lo, self.hi)}{_list_steps(self.steps)}"

    def judge(self, samples: DriveSamples) -> Judgement:
        """Return the verdict; undecided where there is nothing to see."""
        values = self.quantity.compute(samples.during(*self.steps))
        values = values[np.isfinite(values)]
        if len(values) < LEAST_WINDOWS:
            return Judgement("undecided", "nothing to measure")
        level = float(np.median(values))
        return Judgement("holds" if self.lo <= level <= self.hi else "does not hold", f"{level:.3g}")


@dataclass(frozen=True)
class SlopeCheck:
    """The slope of a quantity over another lies from `lo` to `hi`, in the steps named; () = in all."""

    quantity: WireQuantity
    reference: WireQuantity
    lo: float = -math.inf
    hi: float = math.inf
    steps: tuple[str, ...] = BENDS

    @property
    def text(self) -> str:
        """How it decides."""
        limits = _describe_limits(self.lo, self.hi)
        return f"slope of {self.quantity.text} over {self.reference.text}: {limits}{_list_steps(self.steps)}"

    def judge(self, samples: DriveSamples) -> Judgement:
        """Return the verdict; undecided within CLEAR standard errors of a limit."""
        chosen = samples.during(*self.steps)
        y, x = self.quantity.compute(chosen), self.reference.compute(chosen)
        known = np.isfinite(x) & np.isfinite(y)
        x, y = x[known], y[known]
        if len(x) <= LEAST_WINDOWS or not np.ptp(x) > 0.0:
            return Judgement("undecided", "nothing to measure")
        dx, dy = x - x.mean(), y - y.mean()
        slope = float(dx @ dy / (dx @ dx))
        independent = max(len(x) / STARTS_PER_WINDOW - 2.0, 1.0)  # windows overlap
        error = math.sqrt(float(((dy - slope * dx) ** 2).sum() / (dx @ dx)) / independent)
        least, most = slope - CLEAR * error, slope + CLEAR * error
        verdict: Verdict = "undecided"
        if self.lo <= least and most <= self.hi:
            verdict = "holds"
        elif most < self.lo or least > self.hi:
            verdict = "does not hold"
        return Judgement(verdict, f"{slope:.3g} +- {error:.2g}")


def _describe_limits(lo: float, hi: float) -> str:
    if math.isinf(hi):
        return f"above {lo:g}"
    return f"below {hi:g}" if math.isinf(lo) else f"{lo:g} to {hi:g}"


def _list_steps(steps: tuple[str, ...]) -> str:
    return f" ({', '.join(steps)})" if steps else ""
