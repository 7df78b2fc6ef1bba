from trailbrake.observe.actions import ACTIONS, ActionSpec


def test_kinds_of_action_index_their_own_numbers():
    for action in ACTIONS.values():
        assert isinstance(action, ActionSpec)
        assert len(action.low) == len(action.high) == action.width
        assert {action.steer, action.throttle[0], action.brake[0]} == set(range(action.width))
