from trailbrake.control.minicar.sign_memory import HOLD_DISTANCE, SignMemory


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
