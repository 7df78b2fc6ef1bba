"""The pedals of a test drive: pulls, coasting, part throttle and braking of many strengths, one after the other.

Between bends the car drives a pattern of the list until the speed limit of the road ahead is reached; then it brakes,
every time with another pedal, as far as the limit lets it.
"""

import math
from dataclasses import dataclass

BRAKE_LEVELS = (0.2, 0.4, 0.6, 0.3, 0.8, 0.5, 1.0)
RAMP_S = 0.8  # of a pedal from 0 to 1
SPIN_SHARE = 0.12  # slip of an axle beyond which the throttle is let go ...
LOCK_SHARE = 0.18  # ... and the brake
RELEASE_S = 0.15
FILTER_S = 0.1  # of the low-pass filters on acceleration and throttle ...
RESPONSE_S = 0.3  # ... and of that on their ratio
LEAST_THROTTLE = 0.05  # that says what throttle does
FREE_SHARE = 0.45  # of the most acceleration, below which the throttle is not limited: it need not act in proportion
BELOW_LIMIT = 0.94  # share of the limit at which braking ends
URGENT = 8.0  # pedal per share of speed above the limit


@dataclass(frozen=True)
class _Pattern:
    throttle: float
    seconds: float
    brake: float = 0.0
    above: float = 0.0  # m/s below which it is left out


PATTERNS = (
    _Pattern(1.0, 6.0),
    _Pattern(0.0, 3.5, above=8.0),
    _Pattern(1.0, 4.0),
    _Pattern(0.0, 1.2, brake=1.0, above=14.0),
    _Pattern(0.5, 3.0),
    _Pattern(1.0, 6.0),
    _Pattern(0.25, 3.0, above=6.0),
    _Pattern(0.0, 1.5, brake=0.35, above=12.0),
)


class PedalProgramme:
    """Pedals for one time step after the other.

    Attributes:
        most_acceleration: m/s^2, of a pull: a car that has more does not get all of its throttle.
        most_throttle: 0..1, for a car whose front tyres turn it no further.
    """

    def __init__(self) -> None:
        self.most_acceleration, self.most_throttle = math.inf, 1.0
        self._at, self._since, self._events = 0, 0.0, 0
        self._braking, self._released = False, 0.0
        self._throttle = self._brake = 0.0
        self._speed, self._acceleration, self._applied = math.nan, 0.0, 0.0
        self._response = 0.0  # m/s^2, acceleration over throttle

    def pedals(
        self, speed: float, limit: float, bending: float, slips: tuple[float, float], dt: float
    ) -> tuple[float, float]:
        """Return throttle and brake.

        Args:
            speed: m/s.
            limit: m/s, of the road here, the braking for what comes included.
            bending: share of the lateral acceleration that is allowed which the car uses.
            slips: slip ratio of the front and rear axle; 0 where they are not known.
            dt: s since the last call.
        """
        self._released = max(self._released - dt, 0.0)
        self._observe_response(speed, dt)
        if speed > limit and not self._braking:
            self._braking, self._events = True, self._events + 1
        if self._braking and speed < BELOW_LIMIT * limit:
            self._braking = False
        if self._braking:
            level = BRAKE_LEVELS[self._events % len(BRAKE_LEVELS)] * max(1.0 - 0.7 * bending, 0.15)
            level += URGENT * max(speed / max(limit, 1.0) - 1.03, 0.0)
            return self._ramp(0.0, min(level, 1.0), slips, dt)
        pattern = PATTERNS[self._at % len(PATTERNS)]
        self._since += dt
        calm = bending < 0.35
        if self._since > pattern.seconds or (speed < pattern.above) or (pattern.brake > 0.0 and not calm):
            self._at, self._since = self._at + 1, 0.0
            pattern = PATTERNS[self._at % len(PATTERNS)]
        throttle = pattern.throttle
        # Towards the limit: hold the speed in a bend rather than swing about it.
        room = max(limit - speed, 0.0)
        throttle = min(throttle, 0.15 + 0.25 * room) if bending > 0.35 else throttle
        brake = pattern.brake if calm and speed > pattern.above else 0.0
        if brake == 0.0 and speed < 6.0:
            throttle = max(throttle, 0.35)
        if self._response > self.most_acceleration:
            throttle = min(throttle, self.most_acceleration / self._response)
        throttle = min(throttle, self.most_throttle)
        return self._ramp(throttle, brake, slips, dt)

    def _observe_response(self, speed: float, dt: float) -> None:
        """Learn how much the car accelerates by its throttle."""
        if dt > 0.0 and not math.isnan(self._speed):
            share = min(dt / FILTER_S, 1.0)
            self._acceleration += share * ((speed - self._speed) / dt - self._acceleration)
            self._applied += share * (self._throttle - self._applied)
            if self._applied > LEAST_THROTTLE:
                is_free = self._acceleration < FREE_SHARE * self.most_acceleration
                response = 0.0 if is_free else self._acceleration / self._applied
                self._response += min(dt / RESPONSE_S, 1.0) * (response - self._response)
        self._speed = speed

    def _ramp(self, throttle: float, brake: float, slips: tuple[float, float], dt: float) -> tuple[float, float]:
        step = dt / RAMP_S
        self._throttle += min(max(throttle - self._throttle, -10.0 * step), step)
        self._brake += min(max(brake - self._brake, -10.0 * step), 1.6 * step)
        if max(slips) > SPIN_SHARE:
            self._throttle *= max(1.0 - 8.0 * dt, 0.0)
        if min(slips) < -LOCK_SHARE:
            self._released = RELEASE_S
        if self._released > 0.0:
            self._brake = min(self._brake, 0.5 * brake)
        return self._throttle, self._brake
