"""Which of several senders is read."""

import pytest

from trailbrake.transport.sender_guard import SenderGuard

GAME, OTHER = ("10.0.0.2", 50_000), ("127.0.0.1", 4444)


@pytest.fixture
def said():
    return []


@pytest.fixture
def guard(said):
    made = SenderGuard("toy", said.append)
    for k in range(10):
        assert made.admit(GAME, 0.1 * k)
        made.hold(GAME, 0.1 * k)
    return made


def test_the_first_sender_is_held_and_others_are_counted_and_said_once(guard, said):
    assert not any(guard.admit(OTHER, 0.9 + 0.01 * k) for k in range(20))
    assert guard.admit(GAME, 1.1)
    assert guard.foreign == 20
    assert said == [
        "toy: datagrams of a second sender, 127.0.0.1:4444, are ignored while 10.0.0.2:50000 sends: does a second "
        "simulator run?"
    ]


def test_a_sender_is_held_only_when_its_datagram_could_be_read():
    guard = SenderGuard("toy")
    assert guard.admit(OTHER, 0.0)  # garbage: nobody calls `hold`
    assert guard.admit(GAME, 0.0)
    guard.hold(GAME, 0.0)
    assert guard.sender == GAME


def test_after_half_a_second_of_silence_another_takes_its_place(guard):
    for now in (1.1, 1.3):
        guard.observe(now)
    assert not guard.admit(OTHER, 1.39)
    assert guard.admit(OTHER, 1.41)
    guard.hold(OTHER, 1.41)
    assert not guard.admit(GAME, 1.42)


def test_time_in_which_nobody_looked_is_no_silence(guard):
    assert not guard.admit(OTHER, 31.0)
    for now in (31.2, 31.4):
        guard.observe(now)
    assert guard.admit(OTHER, 31.6)


def test_a_clock_that_is_set_back_holds_nobody_for_ever(guard):
    guard.observe(-3600.0)
    for now in (-3599.8, -3599.6, -3599.4):
        guard.observe(now)
    assert guard.admit(OTHER, -3599.3)
