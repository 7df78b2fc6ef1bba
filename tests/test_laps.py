import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trailbrake.laps import LapClock, LapRecord, LapTimer, Rewind, begin_later, find_best_lap, lap_summary
from trailbrake.state import CarState

LENGTH = 1000.0


def drive(timer, times_and_places, **what):
    return [r for t, s in times_and_places if (r := timer.update(t, s % LENGTH if timer.closed else s, **what))]


def steady(speed, seconds, start=0.0, dt=0.003):
    return [(k * dt, start + speed * k * dt) for k in range(int(seconds / dt) + 1)]


@settings(max_examples=30)
@given(st.floats(15.0, 90.0), st.floats(0.003, 0.05), st.floats(-30.0, 30.0))
def test_lap_times_are_exact_between_ticks(speed, dt, start):
    timer = LapTimer(LENGTH, True)
    laps = drive(timer, steady(speed, 2.3 * LENGTH / speed, start, dt))
    assert [lap.number for lap in laps] == [1, 2]
    assert laps[0].time_s == pytest.approx((LENGTH - start) / speed, abs=1e-6)
    assert laps[1].time_s == pytest.approx(LENGTH / speed, abs=1e-6)
    assert all(lap.valid and lap.invalid_reason == "" for lap in laps)
    assert [sum(lap.sectors_s) for lap in laps] == pytest.approx([lap.time_s for lap in laps])
    assert laps[1].sectors_s == pytest.approx([LENGTH / speed / 3.0] * 3, abs=1e-6)
    assert timer.best_s == min(lap.time_s for lap in laps)
    assert timer.number == 3
    assert timer.laps == laps


def test_a_tick_on_the_line_ends_the_lap_there():
    timer = LapTimer(LENGTH, True, sectors=1)
    assert drive(timer, [(float(k), 10.0 * k) for k in range(101)])[0].time_s == pytest.approx(100.0)
    assert timer.lap_time == 0.0
    assert timer.progress == 0.0


def test_the_lap_runs_on_between_the_line_and_now():
    timer = LapTimer(LENGTH, True)
    assert (timer.lap_time, timer.progress, timer.number, timer.valid) == (0.0, 0.0, 1, True)
    drive(timer, steady(50.0, 5.0))
    assert timer.lap_time == pytest.approx(5.0, abs=0.004)
    assert timer.progress == pytest.approx(0.25, abs=1e-3)
    assert math.isnan(timer.best_s)


def test_two_wheels_off_are_allowed_and_three_are_not():
    timer = LapTimer(LENGTH, True)
    path = steady(50.0, 61.0)
    for t, s in path:
        timer.update(t, s % LENGTH, 2 if s < LENGTH else 3 if s < LENGTH + 50.0 else 0)
    assert [lap.valid for lap in timer.laps] == [True, False, True]
    assert timer.laps[1].invalid_reason == "more than two wheels off the road"
    assert timer.laps[1].off_track_s == pytest.approx(1.0, abs=0.01)
    assert timer.off_track_s == pytest.approx(1.0, abs=0.01)
    assert timer.laps[2].off_track_s == 0.0


def test_contacts_spoil_the_lap_they_happen_in():
    timer = LapTimer(LENGTH, True)
    for t, s in steady(50.0, 61.0):
        timer.update(t, s % LENGTH, 0, 4.0 if s < 1500.0 else 6.0)  # 4 from before we came
    assert [lap.contacts for lap in timer.laps] == [0, 2, 0]
    assert [lap.valid for lap in timer.laps] == [True, False, True]
    assert timer.laps[1].invalid_reason == "contact"
    assert timer.contacts == 2


def test_after_a_jump_the_next_crossing_begins_a_lap_and_counts_nothing():
    timer = LapTimer(LENGTH, True)
    path = [(t, s if s < 300.0 else s + 435.0) for t, s in steady(50.0, 34.0)]  # put 265 m before the line
    laps = [r for t, s in path if (r := timer.update(t, s % LENGTH, 4 if 200 < s < 250 else 0))]
    (lap,) = laps  # the whole one behind the line
    assert (lap.number, lap.valid) == (1, True)
    assert lap.time_s == pytest.approx(20.0, abs=0.001)
    assert lap.sectors_s == pytest.approx([20.0 / 3.0] * 3, abs=0.001)
    assert (timer.laps, timer.best_s, timer.number) == ([lap], lap.time_s, 2)


def test_a_jump_shows_in_the_timer_until_the_line():
    timer = LapTimer(LENGTH, True)
    timer.update(0.0, 0.0)
    timer.update(0.003, 700.0)
    assert (timer.is_out_lap, timer.valid, timer.invalid_reason) == (True, False, "jump along the road")
    for k in range(100):
        timer.update(0.003 + 0.1 * k, 700.0 + 4.0 * k)
    assert (timer.is_out_lap, timer.valid, timer.number, timer.laps) == (False, True, 1, [])
    assert timer.lap_time == pytest.approx(2.4, abs=1e-6)


def test_a_short_way_that_was_no_drive_counts_as_a_jump_too():
    """A teleport by less than a tick can show: the world marks it."""
    timer = LapTimer(LENGTH, True)
    drive(timer, steady(50.0, 19.9))
    timer.mark_jump()
    assert drive(timer, [(20.0 + 0.003 * k, 996.0 + 0.15 * k) for k in range(100)]) == []
    assert (timer.number, timer.laps) == (1, [])


def test_the_first_reason_against_a_lap_stays():
    timer = LapTimer(LENGTH, False)
    timer.update(0.0, 0.0, 4)
    timer.update(0.1, 500.0)
    assert timer.invalid_reason == "more than two wheels off the road"


def test_an_open_road_ends_after_a_jump_with_a_lap_that_does_not_count():
    timer = LapTimer(LENGTH, False)
    laps = drive(timer, [(0.0, 0.0), *((1.0 + 0.003 * k, 700.0 + 0.15 * k) for k in range(2100))])
    assert [(lap.valid, lap.invalid_reason) for lap in laps] == [(False, "jump along the road")]
    assert laps[0].sectors_s == pytest.approx((1.0, 0.0, 6.0)), "two lines are passed with the jump"
    assert timer.finished


def test_a_jump_may_be_by_several_laps():
    timer = LapTimer(LENGTH, True)
    timer.update(0.0, 10.0)
    timer.update(0.01, 3.25 * LENGTH)
    assert (timer.progress, timer.valid) == (0.25, False)


def test_going_back_over_the_line_spoils_the_lap_and_scores_nothing():
    timer = LapTimer(LENGTH, True)
    forth = steady(50.0, 21.0)  # 50 m into lap 2
    drive(timer, forth)
    back = [(21.0 + 0.003 * k, 1050.0 - 0.06 * k) for k in range(1, 1700)]
    assert drive(timer, back) == []
    assert timer.invalid_reason == "back over the line"
    assert timer.number == 2
    again = [(27.0 + 0.003 * k, 950.0 + 0.15 * k) for k in range(15000)]
    laps = drive(timer, again)
    assert [(lap.number, lap.valid) for lap in laps] == [(2, False), (3, True)]


def test_a_car_at_rest_may_rock_on_the_line():
    timer = LapTimer(LENGTH, True)
    for k in range(2000):
        timer.update(0.003 * k, 0.3 * math.sin(0.1 * k) % LENGTH)
    assert timer.valid
    assert timer.laps == []


def test_an_open_road_is_one_lap_and_then_over():
    timer = LapTimer(LENGTH, False)
    laps = drive(timer, steady(40.0, 40.0, start=-4.0))
    assert len(laps) == 1
    assert laps[0].valid
    assert laps[0].time_s == pytest.approx(1004.0 / 40.0, abs=1e-6)
    assert timer.finished
    assert timer.number == 1
    assert timer.progress == 1.0
    assert timer.update(100.0, 0.0) is None


def test_unknown_places_and_contacts_are_passed_over():
    timer = LapTimer(LENGTH, True)
    for k, (t, s) in enumerate(steady(50.0, 21.0)):
        timer.update(t, s % LENGTH if k % 3 else math.nan)
        timer.update(math.nan, 5.0)
    assert [lap.valid for lap in timer.laps] == [True]
    assert timer.laps[0].time_s == pytest.approx(20.0, abs=0.01)


def test_time_that_runs_back_is_a_restart():
    timer = LapTimer(LENGTH, True)
    drive(timer, steady(50.0, 25.0))
    assert timer.number == 2
    laps = drive(timer, steady(40.0, 26.0))
    assert [(lap.number, lap.valid) for lap in laps] == [(1, True)]
    assert laps[0].time_s == pytest.approx(25.0)
    timer.reset()
    assert (timer.number, timer.laps, timer.lap_time) == (1, [], 0.0)


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.floats(-1, 5), st.floats(allow_nan=True), st.integers(-1, 4), st.floats(0, 9)), max_size=40)
)
def test_nonsense_never_breaks_the_timer(ticks):
    for closed in (True, False):
        timer = LapTimer(LENGTH, closed)
        now = 0.0
        for step, s, wheels, contacts in ticks:
            now += step
            timer.update(now, s, wheels, contacts)
            assert 0.0 <= timer.progress <= 1.0
            assert all(lap.time_s >= 0.0 for lap in timer.laps)


@pytest.mark.parametrize(
    ("dt", "step", "jumps"),
    [(0.125, 23.75, False), (0.125, 23.8, True), (1.0, 155.0, False), (1.0, 155.5, True), (0.0, 5.5, True),
     (0.125, -23.75, False), (0.125, -23.8, True), (1.0, -155.0, False), (1.0, -155.5, True)],
)  # fmt: skip
def test_more_than_150_metres_a_second_and_5_are_a_jump(dt, step, jumps):
    timer = LapTimer(LENGTH, True)
    timer.update(0.0, 0.0)
    timer.update(8.0, 400.0)
    timer.update(8.0 + dt, 400.0 + step)
    assert (timer.is_out_lap, timer.invalid_reason) == (jumps, "jump along the road" if jumps else "")
    assert timer.lap_time == pytest.approx(8.0 + dt)
    assert timer.progress == pytest.approx((400.0 + step) / LENGTH)


def test_a_car_that_was_put_behind_the_line_may_roll_back_further():
    timer = LapTimer(LENGTH, True)
    timer.update(0.0, 500.0)
    timer.update(0.1, 5.0)  # a jump
    assert timer.progress == pytest.approx(0.005)
    for k in range(20):
        timer.update(0.2 + 0.1 * k, 5.0 - k)
    assert (timer.invalid_reason, timer.number, timer.laps) == ("begun away from the line", 1, [])


@pytest.mark.parametrize(
    ("length", "start", "place", "reason"),
    [(LENGTH, 60.0, 60.0, ""), (LENGTH, 60.5, 60.5, "begun away from the line"), (LENGTH, 940.5, -59.5, ""),
     (LENGTH, 940.0, 940.0, "begun away from the line"), (LENGTH, -1.0, -1.0, ""), (50.0, 25.0, 25.0, ""),
     (50.0, 25.5, -24.5, ""), (LENGTH, 2060.0, 60.0, "")],
)  # fmt: skip
def test_a_first_lap_may_begin_60_metres_off_the_line(length, start, place, reason):
    timer = LapTimer(length, True)
    timer.update(10.0, start)
    assert timer.invalid_reason == reason
    assert timer.progress == pytest.approx(max(place, 0.0) / length)
    (lap,) = [lap for k in range(1, 2000) if (lap := timer.update(10.0 + 0.1 * k, start + k)) and lap.number == 1]
    assert lap.time_s == pytest.approx(0.1 * (length - place))


@pytest.mark.parametrize(("start", "least"), [(0.0, -1.0), (-4.0, -5.0), (4.0, -1.0)])
def test_a_car_may_roll_back_by_one_metre(start, least):
    for closed in (True, False):
        timer = LapTimer(LENGTH, closed)
        timer.update(0.0, start)
        timer.update(1.0, least)
        assert timer.invalid_reason == ""
        timer.update(2.0, least - 0.1)
        assert timer.invalid_reason == "back over the line"


def test_contacts_are_counted_from_the_first_that_is_known():
    timer = LapTimer(LENGTH, True)
    timer.update(0.0, 0.0)
    for t, contacts in ((1.0, 2.0), (2.0, 2.0), (3.0, 5.0), (4.0, math.nan), (5.0, 6.0)):
        timer.update(t, 40.0 * t, 0, contacts)
    assert (timer.contacts, timer.invalid_reason) == (6, "contact")
    (lap,) = [lap for k in range(60, 270) if (lap := timer.update(0.1 * k, 4.0 * k, 0, 6.0))]
    assert (lap.contacts, timer.contacts) == (6, 6)
    timer.update(30.0, 1200.0, 0, 7.0)
    assert (timer.contacts, timer.invalid_reason) == (7, "contact")
    timer.update(29.0, 0.0, 0, 7.0)  # a restart
    assert (timer.contacts, timer.invalid_reason, timer.laps) == (0, "", [])


def test_time_off_the_road_is_counted_in_its_lap_and_in_all():
    timer = LapTimer(LENGTH, True)
    timer.update(0.0, 0.0, 4)
    assert (timer.off_track_s, timer.invalid_reason) == (0.0, "more than two wheels off the road")
    for k in range(1, 41):
        timer.update(float(k), 50.0 * k, 3 if k in (5, 6, 30) else 2)
    assert [lap.off_track_s for lap in timer.laps] == [2.0, 1.0]
    assert timer.off_track_s == 3.0


def test_a_timer_before_its_first_sample():
    timer = LapTimer(LENGTH, True)
    assert (timer.finished, timer.is_out_lap, timer.contacts, timer.off_track_s) == (False, False, 0, 0.0)
    assert (timer.finished is False, timer.is_out_lap is False) == (True, True)
    assert len(timer.laps) == 0
    assert timer.update(1.0, math.inf) is None
    assert timer.lap_time == 0.0


def test_sectors_are_equal_shares_of_the_length():
    timer = LapTimer(LENGTH, True, sectors=4)
    path = [(0.1 * k, 2.0 * k) for k in range(126)] + [(12.5 + 0.1 * k, 250.0 + 5.0 * k) for k in range(1, 151)]
    (lap,) = drive(timer, path)
    assert lap.sectors_s == pytest.approx((12.5, 5.0, 5.0, 5.0))
    assert lap.time_s == pytest.approx(27.5)
    assert (timer.number, timer.best_s) == (2, lap.time_s)


def test_a_slower_lap_is_not_the_best_and_an_invalid_one_neither():
    timer = LapTimer(LENGTH, True, sectors=1)
    for k in range(1, 26):
        timer.update(float(k), 50.0 * (k - 1))
    assert timer.best_s == pytest.approx(20.0)
    drive(timer, [(25.0 + k, 1200.0 + 40.0 * k) for k in range(21)])
    assert timer.laps[1].time_s > 20.0
    assert timer.best_s == pytest.approx(20.0)
    for k in range(20):
        timer.update(46.0 + k, 2000.0 + 100.0 * k, 4)
    assert [lap.valid for lap in timer.laps] == [True, True, False, False][: len(timer.laps)]
    assert timer.best_s == pytest.approx(20.0)


@pytest.mark.parametrize(("length", "sectors"), [(0.0, 3), (-1.0, 3), (math.nan, 3), (10.0, 0)])
def test_a_road_without_length_or_sectors_is_one_line(length, sectors):
    line = f"LapTimer: expected length > 0 and sectors >= 1, got {length}, {sectors}"
    with pytest.raises(ValueError, match=f"^{line}$"):
        LapTimer(length, True, sectors)
    assert len(LapTimer(0.5, True, 1).laps) == 0


def test_two_samples_of_one_moment_on_the_line_end_the_lap_once():
    timer = LapTimer(LENGTH, True, sectors=2)
    drive(timer, [(float(k), 50.0 * k) for k in range(20)])
    lap = timer.update(20.0, 0.0)
    assert lap.time_s == 20.0
    assert timer.update(20.0, 0.0) is None
    assert (timer.number, timer.lap_time, timer.valid) == (2, 0.0, True)


def test_a_lap_that_the_simulator_has_begun_before_has_its_time():
    """The host and a client that joins while the car stands at the line agree."""
    timer = LapTimer(LENGTH, True)
    (lap,) = drive(timer, steady(50.0, 25.0), lap_time=2.57)
    assert lap.time_s == pytest.approx(LENGTH / 50.0 + 2.57, abs=1e-6)


def test_a_drive_that_begins_with_its_lap_begins_it_at_its_first_sample():
    """A world's clock shows a tick or two there."""
    timer = LapTimer(LENGTH, True)
    (lap,) = drive(timer, steady(50.0, 25.0), lap_time=0.05)
    assert lap.time_s == pytest.approx(LENGTH / 50.0, abs=1e-6)


@pytest.mark.parametrize(("clock", "counted"), [(0.294, 1), (2.3, 1), (5.0, 2)])
def test_the_cars_of_a_large_grid_begin_their_first_lap_behind_the_line(clock, counted):
    """Each car of a world takes 0.036 s to get its client: eight have 0.294 s on their clocks at the first sample."""
    timer = LapTimer(LENGTH, True)
    drive(timer, steady(50.0, (LENGTH + 120.0) / 50.0, start=LENGTH - 100.0), lap_time=clock)
    assert len(timer.laps) == counted


def follow_clock(*samples):
    """Return what a LapClock finds in samples of (time, lap, lap time, x, shown time of the last lap)."""
    clock = LapClock()
    states = [CarState(time=t, lap=n, lap_time=c, x=x, y=0.0, speed=30.0) for t, n, c, x, _ in samples]
    return clock, [clock.update(state, sample[-1]) for state, sample in zip(states, samples, strict=True)]


def test_a_car_that_backs_over_the_line_undoes_nothing():
    """The game's clock runs on, and so does its lap: only the car goes back."""
    back_and_on = [(k * 0.1, 2.0, 5.0 + k * 0.1, 10.0 - abs(k - 20), math.nan) for k in range(60)]
    _, found = follow_clock((0.0 - 0.1, 2.0, 4.9, 10.0, math.nan), *back_and_on)
    assert found == [None] * 61


@pytest.mark.parametrize(("shown", "expected"), [(41.25, 41.25), (3.0, 41.2), (-11.02, 41.2), (math.nan, 41.2)])
def test_a_shown_lap_time_that_disagrees_with_the_clocks_is_not_taken(shown, expected):
    _, found = follow_clock((0.0, 1.0, 0.0, 0.0, 0.0), (41.0, 1.0, 41.0, 0.0, 0.0), (41.5, 2.0, 0.3, 10.0, shown))
    assert found[2].time_s == pytest.approx(expected)
    assert found[2].end == pytest.approx(41.2)


def test_a_lap_that_is_twice_as_long_as_another_is_a_lap():
    _, found = follow_clock((0.0, 1.0, 0.0, 0.0, 0.0), (40.0, 2.0, 0.0, 0.0, 40.0), (120.0, 3.0, 0.0, 0.0, 80.0))
    assert [(lap.number, lap.time_s, lap.valid) for lap in found[1:]] == [(1, 40.0, True), (2, 80.0, True)]


def test_a_clock_that_goes_back_elsewhere_restarts_and_undoes_nothing():
    driven = [(k * 0.1, 1.0, k * 0.1, 3.0 * k, math.nan) for k in range(100)]
    clock, found = follow_clock(*driven, (10.0, 1.0, 5.0, 9000.0, math.nan))
    assert found[-1] == Rewind(0, 0.0)
    clock, found = follow_clock(*driven, (10.0, 1.0, 5.0, 150.0, math.nan))
    assert found[-1] == Rewind(49, pytest.approx(5.0))
    assert clock.laps == []


def test_the_clocks_of_a_first_sample_may_be_off_by_a_quarter_of_a_second():
    for clock, lap_s in ((0.25, 20.0), (0.5, 20.5)):
        timer = LapTimer(LENGTH, True)
        (lap,) = drive(timer, steady(50.0, 25.0), lap_time=clock)
        assert lap.time_s == pytest.approx(lap_s, abs=1e-6)


def test_the_distance_goes_on_over_the_line():
    timer = LapTimer(LENGTH, True)
    timer.update(0.0, -20.0)
    assert timer.distance == -20.0
    for k in range(1, 61):
        timer.update(0.5 * k, 50.0 * k - 20.0)
        assert timer.distance == pytest.approx(50.0 * k - 20.0)


def test_a_jump_on_an_open_road_goes_to_where_it_says():
    timer = LapTimer(LENGTH, False)
    timer.update(0.0, 500.0)
    timer.update(0.1, -30.0)
    assert (timer.distance, timer.valid) == (-30.0, False)


def test_a_summary_of_a_lap_has_its_time_and_why_it_does_not_count():
    lap = LapRecord(2, 30.5, False, (10.0, 20.5), "contact", 1.0, 1, 90.0)
    said = {"number": 2, "time_s": 30.5, "valid": False, "sectors_s": [10.0, 20.5], "invalid_reason": "contact"}
    assert lap_summary(lap) == said
    later = begin_later(lap, 0.5)
    assert (later.time_s, later.sectors_s, later.number, later.end) == (30.0, (9.5, 20.5), 2, 90.0)
    quick = LapRecord(3, 30.0, False, (), "contact", 0.0, 1)
    counting = LapRecord(4, 31.0, True, (), "", 0.0, 0)
    assert [find_best_lap(laps) for laps in ([], [lap, quick], [lap, quick, counting])] == [None, 1, 2]


def rewind(timer, end, back, speed=50.0):
    """Drive until `end` (s), set the car back to where it was at `back`, drive on; return laps that were undone."""
    drive(timer, [(0.1 * k, speed * 0.1 * k) for k in range(round(10 * end) + 1)])
    place = speed * back % LENGTH if timer.closed else speed * back
    undone = timer.rewind(end + 0.1, place, end + 0.1 - back)
    drive(timer, [(end + 0.1 + 0.1 * k, speed * (back + 0.1 * k)) for k in range(1, 600)])
    return undone


@pytest.mark.parametrize(
    ("end", "back", "undone"),
    [(5.0, 3.0, 0), (9.0, 3.0, 0), (15.0, 12.0, 0), (19.0, 6.0, 0), (22.0, 18.0, 1), (30.0, 3.0, 1), (45.0, 38.0, 1),
     (45.0, 15.0, 2), (41.0, 40.5, 0), (33.0, 20.5, 0)],
)  # fmt: skip
def test_what_a_rewind_undoes_takes_no_time_of_a_lap(end, back, undone):
    timer = LapTimer(LENGTH, True)
    assert rewind(timer, end, back) == undone
    assert [lap.number for lap in timer.laps] == list(range(1, len(timer.laps) + 1))
    assert len(timer.laps) >= 3
    for lap in timer.laps:
        assert (lap.valid, lap.time_s) == (True, pytest.approx(20.0, abs=1e-6))
        assert lap.sectors_s == pytest.approx([20.0 / 3.0] * 3, abs=1e-6)
    assert timer.best_s == min(lap.time_s for lap in timer.laps)


def test_a_rewind_behind_the_line_puts_the_car_behind_it():
    timer = LapTimer(LENGTH, True)
    drive(timer, [(0.1 * k, 980.0 + 5.0 * k) for k in range(20)])  # over the line of a first lap from the grid
    assert timer.rewind(2.0, 990.0, 1.8) == 0
    assert (timer.distance, timer.number) == (-10.0, 1)
    assert timer.lap_time == pytest.approx(0.2)


def test_a_rewind_takes_laps_with_what_spoilt_them_back_and_keeps_it_of_the_one_that_is_driven_again():
    timer = LapTimer(LENGTH, True)
    for k in range(450):
        timer.update(0.1 * k, 5.0 * k, 3 if 250 <= k < 260 else 0, 0.0 if k < 300 else 1.0)
    assert [(lap.valid, lap.off_track_s, lap.contacts) for lap in timer.laps] == [
        (True, 0.0, 0),
        (False, pytest.approx(1.0), 1),
    ]
    assert timer.rewind(45.0, 900.0, 7.0) == 1
    assert (timer.number, timer.best_s, len(timer.laps)) == (2, timer.laps[0].time_s, 1)
    assert timer.invalid_reason == "more than two wheels off the road"
    (lap,) = [lap for k in range(1, 40) if (lap := timer.update(45.0 + 0.1 * k, 900.0 + 5.0 * k))]
    assert (lap.number, lap.off_track_s, lap.contacts) == (2, pytest.approx(1.0), 1)
    assert timer.rewind(49.0, 100.0, 47.0) == 2
    assert math.isnan(timer.best_s)


def test_a_rewind_on_an_open_road_goes_on_after_its_end():
    timer = LapTimer(LENGTH, False)
    drive(timer, steady(50.0, 21.0))
    assert timer.finished
    assert timer.rewind(21.0, 900.0, 3.0) == 1
    assert (timer.finished, timer.distance, timer.laps) == (False, 900.0, [])
    (lap,) = drive(timer, [(21.0 + 0.1 * k, 900.0 + 5.0 * k) for k in range(1, 40)])
    assert lap.time_s == pytest.approx(20.0)


def test_a_lap_of_a_clock_is_spoilt_by_a_contact_a_jump_and_a_begin_that_was_not_seen():
    def state(time, lap, clock, **values):
        return CarState(**{"time": time, "lap": lap, "lap_time": clock, "x": 0.0, "y": 0.0, "speed": 30.0, **values})

    def laps(*states):
        clock = LapClock()
        return [found for each in states if isinstance(found := clock.update(each), LapRecord)]

    (lap,) = laps(state(0.0, 1.0, 5.0), state(30.0, 2.0, 0.0))
    assert (lap.valid, lap.invalid_reason) == (False, "begun before it was recorded")
    (lap,) = laps(state(0.0, 1.0, 5.0, speed=0.2), state(30.0, 2.0, 0.0))
    assert lap.valid
    (lap,) = laps(state(0.0, 1.0, 0.0, contacts=2.0), state(30.0, 2.0, 0.0, contacts=5.0))
    assert (lap.valid, lap.invalid_reason, lap.contacts) == (False, "contact", 3)
    for way, valid in ((155.0, True), (155.1, False)):  # m in a second
        (lap,) = laps(state(0.0, 1.0, 0.0), state(1.0, 1.0, 1.0, x=way), state(30.0, 2.0, 0.0))
        assert (lap.valid, lap.invalid_reason) == (valid, "" if valid else "jump along the road")
    first = (state(0.0, 1.0, 0.0), state(1.0, 1.0, 1.0, x=500.0), state(1.1, 1.0, 1.1, x=500.0))
    (lap, after) = laps(*first, state(30.0, 2.0, 0.0), state(60.0, 3.0, 0.0))
    assert (lap.invalid_reason, after.valid) == ("jump along the road", True)
    assert laps(state(0.0, 1.0, 0.0), state(1.0, 1.0, math.inf), state(2.0, 3.0, 0.0)) == []
    infinite = state(1.0, math.inf, -math.inf)  # neither of the two alone, nor their sum with the time, is finite
    assert len(laps(state(0.0, 1.0, 0.0), infinite, state(30.0, 2.0, 0.0))) == 1


def test_a_rewind_of_a_clock_over_the_line_takes_the_lap_back_with_what_spoilt_it():
    clock = LapClock()

    def drive_on(time, lap, lap_time, seconds, contacts=0.0):
        found = [
            clock.update(
                CarState(time=time + 0.1 * k, lap=lap, lap_time=lap_time + 0.1 * k, speed=30.0, contacts=contacts,
                         x=3.0 * (lap_time + 0.1 * k), y=0.0)
            )
            for k in range(round(10 * seconds))
        ]  # fmt: skip
        return [each for each in found if each is not None]

    assert drive_on(0.0, 1.0, 0.0, 20.0) == []
    (lap,) = drive_on(20.0, 2.0, 0.0, 5.0, contacts=1.0)
    assert (lap.number, lap.invalid_reason) == (1, "contact")
    (back,) = drive_on(25.0, 1.0, 15.05, 5.0, contacts=1.0)  # between two samples
    assert back == Rewind(99, pytest.approx(9.95))
    assert clock.laps == []
    (lap,) = drive_on(30.0, 2.0, 0.0, 5.0, contacts=1.0)
    assert (lap.number, lap.time_s, lap.invalid_reason) == (1, pytest.approx(20.05), "contact")


@pytest.mark.parametrize(
    ("dt", "clock", "lap_s"), [(0.25, 0.1, 20.025), (0.25, 0.25, 20.0), (0.25, -0.1, 20.0), (0.05, 0.02, 20.0)]
)
def test_between_samples_far_apart_the_lap_clock_tells_when_the_line_was_crossed(dt, clock, lap_s):
    """Where it says that the lap began between the two."""
    timer = LapTimer(LENGTH, True)
    drive(timer, [(0.1 * k, 5.0 * k) for k in range(190)])
    timer.update(20.0 - 0.5 * dt, LENGTH - 25.0 * dt)
    lap = timer.update(20.0 + 0.5 * dt, LENGTH + 25.0 * dt, lap_time=clock)
    assert (lap.time_s, lap.end) == (pytest.approx(lap_s), pytest.approx(lap_s))
    assert timer.lap_time == pytest.approx(20.0 + 0.5 * dt - lap_s)


def test_a_rewind_to_the_line_keeps_the_lap_that_ended_there():
    timer = LapTimer(LENGTH, True, sectors=1)
    drive(timer, [(float(k), 50.0 * k) for k in range(24)])
    assert timer.rewind(24.0, 0.0, 4.0) == 0
    assert [(lap.number, lap.end) for lap in timer.laps] == [(1, 20.0)]
    assert (timer.number, timer.distance) == (2, LENGTH)


@pytest.mark.parametrize(
    ("clock", "x", "samples"),
    [(5.0, 165.0, 49), (5.0, 165.5, 0), (5.0, 135.0, 49), (5.05, 172.4, 49), (5.05, 172.6, 0), (5.0, math.nan, 0),
     (1.0, 30.0, 89), (0.9, 27.0, 0), (9.895, 297.0, None), (9.88, 297.0, 1)],
)  # fmt: skip
def test_a_rewind_is_to_where_the_car_was_and_not_to_the_first_second(clock, x, samples):
    driven = [(k * 0.1, 1.0, k * 0.1, 3.0 * k, math.nan) for k in range(100)]
    _, found = follow_clock(*driven, (10.0, 1.0, clock, x, math.nan))
    assert (found[-1] and found[-1].samples) == samples


def test_a_session_that_is_recorded_late_in_its_time_can_be_rewound():
    driven = [(500.0 + k * 0.1, 1.0, 20.0 + k * 0.1, 3.0 * k, math.nan) for k in range(100)]
    _, found = follow_clock(*driven, (510.0, 1.0, 20.9, 27.0, math.nan))
    assert found[-1] == Rewind(0, 0.0)  # to its first second
    _, found = follow_clock(*driven, (510.0, 1.0, 21.5, 45.0, math.nan))
    assert found[-1] == Rewind(84, pytest.approx(8.5))
