"""One pedal from -1 to 1 that brakes a rolling car below 0 and reverses a standing one, as Unity's car has it.

What counts as standing may be as fast as 5 mph. Below that the wire has no brake, and a car that rolls freely needs
half a minute to stand; but reverse slows a car that rolls forward.

A brake that acts when the car already stands drives it backwards. The speed of most of these wires has no sign, and a
command acts later than it was computed, until the next one. Therefore the brake is taken back in proportion to the
speed. A sampled integrator under proportional feedback whose command acts one period late, v[k+1] = v[k] - (h / T)
v[k-1], does not overshoot if T >= 4 h (then its roots are real), so that the car never crosses zero; what it loses by
itself meanwhile is left to it. Which way a car rolls is known from its pedal and, where the wire has them, from place
and heading.
"""

import math
from enum import Enum
from typing import NamedTuple

from trailbrake.state import Controls
from trailbrake.units import MPH

CRAWL_SPEED = 0.35  # m/s below which a car may roll either way, and reverse brakes it no more
REVERSE_BRAKE = 0.3  # share of reverse that a whole brake is: embedded cars lose 0.05 m/s from one answer to the next
REVERSE_FORCE = 0.4  # force of whole reverse over that of the whole brake, of a car at walking pace
REST_SPEED = 0.1  # m/s below which a car with gears can take reverse
DEAD_TIMES = 5.0  # time constant of the taper over the dead time; more than 4
ROLLING_LOSS = 0.8  # m/s^2 that a slow car loses by itself, in a bend too; without a brake, for one dead time
CROSSING_SPEED = 0.5  # m/s to which a braked car must have slowed before a gain of speed shows that it reverses
CROSSING_GAIN = 0.15  # m/s of such a gain


class Roll(Enum):
    """Which way a car rolls."""

    UNKNOWN = "unknown"
    FORWARD = "forward"
    BACKWARD = "backward"


class PedalCar(NamedTuple):
    """What a pedal does to a simulator's car.

    Attributes:
        standstill_speed: m/s below which a pedal under 0 reverses, above which it brakes.
        deceleration: m/s^2 that the whole brake takes off the speed, at most; by default a road car's on a dry road.
    """

    standstill_speed: float
    deceleration: float = 10.0


UNITY_CAR = PedalCar(standstill_speed=5.0 * MPH)  # of Unity's standard assets


class RollDirection:
    """Which way a car rolls, from its pedal and speed, or from its motion where the wire has it.

    Attributes:
        roll: as far as it is known.
    """

    def __init__(self) -> None:
        self.roll = Roll.UNKNOWN
        self._slowest = math.inf  # m/s, since the pedal went below 0

    def note_controls(self, controls: Controls, speed: float, pedal: float = 0.0) -> None:
        """Take in what a car at `speed` (m/s, without sign) is given, while `pedal` was the last command."""
        reverses = controls.gear is not None and controls.gear < 0
        if pedal < 0.0 and not reverses:
            self._slowest = min(self._slowest, speed)
            if self._slowest < CROSSING_SPEED and speed > self._slowest + CROSSING_GAIN:
                self.roll = Roll.BACKWARD  # what brakes it makes it quicker
        else:
            self._slowest = math.inf
        if speed >= CRAWL_SPEED:
            if reverses and self.roll is Roll.FORWARD:
                self.roll = Roll.UNKNOWN
        elif controls.throttle > 0.0:
            self.roll = Roll.BACKWARD if reverses else Roll.FORWARD
        elif self.roll is Roll.FORWARD or speed < REST_SPEED:
            self.roll = Roll.UNKNOWN

    def note_motion(self, forward_speed: float) -> None:
        """Take in the forward speed (m/s, negative backwards) of a wire that has it."""
        if abs(forward_speed) > REST_SPEED:
            self.roll = Roll.FORWARD if forward_speed > 0.0 else Roll.BACKWARD


def combine_pedals(
    controls: Controls, speed: float, car: PedalCar, *, roll: Roll = Roll.UNKNOWN, dead_time: float = 0.0
) -> float:
    """Return the pedal for `controls`.

    A brake that is held at rest is 0: below it the car would go backwards.

    Args:
        controls: gear, throttle and brake count.
        speed: of the car, m/s, without sign.
        car: what the pedal does to it.
        roll: which way it rolls. Below the standstill speed reverse brakes only a car that is known to roll forward; no
            brake is for one that rolls backwards: it rolls out.
        dead_time: s from a state to the effect of the command that answers it.
    """
    if controls.gear is not None and controls.gear < 0:
        return -controls.throttle
    spare = speed - ROLLING_LOSS * dead_time  # m/s
    most = spare / (DEAD_TIMES * dead_time * car.deceleration) if dead_time > 0.0 else 1.0
    brake = 0.0
    if roll is not Roll.BACKWARD and spare > 0.0:
        if speed > car.standstill_speed:
            brake = min(controls.brake, most)
        elif roll is Roll.FORWARD and speed > CRAWL_SPEED and controls.throttle == 0.0:
            brake = min(REVERSE_BRAKE * controls.brake, most / REVERSE_FORCE)
    return controls.throttle - brake


class OnePedal:
    """The pedal of one link.

    Args:
        car: what it does to the simulator's car.

    Attributes:
        direction: which way the car rolls.
    """

    def __init__(self, car: PedalCar) -> None:
        self._car, self._pedal = car, 0.0
        self.direction = RollDirection()

    def combine(self, controls: Controls, speed: float, dead_time: float) -> float:
        """Return the pedal for `controls` of a car at `speed` m/s (without sign); see `combine_pedals`."""
        self.direction.note_controls(controls, speed, self._pedal)
        roll = self.direction.roll
        self._pedal = combine_pedals(controls, speed, self._car, roll=roll, dead_time=dead_time)
        return self._pedal


def split_pedal(pedal: float, forward_speed: float, standstill_speed: float) -> tuple[float, float, bool]:
    """Return (throttle, brake, whether in reverse) for a car that rolls at `forward_speed` m/s, negative in reverse.

    A car with gears takes none backwards while it rolls forward: what reverse does to it then, its brake does.
    """
    if pedal >= 0.0:
        return pedal, 0.0, False
    if forward_speed > standstill_speed:
        return 0.0, -pedal, False
    return (0.0, -REVERSE_FORCE * pedal, False) if forward_speed > REST_SPEED else (-pedal, 0.0, True)
