"""Rows follow each other, and blocks hold what they say."""

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.kernels.lane_blocks import LANES
from trailbrake.world.batch import Batch
from trailbrake.world.row_layout import AxleRow, ControlRow, ParamRow, StateRow, WorkRow


@pytest.mark.parametrize(
    ("rows", "first"),
    [
        (StateRow, 0),
        (ControlRow, StateRow.COUNT),
        (WorkRow, ControlRow.COUNT),
        (ParamRow, WorkRow.COUNT),
        (AxleRow, ParamRow.COUNT),
    ],
)
def test_enumerations_follow_each_other(rows, first):
    members = list(rows)
    assert members[0] == first
    assert members[-1] is rows.COUNT
    assert rows.COUNT - first == sum(member.width for member in members)
    assert not any(member.name.isdigit() or member.width < 1 for member in members[:-1])


def test_a_row_of_a_car_lies_where_the_layout_says(roads):
    batch = Batch(roads.straight(), [load_car("gt3")], 2 * LANES + 1)
    for car in (0, LANES, 2 * LANES):
        batch.set_row(StateRow.WEAR + 3, 0.25 + car, car)
        assert batch.cars[car // LANES, (StateRow.WEAR + 3) * LANES + car % LANES] == 0.25 + car
        assert batch.view_car(car)[StateRow.WEAR + 3] == 0.25 + car
        assert batch.get_row(StateRow.WEAR, 4)[3, car] == 0.25 + car
    assert np.count_nonzero(batch.get_row(StateRow.WEAR, 4)) == 3
