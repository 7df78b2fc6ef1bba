import math

import numpy as np
import pytest

from trailbrake.laps import END_MARGIN
from trailbrake.observe.derived_features import derive_features, record_command, reset_features
from trailbrake.observe.features import FEATURES, REPEATS, Feature
from trailbrake.state.tables import STATE_FIELDS
from trailbrake.tracks.road import Road


def straight(closed=False, n=101):
    x = np.arange(n) * 2.0
    return Road.from_columns(2.0, closed, x, np.zeros(n), np.zeros(n), np.zeros(n), width_left=4.0, width_right=6.0)


def first(n=1):
    seen = np.zeros((Feature.COUNT, n))
    seen[Feature.ON_TRACK : Feature.ON_TRACK + 4] = 1.0
    reset_features(seen, np.arange(n))
    return seen


def step(seen, road, dt=0.1, **rows):
    for name, value in rows.items():
        seen[Feature[name]] = value
    derive_features(seen, road.kernel_table, dt, 0, seen.shape[1])


def test_every_row_that_may_be_observed_says_what_it_means_and_needs_real_fields():
    kept = {feature for feature in Feature if feature >= Feature.LAST_S}
    assert set(FEATURES) == set(Feature) - kept
    for meaning in FEATURES.values():
        assert meaning.needs <= STATE_FIELDS
        assert meaning.scale > 0.0
    rows = [row + wheel for row in FEATURES for wheel in range(REPEATS.get(row, 1))]
    assert sorted(rows) == list(range(Feature.LAST_S)), "rows overlap or leave gaps"


def test_the_first_step_gains_nothing_and_later_ones_add_up():
    road, seen = straight(), first()
    step(seen, road, S=50.0, CONTACTS=7.0, VELOCITY_X=10.0)
    assert seen[Feature.PROGRESS] == seen[Feature.TIME] == seen[Feature.NEW_CONTACTS] == seen[Feature.ALIVE] == 0.0
    for k in range(1, 4):
        step(seen, road, S=50.0 + 1.5 * k, CONTACTS=8.0)
        assert seen[Feature.PROGRESS, 0] == pytest.approx(1.5)
        assert seen[Feature.NEW_CONTACTS, 0] == (1.0 if k == 1 else 0.0)
    assert seen[Feature.DISTANCE, 0] == pytest.approx(4.5)
    assert seen[Feature.LAPS, 0] == pytest.approx(4.5 / 200.0)
    assert seen[Feature.TIME, 0] == pytest.approx(0.3)


def test_a_lap_counts_on_over_the_line_and_back():
    road, seen = straight(closed=True, n=100), first()  # as a table only: 200 m round
    step(seen, road, S=195.0)
    step(seen, road, S=3.0)
    assert seen[Feature.PROGRESS, 0] == pytest.approx(8.0)
    step(seen, road, S=198.0)
    assert seen[Feature.DISTANCE, 0] == pytest.approx(3.0)
    assert seen[Feature.PAST_END, 0] == 0.0


def test_an_open_road_ends_before_there_is_nothing():
    road, seen = straight(), first()
    step(seen, road, S=200.0 - END_MARGIN - 1.0)
    assert seen[Feature.PAST_END, 0] == pytest.approx(-1.0)
    step(seen, road, S=200.0 - END_MARGIN + 2.0)
    assert seen[Feature.PAST_END, 0] == pytest.approx(2.0)
    step(seen, road, S=-8.0)
    assert seen[Feature.PAST_END, 0] == pytest.approx(3.0)


def test_room_and_speed_along_the_road_are_geometry():
    road, seen = straight(), first()
    step(seen, road, S=50.0, OFFSET=1.0, HEADING=math.radians(30.0), VELOCITY_X=20.0, VELOCITY_Y=2.0)
    assert seen[Feature.LEFT_CLEARANCE, 0] == pytest.approx(3.0)
    assert seen[Feature.RIGHT_CLEARANCE, 0] == pytest.approx(7.0)
    assert seen[Feature.SPEED_ALONG, 0] == pytest.approx(20.0 * math.sqrt(0.75) - 2.0 * 0.5)
    seen[Feature.ON_TRACK : Feature.ON_TRACK + 3] = 0.0
    step(seen, road)
    assert (seen[Feature.WHEELS_OFF, 0], seen[Feature.OFF_TRACK, 0]) == (3.0, 1.0)


def test_standing_and_pointing_backwards_are_timed_and_forgiven():
    road, seen = straight(), first()
    for _ in range(5):
        step(seen, road, HEADING=math.pi, VELOCITY_X=5.0)
    assert seen[Feature.BACKWARD_TIME, 0] == seen[Feature.SLOW_TIME, 0] == pytest.approx(0.4)
    step(seen, road, HEADING=0.0)
    assert seen[Feature.BACKWARD_TIME, 0] == seen[Feature.SLOW_TIME, 0] == 0.0


def test_changes_of_what_is_asked_count_from_the_second_time_on():
    road, seen = straight(), first()
    record_command(seen, 0, 0.8, 1.0, 0.0)
    assert seen[Feature.STEER_CHANGE, 0] == seen[Feature.PEDAL_CHANGE, 0] == 0.0
    step(seen, road)
    step(seen, road)
    record_command(seen, 0, 0.5, 0.0, 0.5)
    assert seen[Feature.STEER_CHANGE, 0] == pytest.approx(0.09)
    assert seen[Feature.PEDAL_CHANGE, 0] == pytest.approx(2.25)
