"""The driver's core between walls that are given as points: no pictures."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.control.minicar import free_space
from trailbrake.control.minicar.free_space import HALF_WIDTH, LOCK, NOSE, WHEELBASE, BranchChoice
from trailbrake.control.minicar.wall_avoidance import (
    MAX_SPEED,
    REQUIRED_TURN,
    PointMemory,
    ThreePointTurn,
    WallAvoider,
    dead_reckon,
)

HALF = 0.78  # m, of the road
DT = 0.04


def wall_points(segments):
    return np.concatenate([np.linspace(a, b, max(5, math.ceil(math.dist(a, b) / 0.02))) for a, b in segments])


def seen(points, x, y, yaw):
    """What a camera with 60 degrees sees of points (n, 2) of the world: the nearest of each of 320 columns."""
    cx, cy = x + NOSE * math.cos(yaw), y + NOSE * math.sin(yaw)
    dx, dy = points[:, 0] - cx, points[:, 1] - cy
    forward, left = dx * math.cos(yaw) + dy * math.sin(yaw), dy * math.cos(yaw) - dx * math.sin(yaw)
    ahead = (forward > 0.05) & (np.abs(left) < 0.58 * forward)
    forward, left = forward[ahead], left[ahead]
    column = np.round(left / forward * 274.5).astype(int)
    order = np.lexsort((forward, column))
    first = np.unique(column[order], return_index=True)[1]
    return np.column_stack([forward, left])[order][first]


def drive(points, seconds, y=0.0, yaw=0.0, side="", speed=2.0):
    car, x, wheel, track = WallAvoider(), 0.0, 0.0, []
    for _ in range(int(seconds / 0.04)):
        command = car.step(seen(points, x, y, yaw), speed, wheel, 0.04, BranchChoice(side, bool(side)))
        wheel += float(np.clip(command.wheel_angle - wheel, -0.093, 0.093))  # 133 degrees/s
        forward, left, turned = dead_reckon(speed * 0.04, wheel, free_space.WHEELBASE)
        x, y = x + forward * math.cos(yaw) - left * math.sin(yaw), y + forward * math.sin(yaw) + left * math.cos(yaw)
        yaw += turned
        track.append((x, y, yaw))
    return np.array(track)


def room(points, track):
    body = np.concatenate([track[:, :2] + q * np.column_stack([np.cos(track[:, 2]), np.sin(track[:, 2])])
                           for q in (0.0, 0.1, 0.2)])  # fmt: skip
    return np.hypot(body[:, None, 0] - points[:, 0], body[:, None, 1] - points[:, 1]).min()


STRAIGHT = wall_points([((-1.0, HALF), (30.0, HALF)), ((-1.0, -HALF), (30.0, -HALF))])


@pytest.mark.parametrize(("y", "yaw"), [(0.0, 0.3), (0.5, 0.2), (-0.6, -0.1)])
def test_a_straight_is_driven_straight_without_weaving(y, yaw):
    track = drive(STRAIGHT, 5.0, y, yaw)
    assert room(STRAIGHT, track) > free_space.HALF_WIDTH + 0.02
    assert np.abs(track[60:, 2]).max() < 0.06  # 1 degree per 0.3 m of way to the middle, and dying away
    assert np.abs(track[-20:, 2]).max() < 0.025


@pytest.mark.parametrize("turn", [1, -1])
def test_a_corner_is_cut_on_its_inside(turn):
    # A right-angled bend, 1.56 m wide: the inner corner is at (4, turn * 0.78).
    points = wall_points([((-1.0, turn * HALF), (4.0, turn * HALF)), ((4.0, turn * HALF), (4.0, turn * 9.0)),
                          ((-1.0, -turn * HALF), (5.56, -turn * HALF)),
                          ((5.56, -turn * HALF), (5.56, turn * 9.0))])  # fmt: skip
    track = drive(points, 4.2)
    assert room(points, track) > free_space.HALF_WIDTH + 0.01
    assert track[-1, 1] * turn > 2.0
    corner = np.hypot(track[:, 0] - 4.0, track[:, 1] - turn * HALF).min()
    assert corner < 0.55  # the middle of the road passes it at 1.1 m


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_side_takes_its_branch_of_a_fork(side):
    wedge = [((3.0, 0.0), (9.0, 0.3)), ((3.0, 0.0), (9.0, -0.3))]
    points = wall_points([((-1.0, HALF), (12.0, HALF)), ((-1.0, -HALF), (12.0, -HALF)), *wedge])
    track = drive(points, 2.6, side=side)
    assert room(points, track) > free_space.HALF_WIDTH
    assert (track[-1, 1] > 0.0) == (side == "left")


@pytest.mark.parametrize("y", [0.05, -0.05])
def test_a_parked_car_is_passed(y):
    box = [((3.0, -0.07), (3.0, 0.07)), ((3.0, 0.07), (3.25, 0.07)), ((3.0, -0.07), (3.25, -0.07))]
    points = np.concatenate([STRAIGHT, wall_points(box)])
    track = drive(points, 2.5, y)
    assert room(points, track) > free_space.HALF_WIDTH
    assert track[-1, 0] > 4.0


def test_a_car_that_is_stuck_backs_out_and_says_so():
    wall = wall_points([((0.25, -0.5), (0.25, 0.5))])
    car = WallAvoider()
    commands = [car.step(wall - (NOSE, 0.0), 0.0, 0.0, 0.04) for _ in range(20)]
    assert not any(command.reverse for command in commands[:14])  # it gives the wall 0.6 s
    assert commands[-1].reverse
    assert commands[-1].pedal < 0.0
    assert car.reverse_count == 1
    for _ in range(20):
        last = car.step(wall - (NOSE, 0.0), 0.6, 0.0, 0.04)
    assert not last.reverse


def test_with_nothing_in_sight_it_drives_straight_on():
    command = WallAvoider().step(np.empty((0, 2)), 1.0, 0.0, 0.04)
    assert command == (pytest.approx(0.0, abs=1e-6), 1.0, False)


def test_a_wall_that_hides_inside_a_bend_is_not_driven_into():
    # A branch's U-turn to the right in two corners round a block 1.2 m wide: past the first one, the second is out of
    # sight, and all that is seen is the outer wall.
    arc = np.linspace(0.0, 0.5 * math.pi, 200)
    width = 0.78
    first, second = np.array([4.0, -0.79]), np.array([4.0, -1.59])
    rim = []
    for radius in (0.4, 0.4 + width):
        turn = [first + radius * np.array([math.sin(a), math.cos(a)]) for a in arc]
        on = [second + radius * np.array([math.cos(a), -math.sin(a)]) for a in arc]
        rim += [((-1.0, first[1] + radius), (4.0, first[1] + radius)), (turn[-1], on[0]),
                (on[-1], (on[-1][0] - 5.0, on[-1][1]))]  # fmt: skip
        rim += list(zip(turn[:-1:10], turn[10::10], strict=False)) + list(zip(on[:-1:10], on[10::10], strict=False))
    points = wall_points(rim)
    track = drive(points, 4.6, y=-0.2)
    assert room(points, track) > free_space.HALF_WIDTH
    assert track[-1, 0] < 3.0
    assert track[-1, 1] < -1.9


def test_a_bicycle_follows_its_circle():
    wheelbase, angle = 0.2, math.radians(30.0)
    radius = wheelbase / math.tan(angle)
    forward, left, turned = dead_reckon(math.pi * radius / 2, angle, wheelbase)  # a quarter of the circle
    assert (forward, left, turned) == pytest.approx((radius, radius, math.pi / 2))
    assert dead_reckon(0.3, 0.0, wheelbase) == (0.3, 0.0, 0.0)
    assert dead_reckon(0.3, -angle, wheelbase)[1] < 0.0


@given(st.lists(st.tuples(st.floats(-0.2, 0.2), st.floats(-0.7, 0.7)), max_size=12))
def test_points_stay_where_they_are_in_the_world(steps):
    memory = PointMemory(10.0, 5.0)
    memory.add_points(np.array([[1.0, 0.4]]))
    x = y = yaw = 0.0
    for distance, angle in steps:
        memory.advance(distance, angle, 0.2)
        forward, left, turned = dead_reckon(distance, angle, 0.2)
        x += forward * math.cos(yaw) - left * math.sin(yaw)
        y += forward * math.sin(yaw) + left * math.cos(yaw)
        yaw += turned
    (px, py) = memory.points[0]
    world = x + px * math.cos(yaw) - py * math.sin(yaw), y + px * math.sin(yaw) + py * math.cos(yaw)
    assert world == pytest.approx((1.0, 0.4), abs=1e-9)


def test_points_are_forgotten_after_their_way_and_far_ones_are_not_kept():
    memory = PointMemory(1.0, 2.0)
    memory.add_points(np.array([[1.5, 0.0], [2.5, 0.0]]))
    assert len(memory.points) == 1
    memory.advance(-0.6, 0.0, 0.2)  # backwards counts as well
    memory.advance(0.3, 0.0, 0.2)
    assert len(memory.points) == 1
    memory.advance(0.2, 0.0, 0.2)
    assert len(memory.points) == 0
    memory.add_points(np.array([[1.0, 0.0]]))
    memory.clear()
    assert len(memory.points) == 0


def walls(half):
    x = np.linspace(-3.0, 3.0, 1201)
    return np.concatenate([np.column_stack([x, np.full_like(x, half)]), np.column_stack([x, np.full_like(x, -half)])])


def turn_round(half, y=0.0):
    """Turn in a straight road of half-width `half`; return yaw, moves, s and the nearest the car came to a wall."""
    points, turn = walls(half), ThreePointTurn()
    x, yaw, wheel, speed, moves, nearest, forward = 0.0, 0.0, 0.0, 0.0, 0, np.inf, True
    turned = 0.0
    for k in range(1500):
        c, s = math.cos(yaw), math.sin(yaw)
        own = (points - (x, y)) @ np.array([[c, -s], [s, c]])
        command = turn.step(own, abs(speed), turned, DT)
        if command is None:
            return yaw, moves, k * DT, nearest
        moves += command.reverse == forward
        forward = not command.reverse
        wheel += float(np.clip(command.wheel_angle - wheel, -2.3 * DT, 2.3 * DT))
        speed += (1.14 * float(np.sign(command.pedal)) - (0.2 if command.pedal else 0.4) * speed) * DT
        step, left, turned = dead_reckon(speed * DT, wheel, WHEELBASE)
        x, y, yaw = x + step * c - left * s, y + step * s + left * c, yaw + turned
        corners = [(q, w) for q in (0.0, NOSE) for w in (-HALF_WIDTH, HALF_WIDTH)]
        nearest = min(nearest, *(half - abs(y + q * math.sin(yaw) + w * math.cos(yaw)) for q, w in corners))
        assert abs(speed) < 2.0 * MAX_SPEED
    raise AssertionError("it never came round")


@pytest.mark.parametrize("y", [-0.4, 0.0, 0.4])
def test_on_the_whole_road_one_move_does_it_towards_the_freer_side(y):
    yaw, moves, took, nearest = turn_round(0.78, y)
    assert abs(yaw) >= REQUIRED_TURN - 0.1
    assert (yaw > 0.0) == (y <= 0.0)
    assert (moves, took < 6.0, nearest > 0.0) == (0, True, True)


def test_in_a_branch_it_goes_back_and_forth_and_touches_little():
    yaw, moves, took, nearest = turn_round(0.39)
    assert abs(yaw) >= REQUIRED_TURN - 0.1
    assert moves >= 1
    assert took < 20.0
    assert nearest > -0.08  # what it touches stops it: it goes the other way


def test_what_does_not_move_is_backed_out_of():
    turn, wall = ThreePointTurn(), np.array([[NOSE + 0.5, 0.0]])
    commands = [turn.step(wall, 0.0, 0.0, DT) for _ in range(12)]
    assert not commands[0].reverse
    assert commands[-1].reverse
    assert commands[-1].wheel_angle == -commands[0].wheel_angle
    assert abs(commands[0].wheel_angle) == LOCK
