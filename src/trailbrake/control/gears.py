"""When to shift: the gear that pulls hardest, with enough hysteresis not to hunt."""

import math

from trailbrake.cars.params import CarParams

REV_MARGIN = 0.985  # share of the limiter at which the next gear is taken even if this one pulls harder
HYSTERESIS = 0.93  # share of the up-shift speed at which the lower gear is taken back


def upshift_speeds(car: CarParams) -> tuple[float, ...]:
    """Return, per gear but the last, the speed (m/s) above which the next gear is the better one."""
    speeds = []
    for gear in range(1, car.gearbox.top_gear):
        per_rad = car.driven_radius / car.gearbox.overall(gear)
        longest = REV_MARGIN * car.engine.limiter_rpm * math.pi / 30.0 * per_rad
        steps = [longest * (0.4 + 0.6 * k / 60.0) for k in range(61)]
        better = [v for v in steps if car.drive_force(v, gear + 1) > car.drive_force(v, gear)]
        speeds.append(min([longest, *better]))
    return tuple(speeds)


def wanted_gear(speed: float, gear: int, shifts: tuple[float, ...]) -> int:
    """Return the forward gear to be in at `speed` (m/s), being in `gear`; one step at a time.

    Args:
        speed: m/s.
        gear: the present gear; 0 and below ask for first.
        shifts: as `upshift_speeds` returns.
    """
    if gear < 1:
        return 1
    if gear <= len(shifts) and speed > shifts[gear - 1]:
        return gear + 1
    if gear >= 2 and speed < HYSTERESIS * shifts[gear - 2]:
        return gear - 1
    return gear
