import pytest

from trailbrake.errors import DataError
from trailbrake.tracks.column_names import find_columns

PLACE = ["x_m", "y_m"]


@pytest.mark.parametrize(
    "sides",
    [["w_tr_right_m", "w_tr_left_m"], ["width_right", "width_left"], ["right_width_m", "left_width_m"], ["wr", "wl"],
     ["distance_to_right_edge", "distance_to_left_edge"], ["R", "L"], ["Right", "Left"], ["half_width_right", "w_l"]],
)  # fmt: skip
def test_sides_by_the_names_of_others(sides):
    found = find_columns([*PLACE, *sides], "t.csv:1")
    assert (found["right"].number, found["left"].number) == (2, 3)
    assert find_columns([*PLACE, *sides[::-1]], "t.csv:1")["right"].number == 3


def test_units_of_lengths():
    found = find_columns(["x_ft", "y_km", "right_cm", "left"], "t.csv:1")
    assert [column.factor for column in found.values()] == [0.3048, 1000.0, 0.01, 1.0]


def test_a_comment_need_not_be_a_header():
    assert find_columns(["a circuit", "left to right"], "t.csv:1", is_comment=True) is None
    with pytest.raises(DataError, match="not understood"):
        find_columns(["x", "y", "z"], "t.csv:1", is_comment=True)
