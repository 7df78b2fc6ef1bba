import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from trailbrake.cars import car_library, random_car
from trailbrake.cars.car_library import car_names, load_car
from trailbrake.cars.random_car import CarFactors, build_random_car, draw_factors
from trailbrake.errors import UsageError
from trailbrake.name_lists import SEED_DIGITS
from trailbrake.units import G

SEEDS = st.integers(0, 10**SEED_DIGITS - 1)
SAME = CarFactors("gt3", 1.0, 1.0, "rwd", 0.4, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0)


@given(SEEDS)
def test_factors_are_in_their_ranges(seed):
    factors = draw_factors(seed)
    assert factors == draw_factors(seed)
    ranges = {
        "mass": (0.7, 1.5), "power": (0.5, 2.0), "grip": (0.8, 1.3), "aero": (0.0, 2.0), "delay": (0.0, 0.060),
        "steer_ratio": random_car.STEER_RATIO_RANGE, "lock": random_car.LOCK_RANGE, "brakes": random_car.BRAKE_RANGE,
        "bias": random_car.BIAS_RANGE, "awd_front_share": random_car.AWD_SHARE_RANGE,
    }  # fmt: skip
    for name, (lo, hi) in ranges.items():
        assert lo - 1e-9 <= getattr(factors, name) <= hi + 1e-9, name
    assert factors.base in random_car.BASES


def test_seeds_reach_all_bases_and_layouts_and_most_of_the_ranges():
    drawn = [draw_factors(seed) for seed in range(300)]
    assert {f.base for f in drawn} == set(random_car.BASES)
    assert {f.layout for f in drawn} == {"fwd", "rwd", "awd"}
    assert sorted(f.mass for f in drawn)[150] == pytest.approx(math.sqrt(0.7 * 1.5), rel=0.06)  # log-uniform
    assert min(f.power for f in drawn) < 0.52
    assert max(f.power for f in drawn) > 1.95
    assert min(f.delay for f in drawn) < 0.002
    assert max(f.delay for f in drawn) > 0.058


@given(SEEDS, st.sampled_from(car_names()))
@settings(max_examples=60)
def test_every_random_car_fits_together(seed, base):
    """`load_car` raises where values do not fit together; here: can it be driven?"""
    car, own = load_car(f"random:{seed}:{base}"), load_car(base)
    factors = draw_factors(seed)
    assert car.name == f"random:{seed}:{base}"
    assert car.body.mass == pytest.approx(own.body.mass * factors.mass)
    assert car.engine.peak_power == pytest.approx(own.engine.peak_power * factors.power)
    assert car.drive.layout == factors.layout
    assert car.tyre_front.mu_y == pytest.approx(own.tyre_front.mu_y * factors.grip)
    assert car.actuation.delay == factors.delay
    # The brakes stop it at 0.6 of what the tyres hold, at least.
    held = factors.grip * own.tyre_rear.mu_x * car.body.mass * G
    assert car.full_brake_force > 0.6 * held * min(own.full_brake_force / (own.tyre_rear.mu_x * own.body.mass * G), 1.0)
    # The top gear reaches the same share of the speed that drag allows, and the first moves the car.

    def geared_share(params):
        top = params.engine.limiter_rpm * math.pi / 30.0 / params.gearbox.overall_ratio(params.gearbox.top_gear)
        return top * params.driven_radius / random_car._drag_limited_speed(params)

    assert geared_share(car) == pytest.approx(geared_share(own))
    assert car.drive_force(3.0, 1) > 0.03 * car.body.mass * G


def test_factors_of_one_leave_the_car_as_it_is():
    gt3 = load_car("gt3")
    car = build_random_car(gt3, SAME, "gt3")
    assert replace(car, title=gt3.title, engine=gt3.engine, gearbox=gt3.gearbox, brakes=gt3.brakes) == gt3
    assert car.gearbox.final_drive == pytest.approx(gt3.gearbox.final_drive)
    assert car.brakes.torque_front == pytest.approx(gt3.brakes.torque_front)


def test_more_downforce_costs_drag_and_less_gives_it_back():
    gt3 = load_car("gt3")
    drag = [build_random_car(gt3, SAME._replace(aero=aero), "x").aero.drag_area for aero in (0.0, 1.0, 2.0)]
    assert drag[0] < drag[1] < drag[2]
    assert drag[0] > 0.4


def test_a_base_may_be_a_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text((car_library.LIBRARY / "hatchback.toml").read_text())
    assert load_car(f"random:5:{path}") == load_car("random:5:hatchback")


@pytest.mark.parametrize("name", ["random:", "random:x", "random:-1", "random:1.5", "random:1:", "random:" + "9" * 30,
                                  "random:1:random:2", "random:1:gt33"])  # fmt: skip
def test_a_bad_name_is_refused(name):
    with pytest.raises(UsageError):
        load_car(name)
