import math

import numpy as np
import pytest

from trailbrake.observe.columns import FOUR, MEANINGS, Seen
from trailbrake.observe.derive import MARGIN, ask, begin, derive
from trailbrake.state.tables import STATE_FIELDS
from trailbrake.tracks.road import Road


def straight(closed=False, n=101):
    x = np.arange(n) * 2.0
    return Road.from_columns(2.0, closed, x, np.zeros(n), np.zeros(n), np.zeros(n), width_left=4.0, width_right=6.0)


def first(n=1):
    seen = np.zeros((Seen.COUNT, n))
    seen[Seen.ON_TRACK : Seen.ON_TRACK + 4] = 1.0
    begin(seen, np.arange(n))
    return seen


def step(seen, road, dt=0.1, **rows):
    for name, value in rows.items():
        seen[Seen[name]] = value
    derive(seen, road.table, road.spacing, road.closed, dt, 0, seen.shape[1])


def test_every_row_that_may_be_observed_says_what_it_means_and_needs_real_fields():
    kept = {Seen.LAST_S, Seen.LAST_CONTACTS, Seen.NEW, Seen.COUNT}
    assert set(MEANINGS) == set(Seen) - kept
    for meaning in MEANINGS.values():
        assert meaning.needs <= STATE_FIELDS
        assert meaning.usual > 0.0
    rows = [row + wheel for row in MEANINGS for wheel in range(4 if row in FOUR else 1)]
    assert sorted(rows) == list(range(Seen.LAST_S)), "rows overlap or leave gaps"


def test_the_first_step_gains_nothing_and_later_ones_add_up():
    road, seen = straight(), first()
    step(seen, road, S=50.0, CONTACTS=7.0, VELOCITY_X=10.0)
    assert seen[Seen.PROGRESS] == seen[Seen.TIME] == seen[Seen.TOUCHED] == seen[Seen.ALIVE] == 0.0
    for k in range(1, 4):
        step(seen, road, S=50.0 + 1.5 * k, CONTACTS=8.0)
        assert seen[Seen.PROGRESS, 0] == pytest.approx(1.5)
        assert seen[Seen.TOUCHED, 0] == (1.0 if k == 1 else 0.0)
    assert seen[Seen.DISTANCE, 0] == pytest.approx(4.5)
    assert seen[Seen.LAPS, 0] == pytest.approx(4.5 / 200.0)
    assert seen[Seen.TIME, 0] == pytest.approx(0.3)


def test_a_lap_counts_on_over_the_line_and_back():
    road, seen = straight(closed=True, n=100), first()  # as a table only: 200 m round
    step(seen, road, S=195.0)
    step(seen, road, S=3.0)
    assert seen[Seen.PROGRESS, 0] == pytest.approx(8.0)
    step(seen, road, S=198.0)
    assert seen[Seen.DISTANCE, 0] == pytest.approx(3.0)
    assert seen[Seen.PAST_END, 0] == 0.0


def test_an_open_road_ends_before_there_is_nothing():
    road, seen = straight(), first()
    step(seen, road, S=200.0 - MARGIN - 1.0)
    assert seen[Seen.PAST_END, 0] == pytest.approx(-1.0)
    step(seen, road, S=200.0 - MARGIN + 2.0)
    assert seen[Seen.PAST_END, 0] == pytest.approx(2.0)
    step(seen, road, S=-8.0)
    assert seen[Seen.PAST_END, 0] == pytest.approx(3.0)


def test_room_and_speed_along_the_road_are_geometry():
    road, seen = straight(), first()
    step(seen, road, S=50.0, OFFSET=1.0, HEADING=math.radians(30.0), VELOCITY_X=20.0, VELOCITY_Y=2.0)
    assert seen[Seen.ROOM_LEFT, 0] == pytest.approx(3.0)
    assert seen[Seen.ROOM_RIGHT, 0] == pytest.approx(7.0)
    assert seen[Seen.SPEED_ALONG, 0] == pytest.approx(20.0 * math.sqrt(0.75) - 2.0 * 0.5)
    seen[Seen.ON_TRACK : Seen.ON_TRACK + 3] = 0.0
    step(seen, road)
    assert (seen[Seen.WHEELS_OFF, 0], seen[Seen.OFF_TRACK, 0]) == (3.0, 1.0)


def test_standing_and_pointing_backwards_are_timed_and_forgiven():
    road, seen = straight(), first()
    for _ in range(5):
        step(seen, road, HEADING=math.pi, VELOCITY_X=5.0)
    assert seen[Seen.BACKWARD_FOR, 0] == seen[Seen.SLOW_FOR, 0] == pytest.approx(0.4)
    step(seen, road, HEADING=0.0)
    assert seen[Seen.BACKWARD_FOR, 0] == seen[Seen.SLOW_FOR, 0] == 0.0


def test_changes_of_what_is_asked_count_from_the_second_time_on():
    road, seen = straight(), first()
    ask(seen, 0, 0.8, 1.0, 0.0)
    assert seen[Seen.STEER_CHANGE, 0] == seen[Seen.PEDAL_CHANGE, 0] == 0.0
    step(seen, road)
    step(seen, road)
    ask(seen, 0, 0.5, 0.0, 0.5)
    assert seen[Seen.STEER_CHANGE, 0] == pytest.approx(0.09)
    assert seen[Seen.PEDAL_CHANGE, 0] == pytest.approx(2.25)
