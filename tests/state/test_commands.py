"""Requests beside driving: which fields they use, and which must not be sent."""

import math

import pytest

from trailbrake.state import DebugLine, Pose, SimCommand
from trailbrake.state.commands import (
    COMMAND_FIELDS,
    MAX_DEBUG_LINES,
    VALUE_NAMES,
    CommandEdges,
    find_command_problem,
    requested_fields,
    values_from_command,
)

LINE = DebugLine((0.0, 0.0, 0.0), (1.0, 1.0, 0.0), 0x00FF00)


def test_a_command_that_requests_nothing():
    assert requested_fields(SimCommand()) == []
    assert find_command_problem(SimCommand(), frozenset()) == ""


def test_false_zero_and_nothing_to_draw_are_requests():
    command = SimCommand(pause=False, extra_sleep=0.0, mguh_mode=0, collisions=False, lines=())
    assert requested_fields(command) == ["pause", "collisions", "extra_sleep", "mguh_mode", "lines"]
    assert find_command_problem(command, COMMAND_FIELDS) == ""


@pytest.mark.parametrize(
    "command",
    [
        SimCommand(pause=True, restart=True, to_pits=True, headlights=True, autoblip=False),
        SimCommand(teleport=Pose(1.0, 2.0, 300.0, 0.5)),
        SimCommand(teleport=Pose(1.0, 2.0)),
        SimCommand(time_scale=100.0),
        SimCommand(extra_sleep=0.255, mguh_mode=255),
        SimCommand(lines=(LINE,) * MAX_DEBUG_LINES),
        SimCommand(lines=[LINE]),
    ],
)
def test_commands_in_range_pass(command):
    assert find_command_problem(command, COMMAND_FIELDS) == ""


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (SimCommand(time_scale=0.0), "command time_scale: expected 0.001 to 100, got 0.0"),
        (SimCommand(time_scale=math.nan), "command time_scale: expected 0.001 to 100, got nan"),
        (SimCommand(time_scale="fast"), "command time_scale: expected 0.001 to 100, got 'fast'"),
        (SimCommand(extra_sleep=1.0), "command extra_sleep: expected 0 to 0.255, got 1.0"),
        (SimCommand(mguh_mode=True), "command mguh_mode: expected 0 to 255, got True"),
        (SimCommand(pause=1), "command pause: expected True or False, got 1"),
        (SimCommand(teleport=(1.0, 2.0)), "command teleport: expected a Pose, got tuple"),
        (SimCommand(teleport=Pose(1e30, 0.0)), "command teleport: expected x within 1e+06, got 1e+30"),
        (SimCommand(teleport=Pose(0.0, 0.0, yaw=math.nan)), "command teleport: expected yaw within 1e+06, got nan"),
        (SimCommand(teleport=Pose(0.0, 0.0, math.inf)), "command teleport: expected z within 1e+06 or NaN, got inf"),
        (SimCommand(lines=LINE), "command lines: expected a tuple of DebugLine, got one of int, tuple"),
        (SimCommand(lines=7), "command lines: expected a tuple of DebugLine, got int"),
        (SimCommand(lines=(LINE,) * 10_000), "command lines: expected up to 585 lines, got 10000"),
        (SimCommand(lines=(LINE._replace(color=-1),)), "command lines: expected a colour 0xRRGGBB, got -1 in line 0"),
        (
            SimCommand(lines=(LINE._replace(color=(1.0, 0.0, 0.0)),)),
            "command lines: expected a colour 0xRRGGBB, got (1.0, 0.0, 0.0) in line 0",
        ),
        (
            SimCommand(lines=(LINE._replace(end=(1.0, 2.0)),)),
            "command lines: expected finite x, y, z, got (0.0, 0.0, 0.0) to (1.0, 2.0) in line 0",
        ),
        ("restart", "command: expected a SimCommand, got str"),
    ],
)
def test_one_line_says_why_a_command_must_not_be_sent(command, problem):
    assert find_command_problem(command, COMMAND_FIELDS) == problem


def test_coordinates_of_lines_must_be_numbers():
    line = DebugLine((math.nan, 0.0, 0.0), (1.0, 0.0, 0.0))
    assert "expected finite x, y, z" in find_command_problem(SimCommand(lines=(line,)), COMMAND_FIELDS)


def test_what_is_not_accepted_is_named_with_what_is():
    problem = find_command_problem(SimCommand(pause=True), frozenset({"restart", "teleport", "steer"}))
    assert problem == "command pause: expected one of restart, teleport"


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
