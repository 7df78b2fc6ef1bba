import math

import numpy as np
import pytest

from trailbrake.cars.load import load
from trailbrake.kernels.lanes import LANES
from trailbrake.world.batch import CACHE_LINE, MAX_DT, Batch, substeps_for
from trailbrake.world.layout import Control, Param, State


@pytest.mark.parametrize("period", [1 / 333, 0.001, 0.01, 1 / 60])
def test_substeps_stay_short(period):
    assert period / substeps_for(period) <= MAX_DT
    assert substeps_for(1 / 333) == 3


def test_a_batch_wants_one_car_or_as_many_as_it_holds(roads):
    with pytest.raises(ValueError, match="n = 3"):
        Batch(roads.straight(), [load("gt3"), load("gt3")], 3)


def test_groups_divide_the_cars(roads):
    with pytest.raises(ValueError, match="group = 3"):
        Batch(roads.straight(), [load("gt3")], 8, group=3)


def test_like_cars_share_parameters_until_they_are_to_be_changed(roads):
    gt3, hatchback = load("gt3"), load("hatchback")
    batch = Batch(roads.straight(), [gt3] * LANES * 2 + [hatchback] * LANES + [gt3, hatchback])
    assert len(batch.params) == 3
    masses = [gt3.body.mass] * LANES * 2 + [hatchback.body.mass] * LANES + [gt3.body.mass, hatchback.body.mass]
    assert batch.param(Param.MASS).tolist() == masses
    batch.own_params()
    assert batch.param(Param.MASS).tolist() == masses
    row = (Param.MASS - Param.MASS) * LANES + 1
    batch.params[batch.kinds[0], row] = 1.0
    assert batch.param(Param.MASS).tolist() == [masses[0], 1.0, *masses[2:]]


def test_blocks_begin_on_a_cache_line(roads):
    batch = Batch(roads.straight(), [load("gt3")], 3 * LANES)
    assert batch.cars.ctypes.data % CACHE_LINE == 0


@pytest.mark.parametrize("name", ["gt3", "hatchback", "kart"])
@pytest.mark.parametrize("speed", [0.0, 8.0, 28.0])
def test_a_placed_car_rolls_on_without_a_jerk(roads, name, speed):
    car = load(name)
    batch = Batch(roads.straight(), [car])
    batch.place(0, 100.0, 1.0, 0.0, speed)
    here = batch.column(0)
    gear = int(here[State.GEAR])
    assert car.engine_speed(speed, gear) <= car.gearbox.upshift_rpm * math.pi / 30.0 or gear == car.gearbox.top_gear
    assert gear == 1 or car.engine_speed(speed, gear - 1) > car.gearbox.upshift_rpm * math.pi / 30.0
    assert (here[State.S], here[State.OFFSET]) == pytest.approx((100.0, 1.0))
    batch.step(0.001, 5)
    assert abs(here[State.AX]) < 6.0
    assert np.abs(here[State.SLIP : State.SLIP + 4]).max() < 0.4


def test_refresh_finds_the_ground_and_moves_nothing(roads):
    batch = Batch(roads.circle(100.0), [load("gt3")])
    batch.place(0, 0.0, -100.0, 0.0, 30.0)
    before = batch.column(0)[: State.X].copy()
    batch.set(State.X, 3.0)
    batch.refresh()
    assert batch.column(0)[State.S] == pytest.approx(100.0 * math.atan2(3.0, 100.0), abs=1e-3)
    same = [row for row in range(State.BUMP) if before[row] == batch.column(0)[row]]
    assert len(same) == State.BUMP


def test_set_reaches_the_cars_that_are_named(roads):
    batch = Batch(roads.straight(), [load("gt3")], 11)
    batch.set(Control.BRAKE, [0.1, 0.2], [3, 10])
    assert batch.get(Control.BRAKE).tolist() == [0, 0, 0, 0.1, 0, 0, 0, 0, 0, 0, 0.2]
