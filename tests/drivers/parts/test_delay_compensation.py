"""The prediction of a car's motion over the delay of its controls, against the embedded world."""

import math

import numpy as np
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.drivers.parts.delay_compensation import DelayCompensation
from trailbrake.state import CarState, Controls
from trailbrake.tracks.track_library import load_track
from trailbrake.world.plant import World

PERIOD = 0.01
LATE = 6  # periods


def delayed_car(periods=LATE):
    car = load_car("gt3")
    return replace(car, actuation=replace(car.actuation, delay=periods * PERIOD))


def test_the_prediction_is_what_the_car_does():
    car = delayed_car()
    world = World(load_track("hartmoor"), [car], period=PERIOD)
    compensation = DelayCompensation(car)
    predicted, driven = [], []
    for tick in range(600):
        state = world.car_state(0)
        motion = compensation.predict(state, PERIOD if tick else 0.0)
        predicted.append((motion.x, motion.y, motion.yaw_rate))
        driven.append((state.x, state.y, state.yaw_rate))
        steer = 0.15 * math.sin(6.0 * (tick - 400) * PERIOD) if tick > 400 else 0.0
        compensation.add_command(steer * car.steering.max_angle)
        world.step([Controls(steer=steer, throttle=0.8, brake=0.0, gear=1 if tick < 250 else 2)])
    before, ahead, after = (np.array(rows) for rows in (driven[400:-LATE], predicted[400:-LATE], driven[400 + LATE :]))
    assert np.ptp(before[:, 2]) > 0.2  # rad/s: it does weave
    unpredicted, error = np.abs(after - before).max(axis=0), np.abs(after - ahead).max(axis=0)
    assert np.all(error[:2] < 0.05 * unpredicted[:2])
    assert error[2] < 0.25 * unpredicted[2]  # the world's tyres and springs take time, those of the model none


def test_a_car_without_delay_is_taken_as_it_is():
    compensation = DelayCompensation(load_car("gt3"))
    state = CarState(time=0.0, x=1.0, y=2.0, z=0.0, yaw=0.3, speed=20.0, velocity_x=20.0, velocity_y=0.1, yaw_rate=0.2)
    assert not compensation.active
    assert compensation.predict_state(state, 0.01) is state
    assert compensation.predict(state, 0.01) == (1.0, 2.0, 0.3, 20.0, 0.1, 0.2)


def test_fields_that_a_wire_does_not_supply_are_done_without():
    compensation = DelayCompensation(delayed_car())
    state = CarState(time=0.0, x=0.0, y=0.0, z=0.0, yaw=0.0, speed=20.0, velocity_x=20.0, velocity_y=0.0, yaw_rate=0.0)
    ahead = compensation.predict_state(state, 0.01)
    assert abs(ahead.x - 20.0 * LATE * PERIOD) < 1e-9
    assert (ahead.y, ahead.speed) == (0.0, 20.0)
    assert state.x == 0.0  # the state itself is left as it is


def test_a_copy_goes_its_own_way():
    compensation = DelayCompensation(delayed_car())
    state = CarState(time=0.0, x=0.0, y=0.0, z=0.0, yaw=0.0, speed=20.0, velocity_x=20.0, velocity_y=0.0, yaw_rate=0.0)
    compensation.predict(state, 0.0)
    twin = compensation.copy()
    twin.add_command(0.1)
    for _ in range(LATE):
        kept, other = compensation.predict(state, PERIOD), twin.predict(state, PERIOD)
    assert kept.yaw_rate == 0.0
    assert other.yaw_rate > 0.0
