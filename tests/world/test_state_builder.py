"""Torques at the wheels and the engine's load: they account for what the wheels do, substep by substep."""

import numpy as np
import pytest

from trailbrake.cars.car_library import car_names, load_car
from trailbrake.state import Controls, WheelTorque
from trailbrake.tracks.track_library import load_track
from trailbrake.world.plant import World
from trailbrake.world.row_layout import AxleRow, StateRow

PERIOD = 0.0005  # s, one substep
NAN = float("nan")


def make_world(name, period=PERIOD):
    return World(load_track("plain"), [load_car(name)], period=period)


def run(world, controls, steps):
    """Step, and return the largest missing torque (N m) at a wheel that turns, with the largest drive torque."""
    column, missing, largest = world.batch.view_car(0), 0.0, 0.0
    params = {row: [world.batch.get_param(row + axle)[0] for axle in (0, 0, 1, 1)]
              for row in (AxleRow.INVERSE_INERTIA, AxleRow.RADIUS)}  # fmt: skip
    for _ in range(steps):
        before = column[StateRow.SPIN : StateRow.SPIN + 4].copy()
        world.step([controls])
        after = column[StateRow.SPIN : StateRow.SPIN + 4]
        wheels = world.car_state(0).wheels
        for k in range(4):
            if after[k] == 0.0 or before[k] * after[k] <= 0.0:
                continue  # held by its brake
            sign = np.sign(after[k])
            rolling = column[StateRow.ROLLING_ARM + k] * column[StateRow.LOAD + k]
            tyre = params[AxleRow.RADIUS][k] * column[StateRow.FX + k]
            stated = wheels[k].drive_torque - sign * (wheels[k].brake_torque + rolling) - tyre
            turned = (after[k] - before[k]) / (PERIOD * params[AxleRow.INVERSE_INERTIA][k])
            missing = max(missing, abs(stated - turned))
            largest = max(largest, abs(wheels[k].drive_torque))
    return missing, largest


@pytest.mark.parametrize("name", car_names())
def test_the_torques_are_those_that_turn_the_wheels(name):
    """Newton's law of each wheel: drive less brake, rolling resistance and tyre force is inertia times acceleration."""
    world = make_world(name)
    run(world, Controls(throttle=0.6), 3000)
    for controls in (Controls(throttle=0.5, steer=0.1), Controls(throttle=0.0), Controls(brake=0.4, steer=-0.05)):
        run(world, controls, 200)  # the first steps of a change: the differential's wheels are not yet alike
        missing, largest = run(world, controls, 100)
        assert missing < 1e-6 + 0.02 * largest + 2.0, (name, controls)


def test_a_car_at_rest_has_no_torques_and_a_torque_of_the_control_is_reported_as_it_acts():
    world = make_world("hatchback")
    run(world, Controls(brake=1.0), 500)
    wheels = world.car_state(0).wheels
    assert [wheel.drive_torque for wheel in wheels] == [0.0] * 4
    assert max(wheel.brake_torque for wheel in wheels) < 1.0, "2000 N m are ready, and nothing needs them"
    commanded = (WheelTorque(300.0, 0.0),) * 2 + (WheelTorque(0.0, 5.0),) * 2
    run(world, Controls(wheels=commanded), 200)
    wheels = world.car_state(0).wheels
    assert [wheel.drive_torque for wheel in wheels] == [300.0, 300.0, 0.0, 0.0]
    assert [wheel.brake_torque for wheel in wheels] == [0.0, 0.0, 5.0, 5.0]


def test_anti_lock_brakes_take_part_of_the_torque():
    world = make_world("gt3")
    run(world, Controls(throttle=1.0), 8000)
    run(world, Controls(brake=1.0), 400)
    state, full = world.car_state(0), 0.5 * world.cars[0].brakes.torque_front
    assert state.abs_active == 1.0
    assert 0.0 < state.wheels[0].brake_torque < 0.95 * full


def test_a_slipping_clutch_gives_less_than_the_engine_with_its_inertia():
    """From rest at full throttle the drive torque is the clutch's, not torque map times ratio."""
    world = make_world("hatchback")
    car = world.cars[0]
    while not sum(wheel.drive_torque for wheel in world.car_state(0).wheels) > 0.0:
        run(world, Controls(throttle=1.0), 1)  # until the clutch bites
    run(world, Controls(throttle=1.0), 20)
    state = world.car_state(0)
    steady = car.engine.full_torque(state.engine_speed * 30.0 / np.pi) * car.gearbox.overall_ratio(1)
    assert 0.0 < sum(wheel.drive_torque for wheel in state.wheels) < 0.9 * steady


def test_engine_load_follows_the_throttle_and_is_zero_while_the_engine_brakes():
    world = make_world("hatchback")
    run(world, Controls(throttle=1.0), 4000)
    assert world.car_state(0).engine_load == pytest.approx(1.0, abs=0.01)
    run(world, Controls(throttle=0.5), 20)
    assert 0.4 < world.car_state(0).engine_load < 0.55
    run(world, Controls(), 20)
    assert world.car_state(0).engine_load == 0.0


def test_fuel_is_a_share_of_the_tank():
    world = make_world("hatchback")
    car = world.cars[0]
    state = world.car_state(0)
    assert state.fuel == pytest.approx(state.fuel_litres / car.fuel.capacity)
    assert state.max_engine_speed == pytest.approx(car.engine.limiter_rpm * np.pi / 30.0)
    world.step([Controls(brake=1.0, brake_bias=0.8)])
    assert world.car_state(0).fuel == pytest.approx(state.fuel, abs=1e-6)


def test_rates_and_accelerations_are_those_of_the_leaning_body():
    """The motion of the body's axes, by the derivatives of the angles and of the velocity in the world."""
    world = make_world("hatchback", period=0.002)
    for _ in range(4000):
        world.step([Controls(throttle=0.6)])
    rows = []
    for k in range(1500):
        world.step([Controls(throttle=0.3, steer=0.1 * np.sin(0.004 * k))])
        state = world.car_state(0)
        rows.append([getattr(state, name) for name in (
            "yaw", "pitch", "roll", "velocity_x", "velocity_y", "velocity_z", "roll_rate", "pitch_rate", "yaw_rate",
            "acceleration_x", "acceleration_y", "acceleration_z")])  # fmt: skip
    columns = np.array(rows).T
    yaw, pitch, roll = np.unwrap(columns[0]), columns[1], columns[2]
    (cy, sy), (cp, sp), (cr, sr) = ((np.cos(angle), np.sin(angle)) for angle in (yaw, pitch, roll))
    body = np.array([[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                     [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr], [-sp, cp * sr, cp * cr]])  # fmt: skip
    turn, dive, tilt = (np.gradient(angle, 0.002) for angle in (yaw, pitch, roll))
    rates = [tilt - turn * sp, dive * cr + turn * sr * cp, turn * cr * cp - dive * sr]
    velocity = np.einsum("ijk,jk->ik", body, columns[3:6])
    accelerations = np.einsum("jik,jk->ik", body, np.gradient(velocity, 0.002, axis=1))
    for stated, rate in zip(columns[6:9], rates, strict=True):
        assert np.std(stated - rate) < 0.0005  # rad/s, of up to 0.03; the derivative over a step has its own error
    for stated, exact, error in zip(columns[9:], accelerations, (0.05, 0.05, 0.005), strict=True):
        assert np.abs(stated - exact)[5:-5].max() < error  # m/s^2, of up to 4.9
