"""A speed for a road of which only the curvature under the wheels is known."""

import math
from dataclasses import dataclass

from trailbrake.control.pid import LowPass
from trailbrake.state.fields import quantity
from trailbrake.units import MPH

MIN_SPEED = 5.0  # m/s: below it, yaw rate over speed is no measure of the road's curvature
MIN_YAW_RATE = 1e-3  # rad/s: a smaller one counts as straight
SMOOTHING_TIME = 0.3  # s, time constant of the curvature's low-pass, which removes weaving


@dataclass(frozen=True)
class BendGains:
    """Gains of a `BendSpeedLimiter`."""

    lateral: float = quantity("m/s^2", "lateral acceleration to plan bends with", lo=2.0, hi=9.0, default=3.5)
    memory: float = quantity("m", "distance in which a bend is forgotten to 1/e", lo=30.0, hi=3000.0, default=1000.0)
    expected: float = quantity("m", "radius of the bends that it expects of a road before the first one",
                               lo=5.0, hi=10_000.0, default=60.0)  # fmt: skip
    rise: float = quantity("m/s^2", "how quickly the speed may grow above the floor", lo=0.1, hi=2.0, default=0.4)
    floor: float = quantity("m/s", "speed that no bend takes away: slow enough to feel for any", lo=1.0, hi=25.0,
                            default=40.0 * MPH)  # fmt: skip


class BendSpeedLimiter:
    """Limits the speed by the tightest recent bend: the next one may be as tight, and is not visible."""

    def __init__(self, gains: BendGains) -> None:
        self._gains = gains
        self._curvature_filter = LowPass(SMOOTHING_TIME)
        self._tightest = 1.0 / gains.expected  # 1/m
        self._speed = max(MIN_SPEED, gains.floor)

    def limit_speed(self, max_speed: float, speed: float, yaw_rate: float, dt: float) -> float:
        """Return the speed (m/s) to hold, at most `max_speed`.

        Args:
            max_speed: m/s.
            speed: m/s.
            yaw_rate: rad/s, about the car's z axis.
            dt: s since the last call.
        """
        rate = yaw_rate if abs(yaw_rate) > MIN_YAW_RATE else 0.0
        felt = abs(self._curvature_filter.update(rate / max(speed, MIN_SPEED), dt)) if speed > MIN_SPEED else 0.0
        self._tightest = max(felt, self._tightest * math.exp(-speed * dt / self._gains.memory))
        safe = math.sqrt(self._gains.lateral / self._tightest) if self._tightest > 0.0 else max_speed  # may underflow
        self._speed = min(max(safe, self._gains.floor), max_speed, self._speed + self._gains.rise * dt)
        return self._speed
