"""Throttle and brake for a force at the wheels, from the car's engine and brake data."""

import math

from trailbrake.cars.params import CarParams

NORMAL_95 = 1.96
MOST_BALANCE = 0.25  # throttle beside the brake: more is no engine's drag, but an error of the car's file


class DrivetrainInverse:
    """The inverse of a car's drivetrain.

    Under braking the throttle balances the engine's drag: engine braking acts on the driven axle alone, and near the
    limit it makes the rear of a rear-driven car slide. The engine of a learned car may pull more and drag less than its
    file says: beside the brakes, the throttle is what the least drag takes of the most torque.
    """

    def __init__(self, car: CarParams) -> None:
        self._car = car
        doubt = min(NORMAL_95 * car.uncertainty.drive_force, 1.0) if car.uncertainty is not None else 0.0
        self._balance_share = (1.0 - doubt) / (1.0 + doubt)

    def engine_torques(self, engine_speed: float) -> tuple[float, float]:
        """Return (full-throttle torque, drag torque with the throttle shut), N m, >= 0, at `engine_speed` (rad/s)."""
        engine = self._car.engine
        rpm = max(engine_speed * 30.0 / math.pi, engine.idle_rpm)
        return max(engine.full_torque(rpm), 0.0), max(engine.drag_torque(rpm), 0.0)

    def pedals_for_force(
        self, force: float, speed: float, gear: int, engine_speed: float = math.nan
    ) -> tuple[float, float]:
        """Return (throttle, brake), 0..1, for a longitudinal `force` (N, at the wheels, positive drives).

        Args:
            force: N; limited to what engine and brakes can give.
            speed: m/s.
            gear: the engaged gear, 1 or higher.
            engine_speed: rad/s, measured; NaN where it is not known. With a slipping clutch or spinning wheels it is
                higher than `speed` and `gear` imply, and the torque is that at the higher speed.
        """
        rolling = self._car.engine_speed(speed, gear)
        full, drag = self.engine_torques(engine_speed if engine_speed > rolling else rolling)
        ratio = self._car.gearbox.overall_ratio(gear) * self._car.gearbox.efficiency / self._car.driven_radius
        torque = max(force, 0.0) / ratio
        throttle = min((torque + drag) / (full + drag), 1.0) if full + drag > 0.0 else 0.0
        if force <= 0.0:
            throttle = min(self._balance_share * throttle, MOST_BALANCE)
        return throttle, min(max(-force, 0.0) / self._car.full_brake_force, 1.0)
