"""Holding a speed by throttle and brake, without a model of the car."""

from dataclasses import dataclass

from trailbrake.control.pid import Pid
from trailbrake.state.fields import quantity

FULL = 2.0  # m/s: a larger lack of speed presses no harder; what is beyond would only wait in the controller


@dataclass(frozen=True)
class PaceGains:
    """How to hold a speed."""

    pedal_p: float = quantity("s/m", "pedal per m/s of error", lo=0.1, hi=2.0, default=0.6)
    pedal_i: float = quantity("1/m", "the same, per s that it lasts", lo=0.0, hi=0.5, default=0.15)
    brake: float = quantity("1", "brake for what would be full throttle of the other sign", lo=0.1, hi=1.0, default=0.6)


class Pace:
    """Turns a wanted speed into pedals."""

    def __init__(self, gains: PaceGains) -> None:
        self._pid = Pid(gains.pedal_p, gains.pedal_i)
        self._brake = gains.brake

    def pedals(self, wanted: float, speed: float, dt: float) -> tuple[float, float]:
        """Return (throttle, brake), 0..1, never both. Speeds in m/s, `dt` s since the last call."""
        demand = self._pid.update(min(wanted - speed, FULL), dt)
        return (demand, 0.0) if demand >= 0.0 else (0.0, min(-demand * self._brake, 1.0))
