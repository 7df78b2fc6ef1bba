"""A stop without telemetry: what the pad does when the game's data, or the program that drives, is gone.

When the car stands is then unknown. The brake is held for as long as the car can need from its last known speed, and
the pad is then neutral: the game may be in a menu, which FH6 shows by silence alone, where a trigger that is held since
the menu opened presses nothing. A brake that is held at rest engages reverse in the games' automatic gearbox. From the
earliest time at which the car may stand a little throttle therefore goes with it, against which the brake holds the
car, and which is below the level that menus take for a press.
"""

import math

from trailbrake.transport.pad_report import NEUTRAL, PadReport, encode_trigger

LEAST_DECELERATION = 4.0  # m/s^2, of a car that brakes on a poor surface
MOST_DECELERATION = 12.0  # m/s^2, of a car on tyres of races
MARGIN_S = 1.0  # s longer than the car needs
LONGEST_STOP_S = 12.0  # s, also where the speed is not known
STANDING = 0.5  # m/s, below which there is nothing to stop
STOP_BRAKE = encode_trigger(0.6)  # as in a safe stop: the tyres can still turn the car
HOLDING_THROTTLE = encode_trigger(0.1)  # above what hosts and games ignore, below 30 of 255, a press in menus


def stop_duration(speed: float) -> float:
    """Return how long to brake from a speed (m/s; NaN: unknown), s; 0 for a car that stands."""
    if math.isnan(speed):
        return LONGEST_STOP_S
    if abs(speed) < STANDING:
        return 0.0
    return min(abs(speed) / LEAST_DECELERATION + MARGIN_S, LONGEST_STOP_S)


def blind_stop_report(last: PadReport, elapsed: float, speed: float, gear: int | None) -> PadReport:
    """Return the pad's report `elapsed` s after the last moment at which the car's state was known.

    Args:
        last: the newest report of the driver; its left stick is held.
        elapsed: s.
        speed: m/s at that moment; NaN: unknown.
        gear: at that moment; in reverse (-1) the triggers change places.

    Returns:
        The brake and, from the earliest time at which the car may stand, a little throttle; NEUTRAL when the stop is
        over. Of an unknown speed NEUTRAL if the driver pressed no trigger.
    """
    is_unknown = math.isnan(speed)
    if elapsed >= stop_duration(speed) or (is_unknown and not (last.left_trigger or last.right_trigger)):
        return NEUTRAL
    may_stand = is_unknown or elapsed >= abs(speed) / MOST_DECELERATION
    throttle = HOLDING_THROTTLE if may_stand else 0
    left, right = (throttle, STOP_BRAKE) if gear == -1 else (STOP_BRAKE, throttle)
    return PadReport(left_trigger=left, right_trigger=right, left_x=last.left_x)
