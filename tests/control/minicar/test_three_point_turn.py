"""Turning round between walls, driven by the kinematic bicycle and judged by where the car's outline is."""

import math

import numpy as np
import pytest

from trailbrake.control.minicar.geometry import HALF_WIDTH, LOCK, NOSE, WHEELBASE
from trailbrake.control.minicar.three_point_turn import MAX_SPEED, REQUIRED_TURN, ThreePointTurn
from trailbrake.control.minicar.wall_avoidance import dead_reckon

DT = 0.04


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
