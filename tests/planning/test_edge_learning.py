"""Edges that a map has in the wrong place, on made-up laps."""

import numpy as np
import pytest

from trailbrake.errors import DataError
from trailbrake.planning.edge_learning import BLOW, LEAST_TURN, MOST_SHIFT, REACH, STEP, EdgeLearning, is_blow

LENGTH = 800.0


def circuit(*, closed=True):
    return EdgeLearning(LENGTH, closed=closed)


@pytest.mark.parametrize(("to_left", "sign"), [(True, -1.0), (False, 1.0)])
def test_the_line_moves_away_from_the_edge_that_was_touched_and_only_there(to_left, sign):
    learning = circuit()
    learning.add_blow(400.0, to_left=to_left)
    learning.finish_lap()
    rows = learning.shifts_at(int(LENGTH), 1.0)
    assert rows[int(400.0 - REACH) + 2 : int(400.0 + REACH) - 2] == pytest.approx(sign * STEP)
    assert rows[[300, 500]] == pytest.approx(0.0, abs=1e-6)
    learning.finish_lap()  # a lap that touches nothing
    assert learning.shifts_at(int(LENGTH), 1.0) == pytest.approx(rows)


def test_laps_that_touch_again_move_it_further_up_to_a_bound():
    learning = circuit()
    for lap in range(10):
        learning.add_blow(200.0, to_left=False)
        learning.finish_lap()
        assert learning.shifts.max() == pytest.approx(min((lap + 1) * STEP, MOST_SHIFT))


def test_a_circuit_is_moved_over_its_start_and_an_open_road_is_not():
    for closed in (True, False):
        learning = circuit(closed=closed)
        learning.add_blow(2.0, to_left=True)
        learning.finish_lap()
        assert (learning.shifts[-1] < -0.9 * STEP) == closed


def test_shifts_of_another_road_are_refused():
    learning = circuit()
    learning.import_shifts([0.5] * 200, "a.json")
    assert learning.shifts == pytest.approx(0.5)
    with pytest.raises(DataError, match=r"a\.json.*expected 200 shifts.*got 3"):
        learning.import_shifts([0.0] * 3, "a.json")


def test_a_blow_is_more_than_tyres_can_turn_a_car_and_noise_is_none():
    assert is_blow(-1.01 * BLOW * 0.016, 0.016)
    assert not is_blow(0.99 * BLOW * 0.016, 0.016)
    assert not is_blow(0.99 * LEAST_TURN, 0.001)
    assert not is_blow(np.nan, 0.016)
