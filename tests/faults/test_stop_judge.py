"""The judge of stops sees a car that goes backwards, and none where it only rocks or turns."""

import math

import pytest

from faults.checks import Findings
from faults.stop_judge import MOST_ROCKING_M, find_rise, judge_stop, measure_retreat
from faults.trace import Command, Trace
from faults.wires import WIRES


def drive(speeds, dt=0.02, turn=0.0):
    """Return the places of a car with these forward speeds, m/s, on a circle of curvature `turn`."""
    x = y = yaw = 0.0
    places = [(x, y)]
    for v in speeds:
        yaw += turn * v * dt
        x, y = x + v * dt * math.cos(yaw), y + v * dt * math.sin(yaw)
        places.append((x, y))
    return places


STOP = [20.0 - 0.2 * k for k in range(100)]


@pytest.mark.parametrize("turn", [0.0, 0.03, -0.1])
def test_the_way_back_is_measured_in_bends_too(turn):
    assert measure_retreat(drive(STOP, turn=turn)) == pytest.approx(0.0, abs=1e-6)
    assert measure_retreat(drive([*STOP, *[-0.5] * 50], turn=turn)) == pytest.approx(0.5, abs=0.02)
    rocking = [0.4 * math.sin(-10.0 * 0.02 * k) * math.exp(-0.04 * k) for k in range(200)]
    assert measure_retreat(drive([*STOP, *rocking], turn=turn)) < MOST_ROCKING_M


def judge(wire, speeds, places, dt=0.02):
    trace, findings = Trace(), Findings()
    trace.commands = [(0.02, Command(0.0, 0.6))]
    trace.speeds = [(k * dt, abs(v)) for k, v in enumerate(speeds)]
    trace.places = [(k * dt, place) for k, place in enumerate(places)]
    judge_stop(trace, WIRES[wire], findings, 0.0, 8.0)
    return findings


def test_a_good_stop_passes_and_each_fault_is_named():
    rest = [0.0] * 100
    assert not judge("assetto", [*STOP, *rest], drive([*STOP, *rest])).failures
    backwards = [*STOP, *[-0.04 * k for k in range(50)], *[-2.0] * 100]
    assert any("went back" in line for line in judge("assetto", backwards, drive(backwards)).failures)
    assert any("went on" in line for line in judge("trend", [v / 10.0 for v in backwards], []).failures)
    faster = [*STOP[:30], *[25.0] * 30, *STOP]
    assert any("faster" in line for line in judge("assetto", faster, drive(faster)).failures)
    late = [20.0 - 0.02 * k for k in range(900)]
    assert any("not at rest" in line for line in judge("assetto", late, drive(late)).failures)


def test_a_rise_counts_from_the_slowest_speed_below_a_limit():
    assert find_rise([(0.0, 2.0), (0.1, 0.1), (0.2, 0.5)], 0.3) == (pytest.approx(0.4), 0.1)
    assert find_rise([(0.0, 2.0), (0.1, 1.0), (0.2, 1.5)], 0.3) == (0.0, 0.0)
