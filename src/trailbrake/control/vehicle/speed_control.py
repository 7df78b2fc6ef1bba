"""Holding a speed without a model of the car: by throttle and brake, or by torque at the wheels.

Keeping a distance to the car ahead.

A speed for a road of which only the curvature under the wheels is known.
"""

import math
from dataclasses import dataclass

from trailbrake.control.pid import LowPass, PidController
from trailbrake.state.fields import quantity
from trailbrake.units import MPH

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
STANDSTILL_GAP = 4.0  # m, gap at rest
TIME_HEADWAY = 0.5  # s, added gap over speed
ASSUMED_DECELERATION = 6.0  # m/s^2, deceleration assumed for braking, well below the tyres' limit
BRAKE_GAIN = 0.3  # of the brake pedal per m/s too fast
MIN_SPEED = 5.0  # m/s: below it, yaw rate over speed is no measure of the road's curvature
MIN_YAW_RATE = 1e-3  # rad/s: a smaller one counts as straight
SMOOTHING_TIME = 0.3  # s, time constant of the curvature's low-pass, which removes weaving


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


def safe_following_speed(gap: float, speed: float, lead_speed: float) -> float:
    """Return the highest speed (m/s) from which braking still keeps the gap: v^2 = ahead^2 + 2 a (gap - distance).

    Args:
        gap: m between the two, bumper to bumper.
        speed: m/s, own.
        lead_speed: m/s, of the car ahead, along the road.
    """
    room = gap - STANDSTILL_GAP - TIME_HEADWAY * speed
    return math.sqrt(max(lead_speed * abs(lead_speed) + 2.0 * ASSUMED_DECELERATION * room, 0.0))


def limit_pedals_to_speed(throttle: float, brake: float, speed: float, max_speed: float) -> tuple[float, float]:
    """Return throttle and brake (0..1), changed to braking where `speed` exceeds `max_speed` (m/s)."""
    excess = speed - max_speed
    if excess <= 0.0:
        return throttle, brake
    return 0.0, max(brake, min(BRAKE_GAIN * excess, 1.0))


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
