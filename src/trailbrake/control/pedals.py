"""From a wanted force at the wheels to throttle and brake, by the car's own engine and brake data."""

import math

from trailbrake.cars.params import CarParams, interpolate


class Pedals:
    """The inverse of a car's drivetrain.

    While it brakes, the throttle is held where the engine neither drives nor drags: engine braking acts on the
    driven axle alone, and on a rear-driven car near the limit that is what lets the rear go.
    """

    def __init__(self, car: CarParams) -> None:
        self._car = car

    def engine_torques(self, engine_speed: float) -> tuple[float, float]:
        """Return (full-throttle torque, drag torque with the throttle shut), N m, >= 0, at `engine_speed` (rad/s)."""
        engine = self._car.engine
        rpm = max(engine_speed * 30.0 / math.pi, engine.idle_rpm)
        share = (rpm - engine.idle_rpm) / (engine.limiter_rpm - engine.idle_rpm)
        drag = engine.braking_torque_idle + share * (engine.braking_torque_limiter - engine.braking_torque_idle)
        return max(interpolate(rpm, engine.rpm, engine.torque), 0.0), max(drag, 0.0)

    def throttle_and_brake(
        self, force: float, speed: float, gear: int, engine_speed: float = math.nan
    ) -> tuple[float, float]:
        """Return (throttle, brake), 0..1, for a longitudinal `force` (N, at the wheels, positive drives).

        Args:
            force: N; held to what engine and brakes can give.
            speed: m/s.
            gear: the gear that is in, 1 or higher.
            engine_speed: rad/s, what the rev counter shows; NaN where there is none. With a slipping clutch or
                spinning wheels it is more than `speed` and `gear` say, and so is what a throttle gives.
        """
        rolling = self._car.engine_speed(speed, gear)
        full, drag = self.engine_torques(engine_speed if engine_speed > rolling else rolling)
        ratio = self._car.gearbox.overall(gear) * self._car.gearbox.efficiency / self._car.driven_radius
        torque = max(force, 0.0) / ratio
        throttle = min((torque + drag) / (full + drag), 1.0) if full + drag > 0.0 else 0.0
        return throttle, min(max(-force, 0.0) / self._car.full_brake_force, 1.0)
