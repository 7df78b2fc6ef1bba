import numpy as np
import pytest

from trailbrake.errors import DataError
from trailbrake.tracks.road import Road
from trailbrake.tracks.track import Track
from trailbrake.tracks.track_library import load_track, track_names
from trailbrake.tracks.width_check import SIDE_MARGIN, check_car_fits, narrowest_width


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
