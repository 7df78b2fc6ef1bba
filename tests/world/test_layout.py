"""Rows follow each other, and blocks hold what they say."""

import inspect
import re

import numpy as np
import pytest

from trailbrake.kernels.lanes import LANES
from trailbrake.world import layout
from trailbrake.world.batch import Batch
from trailbrake.world.layout import GEARS, Axle, Control, Param, State, Work

WIDER = {"RATIOS": GEARS, "CURVE": 16}  # rows that no "x" in their comment counts


@pytest.mark.parametrize("rows", [State, Control, Work, Param, Axle])
def test_rows_follow_each_other_without_overlap(rows):
    comments = dict(re.findall(r"^    (\w+) = [^#\n]*# (.*)$", inspect.getsource(rows), re.MULTILINE))
    before = {State: 0, Control: State.COUNT, Work: Control.COUNT, Param: Work.COUNT, Axle: Param.COUNT}
    row = before[rows]
    for member in rows:
        assert member == row, member.name
        each = 2 if rows is Axle else 1
        counted = re.match(r"x(\d+)", comments.get(member.name, ""))
        row += WIDER.get(member.name, int(counted[1]) if counted else each)


def test_a_row_of_a_car_lies_where_the_layout_says(roads):
    from trailbrake.cars.load import load

    batch = Batch(roads.straight(), [load("gt3")], 2 * LANES + 1)
    for car in (0, LANES, 2 * LANES):
        batch.set(State.WEAR + 3, 0.25 + car, car)
        assert batch.cars[car // LANES, (State.WEAR + 3) * LANES + car % LANES] == 0.25 + car
        assert batch.column(car)[State.WEAR + 3] == 0.25 + car
        assert batch.get(State.WEAR, 4)[3, car] == 0.25 + car
    assert np.count_nonzero(batch.get(State.WEAR, 4)) == 3
    assert layout.TORQUES > 2
