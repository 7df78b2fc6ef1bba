"""What follows from the values of a car file, against rigs made by hand."""

import re

import msgspec
import numpy as np
import pytest

from trailbrake.cars.car_library import car_names, load_car
from trailbrake.cars.params import CarParams


@pytest.mark.parametrize(("name", "share"), [("gt3", 0.54), ("hatchback", 0.58)])
def test_the_balance_is_what_the_springs_were_chosen_for(name, share):
    assert load_car(name).roll_stiffness_front_share == pytest.approx(share, abs=1e-3)


@pytest.mark.parametrize("name", car_names())
def test_sprung_and_unsprung_make_the_whole(name):
    car = load_car(name)
    body = car.body
    points = [
        (links.unsprung_mass, x, y, tyre.radius - body.cg_height)
        for links, tyre, x, track in (
            (car.suspension_front, car.tyre_front, body.cg_to_front, body.track_front),
            (car.suspension_rear, car.tyre_rear, -body.cg_to_rear, body.track_rear),
        )
        for y in (0.5 * track, -0.5 * track)
    ]
    tensor = sum(m * (np.dot(r, r) * np.eye(3) - np.outer(r, r)) for m, *xyz in points for r in [np.array(xyz)])
    assert car.unsprung_inertia == pytest.approx(np.diag(tensor))
    assert car.sprung_mass + sum(p[0] for p in points) == pytest.approx(body.mass)


def test_other_brakes_leave_the_links_at_their_angles():
    car = load_car("gt3")
    for share in (0.9, 0.5, 0.01):
        other = car.with_brakes(9000.0, share)
        assert (other.brakes.torque_front, other.brakes.torque_rear) == pytest.approx(
            (9000.0 * share, 9000.0 - 9000.0 * share)
        )
        for links, before, now, own in (
            (other.suspension_front, car.suspension_front, share, car.brakes.front_share),
            (other.suspension_rear, car.suspension_rear, 1.0 - share, 1.0 - car.brakes.front_share),
        ):
            assert links.anti_dive / now == pytest.approx(before.anti_dive / own)
    assert car.with_brakes(9000.0, 0.0).with_brakes(9000.0, 0.6).suspension_front.anti_dive == 0.0  # nothing is known


def test_meanings_of_keys_are_words_and_other_keys():
    sections = msgspec.json.schema(CarParams)["$defs"].values()
    keys = {key: value.get("description", "") for section in sections for key, value in section["properties"].items()}
    for key, meaning in keys.items():
        assert set(re.findall(r"[a-z]+_[a-z_]+", meaning)) <= set(keys), f"{key}: {meaning}"
