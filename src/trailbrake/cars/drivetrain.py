"""The drivetrain part of a car file: engine, gearbox, hybrid motor, differentials, fuel.

Torques in N m; engine speeds are in rpm, as data sheets print them.
"""

import math
from bisect import bisect_left
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from trailbrake.cars.section import Section, non_negative_value, positive_value, unit_fraction


class Engine(Section, frozen=True):
    """Full-throttle torque over speed, drag torque with the throttle shut, and limits.

    With a turbocharger, the share `turbo_share` of the full-throttle torque follows the throttle with a first-order
    lag of `turbo_lag`; the rest follows at once.
    """

    rpm: Annotated[tuple[float, ...], Meta(min_length=2, max_length=32, description="rpm, rising")]
    torque: Annotated[tuple[float, ...], Meta(min_length=2, max_length=32, description="N m, at full throttle")]
    idle_rpm: Annotated[float, positive_value("rpm")]
    limiter_rpm: Annotated[float, positive_value("rpm, above it the fuel is cut")]
    inertia: Annotated[float, positive_value("kg m^2, crankshaft, flywheel and clutch")]
    braking_torque_idle: Annotated[float, non_negative_value("N m, resisting with the throttle shut, at idle")]
    braking_torque_limiter: Annotated[
        float, non_negative_value("N m, resisting with the throttle shut, at the limiter")
    ]
    turbo_lag: Annotated[float, non_negative_value("s, time constant of the boost, 0 = no turbocharger")] = 0.0
    turbo_share: Annotated[float, unit_fraction("1, share of the full-throttle torque that comes with boost")] = 0.0

    @property
    def peak_power(self) -> float:
        """Largest power at the points of the curve (W)."""
        return max(n * math.pi / 30.0 * t for n, t in zip(self.rpm, self.torque, strict=True))

    def full_torque(self, rpm: float) -> float:
        """Return the full-throttle torque (N m) at `rpm`: linear between the points, constant beyond the ends."""
        return interpolate_table(rpm, self.rpm, self.torque)

    def full_torques(self, rpm: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return `full_torque` of engine speeds (rpm), any shape."""
        xs, ys = np.array(self.rpm), np.array(self.torque)
        inside = np.clip(rpm, xs[0], xs[-1])
        i = np.clip(np.searchsorted(xs, inside), 1, len(xs) - 1)
        torque: NDArray[np.float64] = ys[i - 1] + (ys[i] - ys[i - 1]) * (inside - xs[i - 1]) / (xs[i] - xs[i - 1])
        return np.where(rpm > xs[-1], ys[-1], torque)

    def drag_torque(self, rpm: float) -> float:
        """Return the resisting torque (N m, positive) with the throttle shut: the line through idle and limiter.

        The line continues beyond both speeds, so that far below idle the result may be negative.
        """
        share = (rpm - self.idle_rpm) / (self.limiter_rpm - self.idle_rpm)
        return self.braking_torque_idle + share * (self.braking_torque_limiter - self.braking_torque_idle)


class Gearbox(Section, frozen=True):
    """Clutch, ratios and shifting."""

    ratios: Annotated[tuple[float, ...], Meta(min_length=1, max_length=10, description="1, first gear first")]
    reverse: Annotated[float, positive_value("1, size of the reverse ratio")]
    final_drive: Annotated[float, positive_value("1, multiplies every ratio")]
    efficiency: Annotated[float, Meta(gt=0.5, le=1.0, description="1, crankshaft to wheels")]
    shift_time: Annotated[float, non_negative_value("s, without drive torque in a shift")]
    upshift_rpm: Annotated[float, positive_value("rpm, the automatic shifts up above it")]
    downshift_rpm: Annotated[float, positive_value("rpm, the automatic shifts down when the lower gear stays below it")]
    clutch_torque: Annotated[float, positive_value("N m, what the closed clutch can carry")]
    blip: Annotated[bool, Meta(description="whether the box matches revs on downshifts and controls launches")]

    @property
    def top_gear(self) -> int:
        """Number of the highest gear."""
        return len(self.ratios)

    def overall_ratio(self, gear: int) -> float:
        """Return engine speed over wheel speed in `gear` (-1, 0, 1, 2, ...); negative in reverse, 0 in neutral."""
        if gear == 0:
            return 0.0
        return self.final_drive * (-self.reverse if gear < 0 else self.ratios[gear - 1])


class Hybrid(Section, frozen=True):
    """An electric motor on the crankshaft, with an energy store."""

    power: Annotated[float, positive_value("W, most that the motor gives, at the crankshaft")]
    torque: Annotated[float, positive_value("N m, most that the motor gives, at the crankshaft")]
    capacity: Annotated[float, positive_value("J, usable store")]
    recharge: Annotated[float, non_negative_value("W, most of the driven axles' braking that fills the store")]
    start: Annotated[float, unit_fraction("1, charge at the start of a drive, share of the capacity")]
    deployed_per_lap: Annotated[float, positive_value("J, most that the motor gives in a lap")] = math.inf
    recovered_per_lap: Annotated[float, positive_value("J, most that flows into the store in a lap")] = math.inf


class Differential(Section, frozen=True):
    """The differential of a driven axle, or of the centre of an AWD car.

    `spool` and `locked` both couple the outputs rigidly: an axle without a differential, and one that is locked.
    """

    kind: Literal["open", "lsd", "locked", "spool"]
    preload: Annotated[float, non_negative_value("N m, difference of output torques without drive; lsd only")] = 0.0
    lock_power: Annotated[
        float, unit_fraction("1, difference of output torques over driving input torque; lsd only")
    ] = 0.0
    lock_coast: Annotated[
        float, unit_fraction("1, difference of output torques over braking input torque; lsd only")
    ] = 0.0

    @property
    def is_rigid(self) -> bool:
        """Whether both outputs turn at the same speed."""
        return self.kind in ("locked", "spool")


class Driveline(Section, frozen=True):
    """Which wheels are driven. A driven axle has a differential, an AWD car also one in the centre."""

    layout: Literal["fwd", "rwd", "awd"]
    differential_front: Differential | None = None
    differential_rear: Differential | None = None
    centre: Differential | None = None
    awd_front_share: Annotated[float, unit_fraction("1, front axle's share of the drive torque; awd only")] = 0.5

    @property
    def front_share(self) -> float:
        """Share of the drive torque that goes to the front axle."""
        return self.awd_front_share if self.layout == "awd" else 1.0 if self.layout == "fwd" else 0.0

    @property
    def open_front(self) -> bool:
        """Whether an open differential limits the front axle to twice its weaker wheel."""
        return self.differential_front is not None and self.differential_front.kind == "open"

    @property
    def open_rear(self) -> bool:
        """Whether an open differential limits the rear axle to twice its weaker wheel."""
        return self.differential_rear is not None and self.differential_rear.kind == "open"


class Fuel(Section, frozen=True):
    """Consumption of fuel. `body.mass` is that with the tank half full; the car gets lighter by what it burns."""

    capacity: Annotated[float, positive_value("l; a drive starts with half of it")]
    density: Annotated[float, positive_value("kg/l")]
    specific_consumption: Annotated[float, positive_value("g/kWh at the crankshaft")]


def interpolate_table(x: float, xs: tuple[float, ...], ys: tuple[float, ...]) -> float:
    """Return the piecewise linear value of `ys` over rising `xs` at `x`, constant beyond the ends."""
    if x <= xs[0]:
        return ys[0]
    if not x <= xs[-1]:
        return ys[-1]
    i = bisect_left(xs, x)
    return ys[i - 1] + (ys[i] - ys[i - 1]) * (x - xs[i - 1]) / (xs[i] - xs[i - 1])
