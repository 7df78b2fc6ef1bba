"""How far a path may go to either side: edges, kerbs, walls."""

import numpy as np
import pytest

from trailbrake.optimal import options
from trailbrake.planning.path_margins import EDGE_MARGIN, KERB_MARGIN
from trailbrake.planning.path_room import (
    INNER_MARGIN,
    INNER_ROOM,
    KERB_END,
    KERB_SHYNESS,
    WALL_ROOM,
    PathRoom,
    find_kerb_reach,
    find_path_bounds,
    keep_off_inner_kerbs,
    make_inside_room,
)
from trailbrake.tracks.road import Road

ROWS = 40
ROOM = PathRoom(1.0, 0.8, 0.3, kerbs=True)


def straight(**columns):
    zeros = np.zeros(ROWS)
    return Road.from_columns(2.0, False, 2.0 * np.arange(ROWS), zeros, zeros, zeros,
                             **({"width_left": 5.0, "width_right": 4.0} | columns))  # fmt: skip


def bounds(room, **columns):
    right, left = find_path_bounds(straight(**columns), np.array([20.0, 33.0]), room)
    assert right[0] == pytest.approx(right[1])
    assert left[0] == pytest.approx(left[1])
    return right[0], left[0]


def test_without_kerbs_the_whole_car_stays_on_the_road():
    inside = (-(4.0 - 1.0 - 0.3), 5.0 - 1.0 - 0.3)
    assert bounds(ROOM) == pytest.approx(inside)
    assert bounds(ROOM._replace(kerbs=False), kerb_left=1.2, kerb_right=1.2) == pytest.approx(inside)
    assert bounds(make_inside_room(1.8)) == pytest.approx((-(4.0 - 0.9 - EDGE_MARGIN), 5.0 - 0.9 - EDGE_MARGIN))


def test_beside_a_kerb_the_side_goes_as_far_as_the_kerb():
    assert bounds(ROOM, kerb_left=1.2) == pytest.approx((-(4.0 - 1.0 - 0.3), 5.0 + 1.2 - 1.0 - 0.3))
    assert bounds(ROOM, kerb_right=0.5) == pytest.approx((-(4.0 + 0.5 - 1.0 - 0.3), 5.0 - 1.0 - 0.3))


def test_on_the_widest_kerb_the_inner_wheels_stay_on_the_road():
    assert bounds(ROOM, kerb_left=3.0)[1] == pytest.approx(5.0 + 0.8 - INNER_ROOM - 0.3)


@pytest.mark.parametrize(("runoff", "reach"), [(0.0, 4.0 - EDGE_MARGIN), (0.5, 4.5 - WALL_ROOM), (8.0, 5.2 - 0.3)])
def test_a_wall_keeps_its_room(runoff, reach):
    assert bounds(ROOM, kerb_left=1.2, runoff_left=runoff)[1] == pytest.approx(reach)


def test_a_car_is_off_beyond_the_kerb_or_where_its_inner_wheels_leave():
    left, right = find_kerb_reach(straight(kerb_left=0.6, kerb_right=2.0), 0.8)
    assert left == pytest.approx(0.6 - KERB_END)
    assert right == pytest.approx(0.8 - INNER_MARGIN)
    assert find_kerb_reach(straight(), 0.8)[0] == pytest.approx(0.0)


def test_the_command_keeps_the_margin_of_drivers_own_lines():
    assert options.KERB_MARGIN == KERB_MARGIN


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_car_keeps_outside_of_a_line_whose_inner_wheels_are_on_a_kerb(side):
    """A bend of 100 m whose line comes within 0.5 m of the inner edge for 8 m, beside a kerb or beside grass."""
    x = np.arange(0.0, 200.0, 1.0)
    zero = np.zeros_like(x)
    inner = np.where((x >= 100.0) & (x < 108.0), 0.5, 5.0)
    widths = {"width_left": inner, "width_right": zero + 9.0}
    kerbs = {"kerb_left": zero + 1.2, "kerb_right": zero}
    if side < 0.0:
        widths = {"width_left": widths["width_right"], "width_right": widths["width_left"]}
        kerbs = {"kerb_left": kerbs["kerb_right"], "kerb_right": kerbs["kerb_left"]}

    def shift(**kerb):
        road = Road.from_columns(
            1.0, False, x, zero, zero, zero + side * 0.01, z=zero, grade=zero, bank=zero, runoff_left=zero,
            runoff_right=zero, grip=zero + 1.0, **widths, **kerb,
        )  # fmt: skip
        return keep_off_inner_kerbs(road, 0.8)

    shifts = shift(**kerbs)
    assert shifts[100:108] == pytest.approx(-side * KERB_SHYNESS)
    assert 0.0 < -side * shifts[85] < 0.7 * KERB_SHYNESS
    assert shifts[[40, 160]] == pytest.approx(0.0)
    assert not shift().any()
