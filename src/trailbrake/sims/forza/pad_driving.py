"""What the games do with a pad between its report and the car: steering that fades with speed, and reverse.

Source: protocol page forza-data-out, section 6.6, for the steering. Reverse is the automatic box's: who holds the brake
at rest drives backwards, and the triggers change places until the car stands again.
"""

import math

from trailbrake.cars.params import CarParams, Tyre
from trailbrake.units import G

LATERAL = 8.0  # m/s^2 that a full stick asks for at speed
FULL_STICK_S = 0.25  # s from centre to full
STANDING = 0.3  # m/s
PRESSED = 0.05  # share of a trigger's way
REVERSE_S = 0.3  # s that a trigger is held at rest until the box changes direction


def compliance(tyre: Tyre) -> float:
    """Return the slip angle (rad) of an axle per m/s^2 of lateral acceleration, for small angles.

    The slope of the Magic Formula at 0 is D * B * C per normalised slip, here with D = mu * load: the load drops out.
    """
    return math.tan(tyre.peak_slip_angle) / (G * tyre.mu_y * tyre.stiffness * tyre.shape)


class Steering:
    """From the stick to the wheels, as share of full lock, positive left.

    Args:
        car: whose wheels.
        fades: whether a full stick asks for less at speed and gets there in time; else it is the lock itself, at once.
    """

    def __init__(self, car: CarParams, *, fades: bool) -> None:
        self._lock, self._wheelbase, self._fades = car.steering.max_angle, car.body.wheelbase, fades
        self._understeer = compliance(car.tyre_front) - compliance(car.tyre_rear)
        self._stick = 0.0

    def most(self, speed: float) -> float:
        """Return the share of lock that a full stick asks for at `speed` (m/s): LATERAL by the linear single track."""
        turn = LATERAL * self._wheelbase / max(speed * speed, 1e-6)
        # A car that oversteers needs less angle than the geometry says, but never none.
        return min(1.0, max(turn + LATERAL * self._understeer, 0.5 * turn) / self._lock)

    def turn(self, stick: float, speed: float, dt: float) -> float:
        """Return the steer for a stick (-1..1, positive left) held for `dt` s at `speed` m/s."""
        if not self._fades:
            return stick
        reach = dt / FULL_STICK_S
        self._stick += max(-reach, min(reach, stick - self._stick))
        return self._stick * self.most(speed)


class Direction:
    """Whether the automatic box is in reverse, and what the triggers then mean."""

    def __init__(self) -> None:
        self.reverse = False
        self._held = 0.0

    def pedals(self, throttle: float, brake: float, speed: float, dt: float) -> tuple[float, float]:
        """Return (throttle, brake) for the car.

        Args:
            throttle: right trigger, 0..1.
            brake: left trigger, 0..1.
            speed: m/s over the ground.
            dt: s that they are held.
        """
        onward, back = (brake, throttle) if self.reverse else (throttle, brake)
        turning = speed < STANDING and back > PRESSED and onward <= PRESSED
        self._held = self._held + dt if turning else 0.0
        if self._held >= REVERSE_S:
            self.reverse, self._held = not self.reverse, 0.0
            onward, back = back, onward
        return onward, back
