"""Manoeuvres between the walls of a road, driven by a kinematic bicycle of a finer step than the table's."""

import math

import pytest

from trailbrake.control.vehicle.manoeuvre_table import BACKWARD, FORWARD, CarShape, ManoeuvreTable, RoadStrip

SHAPE = CarShape()
WIDE, NARROW = RoadStrip(), RoadStrip(4.3, 4.3, 4.3, 4.3)
BEND = RoadStrip(5.0, 5.0, 8.0, 8.0, 0.06)
FINE = 0.25  # m


def drive(table, offset, heading, most=60.0):
    """Return the way (m), the changes of direction and the deepest touch of a wall (m) until the car drives along."""
    strip, direction, way, changes, depth = table.strip, FORWARD, 0.0, 0, 0.0
    while way < most:
        move = table.choose_move(offset, heading, direction)
        if direction == FORWARD and move.direction == FORWARD and table.is_goal(offset, heading):
            return way, changes, depth
        changes += move.direction != direction
        direction = move.direction
        step = FINE * direction
        turn = SHAPE.max_curvature * move.steer - strip.curvature * math.cos(heading) / (1.0 - strip.curvature * offset)
        offset, heading = offset + step * math.sin(heading), heading + step * turn
        way += FINE
        depth = max(depth, float(table.wall_depth(offset, heading)))
    return math.inf, changes, depth


def test_a_car_beside_the_road_that_points_to_it_drives_straight_on():
    way, changes, _ = drive(ManoeuvreTable(SHAPE, WIDE, 8.0), 7.0, -0.8)
    assert changes == 0
    assert way < 15.0


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_nose_against_the_wall_goes_back_first(side):
    table = ManoeuvreTable(SHAPE, WIDE, 6.0 * side)
    offset = side * (WIDE.left_wall - SHAPE.nose)
    assert table.choose_move(offset, side * math.pi / 2.0, FORWARD).direction == BACKWARD
    way, changes, _ = drive(table, offset, side * math.pi / 2.0)
    assert changes == 2
    assert way < 25.0


@pytest.mark.parametrize("strip", [WIDE, NARROW, BEND], ids=["wide", "walls at the edge", "bend"])
@pytest.mark.parametrize("offset", [-2.0, 1.0])
@pytest.mark.parametrize("heading", [math.pi, -2.0])
def test_a_car_turns_round_between_walls(strip, offset, heading):
    way, _, depth = drive(ManoeuvreTable(SHAPE, strip, offset), offset, heading)
    assert way < 45.0
    # Within the margin, not beyond the wall; a car across the narrow road begins with its corners there.
    assert depth < 0.45 or depth <= float(ManoeuvreTable(SHAPE, strip).wall_depth(offset, heading)) + 0.2


def test_a_car_without_reverse_turns_in_one_go_where_there_is_room():
    table = ManoeuvreTable(SHAPE, RoadStrip(12.0, 12.0, 20.0, 20.0), can_reverse=False)
    way, changes, _ = drive(table, 0.0, math.pi)
    assert changes == 0
    assert way < 40.0


def test_the_length_of_a_run_ends_where_the_direction_changes():
    table = ManoeuvreTable(SHAPE, WIDE, 6.0)
    offset = WIDE.left_wall - SHAPE.nose
    assert 2.0 <= table.measure_run(offset, math.pi / 2.0, BACKWARD) <= 9.0
    assert table.measure_run(0.0, 0.0, FORWARD) == 12.0


def test_a_change_of_direction_may_be_forbidden():
    table = ManoeuvreTable(SHAPE, WIDE, 6.0)
    assert table.choose_move(5.0, math.pi / 2.0, FORWARD, only=True).direction == FORWARD


def test_walls_count_by_the_corners_of_the_car():
    table = ManoeuvreTable(SHAPE, WIDE)
    along = WIDE.left_wall - SHAPE.half_width  # m, where a car along the road touches the wall
    assert table.wall_depth(along - 0.5, 0.0) == 0.0
    assert table.wall_depth(along, 0.0) == pytest.approx(0.3)  # the margin
    across = WIDE.left_wall - SHAPE.nose
    assert table.wall_depth(across + 0.1, math.pi / 2.0) == pytest.approx(0.4)
    assert table.wall_depth(across + 0.1, -math.pi / 2.0) == 0.0


def test_a_road_far_from_the_car_is_in_the_table():
    way, _, _ = drive(ManoeuvreTable(SHAPE, RoadStrip(4.0, 4.0, 60.0, 60.0), 40.0), 40.0, math.pi / 2.0, 120.0)
    assert way < 70.0
