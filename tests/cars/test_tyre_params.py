import pytest

from trailbrake.cars.car_library import car_names, load_car
from trailbrake.cars.tyre_params import MIN_THERMAL_GRIP, Thermal


def test_grip_by_temperature_and_wear():
    heat = Thermal(
        optimal_temperature=90.0, start_temperature=60.0, grip_loss=1e-4, heat_capacity=8e3, cooling=20.0,
        cooling_speed=1.0, wear_per_joule=1e-8, wear_loss=0.1,
    )  # fmt: skip
    assert heat.grip_factor(90.0) == 1.0
    assert heat.grip_factor(80.0) == heat.grip_factor(100.0) == pytest.approx(0.99)
    assert heat.grip_factor(-20.0) == MIN_THERMAL_GRIP
    assert heat.grip_factor(90.0, wear=1.0) == pytest.approx(0.9)


@pytest.mark.parametrize("name", car_names())
def test_tyres_with_heat_settle_in_their_window_and_last_a_stint(name):
    car = load_car(name)
    for tyre in (car.tyre_front, car.tyre_rear):
        if tyre.thermal is None:
            continue
        heat = tyre.thermal
        assert heat.grip_factor(heat.start_temperature) > 0.95
        # Of a quarter of the car's weight at the limit half of the time, sliding at a twentieth of 40 m/s or less.
        work = 0.5 * tyre.mu_y * car.body.mass * 9.81 / 4.0 * 0.05 * 40.0
        rise = work / (heat.cooling + heat.cooling_speed * 40.0)
        assert 10.0 < rise < 150.0
        assert 600.0 < 1.0 / (work * heat.wear_per_joule) < 20000.0  # s
