"""Cars of the classes are cars, and what is seen of a car finds its class."""

import math

import pytest

from trailbrake.cars.car_checks import check_car
from trailbrake.cars.car_library import load_car
from trailbrake.learning.identification.class_priors import CLASSES, SeenCar, find_class, make_prior_car


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.name)
@pytest.mark.parametrize("layout", ["fwd", "rwd", "awd"])
def test_every_class_makes_a_car(kind, layout):
    check_car(make_prior_car(kind, layout), kind.name)


@pytest.mark.parametrize(
    ("name", "kind"), [("hatchback", "road"), ("gt3", "touring"), ("f1", "formula"), ("kart", "kart")]
)
def test_a_car_is_of_its_class(name, kind):
    car = load_car(name)
    seen = SeenCar(car.tyre_front.radius, car.body.track_front, car.tyre_front.mu_y, car.engine.limiter_rpm)
    assert find_class(seen).name == kind
    assert find_class(seen._replace(track=math.nan)).name == kind  # what is not known does not count


def test_a_heavy_car_is_no_formula_car_however_fast_its_engine_turns():
    seen = (0.343, math.nan, 1.8, 10000.0)
    assert find_class(SeenCar(*seen)).name == "formula"
    assert find_class(SeenCar(*seen, 1700.0)).name == "touring"
    assert find_class(SeenCar(*seen, 720.0)).name == "formula"


def test_the_downforce_in_a_force_is_that_of_the_speed_at_which_it_was_seen():
    seen = SeenCar(math.nan, math.nan, 3.0, math.nan, grip_speed=55.0)
    assert find_class(seen).name == "formula"  # a kart by the force alone
    assert find_class(seen._replace(grip=1.9, grip_speed=15.0)).name == "kart"


def test_a_kart_has_not_the_engine_of_a_formula_car():
    # One with little downforce brakes and corners as a kart; persons seldom show all of the power, so less is no sign.
    seen = SeenCar(math.nan, math.nan, 1.98, math.nan, load=1.0)
    assert find_class(seen).name == find_class(seen._replace(power=100.0)).name == "kart"
    assert find_class(seen._replace(power=610.0)).name == "formula"
    sports = SeenCar(math.nan, math.nan, 1.22, math.nan, load=1.0)
    assert find_class(sports).name == find_class(sports._replace(power=140.0)).name == "sports"
