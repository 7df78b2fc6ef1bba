"""What the factory declares for each of the event simulators."""

import pytest

from trailbrake.event_sims.options import STEP_S
from trailbrake.sims.registry import find
from trailbrake.simulator import check_declaration

NAMES = ["trend", "udacity", "udacity_pid", "udacity_mpc"]


@pytest.mark.parametrize("name", NAMES)
def test_a_world_for_one_drive_waits_for_each_answer(name):
    simulator = find(name)
    check_declaration(simulator, name)
    options = simulator.make_embedded_options(simulator.live_options(), 1)
    assert options.pace == "lockstep"
    assert (simulator.period(options), simulator.choose_speed(options)) == (STEP_S, "max")
    options.pace = "real"
    assert (simulator.period(options), simulator.choose_speed(options)) == (STEP_S, "real")


@pytest.mark.parametrize("name", NAMES)
def test_the_host_can_call_a_program(name):
    simulator = find(name)
    options = simulator.program_options(simulator.serve_options(laps=3), "127.0.0.1:5000", 2.0)
    assert (options.connect, options.patience, options.laps) == ("127.0.0.1:5000", 2.0, 3)


def test_each_doctor_names_its_simulator():
    texts = {name: find(name).tools["doctor"].options.__doc__ for name in NAMES}
    assert texts["trend"].startswith("Say why no Formula Trend simulator calls, and what to do.")
    assert texts["udacity_pid"].startswith("Say why no simulator of the PID project calls")
    assert len({text.splitlines()[0] for text in texts.values()}) == len(NAMES)
    assert all("listen: " in text and "seconds: " in text for text in texts.values())
