"""Commands as the named numbers of a block."""

import math

import pytest

from trailbrake.state import Pose, SimCommand
from trailbrake.state.command_values import VALUE_NAMES, CommandEdges, values_from_command
from trailbrake.state.commands import COMMAND_FIELDS


def test_every_field_but_lines_has_numbers():
    assert set(VALUE_NAMES) == COMMAND_FIELDS - {"lines"}
    names = {name for group in VALUE_NAMES.values() for name in group}
    assert set(values_from_command(SimCommand())) == names


@pytest.mark.parametrize(
    "command",
    [
        SimCommand(pause=True),
        SimCommand(pause=False, collisions=False, headlights=True, autoblip=False),
        SimCommand(time_scale=2.5, extra_sleep=0.03, mguh_mode=3),
        SimCommand(teleport=Pose(1.0, 2.0, 300.0, 0.5)),
        SimCommand(restart=True, to_pits=True),
    ],
)
def test_there_and_back(command):
    assert CommandEdges().read_command(values_from_command(command)) == command


def test_what_requests_nothing():
    assert CommandEdges().read_command(values_from_command(None)) is None


def test_a_level_is_requested_when_it_changes():
    edges = CommandEdges()
    scales = [math.nan, 2.0, 2.0, math.nan, 2.0, 1.0]
    requests = [edges.read_command({"time_scale": scale}) for scale in scales]
    assert [None if r is None else r.time_scale for r in requests] == [None, 2.0, None, None, None, 1.0]


def test_a_teleport_is_requested_by_a_step_from_0_to_1():
    edges = CommandEdges()
    pose = {"teleport_x": 5.0, "teleport_y": 6.0, "teleport_yaw": 0.1}
    requests = [edges.read_command({"teleport": on, **pose}) for on in (0.0, 1.0, 1.0, 0.0, 1.0)]
    assert [r is not None for r in requests] == [False, True, False, False, True]
    first = requests[1].teleport
    assert (first.x, first.y, first.yaw) == (5.0, 6.0, 0.1)
    assert math.isnan(first.z)
