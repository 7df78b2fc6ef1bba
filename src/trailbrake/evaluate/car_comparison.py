"""Compares a car file with the car that it describes, in what decides a lap. Pure functions of car files.

Forces count per mass: from a drive alone, mass and forces cannot be separated.
"""

import math

import numpy as np

from trailbrake.cars.params import CarParams
from trailbrake.json_types import JsonObject
from trailbrake.planning.envelope import Envelope, compute_envelope
from trailbrake.units import G

GRIP_SPEED = 20.0  # m/s, at which grip and braking are compared: downforce has its own figure
DRIVE_SPEEDS = tuple(float(v) for v in range(8, 81, 4))  # m/s, at which the drive forces are
DOWNFORCE_SPEED = 50.0  # m/s


def compare_cars(file: CarParams, truth: CarParams) -> JsonObject:
    """Return how far a car file is from the truth; shares are (file - truth) / truth.

    Returns:
        lateral_grip, braking: shares, of the steady limits at GRIP_SPEED.
        drive_force: share, mean over DRIVE_SPEEDS below the truth's top speed, of the best gear at full throttle per
            mass; by absolute value.
        downforce: share of the truth's weight, difference at DOWNFORCE_SPEED, per mass.
        steer_angle: share, of the road wheels at full lock.
        delay_s: s, difference of the controls' delays.
    """
    own, real = compute_envelope(file), compute_envelope(truth)
    return {
        "lateral_grip": _limit_at(own, own.lateral) / _limit_at(real, real.lateral) - 1.0,
        "braking": _limit_at(own, own.brake[:, 0]) / _limit_at(real, real.brake[:, 0]) - 1.0,
        "drive_force": _compare_drive(file, truth),
        "downforce": _downforce_share(file) - _downforce_share(truth),
        "steer_angle": file.steering.max_angle / truth.steering.max_angle - 1.0,
        "delay_s": file.actuation.delay - truth.actuation.delay,
    }


def _limit_at(envelope: Envelope, limits: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> float:
    return float(np.interp(GRIP_SPEED, envelope.speeds, limits))


def _compare_drive(file: CarParams, truth: CarParams) -> float:
    differences = []
    for speed in DRIVE_SPEEDS:
        real = _drive_acceleration(truth, speed)
        if real > 0.0:
            differences.append(abs(_drive_acceleration(file, speed) / real - 1.0))
    return sum(differences) / len(differences) if differences else math.nan


def _drive_acceleration(car: CarParams, speed: float) -> float:
    """Return the largest drive force of all gears over the mass, m/s^2."""
    return max(car.drive_force(speed, gear) for gear in range(1, car.gearbox.top_gear + 1)) / car.body.mass


def _downforce_share(car: CarParams) -> float:
    """Return the downforce at DOWNFORCE_SPEED over the weight."""
    area = car.aero.lift_area_front + car.aero.lift_area_rear
    return 0.5 * car.aero.air_density * area * DOWNFORCE_SPEED**2 / (car.body.mass * G)
