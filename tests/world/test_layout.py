import math

import numpy as np
import pytest

from trailbrake.cars.load import load, names
from trailbrake.world.batch import MAX_DT, Batch, substeps_for
from trailbrake.world.layout import GEARS, TORQUES, Param, State, Wheel, pack

FOURS = {"SPIN", "STRETCH_X", "STRETCH_Y", "GRIP", "SOFT", "ON_TRACK", "LOAD", "FX", "FY", "SLIP"}


def test_state_rows_follow_each_other_without_overlap():
    row = 0
    for member in State:
        assert member == row
        row += 4 if member.name in FOURS else 1


def test_blocks_of_params_do_not_overlap():
    assert Param.REAR == Param.FRONT + Wheel.COUNT
    assert Param.RATIO == Param.REAR + Wheel.COUNT
    assert Param.TORQUE == Param.RATIO + GEARS
    assert Param.COUNT == Param.TORQUE + TORQUES


@pytest.mark.parametrize("name", names())
def test_a_packed_car_keeps_its_values(name):
    car = load(name)
    column = pack(car)
    assert column.shape == (Param.COUNT,)
    assert column[Param.MASS] == car.body.mass
    assert column[Param.STEER_RATIO] == car.steering.ratio
    assert column[Param.FUEL_START] == 0.5 * car.fuel.capacity
    assert tuple(column[Param.REAR + Wheel.NOMINAL_LOAD : Param.REAR + Wheel.COUNT]) == car.tyre_rear.law()
    for gear in range(-1, car.gearbox.top_gear + 1):
        assert column[Param.RATIO + 1 + gear] == car.gearbox.overall(gear)
    speeds = np.arange(TORQUES) * column[Param.TORQUE_STEP]
    torques = column[Param.TORQUE : Param.TORQUE + TORQUES]
    for rpm, torque in zip(car.engine.rpm, car.engine.torque, strict=True):
        if rpm <= car.engine.limiter_rpm:
            assert np.interp(rpm * math.pi / 30.0, speeds, torques) == pytest.approx(torque, rel=0.05)


@pytest.mark.parametrize("period", [1 / 333, 0.001, 0.01, 1 / 60])
def test_substeps_stay_short(period):
    assert period / substeps_for(period) <= MAX_DT
    assert substeps_for(1 / 333) == 3


def test_a_batch_wants_one_car_or_as_many_as_it_holds(roads):
    with pytest.raises(ValueError, match="n = 3"):
        Batch(roads.straight(), [load("gt3"), load("gt3")], 3)
