"""Paddles are pressed long enough, let go long enough, and pressed again where nothing came."""

import itertools

from trailbrake.sims.assetto.wire.paddle_shifter import PaddleShifter


def presses(gears, wish, steps):
    """Return the steps at which a paddle went down; `gears(step)` is what the game reports."""
    shifter, down, edges = PaddleShifter(), 0, []
    for step in range(steps):
        paddle = shifter.choose_paddle(wish, gears(step), step)
        if paddle and not down:
            edges.append((step, paddle))
        down = paddle
    return edges


def test_one_press_per_gear_and_no_more():
    assert presses(lambda step: 1 if step < 20 else 2, 2, 400) == [(0, 1)]
    assert presses(lambda step: 3 if step < 20 else 2, 2, 400) == [(0, -1)]


def test_a_gear_that_does_not_come_is_asked_for_after_0_35_s():
    assert [step for step, _ in presses(lambda step: 1, 2, 400)] == [0, 117, 234, 351]


def test_several_gears_come_one_by_one():
    edges = presses(lambda step: min(4, 1 + step // 40), 4, 400)
    assert [paddle for _, paddle in edges] == [1, 1, 1]
    assert all(b - a >= 33 for (a, _), (b, _) in itertools.pairwise(edges))


def test_no_wish_no_press():
    assert presses(lambda step: 1, None, 100) == []
    assert presses(lambda step: None, 3, 100) == []


def test_a_clock_that_jumps_back_begins_anew():
    shifter = PaddleShifter()
    assert shifter.choose_paddle(2, 1, 1000) == 1
    assert shifter.choose_paddle(2, 1, 5) == 1


def test_a_paddle_is_held_for_three_steps_and_released_for_the_rest_of_a_tenth_of_a_second():
    shifter = PaddleShifter()
    held = [shifter.choose_paddle(3, 1 if step < 5 else 2, step) for step in range(40)]
    assert held == [1] * 3 + [0] * 30 + [1] * 3 + [0] * 4
    down = PaddleShifter()
    assert [down.choose_paddle(1, 2, step) for step in range(7, 12)] == [-1, -1, -1, 0, 0]


def test_a_paddle_is_held_though_the_gear_comes_at_once():
    shifter = PaddleShifter()
    assert [shifter.choose_paddle(2, gear, step) for gear, step in ((1, 10), (2, 10), (2, 12), (2, 13))] == [1, 1, 1, 0]


def test_a_clock_that_jumps_back_releases_the_paddle():
    shifter = PaddleShifter()
    assert shifter.choose_paddle(3, 2, 1000) == 1
    assert shifter.choose_paddle(2, 2, 999) == 0
    assert shifter.choose_paddle(1, 2, 1000) == -1
