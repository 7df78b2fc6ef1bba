"""The state that pages show."""

from trailbrake.control.vehicle.manual_input import ManualInput
from trailbrake.dashboard.page_state import LEASE_TIMEOUT_S, MAX_TEXTS, ControlLease, PageState
from trailbrake.system import steady_clock


def test_a_board_does_not_grow_for_ever():
    board = PageState(steady_clock.now)
    for k in range(2 * MAX_TEXTS):
        board.publish_text("said", str(k))
    assert len(board.texts) == MAX_TEXTS


LEFT, RIGHT = ManualInput(steer=1.0), ManualInput(steer=-1.0)


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def make():
    clock = Clock()
    return clock, ControlLease(clock)


def test_nobody_drives_at_first():
    _, seat = make()
    assert (seat.holder, seat.newest_input()) == (None, None)


def test_the_first_page_drives_and_the_second_only_watches():
    _, seat = make()
    assert seat.request_control(1, LEFT)
    assert not seat.request_control(2, RIGHT)
    assert (seat.holder, seat.newest_input()) == (1, LEFT)


def test_the_newest_wish_counts():
    _, seat = make()
    seat.request_control(1, LEFT)
    seat.request_control(1, RIGHT)
    assert seat.newest_input() == RIGHT


def test_a_silent_page_asks_for_nothing_and_loses_the_wheel():
    clock, seat = make()
    seat.request_control(1, LEFT)
    clock.now += 0.99 * LEASE_TIMEOUT_S
    assert seat.newest_input() == LEFT
    clock.now += 0.02 * LEASE_TIMEOUT_S
    assert (seat.holder, seat.newest_input()) == (None, None)
    assert seat.request_control(2, RIGHT)
    assert not seat.request_control(1, LEFT)


def test_who_leaves_frees_the_seat_and_nobody_else_does():
    _, seat = make()
    seat.request_control(1, LEFT)
    seat.release_control(2)
    assert seat.newest_input() == LEFT
    seat.release_control(1)
    assert seat.newest_input() is None


def test_the_dead_man_is_a_quarter_of_a_second():
    assert LEASE_TIMEOUT_S == 0.25
