import math

import numpy as np
import pytest

from trailbrake.cars.car_library import car_names, load_car
from trailbrake.units import G
from trailbrake.world.param_packing import MAP_REACH, engine_map, pack_car
from trailbrake.world.row_layout import MAP_POINTS, AxleRow, ParamRow, WorkRow


@pytest.mark.parametrize("name", car_names())
def test_a_packed_car_keeps_its_values(name):
    car = load_car(name)
    column = pack_car(car, tyre_heat=False)
    assert column.shape == (AxleRow.COUNT - WorkRow.COUNT,)
    assert np.all(np.isfinite(column))

    def value(row):
        return column[row - WorkRow.COUNT]

    assert value(ParamRow.MASS) == car.body.mass
    assert value(ParamRow.STEER_MAX) == car.steering.max_angle
    assert value(ParamRow.FUEL_START) == 0.5 * car.fuel.capacity
    assert value(AxleRow.X) - value(AxleRow.X + 1) == pytest.approx(car.body.wheelbase)
    for a, tyre in enumerate((car.tyre_front, car.tyre_rear)):
        assert value(AxleRow.RADIUS + a) == tyre.radius
        assert value(AxleRow.STIFFNESS + a) == tyre.vertical_stiffness
        load_n = 1.3 * tyre.nominal_load
        assert value(AxleRow.MU_Y + a) + value(AxleRow.MU_Y_LOAD + a) * load_n == pytest.approx(
            tyre.mu_y * (1.0 - 0.3 * tyre.mu_y_load)
        )
    for gear in range(-1, car.gearbox.top_gear + 1):
        assert value(ParamRow.RATIOS + 1 + gear) == car.gearbox.overall_ratio(gear)


@pytest.mark.parametrize("name", car_names())
def test_forces_at_rest_carry_the_car(name):
    car = load_car(name)
    column = pack_car(car, tyre_heat=False)
    loads = [column[AxleRow.LOAD_AT_REST + a - WorkRow.COUNT] for a in (0, 1)]
    springs = [column[AxleRow.SPRING_AT_REST + a - WorkRow.COUNT] for a in (0, 1)]
    assert 2.0 * sum(loads) == pytest.approx(car.body.mass * G)
    assert loads[0] / sum(loads) == pytest.approx(car.body.front_share)
    assert 2.0 * sum(springs) == pytest.approx(car.sprung_mass * G)


@pytest.mark.parametrize("name", car_names())
def test_the_engine_map_is_the_file_s_curve(name):
    engine = load_car(name).engine
    torques = engine_map(load_car(name))
    assert torques.shape == (MAP_POINTS,)
    rpm = np.arange(MAP_POINTS) * MAP_REACH * engine.limiter_rpm / (MAP_POINTS - 1)
    assert torques == pytest.approx(np.interp(rpm, engine.rpm, engine.torque))
    # A tangent at the look may cut a corner of the file's curve by half a step of it.
    for n, torque in zip(engine.rpm, engine.torque, strict=True):
        if n <= engine.limiter_rpm:
            assert np.interp(n, rpm, torques) == pytest.approx(torque, rel=0.05)


def test_heat_is_switched_by_its_parameters():
    car = load_car("gt3")
    cold, warm = pack_car(car, tyre_heat=False), pack_car(car, tyre_heat=True)
    differ = {int(row) + WorkRow.COUNT for row in np.flatnonzero(cold != warm)}
    assert differ == {AxleRow.GRIP_LOSS, AxleRow.GRIP_LOSS + 1, AxleRow.WEAR_LOSS, AxleRow.WEAR_LOSS + 1}


def test_ackermann_s_share_is_that_of_the_geometry():
    """cot(outer) - cot(inner) = track / wheelbase: checked with angles found by trigonometry."""
    car = load_car("hatchback")
    gain = pack_car(car, tyre_heat=False)[ParamRow.ACKERMANN - WorkRow.COUNT] / car.steering.ackermann
    for steer in (0.05, 0.1, 0.2):
        middle = car.body.wheelbase / math.tan(steer)
        inner = math.atan(car.body.wheelbase / (middle - 0.5 * car.body.track_front))
        outer = math.atan(car.body.wheelbase / (middle + 0.5 * car.body.track_front))
        assert gain * steer**2 == pytest.approx(0.5 * (inner - outer), rel=0.04)  # second order in the angle
