import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.planning.envelope import compute_envelope
from trailbrake.planning.performance_figures import compute_drive_accelerations, compute_figures
from trailbrake.units import G


def test_figures_are_those_of_the_planner_and_the_file():
    car = load_car("gt3")
    figures, limits = compute_figures(car), compute_envelope(car)
    assert limits.lateral.min() <= figures.lateral_grip <= limits.lateral.max()
    assert 10.0 < figures.braking < 25.0
    area = car.aero.lift_area_front + car.aero.lift_area_rear
    assert figures.downforce == pytest.approx(0.5 * 1.2 * area * 2500.0 / (car.body.mass * G), rel=0.05)
    assert (figures.steer_angle, figures.delay) == (car.steering.max_angle, car.actuation.delay)


def test_the_best_gear_drives():
    car = load_car("hatchback")
    (slow, fast) = compute_drive_accelerations(car, np.array([8.0, 40.0]))
    assert slow == pytest.approx(car.drive_force(8.0, 1) / car.body.mass)
    assert slow > fast > 0.0
    assert compute_drive_accelerations(car, np.array([200.0]))[0] == 0.0
