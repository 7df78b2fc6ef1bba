"""The controllers of BeamNG's expo demos, number for number, in the wire's signs.

Positions are relative to the start of the car: m along its start heading (`ahead`) and m to the left of it (`left`), so
that the demos run on any map. Source: BeamNG-Simulink_generic_interface, examples/expo_demos, demos 1 to 3.

Positions relative to the start of a car: ahead of it and to its left.
"""

import math

from trailbrake.units import DEG, KMH, wrap_angle

PREVIEW = 1.0  # s
STEER_GAIN = 0.05  # share of full lock per metre, both steering demos
LANE_SPEED = 50.0 * KMH
BRAKE_SPEED = 80.0 * KMH
LANE_OFFSET = 5.0  # m to the left
LANE_START, LANE_RETURN = 50.0, 100.0  # m ahead of the start, of the point one second ahead
LANE_END = 150.0  # m ahead of the start
BRAKE_AT = 220.0  # m ahead of the start
STOPPED_SPEED, STOPPED_AFTER = 1.5, 3.0  # m/s and s
TORQUE, MAX_TORQUE, TORQUE_PER_SPEED = 3000.0, 18000.0, 400.0  # N m; N m; N m per m/s
BRAKE_TORQUE = 5000.0  # N m
STEER_SHARE = 1e-4  # of the torque, per degree of steering wheel
DRIVE_FRONT, DRIVE_REAR = 0.2, 0.3  # of the torque, each wheel


class DemoPiController:
    """The demos' PI: one output, throttle above 0 and brake below; the output is limited, the integral is not."""

    def __init__(self, kp: float, ki: float) -> None:
        self._kp, self._ki = kp, ki
        self._sum = 0.0

    def update(self, error: float, dt: float) -> tuple[float, float]:
        """Return (throttle, brake), 0..1, for a speed error (m/s), `dt` s after the last call."""
        output = min(max(self._kp * error + self._sum, -1.0), 1.0)
        self._sum += self._ki * error * dt  # Simulink's integrator: its output lags one step
        return max(output, 0.0), max(-output, 0.0)


def demo_steer(left: float, speed: float, yaw: float, target: float) -> float:
    """Return the demos' steering, share of full lock, positive to the RIGHT.

    Args:
        left: m to the left of the start.
        speed: m/s.
        yaw: rad, to the left of the start heading.
        target: m to the left of the start.
    """
    return min(max(STEER_GAIN * (left + PREVIEW * speed * math.sin(yaw) - target), -1.0), 1.0)


def demo_lane_offset(ahead: float, speed: float) -> float:
    """Return the target of demo 1, m to the left of the start, at `ahead` (m) and `speed` (m/s)."""
    return LANE_OFFSET if LANE_START < ahead + PREVIEW * speed <= LANE_RETURN else 0.0


FourValues = tuple[float, float, float, float]


def demo_wheel_torques(
    throttle: float, brake: float, wheel_angle: float, gear: int, speed: float
) -> tuple[FourValues, FourValues]:
    """Return demo 3's (drive, brake) torques, N m, of FL, FR, RL, RR; brake positive, where the wire wants it negative.

    Args:
        throttle: the player's, 0..1.
        brake: the player's, 0..1.
        wheel_angle: rad of the steering wheel, positive left: the outer wheels get more.
        gear: its sign is the direction.
        speed: m/s.
    """
    direction = (gear > 0) - (gear < 0)
    total = direction * min(max(TORQUE * throttle, 0.0), max(0.0, MAX_TORQUE - TORQUE_PER_SPEED * speed))
    shift = STEER_SHARE * wheel_angle / DEG
    front, rear = DRIVE_FRONT, DRIVE_REAR
    drive = (front - shift, front + shift, rear - shift, rear + shift)
    stop = (rear - shift, rear + shift, front - shift, front + shift)  # the brakes work the front harder
    pedal = BRAKE_TORQUE * brake
    return _split_total(total, drive), _split_total(pedal, stop)


def _split_total(total: float, shares: FourValues) -> FourValues:
    return total * shares[0], total * shares[1], total * shares[2], total * shares[3]


class StartFrame:
    """The frame of the first pose that it receives: x along the heading, y to the left."""

    def __init__(self) -> None:
        self._start: tuple[float, float, float] | None = None

    def to_start_frame(self, x: float, y: float, yaw: float) -> tuple[float, float, float]:
        """Return (m ahead, m to the left, rad to the left) of the start; x, y (m) and yaw (rad) in the world."""
        if self._start is None:
            self._start = (x, y, yaw)
        x0, y0, yaw0 = self._start
        forward, left = math.cos(yaw0), math.sin(yaw0)
        dx, dy = x - x0, y - y0
        return dx * forward + dy * left, dy * forward - dx * left, wrap_angle(yaw - yaw0)
