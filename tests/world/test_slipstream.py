"""Slipstream: the published figures, where the wake lies, and what it does to a car."""

import itertools
import math

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.driving.session.embedded_worlds import parse_world
from trailbrake.errors import UsageError
from trailbrake.kernels.thread_team import Team
from trailbrake.state import Controls
from trailbrake.world.batch import Batch, count_substeps, write_controls
from trailbrake.world.conditions import WorldConditions
from trailbrake.world.plant import PERIOD, World
from trailbrake.world.row_layout import StateRow
from trailbrake.world.slipstream import REACH
from trailbrake.world.slipstream import compute_wake_losses as kernel

compute_wake_losses = getattr(kernel, "py_func", kernel)  # the source of what is compiled into kernels
F1_LENGTH = 5.5  # m
SUBSTEPS = count_substeps(PERIOD)


@pytest.mark.parametrize(("nose_to_nose", "lost"), [(10.0, 0.47), (20.0, 0.35)])
def test_downforce_lost_is_what_formula_1_published(nose_to_nose, lost):
    assert compute_wake_losses(nose_to_nose - F1_LENGTH, 0.0, F1_LENGTH, 2.0)[1] == pytest.approx(lost, abs=0.01)


@pytest.mark.parametrize(("lengths", "lost"), [(0.5, 0.43), (3.1, 0.163), (4.7, 0.126), (6.3, 0.075)])
def test_drag_lost_is_what_wind_tunnel_and_road_measured(lengths, lost):
    assert compute_wake_losses(lengths * 4.6, 0.0, 4.6, 2.0)[0] == pytest.approx(lost, abs=0.016)


def test_the_wake_fades_with_distance_and_offset_and_ends():
    gaps = [compute_wake_losses(gap, 0.0, 4.6, 2.0) for gap in (0.0, 5.0, 20.0, 60.0, REACH * 4.6)]
    assert [a > b for (a, _), (b, _) in itertools.pairwise(gaps)] == [True] * 4
    assert gaps[-1] == (0.0, 0.0)
    across = [compute_wake_losses(10.0, offset, 4.6, 2.0)[0] for offset in (-2.0, -1.0, 0.0, 1.0, 2.0, 6.0)]
    assert across[:2] == pytest.approx(across[4:2:-1])
    assert across[2] > across[3] > 2.0 * across[4]
    assert across[5] < 0.001
    assert compute_wake_losses(-4.6, 2.2, 4.6, 2.0) == (0.0, 0.0)  # side by side


def train(track, gaps, slipstream=True, speed=60.0, threads=1):
    """Return a batch of gt3 in line on the road, each so many m (nose to tail) behind the one before, and their car."""
    car = load_car("gt3")
    s = 2000.0 - np.cumsum([0.0, *(gap + car.body.length for gap in gaps)])
    batch = Batch(track, [car], len(s), group_size=len(s), slipstream=slipstream, team=Team(threads))
    x, y, _, yaw = track.road.points(s % track.road.length, 0.0).T
    batch.place_cars(np.arange(len(s)), x, y, yaw, speed)
    return batch, car


def test_each_car_has_the_wake_of_the_one_ahead_in_a_bend_as_on_a_straight(roads):
    expected = [compute_wake_losses(gap, 0.0, 4.6, 2.0) for gap in (8.0, 30.0)]
    for track in (roads.straight(length=4000.0), roads.circle(60.0)):
        batch, _ = train(track, (8.0, 30.0))
        batch.step(PERIOD / SUBSTEPS, SUBSTEPS)
        lost = np.stack([batch.get_row(StateRow.WAKE_DRAG), batch.get_row(StateRow.WAKE_LIFT)])
        assert lost[:, 0].tolist() == [0.0, 0.0]
        for behind in (1, 2):
            assert lost[:, behind] == pytest.approx(expected[behind - 1], rel=0.05)  # a gap of a centre, not of a path


def test_a_car_that_stands_has_no_wake(roads):
    batch, _ = train(roads.straight(length=4000.0), (20.0,))
    batch.set_row(StateRow.VX, 0.0, 0)
    batch.step(PERIOD / SUBSTEPS, SUBSTEPS)
    assert batch.get_row(StateRow.WAKE_DRAG)[1] < 1e-3


def test_a_car_behind_pulls_harder_and_presses_less(roads):
    """By as much as its rows say: drag over mass, and downforce, which is less still at a greater height."""
    track, seen = roads.straight(length=4000.0), []
    for slipstream in (False, True):
        batch, car = train(track, (10.0,), slipstream)
        for _ in range(333):  # s until the springs are at rest
            for number in (0, 1):
                write_controls(batch.view_car(number)[StateRow.COUNT :].data, Controls(throttle=1.0))
            batch.step(PERIOD / SUBSTEPS, SUBSTEPS)
        speed = batch.get_row(StateRow.VX)[1]
        pressure = 0.5 * car.aero.air_density * speed**2
        drag, lift = batch.get_row(StateRow.WAKE_DRAG)[1], batch.get_row(StateRow.WAKE_LIFT)[1]
        push = batch.get_row(StateRow.AX)[1] / batch.get_row(StateRow.INVERSE_MASS)[1]
        push += (1.0 - drag) * pressure * car.aero.drag_area
        load = batch.get_row(StateRow.LOAD, 4)[:, 1].sum() - 9.81 / batch.get_row(StateRow.INVERSE_MASS)[1]
        seen.append((push * speed, load / ((1.0 - lift) * pressure), drag, speed))
    (power, area, none, slow), (power_behind, area_behind, drag, fast) = seen
    assert (none, drag) == (0.0, pytest.approx(0.21, abs=0.03))
    assert fast > slow + 0.3
    assert power_behind == pytest.approx(power, rel=0.02)  # of the same engine
    assert 0.88 * area < area_behind < area


@pytest.mark.parametrize("gap", [None, REACH * 4.6 + 5.0])
def test_alone_and_out_of_reach_nothing_changes_to_the_bit(roads, gap):
    runs = []
    for slipstream in (False, True):
        batch, _ = train(roads.straight(length=4000.0), () if gap is None else (gap,), slipstream)
        for _ in range(100):
            batch.step(PERIOD / SUBSTEPS, SUBSTEPS)
        runs.append(batch.get_row(0, StateRow.COUNT).tobytes())
    assert runs[0] == runs[1]


def test_threads_and_single_precision_write_the_same_wakes(roads):
    track, car, places = roads.straight(length=4000.0, half_width=100.0), load_car("gt3"), np.random.default_rng(3)
    x, y = places.uniform(100.0, 3000.0, 256), places.uniform(-3.0, 3.0, 256)
    found = []
    for threads, single in ((1, False), (3, False), (1, True)):
        batch = Batch(track, [car], 256, group_size=4, slipstream=True, team=Team(threads), single_precision=single)
        batch.place_cars(np.arange(256), x, y, 0.0, 50.0)
        batch.step(PERIOD / SUBSTEPS, SUBSTEPS)
        found.append(batch.get_row(StateRow.WAKE_LIFT))
    assert found[0].tobytes() == found[1].tobytes()
    assert found[2] == pytest.approx(found[0], abs=1e-3)
    assert 0 < np.count_nonzero(found[0]) < 256


def test_it_is_a_property_of_the_world_and_off_unless_named(roads):
    assert (parse_world([]).slipstream, parse_world(["slipstream=on"]).slipstream) == ("off", "on")
    with pytest.raises(UsageError, match="slipstream"):
        parse_world(["slipstream=maybe"])
    cars = [load_car("gt3")] * 2
    worlds = [World(roads.circle(200.0), cars), World(roads.circle(200.0), cars,
                                                      conditions=WorldConditions(slipstream="on"))]  # fmt: skip
    for world in worlds:
        for _ in range(1000):
            world.step([Controls(throttle=0.5, steer=0.01)] * 2)
    assert not worlds[0].batch.get_row(StateRow.WAKE_DRAG).any()
    assert worlds[1].batch.get_row(StateRow.WAKE_DRAG)[1] > 0.05
    assert math.isfinite(worlds[1].car_state(1).speed)
