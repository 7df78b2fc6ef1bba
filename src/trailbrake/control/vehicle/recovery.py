"""Recovery of a car that has spun, faces the wrong way, or is stuck at a wall."""

import math

WRONG_WAY_ANGLE = 1.2  # rad from the road's direction, above which the car is turned round first
MAX_TURN_SPEED = 6.0  # m/s, limit of the speed for turning round
STUCK_SPEED = 0.5  # m/s
STUCK_TIME = 1.0  # s at standstill, after the start, after which the car counts as stuck
REVERSE_TIME = 2.0  # s
THROTTLE = 0.35


class SpinRecovery:
    """Keeps track of whether the car is stuck or reversing."""

    def __init__(self) -> None:
        self._under_way = False
        self._stationary_time = 0.0
        self._reverse_remaining = 0.0

    def rescue_controls(
        self, heading: float, offset: float, speed: float, dt: float
    ) -> tuple[float, float, float, int] | None:
        """Return (steer, throttle, brake, gear) while the car has to be turned round or freed, else None.

        Args:
            heading: rad, of the car against the road, -pi..pi.
            offset: m, of the car left of its line.
            speed: m/s.
            dt: s since the last call.
        """
        self._under_way = self._under_way or speed > MAX_TURN_SPEED
        stands = self._under_way and speed < STUCK_SPEED and self._reverse_remaining <= 0.0
        self._stationary_time = self._stationary_time + dt if stands else 0.0
        if self._stationary_time > STUCK_TIME:
            self._stationary_time, self._reverse_remaining = 0.0, REVERSE_TIME
        if self._reverse_remaining > 0.0:
            self._reverse_remaining -= dt
            # In reverse the nose swings the other way: steer away from the target direction.
            return self._full_lock_side(heading, offset), THROTTLE, 0.0, -1
        if abs(heading) < WRONG_WAY_ANGLE:
            return None
        if speed > MAX_TURN_SPEED:
            return 0.0, 0.0, 0.5, 1
        return -self._full_lock_side(heading, offset), THROTTLE, 0.0, 1

    def _full_lock_side(self, heading: float, offset: float) -> float:
        """Return the full lock (1 or -1) whose opposite turns the nose across the middle of the road."""
        # The line as the driver sees it: on the left of a car that faces it so.
        line_on_left = -offset * math.cos(heading)
        if abs(line_on_left) < 1.0:
            line_on_left = -heading
        return -1.0 if line_on_left > 0.0 else 1.0
