"""Grids: where cars begin, in which order, and how a rolling field is released."""

import math

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.errors import UsageError
from trailbrake.state import Controls, SimCommand
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track
from trailbrake.world.conditions import ROLLING_SPEED, WorldConditions, find_place, parse_grid
from trailbrake.world.plant import FORMATION_LEAST, FORMATION_MOST, PERIOD, World
from trailbrake.world.row_layout import StateRow


@pytest.mark.parametrize(("grid", "slots"), [
    ("", [0, 1, 2, 3]), ("standing", [0, 1, 2, 3]), ("rolling:reversed", [3, 2, 1, 0]),
    ("standing:2,0,3,1", [1, 3, 0, 2]),
])  # fmt: skip
def test_each_car_has_its_slot(grid, slots):
    assert parse_grid(grid, 4, 0) == (grid.partition(":")[0], slots)


def test_a_random_order_is_that_of_the_seed():
    orders = {tuple(parse_grid("standing:random", 20, seed)[1]) for seed in (1, 1, 2)}
    assert len(orders) == 2
    assert all(sorted(order) == list(range(20)) for order in orders)


@pytest.mark.parametrize(
    "grid", ["flying", "standing:2,0", "standing:0,0,1", "rolling:x,1,2", ":reversed", "standing:0,1,3"]
)
def test_other_grids_are_refused_in_one_line(grid):
    with pytest.raises(UsageError, match=r"no (such|order of the) grid") as caught:
        parse_grid(grid, 3, 0)
    assert "\n" not in str(caught.value)
    with pytest.raises(UsageError):
        World(load_track("pinegrove"), [load_car("gt3")] * 3, conditions=WorldConditions(grid=grid))


@pytest.mark.parametrize("track", ["hartmoor", "pinegrove", "kartwerk", "lakeside"])
@pytest.mark.parametrize("kind", ["standing", "rolling"])
def test_twenty_cars_stand_apart_on_the_road_behind_the_line(track, kind):
    road = load_track(track).road
    places = [find_place(road, kind, slot, 20) for slot in range(20)]
    s, offset = np.array([place.s for place in places]), np.array([place.offset for place in places])
    assert (s < 0.0).all() if road.closed else (s > 0.0).all()
    assert (np.diff(s) <= 0.0).all()
    half = road.column_at(s, RoadColumn.WIDTH_LEFT)
    assert (np.abs(offset) + 1.0 < half + 0.7).all()
    for a in range(20):
        for b in range(a):
            assert abs(s[a] - s[b]) >= 8.0 or abs(offset[a] - offset[b]) > 2.0, (a, b)
    assert len({place.speed for place in places}) == 1
    assert places[0].speed == 0.0 if kind == "standing" else 8.0 < places[0].speed <= ROLLING_SPEED


def make_world(roads, grid, cars=3):
    return World(roads.circle(200.0), [load_car("gt3")] * cars, conditions=WorldConditions(grid=grid))


def test_the_line_up_is_as_it_was(roads):
    world = make_world(roads, "")
    assert world.batch.get_row(StateRow.S) == pytest.approx(
        [0.0, 2.0 * math.pi * 200.0 - 8.0, 2.0 * math.pi * 200.0 - 16.0], abs=0.2
    )
    assert world.batch.get_row(StateRow.OFFSET) == pytest.approx([0.0, 2.0, -2.0], abs=1e-3)


def test_a_rolling_field_is_led_until_all_cars_have_drivers(roads):
    """One car still holds the brake at first, as the host does for a car without a client."""
    world = make_world(roads, "rolling:reversed")
    length = world.track.road.length
    for k in range(round(1.0 / PERIOD)):
        waits = k < round(0.8 / PERIOD)
        world.step(
            [Controls(brake=1.0) if waits and car == 1 else Controls(throttle=0.2, steer=0.02) for car in range(3)]
        )
        if waits:
            assert world.batch.get_row(StateRow.VX) == pytest.approx([ROLLING_SPEED] * 3)
    s = (world.batch.get_row(StateRow.S) + 0.5 * length) % length - 0.5 * length
    moved = ROLLING_SPEED * (1.0 - FORMATION_LEAST)
    assert s == pytest.approx([-72.0 + moved, -60.0 + moved, -60.0 + moved], abs=1.0)
    assert world.counters()["car_contacts"] == []
    assert world.race.order[2] == 0  # behind both of the front row
    assert world.car_state(2).lap == 1.0


def test_a_rolling_field_waits_for_no_car_for_ever_and_rolls_again_after_a_restart(roads):
    world = make_world(roads, "rolling", cars=2)
    for _ in range(round((FORMATION_MOST + 0.5) / PERIOD)):
        world.step([Controls(throttle=0.3), Controls(brake=1.0)])
    assert world.batch.get_row(StateRow.VX)[1] < ROLLING_SPEED - 3.0
    for car in range(2):
        world.execute_command(car, SimCommand(restart=True))
    assert world.batch.get_row(StateRow.VX) == pytest.approx([ROLLING_SPEED] * 2)
    world.execute_command(1, SimCommand(to_pits=True))
    assert world.batch.get_row(StateRow.VX)[1] == 0.0


def test_a_race_ends_under_the_flag_and_its_results_are_in_the_counters():
    """Cars 0 and 1 of a race of a lap, moved by hand: the one from the second place wins, the other is on its way."""
    world = World(
        load_track("kartwerk"), [load_car("kart")] * 2, conditions=WorldConditions(grid="standing", race_laps=1)
    )
    road = world.track.road
    for k in range(int(road.length / 0.25) + 200):
        for car, way in ((0, -4.0 + 0.2 * k), (1, -12.0 + 0.25 * k)):
            x, y, _, yaw = road.points(np.array([way]), 0.0)[0].tolist()
            world.batch.place_cars(car, x, y, yaw, 20.0)
        world._sequence += 4
        for car in range(2):
            world._update_laps(car)
        world._update_race()
    winner, second = world.counters()["race"]
    assert (winner["car"], winner["position"], winner["laps"], winner["flag"]) == (1, 1, 1, "chequered")
    assert winner["finish_s"] == pytest.approx((road.length + 12.0) / 0.25 * 4.0 * PERIOD, rel=1e-3)
    assert (second["car"], second["laps"], second["finish_s"], second["flag"]) == (0, 0, None, "none")
    assert second["gap_s"] > 1.0


def test_the_first_lap_of_the_last_of_twenty_is_a_whole_one():
    """It begins 156 m behind the line, and the line that it crosses then ends no lap."""
    world = World(load_track("kartwerk"), [load_car("kart")] * 20, conditions=WorldConditions(grid="standing"))
    road, last = world.track.road, 19
    for way in np.arange(-150.0, road.length + 40.0, 0.25):
        x, y, _, yaw = road.points(np.array([way]), 0.0)[0].tolist()
        world.batch.place_cars(last, x, y, yaw, 20.0)
        world._sequence += 4
        world._update_laps(last)
        if 5.0 < way < road.length - 5.0:
            assert (world.laps(last), world.car_state(last).lap) == ([], 1.0)
    (lap,) = world.laps(last)
    assert (lap.valid, lap.number) == (True, 1)
