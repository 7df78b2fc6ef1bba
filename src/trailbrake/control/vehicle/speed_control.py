"""Holding a speed without a model of the car: by throttle and brake, or by torque at the wheels."""

import math
from dataclasses import dataclass

from trailbrake.control.pid import PidController
from trailbrake.state.fields import quantity

MAX_SPEED_ERROR = 2.0  # m/s below the target beyond which the pedal no longer grows, nor the integral more quickly

# `hold_speed_controller`
PEDAL_GAIN = 0.4  # share of a pedal per m/s
PEDAL_INTEGRAL_GAIN = 0.15  # share of a pedal per m of speed error integrated over time
COAST_SHARE = 0.05  # demand below 0 down to which the engine's drag alone slows the car
INTEGRATION_LIMIT = 3.0  # m/s of error within which the integral acts: the way to a far target teaches nothing

# `TorqueSpeedController`
MAX_TORQUE = 500.0  # N m at each wheel, drive or brake: the tyres of any road car carry it
TORQUE_GAIN = 0.5  # share of MAX_TORQUE per m/s: 2.5 m/s^2 of a car of 1.3 t on 0.31 m wheels
TORQUE_INTEGRAL_GAIN = 0.24  # share of MAX_TORQUE per m


@dataclass(frozen=True)
class SpeedGains:
    """Gains of a `SpeedController`."""

    pedal_p: float = quantity("s/m", "pedal per m/s of error", lo=0.1, hi=2.0, default=0.6)
    pedal_i: float = quantity("1/m", "the same, per s that it lasts", lo=0.0, hi=0.5, default=0.15)
    brake: float = quantity("1", "brake for what would be full throttle of the other sign", lo=0.1, hi=1.0, default=0.6)


class SpeedController:
    """A PI controller whose output is throttle above 0 and brake below. It does not wind up at a pedal's end.

    Args:
        gains: of the controller.
        max_error: m/s, limit of the error below the target speed.
        integration_limit: m/s, error from which the integral stands still.
        coast: demand below 0 down to which neither pedal is pressed.
    """

    def __init__(
        self,
        gains: SpeedGains,
        *,
        max_error: float = MAX_SPEED_ERROR,
        integration_limit: float = math.inf,
        coast: float = 0.0,
    ) -> None:
        self._pi = PidController(gains.pedal_p, gains.pedal_i)
        self._brake, self._coast = gains.brake, coast
        self._max_error, self._integration_limit = max_error, integration_limit

    def compute_pedals(self, target_speed: float, speed: float, dt: float) -> tuple[float, float]:
        """Return (throttle, brake), 0..1, never both. Speeds in m/s; `dt` s since the last call, 0: no integration."""
        error = target_speed - speed
        step = dt if abs(error) < self._integration_limit else 0.0
        demand = self._pi.update(min(error, self._max_error), step)
        if demand >= 0.0:
            return demand, 0.0
        return 0.0, min(max(-demand - self._coast, 0.0) * self._brake, 1.0)


def hold_speed_controller() -> SpeedController:
    """Return the controller of drivers without gains: it brakes as hard as it drives, and coasts before it brakes."""
    gains = SpeedGains(pedal_p=PEDAL_GAIN, pedal_i=PEDAL_INTEGRAL_GAIN, brake=1.0)
    return SpeedController(gains, max_error=math.inf, integration_limit=INTEGRATION_LIMIT, coast=COAST_SHARE)


class TorqueSpeedController:
    """The same PI controller at the wheels: drive torque above 0, brake torque below."""

    def __init__(self) -> None:
        self._pi = PidController(TORQUE_GAIN, TORQUE_INTEGRAL_GAIN)

    def compute_torques(self, target_speed: float, speed: float, dt: float) -> tuple[float, float]:
        """Return (drive, brake), N m, >= 0, for each wheel. Speeds in m/s; `dt` s since the last call."""
        error = target_speed - speed
        demand = MAX_TORQUE * self._pi.update(error, dt if abs(error) < INTEGRATION_LIMIT else 0.0)
        return max(demand, 0.0), max(-demand, 0.0)
