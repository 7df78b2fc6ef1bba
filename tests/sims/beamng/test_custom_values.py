"""A user's file: what it returns, and each way in which it can be wrong."""

import itertools

import pytest

from trailbrake.errors import DataError
from trailbrake.sims.beamng.coupling import Electrics, load_custom_values
from trailbrake.state import CarState, Controls


def write(tmp_path, text):
    path = tmp_path / "mine.py"
    path.write_text(text)
    return path


def test_values_are_filled_up_with_zeros(tmp_path):
    custom = load_custom_values(write(tmp_path, "def custom(state, received):\n    return state.speed, received[1]\n"))
    custom.received = (0.0, 7.0)
    assert custom.compute_values(CarState(speed=3.0)) == (3.0, 7.0, *[0.0] * 48)


@pytest.mark.parametrize(("text", "said"), [
    ("def custom(:\n", r"mine\.py:1"),
    ("x = 1\n\nraise ValueError('no')\n", r"mine\.py:3: raised ValueError on import: no"),
    ("x = 1\n", "has no function custom"),
])  # fmt: skip
def test_a_file_that_does_not_load(tmp_path, text, said):
    with pytest.raises(DataError, match=said):
        load_custom_values(write(tmp_path, text))


@pytest.mark.parametrize(("body", "said"), [
    ("return ['a']", "raised ValueError"), ("return None", "raised TypeError"),
    ("return [0.0] * 51", "returned too much"),
    ("raise SystemExit", "raised SystemExit"),
])  # fmt: skip
def test_a_function_that_does_not_do(tmp_path, body, said):
    with pytest.raises(DataError, match=said):
        load_custom_values(write(tmp_path, f"def custom(state, received):\n    {body}\n")).compute_values(CarState())


def lights(electrics, time=0.0):
    state = CarState(time=time)
    electrics.set_lights(state)
    return state.low_beam, state.high_beam, state.left_signal, state.right_signal


@pytest.mark.parametrize(("options", "seen"), [
    ({}, (0, 0, 0, 0)), ({"lights": "low"}, (1, 0, 0, 0)), ({"lights": "high"}, (0, 1, 0, 0)),
    ({"turn_signal": "left"}, (0, 0, 1, 0)), ({"turn_signal": "hazard"}, (0, 0, 1, 1)),
])  # fmt: skip
def test_lights(options, seen):
    assert lights(Electrics(**options)) == seen


def test_a_turn_signal_blinks_ninety_times_a_minute():
    electrics = Electrics(turn_signal="right")
    lit = [lights(electrics, k / 100.0)[3] for k in range(6000)]
    assert sum(b > a for a, b in itertools.pairwise(lit)) == 89, "and once at the start"
    assert sum(lit) / len(lit) == pytest.approx(0.5, abs=0.01)


def test_a_controller_reads_them_and_without_ignition_the_engine_gives_nothing(session):
    session.serve(simulink_time=0.0005, ignition=1, lights="high", turn_signal="left")
    link = session.connect(simulink_time=0.0005)
    state = session.exchange(link, Controls(throttle=1.0), times=5)
    assert (state.high_beam, state.low_beam, state.left_signal, state.right_signal) == (1.0, 0.0, 1.0, 0.0)
    assert (session.plant.inputs[-1][0].throttle, session.plant.inputs[-1][0].clutch) == (0.0, 1.0)
