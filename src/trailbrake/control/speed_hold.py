"""Holding a speed without knowing the car: by the pedals, or by torque at the wheels."""

from trailbrake.control.pid import Pid

PEDAL_GAIN = 0.4  # share of a pedal per m/s
PEDAL_RESET = 0.15  # share of a pedal per m of speed error integrated over time
COAST = 0.05  # share below a closed throttle at which the engine drags and nobody brakes yet
MOST = 500.0  # N m at each wheel, drive or brake: what the tyres of any road car carry
TORQUE_GAIN = 0.5  # share of MOST per m/s: 2.5 m/s^2 of a car of 1.3 t on 0.31 m wheels
TORQUE_RESET = 0.24  # share of MOST per m
NEAR = 3.0  # m/s of error within which the integral learns what holds the speed; a way there teaches nothing


class SpeedByPedals:
    """A PI whose output is throttle above 0 and brake below. It does not wind up while a pedal is at its end."""

    def __init__(self) -> None:
        self._pi = Pid(PEDAL_GAIN, PEDAL_RESET)

    def update(self, error: float, dt: float) -> tuple[float, float]:
        """Return (throttle, brake), 0..1.

        Args:
            error: m/s that are missing.
            dt: s since the last call; 0 moves no memory.
        """
        push = self._pi.update(error, dt if abs(error) < NEAR else 0.0)
        return max(push, 0.0), max(-push - COAST, 0.0)


class SpeedByTorque:
    """The same at the wheels: drive above 0, brake below."""

    def __init__(self) -> None:
        self._pi = Pid(TORQUE_GAIN, TORQUE_RESET)

    def update(self, error: float, dt: float) -> tuple[float, float]:
        """Return (drive, brake), N m, >= 0, for each of the four wheels.

        Args:
            error: m/s that are missing.
            dt: s since the last call; 0 moves no memory.
        """
        push = MOST * self._pi.update(error, dt if abs(error) < NEAR else 0.0)
        return max(push, 0.0), max(-push, 0.0)
