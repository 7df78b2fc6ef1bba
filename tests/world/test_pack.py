import math

import numpy as np
import pytest

from trailbrake.cars.load import load, names
from trailbrake.units import G
from trailbrake.world.layout import TORQUES, Axle, Param, Work
from trailbrake.world.pack import MAP_REACH, engine_map, pack


@pytest.mark.parametrize("name", names())
def test_a_packed_car_keeps_its_values(name):
    car = load(name)
    column = pack(car, heat=False)
    assert column.shape == (Axle.COUNT - Work.COUNT,)
    assert np.all(np.isfinite(column))

    def value(row):
        return column[row - Work.COUNT]

    assert value(Param.MASS) == car.body.mass
    assert value(Param.STEER_MAX) == car.steering.max_angle
    assert value(Param.FUEL_START) == 0.5 * car.fuel.capacity
    assert value(Axle.X) - value(Axle.X + 1) == pytest.approx(car.body.wheelbase)
    for a, tyre in enumerate((car.tyre_front, car.tyre_rear)):
        assert value(Axle.RADIUS + a) == tyre.radius
        assert value(Axle.STIFFNESS + a) == tyre.vertical_stiffness
        load_n = 1.3 * tyre.nominal_load
        assert value(Axle.MU_Y + a) + value(Axle.MU_Y_LOAD + a) * load_n == pytest.approx(
            tyre.mu_y * (1.0 - 0.3 * tyre.mu_y_load)
        )
    for gear in range(-1, car.gearbox.top_gear + 1):
        assert value(Param.RATIOS + 1 + gear) == car.gearbox.overall(gear)


@pytest.mark.parametrize("name", names())
def test_forces_at_rest_carry_the_car(name):
    car = load(name)
    column = pack(car, heat=False)
    loads = [column[Axle.LOAD_AT_REST + a - Work.COUNT] for a in (0, 1)]
    springs = [column[Axle.SPRING_AT_REST + a - Work.COUNT] for a in (0, 1)]
    assert 2.0 * sum(loads) == pytest.approx(car.body.mass * G)
    assert loads[0] / sum(loads) == pytest.approx(car.body.front_share)
    assert 2.0 * sum(springs) == pytest.approx(car.sprung_mass * G)


@pytest.mark.parametrize("name", names())
def test_the_engine_map_is_the_file_s_curve(name):
    engine = load(name).engine
    torques = engine_map(load(name))
    assert torques.shape == (TORQUES,)
    rpm = np.arange(TORQUES) * MAP_REACH * engine.limiter_rpm / (TORQUES - 1)
    assert torques == pytest.approx(np.interp(rpm, engine.rpm, engine.torque))
    # A tangent at the look may cut a corner of the file's curve by half a step of it.
    for n, torque in zip(engine.rpm, engine.torque, strict=True):
        if n <= engine.limiter_rpm:
            assert np.interp(n, rpm, torques) == pytest.approx(torque, rel=0.05)


def test_heat_is_switched_by_its_parameters():
    car = load("gt3")
    cold, warm = pack(car, heat=False), pack(car, heat=True)
    differ = {int(row) + Work.COUNT for row in np.flatnonzero(cold != warm)}
    assert differ == {Axle.GRIP_LOSS, Axle.GRIP_LOSS + 1, Axle.WEAR_LOSS, Axle.WEAR_LOSS + 1}


def test_ackermann_s_share_is_that_of_the_geometry():
    """cot(outer) - cot(inner) = track / wheelbase: checked with angles found by trigonometry."""
    car = load("hatchback")
    gain = pack(car, heat=False)[Param.ACKERMANN - Work.COUNT] / car.steering.ackermann
    for steer in (0.05, 0.1, 0.2):
        middle = car.body.wheelbase / math.tan(steer)
        inner = math.atan(car.body.wheelbase / (middle - 0.5 * car.body.track_front))
        outer = math.atan(car.body.wheelbase / (middle + 0.5 * car.body.track_front))
        assert gain * steer**2 == pytest.approx(0.5 * (inner - outer), rel=0.04)  # second order in the angle
