"""Signs and units, each with a state where it shows, and round trips."""

import math

import pytest
from helpers.beamng.state_bytes import message_of
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.cars.car_library import load_car
from trailbrake.frames import nose_direction, up_vector
from trailbrake.sims.beamng import convert
from trailbrake.sims.beamng.codec import CommandMessage, StateMessage, decode_state, select_state_subset
from trailbrake.sims.beamng.convert import LatchedCommand
from trailbrake.state import CarState, Controls, WheelState, WheelTorque

CAR = load_car("gt3")
NAN = math.nan
angles = st.floats(-1.2, 1.2)
numbers = st.floats(-100.0, 100.0)


def state(**more):
    known = {
        "x": 1.0, "y": 2.0, "z": 3.0, "yaw": 0.0, "pitch": 0.0, "roll": 0.0, "speed": 0.0, "velocity_x": 0.0,
        "velocity_y": 0.0, "velocity_z": 0.0, "acceleration_x": 0.0, "acceleration_y": 0.0, "acceleration_z": 0.0,
        "throttle": 0.0, "brake": 0.0, "clutch": 0.0, "handbrake": 0.0, "gear": 1, "engine_speed": 300.0,
        "fuel_litres": 20.0, "steering_wheel_angle": 0.0,
        "wheels": [WheelState(angular_velocity=0.0, load=3000.0) for _ in range(4)], **more,
    }  # fmt: skip
    return CarState(**known)


def wire(**more):
    return message_of(state(**more), CAR, 5)


def read(message, step, previous=None):
    return convert.state_from_wire(select_state_subset(message), step, previous)


@pytest.mark.parametrize(("yaw", "on_wire"), [(-math.pi / 2, 0.0), (0.0, math.pi / 2), (math.pi / 2, math.pi),
                                              (math.pi, -math.pi / 2), (-3.0, -3.0 + math.pi / 2)])  # fmt: skip
def test_yaw_is_zero_on_the_wire_when_facing_minus_y(yaw, on_wire):
    m = wire(yaw=yaw, velocity_x=10.0, speed=10.0)
    assert m.yaw == pytest.approx(on_wire)
    # The heading of the page: (sin yaw, -cos yaw), which is where the car goes.
    assert (m.velX, m.velY) == pytest.approx((10 * math.sin(m.yaw), -10 * math.cos(m.yaw)))


def test_at_rest_the_wire_has_gravity_as_an_acceleration_downward():
    m = wire()
    assert (m.accX, m.accY, m.accZ) == (0.0, 0.0, -9.81)


def test_accelerating_forward_is_negative_y_and_to_the_left_positive_x():
    m = wire(acceleration_x=2.0, acceleration_y=3.0)
    assert (m.accX, m.accY) == (3.0, -2.0)


def test_steering_has_opposite_signs_and_the_wheel_is_in_degrees():
    m = message_of(state(steering_wheel_angle=math.radians(90.0)), CAR, 0, LatchedCommand(steer=0.5))
    assert (m.steering, m.steering_input) == (pytest.approx(90.0), -0.5)


def test_the_rest_of_the_message():
    wheels = [WheelState(angular_velocity=0.0, load=3000.0, drive_torque=10.0 * k, brake_torque=100.0 + k)
              for k in range(4)]  # fmt: skip
    m = wire(gear=-1, engine_speed=100.0 * math.pi, max_engine_speed=200.0 * math.pi, fuel=0.25, engine_load=0.75,
             low_beam=1.0, right_signal=1.0, wheels=wheels)  # fmt: skip
    assert (m.message_id, m.gear, m.reverse, m.rpm) == (5.0, -1.0, 1.0, pytest.approx(3000.0))
    assert (m.maxrpm, m.fuel, m.engineLoad) == (pytest.approx(6000.0), 0.25, 0.75)
    assert (m.lowbeam, m.highbeam, m.signal_L, m.signal_R) == (1.0, 0.0, 0.0, 1.0)
    assert (m.wheelFR_propulsionTorque, m.wheelRR_brakingTorque) == (10.0, 103.0)
    assert (m.altitude, m.posZ, m.wheelFL_downForce) == (3.0, 3.0, 3000.0)
    back = read(m, 0.005)
    assert (back.fuel, back.engine_load, back.low_beam, back.right_signal) == (0.25, 0.75, 1.0, 1.0)
    assert back.max_engine_speed == pytest.approx(200.0 * math.pi)
    assert [(wheel.drive_torque, wheel.brake_torque) for wheel in back.wheels] == [
        (10.0 * k, 100.0 + k) for k in range(4)
    ]


def test_a_braking_torque_below_zero_is_none():
    """The game sends less than 0 at a wheel that its brake leaves alone: it takes friction off."""
    assert read(StateMessage(wheelFL_brakingTorque=-7.0), 0.005).wheels[0].brake_torque == 0.0


def test_what_the_state_does_not_know_is_zero_on_the_wire():
    m = message_of(CarState(x=1.0), CAR, 0)
    assert all(math.isfinite(v) for v in m[:-1])
    assert m.posX == 1.0


def test_the_controller_s_part_has_its_own_fields_and_changes_no_other():
    partial = convert.state_to_wire(state(throttle=0.3, brake=0.2, gear=2), CAR)
    before = decode_state(convert.finish_message(partial, 0, LatchedCommand()))
    latched = LatchedCommand(0.7, 0.6, -0.5, True, (10.0, 20.0, 30.0, math.nan), (1.0, 2.0, 3.0, 4.0),
                            clutch=0.4, handbrake=0.3)  # fmt: skip
    custom = tuple(map(float, range(50)))
    m = decode_state(convert.finish_message(partial, 9, latched, custom))
    changed = {
        "message_id": 9.0, "throttle_input": 0.7, "brake_input": 0.6, "steering_input": 0.5, "custom": custom,
        "clutch_input": 0.4, "parkingbrake_input": 0.3,
    }  # fmt: skip
    assert m == before._replace(**changed), "a torque is reported when it has acted, not when it is commanded"


@given(yaw=st.floats(-3.14, 3.14), pitch=angles, roll=angles, v=st.tuples(numbers, numbers, numbers),
       a=st.tuples(numbers, numbers, numbers))  # fmt: skip
def test_there_and_back(yaw, pitch, roll, v, a):
    """World velocity against `frames`' own axes; all else comes back as it went."""
    s = state(yaw=yaw, pitch=pitch, roll=roll, speed=math.hypot(*v[:2]), velocity_x=v[0], velocity_y=v[1],
              velocity_z=v[2], acceleration_x=a[0], acceleration_y=a[1], acceleration_z=a[2],
              steering_wheel_angle=1.0)  # fmt: skip
    m = message_of(s, CAR, 41)
    x, z = nose_direction(yaw, pitch), up_vector(yaw, pitch, roll)
    y = (z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0])
    world = [v[0] * x[k] + v[1] * y[k] + v[2] * z[k] for k in range(3)]
    assert (m.velX, m.velY, m.velZ) == pytest.approx(world, abs=1e-9)
    back = read(m, 0.005)
    assert (back.time, back.sequence) == (pytest.approx(42 * 0.005), 41)
    for name in ("x", "y", "z", "yaw", "pitch", "roll", "speed", "velocity_x", "velocity_y", "velocity_z",
                 "acceleration_x", "acceleration_y", "acceleration_z", "steering_wheel_angle", "throttle", "brake",
                 "clutch", "handbrake", "gear", "engine_speed"):  # fmt: skip
        assert getattr(back, name) == pytest.approx(getattr(s, name), abs=1e-8), name
    assert back.wheels[3].load == 3000.0
    assert math.isnan(back.steer)
    assert math.isnan(back.fuel_litres)


def test_the_yaw_rate_is_the_turn_between_two_messages_over_the_seam_too():
    before = read(wire(yaw=3.14), 0.01)
    after = message_of(state(yaw=-3.14, speed=5.0), CAR, 7)
    turn = 2 * math.pi - 6.28
    assert read(after, 0.01, before).yaw_rate == pytest.approx(turn / 0.02)
    assert read(wire(), 0.01).yaw_rate == 0.0
    first = read(wire(speed=5.0), 0.01)
    assert first.yaw_rate == pytest.approx(first.acceleration_y / 5.0)


def test_any_numbers_become_a_state():
    for bad in (NAN, math.inf, -math.inf, 1e300):
        read(StateMessage(3.0, *[bad] * 60), 0.005)


def apply(command):
    latched = LatchedCommand()
    convert.apply_command(command, latched)
    return convert.controls_from_wire(latched)


@given(st.tuples(*[st.floats(allow_nan=True, allow_infinity=True)] * 14))
def test_any_command_becomes_controls_within_range(values):
    c = apply(CommandMessage(*values))
    assert -1.0 <= c.steer <= 1.0
    assert 0.0 <= c.throttle <= 1.0
    assert 0.0 <= c.brake <= 1.0
    for wheel in c.wheels or ():
        assert wheel.brake_torque >= 0.0
        assert math.isfinite(wheel.drive_torque)


def test_the_stock_example_s_throttle_below_zero_is_none():
    assert apply(CommandMessage(1.0, -0.05, NAN, 0.015)).throttle == 0.0


@given(steer=st.floats(-1, 1), throttle=st.floats(0, 1), brake=st.floats(0, 1),
       torques=st.none() | st.lists(st.tuples(numbers, st.floats(0, 5000)), min_size=4, max_size=4))  # fmt: skip
def test_controls_there_and_back(steer, throttle, brake, torques):
    wheels = None if torques is None else tuple(WheelTorque(*t) for t in torques)
    wanted = Controls(steer, throttle, brake, wheels=wheels)
    got = apply(convert.controls_to_wire(wanted, 1.0))
    assert (got.steer, got.throttle, got.brake, got.wheels) == (steer, throttle, brake, wheels)
