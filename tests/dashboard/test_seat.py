from trailbrake.control.hands import Wish
from trailbrake.dashboard.seat import SILENT, Seat

LEFT, RIGHT = Wish(steer=1.0), Wish(steer=-1.0)


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def make():
    clock = Clock()
    return clock, Seat(clock)


def test_nobody_drives_at_first():
    _, seat = make()
    assert (seat.holder, seat.wish()) == (None, None)


def test_the_first_page_drives_and_the_second_only_watches():
    _, seat = make()
    assert seat.ask(1, LEFT)
    assert not seat.ask(2, RIGHT)
    assert (seat.holder, seat.wish()) == (1, LEFT)


def test_the_newest_wish_counts():
    _, seat = make()
    seat.ask(1, LEFT)
    seat.ask(1, RIGHT)
    assert seat.wish() == RIGHT


def test_a_silent_page_asks_for_nothing_and_loses_the_wheel():
    clock, seat = make()
    seat.ask(1, LEFT)
    clock.now += 0.99 * SILENT
    assert seat.wish() == LEFT
    clock.now += 0.02 * SILENT
    assert (seat.holder, seat.wish()) == (None, None)
    assert seat.ask(2, RIGHT)
    assert not seat.ask(1, LEFT)


def test_who_leaves_frees_the_seat_and_nobody_else_does():
    _, seat = make()
    seat.ask(1, LEFT)
    seat.leave(2)
    assert seat.wish() == LEFT
    seat.leave(1)
    assert seat.wish() is None


def test_the_dead_man_is_a_quarter_of_a_second():
    assert SILENT == 0.25
