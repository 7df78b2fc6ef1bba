"""A fall of the grip that ends soon is a place's, one that lasts is the road's."""

import math

import numpy as np
import pytest

from trailbrake.planning.place_grip import (
    FIRM_SLIP,
    LEAST_PLACE,
    PLACE_DISTANCE,
    PLACE_LENGTH,
    PLACE_RESERVE,
    PlaceGrip,
    TyreSample,
)

STATION, COUNT = 10.0, 100
LENGTH = STATION * COUNT
DT = 0.02


def drive(places, start, end, capacity, now, *, past=1.0, slip=0.9):
    """Drive from start to end (m); return where a place ended, NaN: nowhere."""
    for s in np.arange(start, end, 0.5):
        if places.observe(float(s % LENGTH), TyreSample(capacity, slip, past, now, DT)):
            return float(s % LENGTH)
    return math.nan


def cross_patch(places, start=500.0, capacity=0.5):
    """Cross 30 m with less grip at start (m), and return the stations that say nothing of the road."""
    drive(places, start - 60.0, start, 1.0, 1.0)
    assert math.isnan(drive(places, start, start + 30.0, capacity, 0.7))
    return places.end_place(drive(places, start + 30.0, start + 60.0, 1.0, 0.7))


def places_of_circuit():
    return PlaceGrip(COUNT, STATION, LENGTH)


def test_a_fall_that_ends_soon_is_kept_for_its_stations_alone():
    places = places_of_circuit()
    passed = cross_patch(places)
    poor = np.flatnonzero(places.shares < 1.0)
    assert places.shares[poor] == pytest.approx(PLACE_RESERVE * 0.5)
    assert poor.min() in (49, 50)
    assert poor.max() in (53, 54)
    assert set(poor) <= set(passed)
    assert places.level == 1.0


def test_a_fall_that_lasts_is_the_road_s():
    places = places_of_circuit()
    drive(places, 440.0, 500.0, 1.0, 1.0)
    assert math.isnan(drive(places, 500.0, 510.0 + PLACE_LENGTH, 0.7, 0.7))
    assert math.isnan(drive(places, 511.0 + PLACE_LENGTH, 900.0, 0.95, 0.7))
    assert places.shares == pytest.approx(1.0)


def test_a_fall_soon_after_a_place_is_the_road_s():
    places = places_of_circuit()
    cross_patch(places)
    shares = places.shares.copy()
    drive(places, 600.0, 605.0, 0.5, 0.7)
    assert math.isnan(drive(places, 605.0, 500.0 + PLACE_DISTANCE, 1.0, 0.7))
    assert places.shares == pytest.approx(shares)


def test_small_slips_are_compared_with_what_they_gave_before():
    small = 0.5 * FIRM_SLIP
    usual, stiff = places_of_circuit(), places_of_circuit()
    for places, gave in ((usual, 0.7), (stiff, 1.4)):
        drive(places, 0.0, 400.0, gave, 1.0, slip=small)
        drive(places, 500.0, 530.0, 0.5, 0.7)
    assert math.isfinite(drive(usual, 530.0, 560.0, 0.7, 0.7, slip=small))
    assert math.isnan(drive(stiff, 530.0, 560.0, 0.7, 0.7, slip=small))


def test_a_place_across_the_start_line_is_one():
    places = places_of_circuit()
    cross_patch(places, start=LENGTH - 15.0)
    assert places.shares[[99, 0]] == pytest.approx(PLACE_RESERVE * 0.5)
    assert places.shares[50] == 1.0


def test_a_place_rises_only_with_its_own_evidence():
    places = places_of_circuit()
    cross_patch(places)
    places.finish_lap()
    poor = places.shares < 1.0
    share = places.shares[poor].copy()
    drive(places, 0.0, 480.0, 2.0, 1.0)
    places.finish_lap()
    assert places.shares[poor] == pytest.approx(share)
    drive(places, 480.0, 560.0, 2.0, 1.0)  # twice what is believed of it
    places.finish_lap()
    assert np.all(places.shares[poor] > 1.5 * share)
    assert np.all(places.shares <= 1.0)


def test_ice_is_planned_with_something():
    places = places_of_circuit()
    cross_patch(places, capacity=0.05)
    assert places.shares.min() == LEAST_PLACE
