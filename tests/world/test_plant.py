import dataclasses
import math
import time

import numpy as np
import pytest
from helpers.roads import follow_circle
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.errors import UsageError
from trailbrake.frames import up_vector
from trailbrake.roles import HasCamera, Plant
from trailbrake.state import Controls, Pose, SimCommand
from trailbrake.state.tables import state_row
from trailbrake.tracks.track import DrsZone
from trailbrake.tracks.track_library import load_track
from trailbrake.world.car_scaling import scale_car
from trailbrake.world.plant import MAX_PART, CameraWorld, ControlDelay, World, apply_settings, divide_period
from trailbrake.world.row_layout import StateRow

NO_MODEL = {"pressure", "disc_temperature"}
HEAT = {"core_temperature", "wear"}  # only where the car file describes it
PERIOD, SUBSTEPS, PARTS = 0.018, 15, 5
CAMERA = {"width": 80, "height": 60, "forward": 1.0, "above": 1.2}


@pytest.fixture
def world(roads):
    return World(roads.circle(200.0), [load_car("gt3"), load_car("hatchback"), load_car("gt3")], seed=1)


def drive(world, steps):
    for k in range(steps):
        wish = Controls(steer=0.05 + 0.02 * math.sin(k / 50), throttle=0.6, gear=None)
        world.step([wish] * len(world.cars))


def everything(world):
    return world.batch.get_row(0, StateRow.COUNT)


def test_it_is_a_plant(world):
    assert isinstance(world, Plant)


@pytest.mark.parametrize("delay", [0.0, 0.005])  # a delay divides the step
def test_contacts_say_who_touched_whom_where_and_how_hard(roads, delay):
    car = load_car("gt3")
    car = replace(car, actuation=replace(car.actuation, delay=delay))
    world = World(roads.straight(half_width=50.0), [car] * 3)
    for number, (x, speed) in enumerate(((160.0, 20.0), (100.0, 20.0), (152.0, 25.0))):
        world.batch.place_cars(number, x, 0.0, 0.0, speed)
    assert world.counters()["car_contacts"] == []
    for _ in range(600):
        world.step([Controls()] * 3)
    (contact,) = world.counters()["car_contacts"]
    assert (contact["first"], contact["second"]) == (0, 2)
    assert contact["time_s"] == pytest.approx((8.0 - car.body.length) / 5.0, abs=0.1)  # 8 m apart, 5 m/s faster
    assert contact["closing_mps"] == pytest.approx(5.0, abs=0.3)
    assert contact["impulse_ns"] == pytest.approx(0.5 * car.body.mass * 1.2 * contact["closing_mps"], rel=0.1)
    assert contact["x_m"] == pytest.approx(160.0 + 20.0 * contact["time_s"] - 0.5 * car.body.length, abs=0.5)
    assert [row["car"] for row in world.counters()["race"]] == [0, 2, 1]  # as they are on the road
    world.reset(0)
    assert world.counters()["car_contacts"] == []
    assert [row["car"] for row in world.counters()["race"]] == [0, 1, 2]
    assert World(roads.straight(), [car]).counters() == {}


OF_HOSTS = {"best_lap_time", "driving_line", "damage", "low_beam", "high_beam", "left_signal", "right_signal"}


def test_every_field_with_a_model_is_filled_and_the_rest_is_nan(world):
    drive(world, 50)
    for car, unknown in ((0, NO_MODEL), (1, NO_MODEL | HEAT)):
        state = world.car_state(car)
        for field in dataclasses.fields(state):
            value = getattr(state, field.name)
            if isinstance(value, float) and field.name not in OF_HOSTS:
                assert math.isfinite(value), field.name
        for wheel in state.wheels:
            for field in dataclasses.fields(wheel):
                assert math.isnan(getattr(wheel, field.name)) == (field.name in unknown), field.name


def test_fields_say_what_their_names_say(world):
    drive(world, 600)
    state = world.car_state(0)
    here = world.batch.view_car(0)
    car = world.cars[0]
    assert state.sequence == 600
    assert state.time == pytest.approx(600 / 333)
    assert (state.velocity_x, state.velocity_y) == (here[StateRow.VX], here[StateRow.VY])
    assert state.speed == pytest.approx(math.hypot(state.velocity_x, state.velocity_y))
    assert (state.yaw, state.yaw_rate) == (here[StateRow.YAW], here[StateRow.YAW_RATE])
    assert (state.acceleration_x, state.acceleration_y) == (here[StateRow.AX], here[StateRow.AY])
    assert state.gear == int(here[StateRow.GEAR])
    assert isinstance(state.gear, int)
    assert state.engine_speed == here[StateRow.ENGINE_SPEED]
    assert state.fuel_litres == here[StateRow.FUEL] < 60.0
    assert (state.throttle, state.brake, state.handbrake) == (0.6, 0.0, 0.0)
    assert state.clutch == 1.0 - here[StateRow.CLUTCH_ENGAGEMENT]
    assert state.steering_wheel_angle == pytest.approx(state.steer * car.steering.max_angle * car.steering.ratio)
    assert state.z == pytest.approx(car.body.cg_height + here[StateRow.HEAVE])
    assert (state.pitch, state.roll) == pytest.approx((here[StateRow.PITCH], here[StateRow.ROLL]))
    assert (state.contacts, state.contact_depth) == (0.0, 0.0)
    assert state.lap_progress == pytest.approx(here[StateRow.S] / world.track.road.length)
    front = state.wheels[:2]
    for i, wheel in enumerate(state.wheels):
        assert wheel.load == here[StateRow.LOAD + i]
        assert wheel.angular_velocity == here[StateRow.SPIN + i]
        assert wheel.combined_slip == here[StateRow.SLIP + i]
        assert wheel.on_track == 1.0
        assert wheel.z == pytest.approx(0.0)
    middle = (sum(w.x for w in front) / 2, sum(w.y for w in front) / 2)
    assert math.dist(middle, (state.x, state.y)) == pytest.approx(car.body.cg_to_front)
    assert math.dist((front[0].x, front[0].y), (front[1].x, front[1].y)) == pytest.approx(car.body.track_front)
    left = (front[0].x - front[1].x) * -math.sin(state.yaw) + (front[0].y - front[1].y) * math.cos(state.yaw)
    assert left > 0.0
    assert max(w.slip_angle for w in front) < 0.0  # a left bend: the front tyres push to the left


def test_the_velocity_up_is_that_of_the_position_along_the_leaning_body(roads):
    world = World(roads.circle(200.0, bank=0.15), [load_car("hatchback")], seed=1)
    states = []
    for k in range(1500):
        braking = 900 < k < 1300
        world.step([Controls(steer=0.05 + 0.1 * math.sin(k / 60), throttle=0.8 * (not braking), brake=0.6 * braking)])
        states.append(world.car_state(0))
    measured = np.gradient([(s.x, s.y, s.z) for s in states], states[1].time - states[0].time, axis=0)
    up = np.einsum("ni,ni->n", measured, [up_vector(s.yaw, s.pitch, s.roll) for s in states])
    shown = np.array([s.velocity_z for s in states])
    assert np.abs(shown).max() > 0.2  # it dives and leans
    assert np.abs(shown - up)[1:-1].max() < 0.02


def test_two_states_are_two_objects(world):
    first, second = world.car_state(0), world.car_state(0)
    assert first is not second
    assert first.wheels[0] is not second.wheels[0]


def test_the_same_drive_twice_is_the_same_to_the_bit(world, roads):
    drive(world, 700)
    again = World(roads.circle(200.0), world.cars, seed=1)
    drive(again, 700)
    assert np.array_equal(everything(world), everything(again))
    world.reset(1)
    drive(world, 700)
    assert np.array_equal(everything(world), everything(again))
    for car in range(3):
        np.testing.assert_array_equal(state_row(world.car_state(car)), state_row(again.car_state(car)))


def test_the_grid_stands_at_rest_behind_the_line(world):
    states = [world.car_state(car) for car in range(3)]
    assert [s.speed for s in states] == [0.0, 0.0, 0.0]
    assert math.dist((states[0].x, states[0].y), (0.0, -200.0)) < 1e-9
    assert states[0].yaw == pytest.approx(0.0)
    places = world.batch.get_row(StateRow.S, 2)
    length = world.track.road.length
    assert [round((length - s) % length, 6) for s in places[0]] == [0.0, 8.0, 16.0]
    assert places[1, 1] > 0.0 > places[1, 2]
    for _ in range(333):
        world.step([Controls()] * 3)
    assert max(world.car_state(car).speed for car in range(3)) == 0.0


def test_teleport_puts_the_centre_of_mass_there(roads):
    world = World(roads.circle(200.0, bank=-0.2), [load_car("gt3")])
    drive(world, 300)
    world.execute_command(0, SimCommand(teleport=Pose(203.0, 0.0, 0.0, math.pi / 2)))
    state = world.car_state(0)
    assert (state.x, state.y, state.yaw) == pytest.approx((203.0, 0.0, math.pi / 2), abs=1e-6)
    assert state.speed == 0.0


def test_to_pits_and_restart_go_back_to_the_line(world):
    start = world.car_state(0)
    drive(world, 600)
    world.batch.set_row(StateRow.CONTACTS, 3.0, 0)
    world.execute_command(0, SimCommand(to_pits=True))
    here = world.car_state(0)
    assert (here.x, here.y, here.yaw, here.speed) == (start.x, start.y, start.yaw, 0.0)
    assert here.contacts == 3.0
    world.execute_command(0, SimCommand(restart=True))
    assert world.car_state(0).contacts == 0.0
    assert world.car_state(1).speed > 3.0  # the others drive on


def test_a_step_leaves_missing_controls_as_they_were(world):
    world.step([Controls(throttle=1.0)])
    assert world.car_state(0).throttle == 1.0
    assert world.car_state(1).throttle == 0.0


def test_laps_are_timed(roads):
    """Round a small circle at a steady speed, so that every lap takes what its length and speed say."""
    world = World(roads.circle(30.0, half_width=14.0), [load_car("hatchback")])
    times = []
    while world.car_state(0).time < 70.0:
        state = world.car_state(0)
        world.step([follow_circle(state, world.track.road)])
        if world.car_state(0).lap_time < state.lap_time:
            times.append(state.lap_time)
    state = world.car_state(0)
    assert len(times) >= 3
    assert times[0] > times[1]  # from rest
    assert state.best_lap_time == pytest.approx(min(times), abs=1 / 333)
    assert state.best_lap_time == pytest.approx(2.0 * math.pi * 30.0 / state.speed, rel=0.03)
    laps = world.laps(0)
    assert [(lap.number, lap.valid) for lap in laps] == [(number + 1, True) for number in range(len(times))]
    assert min(lap.time_s for lap in laps) == state.best_lap_time
    world.execute_command(0, SimCommand(to_pits=True))
    assert world.laps(0) == laps
    assert world.car_state(0).best_lap_time == state.best_lap_time
    assert world.car_state(0).lap_time == 0.0
    world.execute_command(0, SimCommand(restart=True))
    assert world.laps(0) == []
    assert math.isnan(world.car_state(0).best_lap_time)


@pytest.mark.parametrize("period", [0.0, -1.0, math.nan, 1.0])
def test_a_period_that_cannot_be_is_refused(roads, period):
    with pytest.raises(ValueError, match="period"):
        World(roads.circle(200.0), [load_car("gt3")], period=period)


def test_a_step_with_its_state_is_quick(roads):
    """Guards against falling out of the kernel: about 30 us on an idle machine, so 300 us is a defect anywhere."""
    world = World(roads.circle(200.0), [load_car("gt3")])
    best = math.inf
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(200):
            world.step([Controls(throttle=0.3)])
            world.car_state(0)
        best = min(best, (time.perf_counter() - begin) / 200)
    assert best < 300e-6


def test_cars_pass_through_each_other_where_they_are_told_to(roads):
    def contacts(**command):
        world = World(roads.straight(), [load_car("gt3"), load_car("gt3")])
        world.execute_command(0, SimCommand(**command))
        world.batch.place_cars([0, 1], [100.0, 130.0], 0.0, 0.0, [30.0, 0.0])
        for _ in range(400):
            world.step([Controls(), Controls(brake=1.0)])
        return [world.car_state(car).contacts for car in range(2)], world.car_state(0).x > world.car_state(1).x

    assert contacts() == ([1.0, 1.0], False)
    assert contacts(collisions=True) == ([1.0, 1.0], False)
    assert contacts(collisions=False) == ([0.0, 0.0], True)


def test_after_a_teleport_the_next_crossing_of_the_line_begins_a_lap(roads):
    """A car that its client puts 60 m before the line and that drives over it has driven no lap."""
    world = World(roads.circle(30.0, half_width=14.0), [load_car("hatchback")])
    road = world.track.road
    x, y, z, yaw = road.points(road.length - 60.0, 0.0)[0].tolist()
    world.execute_command(0, SimCommand(teleport=Pose(x, y, z, yaw)))
    crossings = []
    while not world.laps(0) and world.car_state(0).time < 60.0:
        before = world.car_state(0)
        world.step([follow_circle(before, road)])
        if world.car_state(0).lap_progress < before.lap_progress - 0.5:
            crossings.append(world.car_state(0).time)
    (lap,) = world.laps(0)
    assert (lap.number, world.car_state(0).lap) == (1, 2.0)
    assert len(crossings) == 2
    assert lap.time_s == pytest.approx(crossings[1] - crossings[0], abs=2 / 333)


def test_race_control_knows_of_a_lap_in_the_step_that_ends_it(roads):
    """The drive may end with that step."""
    world = World(roads.circle(30.0, half_width=14.0), [load_car("hatchback")] * 2)
    x, y, z, yaw = world.track.road.points(0.5 * world.track.road.length, 0.0)[0].tolist()
    world.execute_command(1, SimCommand(teleport=Pose(x, y, z, yaw)))
    while not all(world.laps(car) for car in range(2)) and world.car_state(0).time < 60.0:
        world.step([follow_circle(world.car_state(car), world.track.road) for car in range(2)])
        laps = {row["car"]: row["laps"] for row in world.counters()["race"]}
        assert laps == {car: len(world.laps(car)) for car in range(2)}
    assert laps[1] == 1


def test_a_teleport_leaves_the_fuel_as_it_is(roads):
    world = World(roads.circle(200.0), [load_car("gt3")])
    world.batch.view_car(0)[int(StateRow.FUEL)] = 3.0
    world.execute_command(0, SimCommand(teleport=Pose(200.0, 0.0, 0.0, math.pi / 2)))
    assert world.car_state(0).fuel_litres == 3.0


def test_a_teleport_beyond_the_walls_ends_inside_them(roads):
    world = World(roads.circle(200.0), [load_car("gt3")])
    for radius in (260.0, 1000.0, 1e6):
        world.execute_command(0, SimCommand(teleport=Pose(radius, 0.0, 0.0, math.pi / 2)))
        state = world.car_state(0)
        assert math.hypot(state.x, state.y) < 260.0
        assert state.speed == 0.0


def world_of(roads, *names):
    world = World(roads.straight(), [load_car(name) for name in names])
    for i in range(len(names)):
        world.batch.place_cars(i, 200.0 + 50.0 * i, 0.0, 0.0, 40.0)
    return world


def after(world, seconds, **controls):
    """Drive all cars alike; return the last state of car 0."""
    for _ in range(round(seconds * 333)):
        world.step([Controls(**controls)] * len(world.cars))
    return world.car_state(0)


def test_all_the_brake_force_goes_where_the_bias_says(roads):
    # Light braking: far from locking, so the deceleration stays and only its place moves.
    own = after(world_of(roads, "gt3"), 0.5, brake=0.15, gear=0)
    rear = after(world_of(roads, "gt3"), 0.5, brake=0.15, gear=0, brake_bias=0.0)
    front = after(world_of(roads, "gt3"), 0.5, brake=0.15, gear=0, brake_bias=1.0)
    assert rear.acceleration_x == pytest.approx(own.acceleration_x, rel=0.03)
    assert front.acceleration_x == pytest.approx(own.acceleration_x, rel=0.03)
    assert abs(rear.wheels[0].slip_ratio) < 0.002 < 0.01 < -rear.wheels[2].slip_ratio
    assert abs(front.wheels[2].slip_ratio) < 0.002 < 0.01 < -front.wheels[0].slip_ratio


def test_without_abs_the_wheels_lock(roads):
    assert min(w.angular_velocity for w in after(world_of(roads, "gt3"), 0.6, brake=1.0, gear=0).wheels) > 20.0
    locked = after(world_of(roads, "gt3"), 0.6, brake=1.0, gear=0, abs_level=0.0)
    assert min(w.angular_velocity for w in locked.wheels) == 0.0
    assert locked.abs_active == 0.0
    half = after(world_of(roads, "gt3"), 0.6, brake=1.0, gear=0, abs_level=0.5)
    own = after(world_of(roads, "gt3"), 0.6, brake=1.0, gear=0, abs_level=1.0)
    assert -half.wheels[0].slip_ratio > -1.5 * own.wheels[0].slip_ratio  # aims at twice the slip


def test_without_traction_control_the_wheels_spin(roads):
    def most(**controls):
        world = World(roads.straight(), [scale_car(load_car("gt3"), grip=0.4)])
        world.batch.place_cars(0, 200.0, 0.0, 0.0, 15.0)
        return max(after(world, 0.02, throttle=1.0, gear=1, **controls).wheels[2].combined_slip for _ in range(40))

    own = most()
    assert own < 1.6
    assert most(tc_level=0.0) > 1.5 * own


def test_engine_brake_is_a_share_of_the_car_s_own(roads):
    pull = {level: after(world_of(roads, "gt3"), 0.5, gear=3, engine_brake_level=level).acceleration_x
            for level in (0.0, 0.5, 1.0)}  # fmt: skip
    assert pull[0.0] > pull[0.5] > pull[1.0]
    # What the engine drags is linear in its level; the small rest is the speed that differs by then.
    assert pull[0.5] == pytest.approx((pull[0.0] + pull[1.0]) / 2, rel=0.03)


def test_boost_is_a_share_of_the_torque():
    car = load_car("sports_awd")
    share = car.engine.turbo_share
    without = apply_settings(car, Controls(turbo_level=0.0)).engine
    assert without.turbo_share == 0.0
    assert without.torque == pytest.approx([(1.0 - share) * t for t in car.engine.torque])
    half = apply_settings(car, Controls(turbo_level=0.5)).engine
    # Full boost: what is there without, and half of what boost adds. No boost: what was there without.
    assert half.torque[3] == pytest.approx(car.engine.torque[3] * (1.0 - share + 0.5 * share))
    assert half.torque[3] * (1.0 - half.turbo_share) == pytest.approx(car.engine.torque[3] * (1.0 - share))


def test_delivery_and_recovery_are_shares_of_the_motor_s(roads):
    def used(**controls):
        world = world_of(roads, "f1")
        before = world.batch.view_car(0)[StateRow.CHARGE]
        after(world, 0.5, **controls)
        return before - world.batch.view_car(0)[StateRow.CHARGE]

    full = used(throttle=1.0, boost=1.0)
    assert full > 1000.0
    assert used(throttle=1.0, boost=1.0, delivery_level=0.5) == pytest.approx(0.5 * full, rel=0.02)
    assert used(throttle=1.0, boost=1.0, delivery_level=0.0) == 0.0


def test_recovery_fills_what_was_used(roads):
    def gained(level):
        world = world_of(roads, "f1")
        world.batch.set_row(StateRow.CHARGE, 1000.0)
        after(world, 0.3, brake=0.3, gear=0, recovery_level=level)
        return world.batch.view_car(0)[StateRow.CHARGE] - 1000.0

    assert gained(1.0) > 1000.0
    assert gained(0.25) == pytest.approx(0.25 * gained(1.0), rel=0.02)


def test_a_lap_gives_and_takes_no_more_than_the_car_s_file_allows(roads):
    car = load_car("f1")
    scarce = replace(car, hybrid=replace(car.hybrid, deployed_per_lap=2e4, recovered_per_lap=5e3))
    world = World(roads.straight(), [scarce])
    world.place_car(0, Pose(200.0, 0.0), 40.0)
    for pedals in ({"throttle": 1.0, "boost": 1.0}, {"brake": 0.3, "gear": 0}):
        after(world, 0.5, **pedals)
    charge, meter = world.batch.view_car(0)[StateRow.CHARGE], world.race.meters[0]
    assert meter.charge == charge
    assert meter.deployed == pytest.approx(2e4, abs=120e3 * world.period)
    assert meter.recovered == pytest.approx(5e3)
    assert charge == pytest.approx(4e6 - meter.deployed + 5e3)
    world.execute_command(0, SimCommand(teleport=Pose(300.0, 0.0)))
    world.step([Controls()])
    assert (meter.charge, world.batch.view_car(0)[StateRow.CHARGE]) == (charge, charge)
    world.execute_command(0, SimCommand(to_pits=True))
    assert (meter.charge, meter.deployed, meter.recovered) == (4e6, 0.0, 0.0)


def test_a_rear_wing_opens_where_race_control_allows_it_and_shuts_under_braking(roads):
    def speed_after(begin, **controls):
        track = dataclasses.replace(roads.straight(), stated_drs_zones=(DrsZone(0.0, begin, 3000.0),))
        world = World(track, [load_car("f1")])
        world.place_car(0, Pose(200.0, 0.0), 80.0)
        state = after(world, 0.5, **controls)
        return state.velocity_x, world.race.allows_drs[0], world.race.is_wing_open[0]

    shut = speed_after(1000.0, throttle=1.0, drs=1.0)
    assert shut == (speed_after(1000.0, throttle=1.0)[0], False, False)
    opened = speed_after(100.0, throttle=1.0, drs=1.0)
    assert opened[0] > shut[0] + 0.4
    assert opened[1:] == (True, True)
    braked = speed_after(100.0, brake=0.2, drs=1.0)
    assert braked == (speed_after(1000.0, brake=0.2)[0], True, False)


def test_a_setting_is_of_one_car_and_ends_with_its_wish(roads):
    world, untouched = world_of(roads, "gt3", "hatchback", "f1"), world_of(roads, "gt3", "hatchback", "f1")
    for step in range(200):
        wish = Controls(throttle=0.5, brake=0.1)
        tried = Controls(throttle=0.5, brake=0.1, brake_bias=0.9, engine_brake_level=0.2, turbo_level=0.1)
        world.step([wish, tried if step < 100 else wish, wish])
        untouched.step([wish] * 3)
    for car in (0, 2):
        assert np.array_equal(world.batch.view_car(car), untouched.batch.view_car(car), equal_nan=True)
    assert not np.array_equal(world.batch.view_car(1), untouched.batch.view_car(1), equal_nan=True)
    rows = np.s_[:, :]
    fresh = world_of(roads, "gt3", "hatchback", "f1")
    fresh.batch.change_car(1, fresh.cars[1])
    assert np.array_equal(world.batch.params[rows], fresh.batch.params[rows])  # all as the car's file has it


def test_a_reset_takes_settings_back(roads):
    world = world_of(roads, "gt3")
    after(world, 0.01, abs_level=0.0)
    world.reset(0)
    world.batch.place_cars(0, 200.0, 0.0, 0.0, 40.0)
    assert min(w.angular_velocity for w in after(world, 0.6, brake=1.0, gear=0).wheels) > 20.0


def test_nothing_set_is_the_car_itself():
    for name in ("gt3", "kart", "f1", "sports_awd"):
        car, same = load_car(name), apply_settings(load_car(name), Controls())
        assert same.brakes.torque_front == pytest.approx(car.brakes.torque_front)
        assert (same.brakes.abs_slip, same.brakes.tc_slip) == (car.brakes.abs_slip, car.brakes.tc_slip)
        assert same.engine.torque == pytest.approx(car.engine.torque)
        assert same.engine.turbo_share == pytest.approx(car.engine.turbo_share)
        assert same.hybrid == car.hybrid
        assert math.isnan(Controls().brake_bias)


def acting_times(delays, sent):
    """Return for each car [(part, steer)] at which the controls that act change, over all periods of `sent`."""
    delay = ControlDelay(delays, PERIOD, SUBSTEPS)
    assert delay.parts == PARTS
    found = [[] for _ in delays]
    at = 0
    for values in sent:
        for changes in delay.delay_controls([Controls(steer=value) for value in values]):
            for car, controls in changes:
                if not found[car] or found[car][-1][1] != controls.steer:
                    found[car].append((at, controls.steer))
            at += 1
    return found


@pytest.mark.parametrize("late", [0, 1, 4, 5, 7, 13, 20])
def test_a_control_acts_its_delay_later(late):
    sent = [(0.01 * (n + 1),) for n in range(20)]
    (times,) = acting_times([late * PERIOD / PARTS], sent)
    times = [(at, steer) for at, steer in times if steer]
    assert times == [(n * PARTS + late, 0.01 * (n + 1)) for n in range(20) if n * PARTS + late < 20 * PARTS]


def test_cars_have_delays_of_their_own():
    sent = [(0.1 * (n % 3 + 1), 0.2 * (n % 3 + 1)) for n in range(10)]
    (first,), (second,) = acting_times([0.013], [s[:1] for s in sent]), acting_times([0.027], [s[1:] for s in sent])
    assert acting_times([0.013, 0.027], sent) == [first, second]


@pytest.mark.parametrize("substeps", range(1, 45))
def test_parts_are_equal_and_short(substeps):
    period = substeps * 0.00119
    parts = divide_period(period, substeps)
    assert substeps % parts == 0
    assert period / parts <= MAX_PART


def test_controls_that_wait_are_copies_and_a_restart_discards_them():
    delay = ControlDelay([2.0 * PERIOD], PERIOD, SUBSTEPS)
    reused = Controls(throttle=1.0)
    delay.delay_controls([reused])
    reused.throttle = 0.0
    delay.delay_controls([reused])
    assert delay.delay_controls([reused])[0][0][1].throttle == 1.0
    delay.delay_controls([Controls(brake=1.0)])
    delay.clear_car(0)
    assert [delay.delay_controls([Controls()])[0][0][1].brake for _ in range(4)] == [0.0] * 4


@pytest.mark.parametrize("delay", [0.0012, 0.0323, 0.0510, 0.06])
def test_a_world_steers_the_delay_of_its_car_later(delay):
    """At 60 Hz, from rest: what the wheels' angle is at its own rate says when the steer began to act."""
    own = load_car("hatchback")
    car = replace(own, actuation=replace(own.actuation, delay=delay))
    world = World(load_track("hartmoor"), [car], period=1.0 / 60.0)
    steps = 0
    while world.car_state(0).steer == 0.0:
        world.step([Controls(steer=1.0)])
        steps += 1
    angle = world.car_state(0).steer * car.steering.max_angle
    assert steps / 60.0 - angle / car.steering.max_rate == pytest.approx(delay, abs=0.5 * MAX_PART)
    for _ in range(120):
        world.step([Controls()])
    assert world.car_state(0).speed == pytest.approx(0.0, abs=0.01)  # a car that stands stays where it is


def test_the_first_car_carries_the_camera_and_the_world_is_the_same():
    track, cars = load_track("lakeside"), [load_car("hatchback")] * 2
    seen, plain = CameraWorld(track, cars, period=0.02, camera=CAMERA), World(track, cars, period=0.02)
    for _ in range(20):
        for world in (seen, plain):
            world.step([Controls(throttle=0.5), Controls()])
    assert isinstance(seen, HasCamera)
    assert not isinstance(plain, HasCamera)
    assert seen.car_state(0).x == plain.car_state(0).x
    assert seen.car_state(1).image is None
    before = seen.car_state(0)
    assert before.image.pixels.shape == (60, 80, 3)
    seen.step([Controls(throttle=1.0)] * 2)
    later = seen.car_state(0).image
    for _ in range(100):
        seen.step([Controls(throttle=1.0)] * 2)
    assert not np.array_equal(seen.car_state(0).image.pixels, later.pixels)  # each shows its own instant


def test_the_camera_can_be_another():
    world = CameraWorld(load_track("lakeside"), [load_car("hatchback")], period=0.02, camera=CAMERA)
    world.set_camera(CAMERA | {"width": 40})
    assert world.car_state(0).image.pixels.shape == (60, 40, 3)
    with pytest.raises(UsageError, match="no such picture"):
        world.set_camera({"width": 1})
