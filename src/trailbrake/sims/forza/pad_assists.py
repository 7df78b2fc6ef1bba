"""The games' pad assists: speed-sensitive steering, and reverse of the automatic gearbox.

Source: protocol page forza-data-out, section 6.6, for the steering. Reverse: a brake that is held at rest engages
reverse, and the triggers swap until the car is at rest again.
"""

import math

from trailbrake.cars.params import CarParams, Tyre
from trailbrake.units import G

FULL_STICK_LATERAL = 8.0  # m/s^2, lateral acceleration of a full stick at speed
FULL_STICK_S = 0.25  # s from centre to full
STANDING_SPEED = 0.3  # m/s
PRESSED_LEVEL = 0.05  # trigger level above which it counts as pressed
REVERSE_S = 0.3  # s that a trigger must be held at rest until the gearbox changes direction


def cornering_compliance(tyre: Tyre) -> float:
    """Return the slip angle (rad) of an axle per m/s^2 of lateral acceleration, for small angles.

    The slope of the Magic Formula at 0 is D * B * C per normalised slip, here with D = mu * load: the load drops out.
    """
    return math.tan(tyre.peak_slip_angle) / (G * tyre.mu_y * tyre.stiffness_factor * tyre.shape)


class PadSteering:
    """Computes the steer (share of full lock, positive left) from the stick.

    Args:
        car: supplies lock, wheelbase and tyres.
        fades: whether the range shrinks with speed and the stick is rate-limited; else the stick is the steer.
    """

    def __init__(self, car: CarParams, *, fades: bool) -> None:
        self._max_angle, self._wheelbase, self._fades = car.steering.max_angle, car.body.wheelbase, fades
        self._understeer = cornering_compliance(car.tyre_front) - cornering_compliance(car.tyre_rear)
        self._stick = 0.0

    def max_steer(self, speed: float) -> float:
        """Return the steer of a full stick at `speed` (m/s): FULL_STICK_LATERAL by the linear single-track model."""
        turn = FULL_STICK_LATERAL * self._wheelbase / max(speed * speed, 1e-6)
        # A car that oversteers needs less than the kinematic angle, here at least half of it.
        return min(1.0, max(turn + FULL_STICK_LATERAL * self._understeer, 0.5 * turn) / self._max_angle)

    def filter_stick(self, stick: float, speed: float, dt: float) -> float:
        """Return the steer for a stick (-1..1, positive left) that is held for `dt` s at `speed` m/s."""
        if not self._fades:
            return stick
        reach = dt / FULL_STICK_S
        self._stick += max(-reach, min(reach, stick - self._stick))
        return self._stick * self.max_steer(speed)


class AutomaticReverse:
    """The automatic gearbox's choice between forward and reverse, and the pedals that follow from the triggers.

    Attributes:
        in_reverse: whether reverse is engaged.
    """

    def __init__(self) -> None:
        self.in_reverse = False
        self._held_s = 0.0

    def map_triggers(self, throttle: float, brake: float, speed: float, dt: float) -> tuple[float, float]:
        """Return (throttle, brake) of the car.

        Args:
            throttle: right trigger, 0..1.
            brake: left trigger, 0..1.
            speed: m/s over the ground.
            dt: s since the last call.
        """
        forward, backward = (brake, throttle) if self.in_reverse else (throttle, brake)
        reversing = speed < STANDING_SPEED and backward > PRESSED_LEVEL and forward <= PRESSED_LEVEL
        self._held_s = self._held_s + dt if reversing else 0.0
        if self._held_s >= REVERSE_S:
            self.in_reverse, self._held_s = not self.in_reverse, 0.0
            forward, backward = backward, forward
        return forward, backward
