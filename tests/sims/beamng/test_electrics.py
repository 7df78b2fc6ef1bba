"""Ignition and lights of the stand-in, as a controller reads them."""

import itertools

import pytest

from trailbrake.sims.beamng.electrics import Electrics
from trailbrake.state import CarState, Controls


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
