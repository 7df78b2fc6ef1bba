"""Whatever the controls, the world stays finite and the cars inside the walls."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from trailbrake.cars.load import load
from trailbrake.world.batch import Batch
from trailbrake.world.layout import Control, State

pedal = st.one_of(st.floats(0.0, 1.0), st.sampled_from([0.0, 1.0, -3.0, 7.0, math.nan, math.inf, -math.inf]))
steer = st.one_of(st.floats(-1.0, 1.0), st.sampled_from([-1.0, 1.0, 1e9, math.nan, -math.inf]))
gear = st.sampled_from([math.nan, -1.0, 0.0, 1.0, 2.0, 3.0, 6.0, 99.0, -math.inf])
command = st.tuples(steer, pedal, pedal, pedal, st.one_of(st.just(0.0), pedal), gear)


@settings(max_examples=40, deadline=None)
@given(
    name=st.sampled_from(["gt3", "hatchback"]),
    speed=st.floats(0.0, 70.0),
    spin=st.floats(-50.0, 200.0),
    turn=st.floats(-3.0, 3.0),
    commands=st.lists(command, min_size=1, max_size=8),
)
def test_random_controls_never_break_the_world(name, speed, spin, turn, commands):
    from places import circle

    radius = 80.0
    batch = Batch(circle(radius, bank=-0.1), [load(name)])
    batch.place(0, 0.0, -radius, 0.0)
    batch.state[State.VX, 0] = speed
    batch.state[State.YAW_RATE, 0] = turn
    batch.state[State.SPIN : State.SPIN + 4, 0] = spin
    for values in commands:
        batch.controls[:, 0] = values
        for _ in range(120):
            batch.step(dt=0.001, substeps=3)
            here = batch.state[:, 0]
            assert np.all(np.isfinite(here))
            assert abs(here[State.OFFSET]) < 16.0
            assert math.hypot(here[State.VX], here[State.VY]) < 100.0
            assert abs(here[State.YAW_RATE]) < 30.0
            assert np.all(here[State.LOAD : State.LOAD + 4] >= 0.0)
            assert abs(here[State.STEER]) <= 0.6
    assert len(values) == Control.COUNT


def test_random_driving_of_many_cars_stays_in_bounds():
    from places import circle

    rng = np.random.default_rng(7)
    cars = 32
    batch = Batch(circle(150.0), [load("gt3")], cars)
    for i in range(cars):
        angle = 2.0 * math.pi * i / cars
        batch.place(i, 150.0 * math.sin(angle), -150.0 * math.cos(angle), angle)
    for _ in range(8):
        batch.controls[Control.STEER] = rng.uniform(-1.0, 1.0, cars)
        batch.controls[Control.THROTTLE] = rng.uniform(-0.2, 1.2, cars)
        batch.controls[Control.BRAKE] = np.maximum(rng.uniform(-2.0, 1.0, cars), 0.0)
        batch.controls[Control.GEAR] = math.nan
        for _ in range(240):
            batch.step(dt=0.001, substeps=3)
    assert np.all(np.isfinite(batch.state))
    assert np.max(np.abs(batch.state[State.OFFSET])) < 16.0
    assert np.max(batch.state[State.CONTACTS]) > 0.0


def test_cars_of_a_batch_do_not_know_of_each_other():
    from places import circle

    def drive(cars, lo=0):
        batch = Batch(circle(150.0), [load("gt3")], cars)
        for i in range(cars):
            batch.place(i, 0.0, -150.0, 0.01 * i)
        batch.controls[:] = np.array([0.05, 0.8, 0.0, 0.0, 0.0, math.nan])[:, None]
        for _ in range(600):
            batch.step(dt=0.001, substeps=3, lo=0, hi=cars // 2)
            batch.step(dt=0.001, substeps=3, lo=cars // 2, hi=cars)
        return batch.state

    many, one = drive(5), drive(1)
    assert np.array_equal(many[:, 0], one[:, 0])
    assert not np.array_equal(many[:, 0], many[:, 1])
