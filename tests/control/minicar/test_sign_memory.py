from trailbrake.control.minicar.sign_memory import (
    HOLD_DISTANCE,
    READING_INTERVAL,
    REQUIRED_READINGS,
    SignMemory,
    WrongWayCounter,
)


def approach(memory, name, start=1.6, end=0.5, step=0.08):
    distance = start
    while distance > end:
        memory.add_reading(name, 0.8, distance)
        memory.advance(step)
        distance -= step
    return distance


def test_a_fork_s_side_is_kept_until_the_fork_is_passed():
    memory = SignMemory()
    assert memory.side == ""
    left = approach(memory, "fork_left") + HOLD_DISTANCE["fork"]
    assert (memory.side, memory.last_sign) == ("left", "fork_left")
    memory.advance(left - 0.1)
    assert memory.side == "left"
    memory.advance(0.3)
    assert memory.side == ""


def test_one_wrong_reading_far_away_is_outweighed():
    memory = SignMemory()
    memory.add_reading("fork_left", 0.7, 2.6)
    assert memory.side == ""
    memory.advance(0.9)
    approach(memory, "fork_right")
    assert memory.side == "right"


def test_the_next_sign_begins_anew():
    memory = SignMemory()
    rest = approach(memory, "fork_left")
    memory.add_reading("fork_right", 0.9, 3.0)  # the gantry behind: not yet
    assert memory.side == "left"
    memory.advance(rest)
    approach(memory, "fork_right", start=2.0)
    assert memory.side == "right"


def test_bends_and_what_is_too_far_ask_for_nothing():
    memory = SignMemory()
    approach(memory, "turn_left")
    approach(memory, "u_turn_right")
    approach(memory, "fork_right", start=9.0, end=4.0)
    assert memory.side == ""


def test_it_looks_as_the_car_rolls_and_not_while_it_stands():
    watch = WrongWayCounter()
    due = [watch.is_due(0.25 * READING_INTERVAL) for _ in range(8)]
    assert due == [False, False, False, True] * 2
    assert not any(watch.is_due(0.0) for _ in range(100))


def test_arrows_and_backs_make_sure_after_a_few_looks_and_it_begins_anew():
    for arrows, backs in (("backward", 0), ("", 2), ("backward", 1)):
        watch = WrongWayCounter()
        assert [watch.add_reading(arrows, backs) for _ in range(2 * REQUIRED_READINGS)] == (
            [False] * (REQUIRED_READINGS - 1) + [True]
        ) * 2


def test_arrows_of_the_right_way_weigh_as_much_and_more_than_a_back_in_the_same_picture():
    watch = WrongWayCounter()
    for _ in range(20):
        assert not watch.add_reading("backward", 0)
        assert not watch.add_reading("forward", 0)
        assert not watch.add_reading("forward", 3)
    assert not any(watch.add_reading("", 0) for _ in range(20))


def test_the_right_way_is_no_credit_for_later():
    watch = WrongWayCounter()
    for _ in range(50):
        watch.add_reading("forward", 0)
    assert [watch.add_reading("backward", 0) for _ in range(REQUIRED_READINGS)][-1]
