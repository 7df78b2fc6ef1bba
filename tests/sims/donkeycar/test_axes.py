"""Unity's axes: a mirror, since they are left-handed, and turns that follow the left hand."""

import numpy as np
import pytest

from trailbrake.sims.donkeycar.axes import iso_from_unity, turn_from_unity, unity_from_iso, unity_from_turn

RIGHT, UP, AHEAD = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def test_unity_s_right_up_and_ahead():
    assert iso_from_unity(AHEAD) == (1.0, 0.0, 0.0)
    assert iso_from_unity(RIGHT) == (0.0, -1.0, 0.0)
    assert iso_from_unity(UP) == (0.0, 0.0, 1.0)


def test_a_turn_to_the_right_is_positive_for_unity_and_negative_for_us():
    assert turn_from_unity((0.0, 1.0, 0.0)) == (0.0, 0.0, -1.0)
    # A small turn about Unity's y moves its z axis towards x: ahead goes right.
    moved = (np.array(AHEAD) + 0.01 * np.array(RIGHT)).tolist()
    assert iso_from_unity(moved)[1] < 0.0


@pytest.mark.parametrize("vector", [(1.0, 2.0, 3.0), (-4.0, 0.5, 0.0)])
def test_both_maps_are_undone(vector):
    assert iso_from_unity(unity_from_iso(vector)) == vector
    assert turn_from_unity(unity_from_turn(vector)) == vector
