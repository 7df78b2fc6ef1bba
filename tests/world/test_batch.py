import math

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.kernels.lane_blocks import LANES
from trailbrake.world.batch import CACHE_LINE_BYTES, MAX_DT, Batch, count_substeps
from trailbrake.world.row_layout import ControlRow, ParamRow, StateRow


@pytest.mark.parametrize("period", [1 / 333, 0.001, 0.01, 1 / 60])
def test_substeps_stay_short(period):
    assert period / count_substeps(period) <= MAX_DT
    assert count_substeps(1 / 333) == 3


def test_a_batch_wants_one_car_or_as_many_as_it_holds(roads):
    with pytest.raises(ValueError, match="n = 3"):
        Batch(roads.straight(), [load_car("gt3"), load_car("gt3")], 3)


def test_groups_divide_the_cars(roads):
    with pytest.raises(ValueError, match="group = 3"):
        Batch(roads.straight(), [load_car("gt3")], 8, group_size=3)


def test_like_cars_share_parameters_until_they_are_to_be_changed(roads):
    gt3, hatchback = load_car("gt3"), load_car("hatchback")
    batch = Batch(roads.straight(), [gt3] * LANES * 2 + [hatchback] * LANES + [gt3, hatchback])
    assert len(batch.params) == 3
    masses = [gt3.body.mass] * LANES * 2 + [hatchback.body.mass] * LANES + [gt3.body.mass, hatchback.body.mass]
    assert batch.get_param(ParamRow.MASS).tolist() == masses
    batch.separate_params()
    assert batch.get_param(ParamRow.MASS).tolist() == masses
    row = (ParamRow.MASS - ParamRow.MASS) * LANES + 1
    batch.params[batch.kinds[0], row] = 1.0
    assert batch.get_param(ParamRow.MASS).tolist() == [masses[0], 1.0, *masses[2:]]


def test_blocks_begin_on_a_cache_line(roads):
    batch = Batch(roads.straight(), [load_car("gt3")], 3 * LANES)
    assert batch.cars.ctypes.data % CACHE_LINE_BYTES == 0


@pytest.mark.parametrize("name", ["gt3", "hatchback", "kart"])
@pytest.mark.parametrize("speed", [0.0, 8.0, 28.0])
def test_a_placed_car_rolls_on_without_a_jerk(roads, name, speed):
    car = load_car(name)
    batch = Batch(roads.straight(), [car])
    batch.place_cars(0, 100.0, 1.0, 0.0, speed)
    here = batch.view_car(0)
    gear = int(here[StateRow.GEAR])
    assert car.engine_speed(speed, gear) <= car.gearbox.upshift_rpm * math.pi / 30.0 or gear == car.gearbox.top_gear
    assert gear == 1 or car.engine_speed(speed, gear - 1) > car.gearbox.upshift_rpm * math.pi / 30.0
    assert (here[StateRow.S], here[StateRow.OFFSET]) == pytest.approx((100.0, 1.0))
    batch.step(0.001, 5)
    assert abs(here[StateRow.AX]) < 6.0
    assert np.abs(here[StateRow.SLIP : StateRow.SLIP + 4]).max() < 0.4


def test_refresh_finds_the_ground_and_moves_nothing(roads):
    batch = Batch(roads.circle(100.0), [load_car("gt3")])
    batch.place_cars(0, 0.0, -100.0, 0.0, 30.0)
    before = batch.view_car(0)[: StateRow.X].copy()
    batch.set_row(StateRow.X, 3.0)
    batch.update_ground()
    assert batch.view_car(0)[StateRow.S] == pytest.approx(100.0 * math.atan2(3.0, 100.0), abs=1e-3)
    same = [row for row in range(StateRow.GROUND_HEIGHT) if before[row] == batch.view_car(0)[row]]
    assert len(same) == StateRow.GROUND_HEIGHT


def test_set_reaches_the_cars_that_are_named(roads):
    batch = Batch(roads.straight(), [load_car("gt3")], 11)
    batch.set_row(ControlRow.BRAKE, [0.1, 0.2], [3, 10])
    assert batch.get_row(ControlRow.BRAKE).tolist() == [0, 0, 0, 0.1, 0, 0, 0, 0, 0, 0, 0.2]
