"""The figures of a car that decide a lap: limits of grip, drive force, downforce, steer angle, delay. Pure functions.

Forces count per mass: from a drive alone, mass and forces cannot be separated.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.cars.params import CarParams
from trailbrake.planning.envelope import compute_envelope, running_resistance, top_speed
from trailbrake.units import G

GRIP_SPEED = 20.0  # m/s, at which grip and braking count: downforce has its own figure
DRIVE_SPEEDS = tuple(float(v) for v in range(8, 81, 4))  # m/s, at which the drive forces do
DOWNFORCE_SPEED = 50.0  # m/s


class CarFigures(NamedTuple):
    """The figures of a car.

    Attributes:
        lateral_grip: m/s^2, largest steady lateral acceleration at GRIP_SPEED.
        braking: m/s^2, largest deceleration in a straight line at GRIP_SPEED.
        drive: (len(DRIVE_SPEEDS),) m/s^2, full-throttle force in the best gear over the mass; 0 where no gear reaches.
        traction: (len(DRIVE_SPEEDS),) m/s^2, largest drive force that the tyres carry straight ahead, over the mass.
        top_speed: m/s, that air drag or the limiter permits.
        downforce: 1, at DOWNFORCE_SPEED over the weight.
        steer_angle: rad, of the road wheels at full lock.
        delay: s, of the controls.
    """

    lateral_grip: float
    braking: float
    drive: NDArray[np.float64]
    traction: NDArray[np.float64]
    top_speed: float
    downforce: float
    steer_angle: float
    delay: float


def compute_figures(car: CarParams) -> CarFigures:
    """Return the figures of a car."""
    limits, speeds = compute_envelope(car), np.array(DRIVE_SPEEDS)
    traction = np.interp(speeds, limits.speeds, limits.traction[:, 0])  # drag included
    area = car.aero.lift_area_front + car.aero.lift_area_rear
    return CarFigures(
        lateral_grip=float(np.interp(GRIP_SPEED, limits.speeds, limits.lateral)),
        braking=float(np.interp(GRIP_SPEED, limits.speeds, limits.brake[:, 0])),
        drive=compute_drive_accelerations(car, speeds),
        traction=traction + running_resistance(car, speeds) / car.body.mass,
        top_speed=top_speed(car),
        downforce=0.5 * car.aero.air_density * area * DOWNFORCE_SPEED**2 / (car.body.mass * G),
        steer_angle=car.steering.max_angle,
        delay=car.actuation.delay,
    )


def compute_drive_accelerations(car: CarParams, speeds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest full-throttle force of all gears over the mass (m/s^2) at `speeds` (n,), m/s."""
    gears = range(1, car.gearbox.top_gear + 1)
    return np.array([max(car.drive_force(float(v), gear) for gear in gears) / car.body.mass for v in speeds])
