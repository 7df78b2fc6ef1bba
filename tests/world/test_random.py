"""Whatever the controls, the world stays finite and the cars inside the walls."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trailbrake.cars.car_library import load_car
from trailbrake.kernels.thread_team import Team
from trailbrake.world.batch import Batch
from trailbrake.world.row_layout import ControlRow, StateRow

pedal = st.one_of(st.floats(0.0, 1.0), st.sampled_from([0.0, 1.0, -3.0, 7.0, math.nan, math.inf, -math.inf]))
steer = st.one_of(st.floats(-1.0, 1.0), st.sampled_from([-1.0, 1.0, 1e9, math.nan, -math.inf]))
gear = st.sampled_from([math.nan, -1.0, 0.0, 1.0, 2.0, 3.0, 6.0, 99.0, -math.inf])
COMMANDS = (
    ControlRow.STEER,
    ControlRow.THROTTLE,
    ControlRow.BRAKE,
    ControlRow.CLUTCH,
    ControlRow.HANDBRAKE,
    ControlRow.GEAR,
)
command = st.tuples(steer, pedal, pedal, pedal, st.one_of(st.just(0.0), pedal), gear)


@settings(max_examples=40)
@given(
    name=st.sampled_from(["gt3", "hatchback"]),
    speed=st.floats(0.0, 70.0),
    spin=st.floats(-50.0, 200.0),
    turn=st.floats(-3.0, 3.0),
    commands=st.lists(command, min_size=1, max_size=8),
)
def test_random_controls_never_break_the_world(name, speed, spin, turn, commands):
    from helpers.roads import circle

    radius = 80.0
    batch = Batch(circle(radius, bank=-0.1), [load_car(name)])
    batch.place_cars(0, 0.0, -radius, 0.0)
    batch.set_row(StateRow.VX, speed)
    batch.set_row(StateRow.YAW_RATE, turn)
    for i in range(4):
        batch.set_row(StateRow.SPIN + i, spin)
    for values in commands:
        for row, value in zip(COMMANDS, values, strict=True):
            batch.set_row(row, value)
        for _ in range(120):
            batch.step(dt=0.001, substeps=3)
            here = batch.view_car(0)[: StateRow.COUNT]
            assert np.all(np.isfinite(here))
            assert abs(here[StateRow.OFFSET]) < 16.0
            assert math.hypot(here[StateRow.VX], here[StateRow.VY]) < 100.0
            assert abs(here[StateRow.YAW_RATE]) < 30.0
            assert np.all(here[StateRow.LOAD : StateRow.LOAD + 4] >= 0.0)
            assert abs(here[StateRow.STEER]) <= 0.6


def test_random_driving_of_many_cars_stays_in_bounds():
    from helpers.roads import circle

    rng = np.random.default_rng(7)
    cars = 32
    batch = Batch(circle(150.0), [load_car("gt3")], cars)
    for i in range(cars):
        angle = 2.0 * math.pi * i / cars
        batch.place_cars(i, 150.0 * math.sin(angle), -150.0 * math.cos(angle), angle)
    for _ in range(8):
        batch.set_row(ControlRow.STEER, rng.uniform(-1.0, 1.0, cars))
        batch.set_row(ControlRow.THROTTLE, rng.uniform(-0.2, 1.2, cars))
        batch.set_row(ControlRow.BRAKE, np.maximum(rng.uniform(-2.0, 1.0, cars), 0.0))
        for _ in range(240):
            batch.step(dt=0.001, substeps=3)
    assert np.all(np.isfinite(batch.get_row(0, StateRow.COUNT)))
    assert np.max(np.abs(batch.get_row(StateRow.OFFSET))) < 16.0
    assert np.max(batch.get_row(StateRow.CONTACTS)) > 0.0


def slalom(n, threads=1, first=0, **options):
    """Drive cars `first`, `first` + 1, ... with a swing of their own each; return their states, (rows, n)."""
    from helpers.roads import circle

    batch = Batch(circle(150.0), [load_car("gt3")], n, team=Team(threads), **options)
    number = first + np.arange(n)
    batch.place_cars(np.arange(n), 0.0, -150.0, 0.001 * number, 20.0)
    batch.set_row(ControlRow.THROTTLE, 0.8)
    for k in range(200):
        batch.set_row(ControlRow.STEER, 0.05 + 0.1 * np.sin(0.05 * k + number))
        batch.step(dt=0.001, substeps=3)
    return batch.get_row(0, StateRow.COUNT)


def test_cars_of_a_batch_do_not_know_of_each_other():
    """Neither of their neighbours in a block, nor of the lanes that fill the last one up."""
    many = slalom(9)
    assert not np.array_equal(many[:, 0], many[:, 1])
    for car in (0, 3, 7, 8):
        assert np.array_equal(many[:, car], slalom(1, first=car)[:, 0]), car


def test_two_threads_and_one_give_the_same_to_the_bit():
    assert np.array_equal(slalom(71), slalom(71, threads=2))


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize(("n", "group"), [(600, 1), (603, 3), (80, 5)])
def test_no_block_is_left_out_or_taken_twice_by_any_number_of_threads(n, group, single):
    alone = slalom(n, group_size=group, single_precision=single)
    assert (alone[StateRow.CONTACTS].max() > 0.0) == (group > 1)
    for threads in (2, 3):
        assert np.array_equal(alone, slalom(n, threads=threads, group_size=group, single_precision=single)), threads
