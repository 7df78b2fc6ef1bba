"""How fast to go on a road of which only the bend under the wheels is felt."""

import math
from dataclasses import dataclass

from trailbrake.control.pid import LowPass
from trailbrake.state.fields import quantity

SLOWEST = 5.0  # m/s: below it, yaw rate over speed says nothing of a road
STRAIGHT = 1e-3  # rad/s: less is no bend
FEEL = 0.3  # s, low-pass of the felt curvature: wobbling is no bend


@dataclass(frozen=True)
class BendGains:
    """How much to trust the road."""

    lateral: float = quantity("m/s^2", "lateral acceleration to plan bends with", lo=2.0, hi=9.0, default=3.5)
    memory: float = quantity("m", "distance in which a bend is forgotten to 1/e", lo=30.0, hi=3000.0, default=1000.0)
    rise: float = quantity("m/s^2", "how quickly the speed may grow", lo=0.1, hi=2.0, default=0.4)
    floor: float = quantity("m/s", "speed that no bend takes away: slow enough to feel for any", lo=1.0, hi=25.0,
                            default=17.5)  # fmt: skip


class BendSense:
    """Remembers the tightest bend of late: a road that has bent will bend again, and nothing tells when."""

    def __init__(self, gains: BendGains) -> None:
        self._gains = gains
        self._felt = LowPass(FEEL)
        self._tightest = 0.0  # 1/m
        self._speed = SLOWEST

    def speed(self, most: float, speed: float, yaw_rate: float, dt: float) -> float:
        """Return the speed (m/s) to go, at most `most`.

        Args:
            most: m/s.
            speed: m/s.
            yaw_rate: rad/s, about the car's own z: pitch and roll are no bends.
            dt: s since the last call.
        """
        rate = yaw_rate if abs(yaw_rate) > STRAIGHT else 0.0
        felt = abs(self._felt.update(rate / max(speed, SLOWEST), dt)) if speed > SLOWEST else 0.0
        self._tightest = max(felt, self._tightest * math.exp(-speed * dt / self._gains.memory))
        safe = math.sqrt(self._gains.lateral / self._tightest) if self._tightest > 0.0 else most
        self._speed = min(max(safe, self._gains.floor), most, self._speed + self._gains.rise * dt)
        return self._speed
