import numpy as np
import pytest

from trailbrake.errors import UsageError
from trailbrake.world.miniature.layout import HALF_WIDTH
from trailbrake.world.miniature.parked_cars import CAR_LENGTH, CAR_WIDTH, place_parked_cars
from trailbrake.world.miniature.track import HalfColumn
from trailbrake.world.miniature.track_library import load_miniature_track, miniature_track_names

HALF_DIAGONAL = 0.5 * float(np.hypot(CAR_LENGTH, CAR_WIDTH))


@pytest.mark.parametrize("name", miniature_track_names())
@pytest.mark.parametrize("seed", range(4))
def test_there_is_always_a_clean_way_past(name, seed):
    track = load_miniature_track(name)
    cars = place_parked_cars(track, 4, seed)
    assert len(cars) == 4
    for car in cars:
        assert not track.is_apart(np.array([car.s - 1.0, car.s, car.s + 1.0])).any()
        # The other half of the road is free over its whole width, with a car's width to spare.
        other = track.halves[1 if car.offset > 0.0 else 0]
        gap = np.hypot(other[:, HalfColumn.X] - car.x, other[:, HalfColumn.Y] - car.y).min()
        assert gap - HALF_DIAGONAL > CAR_WIDTH / 2.0
        assert abs(car.offset) + HALF_DIAGONAL < 2.0 * HALF_WIDTH + 0.05
    s = np.array([car.s for car in cars])
    assert (np.diff(s) >= 4.0).all()
    assert s.min() > 4.0


def test_a_sign_says_on_which_side_to_pass():
    signs = {}
    for seed in range(10):
        for car in place_parked_cars(load_miniature_track("oval"), 3, seed):
            if car.sign:
                signs.setdefault(car.offset > 0.0, set()).add(car.sign)
    assert signs == {True: {"keep_right"}, False: {"keep_left"}}


def test_a_seed_is_always_the_same_and_seeds_differ():
    track = load_miniature_track("ladder")
    assert place_parked_cars(track, 3, 7) == place_parked_cars(track, 3, 7)
    assert place_parked_cars(track, 3, 7) != place_parked_cars(track, 3, 8)


@pytest.mark.parametrize("count", [-1, 15, 21])
def test_more_than_fit_are_refused(count):
    with pytest.raises(UsageError, match="parked cars"):
        place_parked_cars(load_miniature_track("kite"), count, 0)
