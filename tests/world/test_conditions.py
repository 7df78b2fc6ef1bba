import numpy as np
import pytest
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.errors import UsageError
from trailbrake.state import Controls, SimCommand
from trailbrake.tracks.track import SURFACES
from trailbrake.tracks.track_library import load_track
from trailbrake.world.conditions import GripSchedule, WorldConditions
from trailbrake.world.plant import World
from trailbrake.world.row_layout import StateRow
from trailbrake.world.segment_table import NO_PATCH


def test_grip_changes_along_its_lap_and_stays():
    schedule = GripSchedule(WorldConditions(grip=0.9, grip_lap=3))
    at = [(1, 0.0), (2, 0.99), (3, 0.0), (3, 0.5), (4, 0.0), (7, 0.3)]
    factors = [schedule.compute_factor(0.0, lap, progress) for lap, progress in at]
    assert factors == pytest.approx([1.0, 1.0, 1.0, 0.95, 0.9, 0.9])


def test_rain_begins_after_its_lap_and_a_reset_ends_it():
    schedule = GripSchedule(WorldConditions(rain_after=2, rain_seconds=10.0))
    wet = SURFACES["wet"].grip
    assert schedule.compute_factor(95.0, 2, 1.0) == 1.0
    assert schedule.compute_factor(100.0, 3, 0.0) == 1.0
    assert schedule.compute_factor(105.0, 3, 0.1) == pytest.approx(0.5 * (1.0 + wet))
    assert schedule.compute_factor(500.0, 9, 0.1) == pytest.approx(wet)
    schedule.reset()
    assert schedule.compute_factor(3.0, 3, 0.0) == 1.0


@pytest.mark.parametrize("values", [{"grip": 2.0}, {"grip": float("nan")}, {"grip_lap": 0}, {"rain_after": -1},
                                    {"rain_seconds": -1.0}, {"fuel_rate": -0.1}, {"tyre_temperature": 400.0},
                                    {"patch_begin": -1.0}, {"patch_length": float("inf")}, {"patch_left": 0.0},
                                    {"patch_right": 2.0}])  # fmt: skip
def test_conditions_out_of_range_are_refused(values):
    with pytest.raises(UsageError, match=next(iter(values))):
        WorldConditions(**values)


@pytest.mark.parametrize(
    ("values", "laps", "said"),
    [({"grip": 0.5}, 1, "grip=0.5 begins with lap 2"), ({"grip": 0.5}, 2, ""), ({"grip": 0.5, "grip_lap": 1}, 1, ""),
     ({"rain_after": 2}, 2, "rain begins after lap 2"), ({"rain_after": 2}, 3, ""), ({}, 1, "")],
)  # fmt: skip
def test_what_begins_after_the_last_lap_is_said(values, laps, said):
    missed = WorldConditions(**values).describe_missed(laps)
    assert missed.startswith(said)
    assert bool(missed) == bool(said)


def test_a_world_s_ground_loses_its_grip_off_the_road_too_and_gets_it_back():
    car = load_car("hatchback")
    track = load_track("hartmoor")
    half = track.road.length / 2.0
    x, y, _, yaw = track.road.points(half, 0.0)[0].tolist()
    world = World(track, [car], period=1.0 / 60.0, conditions=WorldConditions(grip=0.5, grip_lap=1))
    before = world.batch.road.segments.copy()
    world.batch.place_cars(0, x, y, yaw)
    for _ in range(3):
        world.step([Controls()])
    grip = world.batch.get_row(StateRow.GRIP, 4)[:, 0]
    # The car has jumped half a lap: its lap is half driven.
    assert grip == pytest.approx(0.75, rel=0.01)
    assert world.batch.road.off_grip == pytest.approx(0.75 * track.off_road.grip, rel=0.01)
    world.execute_command(0, SimCommand(restart=True))
    world.step([Controls()])
    assert np.allclose(world.batch.road.segments, before, rtol=0.0, atol=1e-9)


def test_a_world_s_patch_is_on_its_side_of_the_road_and_stays_when_the_car_changes():
    conditions = WorldConditions(patch_length=1e6, patch_right=0.6)
    world = World(load_track("hartmoor"), [load_car("hatchback")], period=1.0 / 60.0, conditions=conditions)
    world.step([Controls(brake_bias=0.5)])
    left, right, *_ = world.batch.get_row(StateRow.GRIP, 4)[:, 0]
    assert right == pytest.approx(0.6 * left)
    assert WorldConditions(patch_left=0.5, patch_right=0.5).patch == NO_PATCH


def test_fuel_burns_faster_and_takes_its_mass_along():
    car, track = load_car("gt3"), load_track("hartmoor")
    burnt, lighter = [], []
    for rate in (1.0, 50.0):
        world = World(track, [car], period=1.0 / 60.0, conditions=WorldConditions(fuel_rate=rate))
        mass, litres = 1.0 / world.batch.get_row(StateRow.INVERSE_MASS)[0], world.car_state(0).fuel_litres
        for _ in range(120):
            world.step([Controls(throttle=1.0)])
        burnt.append((litres - world.car_state(0).fuel_litres) * car.fuel.density)
        lighter.append(mass - 1.0 / world.batch.get_row(StateRow.INVERSE_MASS)[0])
    assert burnt[1] == pytest.approx(50.0 * burnt[0], rel=0.05)  # a lighter car turns its engine a little faster
    assert lighter == pytest.approx(burnt, rel=0.02)
    assert burnt[1] > 1.0


def test_cold_tyres_hold_less_and_warm_up():
    track, car = load_track("hartmoor"), load_car("gt3")
    temperatures, speeds = [], []
    for conditions in (WorldConditions(), WorldConditions(tyre_temperature=10.0)):
        world = World(track, [car], conditions=conditions)
        for _ in range(1000):
            world.step([Controls(throttle=1.0, steer=0.02)])
        temperatures.append(world.car_state(0).wheels[2].core_temperature)
        speeds.append(world.car_state(0).speed)
    assert 11.0 < temperatures[1] < 60.0 < temperatures[0]
    assert speeds[1] < 0.99 * speeds[0]


def test_tyres_without_heat_have_no_temperature_to_begin_with():
    car = load_car("hatchback")
    car = replace(car, tyre_rear=replace(car.tyre_rear, thermal=None))
    with pytest.raises(UsageError, match="tyre_temperature"):
        World(load_track("hartmoor"), [car], conditions=WorldConditions(tyre_temperature=10.0))
