import math

import pytest

from trailbrake.driving.session.wire_scoring import WireLapScorer
from trailbrake.state import CarState, Controls


def tick(counter, time, lap, began, contacts=math.nan):
    counter.tick(CarState(time=time, lap=lap, lap_time=time - began, speed=2.0, contacts=contacts), Controls())


def test_laps_and_times_are_the_wire_s_own():
    done = []
    counter = WireLapScorer(done.append)
    for time, lap, began in ((0.0, 1, 0.0), (30.0, 1, 0.0), (31.5, 2, 31.48), (60.0, 2, 31.48), (61.04, 3, 61.04)):
        tick(counter, time, lap, began)
    assert [(lap.number, lap.valid, lap.sectors_s) for lap in done] == [(1, True, ()), (2, True, ())]
    assert [lap.time_s for lap in done] == pytest.approx([31.48, 29.56])
    assert (counter.time, counter.mean_speed) == (61.04, 2.0)
    assert math.isnan(counter.contacts)
    assert math.isnan(counter.off_track_s)


def test_a_restart_begins_anew_and_its_first_lap_is_no_lap():
    counter = WireLapScorer(lambda lap: None)
    for time, lap in ((0.0, 1), (30.0, 2), (0.04, 1), (0.08, 1)):
        tick(counter, time, lap, 0.0)
    assert counter.laps == []
    tick(counter, 29.0, 2, 29.0)
    assert [lap.number for lap in counter.laps] == [1]


def test_a_contact_that_the_wire_shows_spoils_its_own_lap_only():
    counter = WireLapScorer(lambda lap: None)
    for time, lap, began, contacts in ((0.0, 1, 0.0, 0), (10.0, 1, 0.0, 2), (30.0, 2, 30.0, 2), (60.0, 3, 60.0, 2)):
        tick(counter, time, lap, began, contacts)
    assert [(lap.valid, lap.invalid_reason, lap.contacts) for lap in counter.laps] == [
        (False, "contact", 2),
        (True, "", 0),
    ]


def test_before_the_first_tick_there_is_nothing():
    counter = WireLapScorer(lambda lap: None)
    counter.start({})
    counter.close()
    assert (counter.laps, counter.time) == ([], 0.0)
    assert math.isnan(counter.mean_speed)
