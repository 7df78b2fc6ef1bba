"""Cars of the classes are cars, and what is seen of a car finds its class."""

import math

import pytest

from trailbrake.cars.car_checks import check_car
from trailbrake.cars.car_library import load_car
from trailbrake.learning.identification.class_priors import CLASSES, find_class, make_prior_car


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.name)
@pytest.mark.parametrize("layout", ["fwd", "rwd", "awd"])
def test_every_class_makes_a_car(kind, layout):
    check_car(make_prior_car(kind, layout), kind.name)


@pytest.mark.parametrize(
    ("name", "kind"), [("hatchback", "road"), ("gt3", "touring"), ("f1", "formula"), ("kart", "kart")]
)
def test_a_car_is_of_its_class(name, kind):
    car = load_car(name)
    found = find_class(car.tyre_front.radius, car.body.track_front, car.tyre_front.mu_y, car.engine.limiter_rpm)
    assert found.name == kind
    # What is not known does not count.
    assert find_class(car.tyre_front.radius, math.nan, car.tyre_front.mu_y, car.engine.limiter_rpm).name == kind


def test_a_heavy_car_is_no_formula_car_however_fast_its_engine_turns():
    seen = (0.343, math.nan, 1.8, 10000.0)
    assert find_class(*seen).name == "formula"
    assert find_class(*seen, 1700.0).name == "touring"
    assert find_class(*seen, 720.0).name == "formula"
