"""Getting a car that has spun, faces the wrong way or is stuck at a wall back on its way."""

import math

WRONG_WAY = 1.2  # rad off the road's direction from which turning round comes first
CRAWL = 6.0  # m/s, the most speed to turn round at
STUCK_SPEED = 0.5  # m/s
STUCK_AFTER = 1.0  # s of standing still, once under way, that count as stuck
REVERSE_FOR = 2.0  # s
THROTTLE = 0.35


class Recovery:
    """Remembers whether the car is stuck. `answer()` is None while there is nothing to recover from."""

    def __init__(self) -> None:
        self._under_way = False
        self._still_for = 0.0
        self._reverse_left = 0.0

    def answer(self, heading: float, offset: float, speed: float, dt: float) -> tuple[float, float, float, int] | None:
        """Return (steer, throttle, brake, gear) while the car has to be turned round or freed.

        Args:
            heading: rad, of the car against the road, -pi..pi.
            offset: m, of the car left of its line.
            speed: m/s.
            dt: s since the last call.
        """
        self._under_way = self._under_way or speed > CRAWL
        stands = self._under_way and speed < STUCK_SPEED and self._reverse_left <= 0.0
        self._still_for = self._still_for + dt if stands else 0.0
        if self._still_for > STUCK_AFTER:
            self._still_for, self._reverse_left = 0.0, REVERSE_FOR
        if self._reverse_left > 0.0:
            self._reverse_left -= dt
            # Backwards the nose swings the other way: steer away from where it shall point.
            return self._towards(heading, offset), THROTTLE, 0.0, -1
        if abs(heading) < WRONG_WAY:
            return None
        if speed > CRAWL:
            return 0.0, 0.0, 0.5, 1
        return -self._towards(heading, offset), THROTTLE, 0.0, 1

    def _towards(self, heading: float, offset: float) -> float:
        """Return the full lock (1 or -1) whose opposite turns the nose over the middle of the road."""
        # The line as the driver sees it: on the left of a car that faces it so.
        line_on_left = -offset * math.cos(heading)
        if abs(line_on_left) < 1.0:
            line_on_left = -heading
        return -1.0 if line_on_left > 0.0 else 1.0
