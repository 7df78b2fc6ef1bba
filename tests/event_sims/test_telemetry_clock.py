"""Sequence, age, laps and restarts of a link's samples."""

import math

from trailbrake.event_sims.telemetry_clock import TelemetryClock
from trailbrake.roles import LinkCounters
from trailbrake.state import CarState, Phase


def made():
    counters = LinkCounters()
    return TelemetryClock(counters, 1.0), counters


def test_samples_are_numbered_and_repeats_are_known():
    clock, _ = made()
    assert clock.sequence == -1
    assert not clock.is_repeated(0.0)  # nothing has come yet
    assert not clock.accept_sample(0.0)
    assert clock.is_repeated(0.0)
    assert not clock.accept_sample(0.04)
    assert (clock.sequence, clock.time) == (1, 0.04)
    assert not clock.accept_sample(0.04), "a repeat is no restart"
    assert clock.sequence == 2


def test_before_the_first_sample():
    clock, counters = made()
    assert (clock.time, clock.sequence, clock.is_stale, clock.lap_start) == (0.0, -1, False, 0.0)
    assert math.isnan(clock.best_lap_time)
    assert counters == LinkCounters()


def test_the_best_lap_is_the_shortest():
    clock, _ = made()
    clock.accept_sample(0.0)
    for time in (10.0, 19.0, 30.0):
        clock.accept_sample(time)
        clock.complete_lap(time)
    clock.accept_sample(32.5)
    state = CarState()
    clock.fill_laps(state)
    assert (state.lap_time, state.best_lap_time) == (2.5, 9.0)


def test_a_first_line_may_start_the_clock():
    clock, _ = made()
    clock.accept_sample(3.0)
    clock.start_lap(2.0)
    clock.accept_sample(12.0)
    clock.complete_lap(12.0)
    assert clock.best_lap_time == 10.0


def test_time_that_runs_back_is_a_restart():
    clock, counters = made()
    clock.accept_sample(10.0)
    clock.complete_lap(10.0)
    assert clock.accept_sample(0.02)
    assert (counters.resyncs, clock.sequence, clock.lap_start) == (1, 1, 0.0)
    assert math.isnan(clock.best_lap_time)
    clock.accept_sample(5.0)
    assert clock.accept_sample(4.0)
    assert counters.resyncs == 2


def test_age_grows_from_the_last_arrival_and_silence_is_counted_once():
    clock, counters = made()
    state = CarState()
    clock.fill_age(state, 5.0, is_connected=True)
    assert (state.age, clock.is_stale) == (0.0, False)  # not open yet
    clock.note_arrival(5.0)
    for now, phase in ((5.5, Phase.DRIVING), (6.0, Phase.DRIVING), (6.1, Phase.LOST), (6.2, Phase.LOST)):
        state = CarState()
        clock.fill_age(state, now, is_connected=True)
        assert (state.age, state.phase, state.sequence) == (now - 5.0, phase, clock.sequence)
    assert (counters.stale, clock.is_stale) == (1, True)
    clock.note_arrival(7.0)
    clock.fill_age(state := CarState(), 7.0, is_connected=False)
    assert (state.phase, counters.stale) == (Phase.LOST, 1)  # silent all the same
