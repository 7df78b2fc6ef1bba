"""The drivetrain part of a car file: engine, gearbox, hybrid motor, differentials, fuel.

Torques in N m; engine speeds are in rpm, as data sheets print them.
"""

import math
from bisect import bisect_left
from typing import Annotated, Literal

from msgspec import Meta

from trailbrake.cars.section import Section, not_negative, positive, share


class Engine(Section, frozen=True):
    """Full-throttle torque over speed, what the engine does with the throttle shut, and its limits.

    With a turbocharger, the share `turbo_share` of the full-throttle torque follows the throttle with a first-order
    lag of `turbo_lag`; the rest is there at once.
    """

    rpm: Annotated[tuple[float, ...], Meta(min_length=2, max_length=32, description="rpm, rising")]
    torque: Annotated[tuple[float, ...], Meta(min_length=2, max_length=32, description="N m at full throttle")]
    idle_rpm: Annotated[float, positive("rpm")]
    limiter_rpm: Annotated[float, positive("rpm, above it the fuel is cut")]
    inertia: Annotated[float, positive("kg m^2, crankshaft, flywheel and clutch")]
    braking_torque_idle: Annotated[float, not_negative("N m, resisting with the throttle shut, at idle")]
    braking_torque_limiter: Annotated[float, not_negative("N m, resisting with the throttle shut, at the limiter")]
    turbo_lag: Annotated[float, not_negative("s, time constant of the boost, 0 = no turbocharger")] = 0.0
    turbo_share: Annotated[float, share("1, share of the full-throttle torque that comes with boost")] = 0.0

    @property
    def peak_power(self) -> float:
        """Largest power at the points of the curve (W)."""
        return max(n * math.pi / 30.0 * t for n, t in zip(self.rpm, self.torque, strict=True))


class Gearbox(Section, frozen=True):
    """Clutch, ratios and shifting."""

    ratios: Annotated[tuple[float, ...], Meta(min_length=1, max_length=10, description="1, first gear first")]
    reverse: Annotated[float, positive("1, size of the reverse ratio")]
    final_drive: Annotated[float, positive("1, multiplies every ratio")]
    efficiency: Annotated[float, Meta(gt=0.5, le=1.0, description="1, crankshaft to wheels")]
    shift_time: Annotated[float, not_negative("s, without drive torque in a shift")]
    upshift_rpm: Annotated[float, positive("rpm, the automatic shifts up above it")]
    downshift_rpm: Annotated[float, positive("rpm, the automatic shifts down when the lower gear stays below it")]
    clutch_torque: Annotated[float, positive("N m, what the closed clutch can carry")]
    blip: Annotated[bool, Meta(description="whether the box matches the revs on a downshift")]

    @property
    def top_gear(self) -> int:
        """Number of the highest gear."""
        return len(self.ratios)

    def overall(self, gear: int) -> float:
        """Return engine speed over wheel speed in `gear` (-1, 0, 1, 2, ...); negative in reverse, 0 in neutral."""
        if gear == 0:
            return 0.0
        return self.final_drive * (-self.reverse if gear < 0 else self.ratios[gear - 1])


class Hybrid(Section, frozen=True):
    """An electric motor on the crankshaft, with a store."""

    power: Annotated[float, positive("W, most that the motor gives, at the crankshaft")]
    torque: Annotated[float, positive("N m, most that the motor gives, at the crankshaft")]
    capacity: Annotated[float, positive("J, usable store")]
    recharge: Annotated[float, not_negative("W, most that flows into the store in braking")]
    start: Annotated[float, share("1, charge at the start of a drive, share of the capacity")]


class Differential(Section, frozen=True):
    """What a driven axle, or the centre of an AWD car, does with the difference of its two outputs' speeds.

    `spool` and `locked` both couple the outputs rigidly: an axle without a differential, and one that is locked.
    """

    kind: Literal["open", "lsd", "locked", "spool"]
    preload: Annotated[float, not_negative("N m, difference of output torques without drive; lsd only")] = 0.0
    lock_power: Annotated[float, share("1, difference of output torques over driving input torque; lsd only")] = 0.0
    lock_coast: Annotated[float, share("1, difference of output torques over braking input torque; lsd only")] = 0.0

    @property
    def rigid(self) -> bool:
        """Whether both outputs turn at the same speed."""
        return self.kind in ("locked", "spool")


class Drive(Section, frozen=True):
    """Which wheels are driven. A driven axle has a differential, an AWD car also one in the centre."""

    layout: Literal["fwd", "rwd", "awd"]
    differential_front: Differential | None = None
    differential_rear: Differential | None = None
    centre: Differential | None = None
    awd_front_share: Annotated[float, share("1, front axle's share of the drive torque; awd only")] = 0.5

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
    """Fuel is counted; its weight stays that of the half-full tank in `body.mass`."""

    capacity: Annotated[float, positive("l; a drive starts with half of it")]
    density: Annotated[float, positive("kg/l")]
    specific_consumption: Annotated[float, positive("g/kWh at the crankshaft")]


def interpolate(x: float, xs: tuple[float, ...], ys: tuple[float, ...]) -> float:
    """Return the piecewise linear value at `x`, held constant beyond the ends."""
    if x <= xs[0]:
        return ys[0]
    if not x <= xs[-1]:
        return ys[-1]
    i = bisect_left(xs, x)
    return ys[i - 1] + (ys[i] - ys[i - 1]) * (x - xs[i - 1]) / (xs[i] - xs[i - 1])
