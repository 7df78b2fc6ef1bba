import numpy as np
import pytest

from trailbrake.errors import UsageError
from trailbrake.observe.actions import ACTIONS, ActionSpec, CommandLimits

LIMITS = CommandLimits(period=0.05, steer_rate=2.0, pedal_rate=4.0)


def test_kinds_of_action_index_their_own_numbers():
    for action in ACTIONS.values():
        assert isinstance(action, ActionSpec)
        assert len(action.low) == len(action.high) == action.width
        assert {action.steer, action.throttle[0], action.brake[0]} == set(range(action.width))


def test_the_steer_changes_by_the_output_and_the_pedal_goes_to_it_both_no_faster_than_allowed():
    outputs = np.array([[1.0, 1.0], [-0.5, -0.1], [5.0, -5.0]], np.float32)
    commands = LIMITS.next_commands(outputs, np.array([[0.0, 0.0], [0.3, 0.0], [0.95, -0.9]]))
    assert commands == pytest.approx(np.array([[0.1, 0.2], [0.25, -0.1], [1.0, -1.0]]))


def test_commands_stay_within_their_range_whatever_comes():
    rng = np.random.default_rng(0)
    commands = np.zeros((50, 2))
    for _ in range(100):
        before = commands
        commands = LIMITS.next_commands(rng.normal(scale=3.0, size=(50, 2)).astype(np.float32), before)
        assert np.abs(commands).max() <= 1.0
        assert np.abs(commands - before).max(axis=0) == pytest.approx([0.1, 0.2], abs=1e-6)


@pytest.mark.parametrize(
    "wrong", [{"period": 0.0}, {"period": 1.0}, {"steer_rate": float("nan")}, {"pedal_rate": -1.0}]
)
def test_limits_out_of_range_are_refused(wrong):
    with pytest.raises(UsageError, match="out of range"):
        CommandLimits(**wrong)
