"""The pressure in an engine's intake, which `Boost` shows: the games' formula is not documented, this one is ours.

The throttle lets in its share of the atmosphere; a turbocharger multiplies that by up to 1 / (1 - turbo_share), since
the torque is in proportion to the air. What the turbocharger adds follows the throttle with the car's lag.
"""

from trailbrake.cars.drivetrain import Engine

ATMOSPHERE = 101_325.0  # Pa, standard; `Boost` of a closed throttle is minus this


class TurboPressure:
    """Follows the turbocharger of an engine.

    Args:
        engine: of the car.

    Attributes:
        share: 0..1, of its pressure that has built up; 0 without a turbocharger.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.share = 0.0

    def update(self, throttle: float, dt: float) -> None:
        """Let `dt` s pass at a throttle of 0..1."""
        lag = self._engine.turbo_lag
        if lag > 0.0:
            self.share += (throttle - self.share) * dt / (lag + dt)


def boost_pressure(engine: Engine, throttle: float, turbo_share: float) -> float:
    """Return the pressure above the atmosphere, Pa.

    Args:
        engine: of the car.
        throttle: 0..1.
        turbo_share: `TurboPressure.share`.
    """
    gain = engine.turbo_share / (1.0 - engine.turbo_share) if engine.turbo_share < 1.0 else 1.0
    return throttle * ATMOSPHERE * (1.0 + gain * turbo_share) - ATMOSPHERE
