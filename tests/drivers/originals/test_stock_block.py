"""The stock block against the table of the protocol page, row by row, and its two edges of the compass."""

import math

import pytest

from trailbrake.drivers.originals.stock_block import game_heading, run_stock_block

KMH = 1.0 / 3.6

# From the page: speed in km/h, throttle, torque at each wheel.
SPEEDS = [
    (0.0, 0.5, 270.0), (5.0, 0.5, 270.0), (5.1, 0.5, 200.0), (69.9, 0.5, 200.0), (70.1, 0.0, 170.0),
    (79.9, 0.0, 170.0), (80.1, -0.05, 65.0), (200.0, -0.05, 65.0),
]  # fmt: skip
# Heading as the game counts (degrees), steering as on the wire (positive right).
HEADINGS = [(-179.0, -0.015), (0.0, -0.015), (58.9, -0.015), (59.5, 0.0), (60.1, 0.015), (179.0, 0.015)]


@pytest.mark.parametrize(("kmh", "throttle", "torque"), SPEEDS)
def test_speeds(kmh, throttle, torque):
    answer = run_stock_block(kmh * KMH, 0.0)
    assert (answer.throttle, answer.torque) == (throttle, torque)


@pytest.mark.parametrize(("degrees", "steering"), HEADINGS)
def test_headings(degrees, steering):
    assert run_stock_block(20.0, math.radians(degrees - 90.0)).steering == steering


@pytest.mark.parametrize(
    ("yaw", "degrees"),
    [(-math.pi / 2, 0.0), (0.0, 90.0), (math.pi / 2 - 1e-9, 180.0), (math.pi / 2 + 1e-9, -180.0), (math.pi, -90.0)],
)
def test_the_game_s_compass(yaw, degrees):
    assert game_heading(yaw) == pytest.approx(degrees, abs=1e-6)


def test_it_knows_no_way_round():
    # Two degrees past the back of 60: the short way is to the right, and it turns left all the way round.
    assert run_stock_block(20.0, math.radians(-118.0 - 90.0)).steering < 0.0
