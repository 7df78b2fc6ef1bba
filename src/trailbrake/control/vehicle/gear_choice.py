"""Gear choice: the gear with the most drive force, with hysteresis against repeated shifts."""

import math

from trailbrake.cars.params import CarParams

REV_MARGIN = 0.985  # share of the limiter at which the next gear is chosen even if this one pulls harder
HYSTERESIS = 0.93  # share of the up-shift speed at which the lower gear is chosen again


def upshift_speeds(car: CarParams) -> tuple[float, ...]:
    """Return, per gear but the last, the speed (m/s) above which the next gear is the better one."""
    speeds = []
    for gear in range(1, car.gearbox.top_gear):
        per_rad = car.driven_radius / car.gearbox.overall_ratio(gear)
        longest = REV_MARGIN * car.engine.limiter_rpm * math.pi / 30.0 * per_rad
        steps = [longest * (0.4 + 0.6 * k / 60.0) for k in range(61)]
        better = [v for v in steps if car.drive_force(v, gear + 1) > car.drive_force(v, gear)]
        speeds.append(min([longest, *better]))
    return tuple(speeds)


def choose_gear(speed: float, gear: int, shifts: tuple[float, ...]) -> int:
    """Return the forward gear for `speed` (m/s), at most one step from `gear`.

    Args:
        speed: m/s.
        gear: the present gear; 0 and below give first gear, one beyond the car's model gives the next lower one.
        shifts: as `upshift_speeds` returns.
    """
    if gear < 1:
        return 1
    if gear <= len(shifts) and speed > shifts[gear - 1]:
        return gear + 1
    if gear >= 2 and (gear > len(shifts) + 1 or speed < HYSTERESIS * shifts[gear - 2]):
        return gear - 1
    return gear
