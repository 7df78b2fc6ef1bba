import math

import numpy as np
import pytest
from helpers.roads import circle

from trailbrake.errors import DataError
from trailbrake.tracks.road import Road, RoadColumn
from trailbrake.tracks.track import (
    NEAR_TRACK,
    SIDE_MARGIN,
    SURFACES,
    DrsZone,
    Track,
    TrackBounds,
    check_car_fits,
    find_drs_zones,
    narrowest_width,
)
from trailbrake.tracks.track_library import load_track, track_names


def test_a_wet_track_is_the_same_track_with_less_grip():
    dry, wet = load_track("hartmoor"), load_track("hartmoor@wet")
    factor = SURFACES["wet"].grip
    assert (wet.name, wet.title) == ("hartmoor@wet", "Hartmoor, wet")
    assert wet.road.column(RoadColumn.GRIP) == pytest.approx(factor * dry.road.column(RoadColumn.GRIP))
    assert wet.off_road.grip == pytest.approx(factor * dry.off_road.grip)
    assert wet.off_road.rolling == dry.off_road.rolling
    rest = [c for c in RoadColumn if c != RoadColumn.GRIP]
    assert np.array_equal(wet.road.table[:, rest], dry.road.table[:, rest])
    assert dry.road.column(RoadColumn.GRIP).max() == 1.0  # untouched


def test_surfaces_are_physical():
    for surface in SURFACES.values():
        assert 0.0 < surface.grip <= 1.0
        assert 0.0 <= surface.rolling < 1.0
        assert math.isfinite(surface.grip)


def test_a_track_without_zones_gets_them_on_its_longest_straights():
    """Hartmoor by hand: the pit straight of 220 + 620 m over the line, and the Moor straight of 420 m."""
    track = load_track("hartmoor")
    moor, pit = track.drs_zones
    assert moor.end - moor.begin == pytest.approx(420.0 - 60.0, abs=45.0)  # clothoids take some, adjusting gives some
    assert (pit.end - pit.begin) % track.road.length == pytest.approx(840.0 - 60.0, abs=120.0)
    for zone in (moor, pit):
        assert (zone.begin - zone.detection) % track.road.length == pytest.approx(210.0)
        way = np.arange(0.0, (zone.end - zone.begin) % track.road.length, 2.0)
        assert (
            np.abs(track.road.column_at((zone.begin + way) % track.road.length, RoadColumn.CURVATURE)).max() < 0.00125
        )
    assert track.with_grip().drs_zones == track.drs_zones
    assert find_drs_zones(load_track("pinegrove").road) == ()  # its straights are short
    assert find_drs_zones(load_track("northway").road) == ()  # no circuit


def test_a_zone_may_contain_the_line():
    zone = DrsZone(900.0, 950.0, 100.0)
    assert [zone.contains(s) for s in (940.0, 950.0, 999.0, 0.0, 99.0, 100.0)] == [False, True, True, True, True, False]
    assert [DrsZone(0.0, 50.0, 100.0).contains(s) for s in (49.0, 50.0, 100.0)] == [False, True, False]


def narrowing(width):
    s = np.arange(0.0, 300.0, 1.5)
    half = np.full(len(s), 4.0)
    half[60:64] = 0.5 * width
    return Track(
        "alley", "Alley", (Road.from_columns(1.5, False, s, 0 * s, 0 * s, 0 * s, width_left=half, width_right=half),)
    )


def test_the_narrowest_place_is_found():
    assert narrowest_width(narrowing(2.4)) == (90.0, 2.4)


def test_a_car_that_fits_is_let_through():
    check_car_fits(narrowing(2.4), 2.4 - 2.0 * SIDE_MARGIN - 1e-9, "car gt3")


def test_a_car_that_does_not_fit_is_told_where_and_what_to_do():
    with pytest.raises(DataError) as found:
        check_car_fits(narrowing(2.0), 1.95, "car gt3, track alley")
    said = str(found.value)
    assert said.startswith("car gt3, track alley: track alley is too narrow for the car")
    assert "2.00 m at s = 90 m" in said
    assert "the car is 1.95 m wide" in said
    assert "narrower car" in said


def test_a_width_that_is_no_number_does_not_pass():
    with pytest.raises(DataError):
        check_car_fits(narrowing(np.nan), 1.0, "car")


def test_every_track_of_the_library_takes_every_usual_car():
    for name in track_names():
        check_car_fits(load_track(name), 2.1, name)


@pytest.mark.parametrize("axis", [0, 1])
def test_the_box_of_the_roads_and_a_kilometre_around_it(axis):
    track = circle(30.0)
    bounds, places = TrackBounds(track), track.road.table[:, axis]
    for edge, outward in ((places.min() - NEAR_TRACK, -1.0), (places.max() + NEAR_TRACK, 1.0)):
        for beyond in (-0.01, 0.01):
            place = [0.0, 0.0]
            place[axis] = edge + outward * beyond
            assert bounds.contain(*place) == (beyond < 0.0)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e30])
def test_what_is_no_place_is_outside(value):
    bounds = TrackBounds(circle(30.0))
    assert not bounds.contain(value, 0.0)
    assert not bounds.contain(0.0, value)
