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
from trailbrake.state import CarState, Controls, Phase, WheelState, WheelTorque

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


WHEELS = ("FL", "FR", "RL", "RR")


@pytest.mark.parametrize("wheel", range(4))
def test_a_braking_torque_below_zero_is_none(wheel):
    """The game sends less than 0 at a wheel that its brake leaves alone: it takes friction off."""
    name = f"wheel{WHEELS[wheel]}_brakingTorque"
    for sent, torque in ((-7.0, 0.0), (0.5, 0.5)):
        assert read(StateMessage(**{name: sent}), 0.005).wheels[wheel].brake_torque == torque


# One field of the page's section 3 alone, and what it is to us. With yaw 0 the car faces -Y, so that its left is +X.
READ = [
    ("message_id", 7.0, "sequence", 7),
    ("message_id", 7.0, "time", 0.04),
    ("throttle", 0.25, "throttle", 0.25),
    ("brake", 0.25, "brake", 0.25),
    ("clutch", 0.25, "clutch", 0.25),
    ("parkingbrake", 0.25, "handbrake", 0.25),
    ("steering", -90.0, "steering_wheel_angle", -math.pi / 2),
    ("posX", 4.0, "x", 4.0),
    ("posY", 4.0, "y", 4.0),
    ("posZ", 4.0, "z", 4.0),
    ("velX", 4.0, "velocity_y", 4.0),
    ("velY", 4.0, "velocity_x", -4.0),
    ("velZ", 4.0, "velocity_z", 4.0),
    ("groundspeed", 4.0, "speed", 4.0),
    ("accX", 4.0, "acceleration_y", 4.0),
    ("accY", 4.0, "acceleration_x", -4.0),
    ("accZ", -9.81, "acceleration_z", 0.0),
    ("roll", 0.5, "roll", -0.5),
    ("pitch", 0.5, "pitch", 0.5),
    ("yaw", math.pi / 2, "yaw", 0.0),
    ("gear", -1.0, "gear", -1),
    ("gear", NAN, "gear", None),
    ("fuel", 0.25, "fuel", 0.25),
    ("engineLoad", 0.25, "engine_load", 0.25),
    ("highbeam", 1.0, "high_beam", 1.0),
    ("lowbeam", 1.0, "low_beam", 1.0),
    ("maxrpm", 6000.0, "max_engine_speed", 200.0 * math.pi),
    ("rpm", 3000.0, "engine_speed", 100.0 * math.pi),
    ("signal_L", 1.0, "left_signal", 1.0),
    ("signal_R", 1.0, "right_signal", 1.0),
]


@pytest.mark.parametrize(("name", "sent", "field", "value"), READ)
def test_each_field_of_the_wire_has_one_of_ours(name, sent, field, value):
    got = getattr(read(StateMessage(**{name: sent}), 0.005), field)
    assert type(got) is type(value)
    assert got is None or got == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("wheel", range(4))
@pytest.mark.parametrize(
    ("name", "field"),
    [("angularVelocity", "angular_velocity"), ("brakingTorque", "brake_torque"),
     ("propulsionTorque", "drive_torque"), ("downForce", "load")],
)  # fmt: skip
def test_each_number_of_a_wheel_has_a_field_of_that_wheel(wheel, name, field):
    wheels = read(StateMessage(**{f"wheel{WHEELS[wheel]}_{name}": 30.0}), 0.005).wheels
    assert [getattr(each, field) for each in wheels] == [30.0 * (each == wheel) for each in range(4)]


def test_a_state_is_new_and_that_of_a_car_that_drives():
    s = read(StateMessage(), 0.005)
    assert (s.age, s.phase) == (0.0, Phase.DRIVING)


@pytest.mark.parametrize("name", ["roll", "pitch", "yaw"])
@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_an_infinite_angle_leaves_no_attitude(name, value):
    s = read(StateMessage(**{name: value}, posX=4.0), 0.005)
    assert all(map(math.isnan, (s.yaw, s.pitch, s.roll, s.velocity_x, s.acceleration_y)))
    assert s.x == 4.0


def test_a_message_without_a_number_has_none():
    s = read(StateMessage(message_id=NAN), 0.005)
    assert s.sequence == -1
    assert math.isnan(s.time)


# One field of our state alone, and what it is on the wire: all else at 0, facing world -Y.
SENT = [
    ("throttle", 0.25, "throttle", 0.25),
    ("brake", 0.25, "brake", 0.25),
    ("clutch", 0.25, "clutch", 0.25),
    ("handbrake", 0.25, "parkingbrake", 0.25),
    ("steering_wheel_angle", 0.5 * math.pi, "steering", 90.0),
    ("x", 4.0, "posX", 4.0),
    ("y", 4.0, "posY", 4.0),
    ("z", 4.0, "posZ", 4.0),
    ("z", 4.0, "altitude", 4.0),
    ("velocity_x", 4.0, "velY", -4.0),
    ("velocity_y", 4.0, "velX", 4.0),
    ("velocity_z", 4.0, "velZ", 4.0),
    ("speed", 4.0, "groundspeed", 4.0),
    ("acceleration_x", 4.0, "accY", -4.0),
    ("acceleration_y", 4.0, "accX", 4.0),
    ("acceleration_z", 4.0, "accZ", -5.81),
    ("roll", 0.5, "roll", -0.5),
    ("pitch", 0.5, "pitch", 0.5),
    ("yaw", 0.0, "yaw", math.pi / 2),
    ("gear", 3, "gear", 3.0),
    ("gear", None, "gear", 0.0),
    ("gear", 3, "reverse", 0.0),
    ("gear", 0, "reverse", 0.0),
    ("gear", -1, "reverse", 1.0),
    ("fuel", 0.25, "fuel", 0.25),
    ("engine_load", 0.25, "engineLoad", 0.25),
    ("high_beam", 1.0, "highbeam", 1.0),
    ("low_beam", 1.0, "lowbeam", 1.0),
    ("max_engine_speed", 200.0 * math.pi, "maxrpm", 6000.0),
    ("engine_speed", 100.0 * math.pi, "rpm", 3000.0),
    ("left_signal", 1.0, "signal_L", 1.0),
    ("right_signal", 1.0, "signal_R", 1.0),
]


@pytest.mark.parametrize(("field", "value", "name", "sent"), SENT)
def test_each_field_of_ours_has_its_place_on_the_wire(field, value, name, sent):
    still = state(x=0.0, y=0.0, z=0.0, yaw=-math.pi / 2)
    setattr(still, field, value)
    assert getattr(message_of(still, CAR), name) == pytest.approx(sent, abs=1e-12)


@pytest.mark.parametrize("wheel", range(4))
def test_what_a_wheel_is_on_the_wire(wheel):
    """The page's bank of a wheel; its friction is the tyre's rolling resistance."""
    tyre = CAR.tyre_front if wheel < 2 else CAR.tyre_rear
    wheels = [WheelState(angular_velocity=0.0, load=0.0) for _ in range(4)]
    wheels[wheel] = WheelState(angular_velocity=-20.0, load=2000.0, brake_torque=30.0, drive_torque=40.0)
    m = wire(wheels=wheels)
    bank = {
        "angularVelocity": -20.0, "wheelSpeed": -20.0 * tyre.radius, "brakingTorque": 30.0, "propulsionTorque": 40.0,
        "frictionTorque": 2000.0 * tyre.rolling_resistance * tyre.radius, "downForce": 2000.0,
    }  # fmt: skip
    for name, value in bank.items():
        numbers = [getattr(m, f"wheel{each}_{name}") for each in WHEELS]
        assert numbers == [pytest.approx(value * (each == wheel)) for each in range(4)], name
    assert m.wheelspeed == pytest.approx(0.25 * 20.0 * tyre.radius), "the mean of what each turns"


def test_the_wheel_speed_is_the_mean_of_the_wheels_of_either_direction():
    wheels = [WheelState(angular_velocity=speed, load=0.0) for speed in (10.0, -20.0, 30.0, -40.0)]
    front, rear = CAR.tyre_front.radius, CAR.tyre_rear.radius
    assert wire(wheels=wheels).wheelspeed == pytest.approx(
        (10.0 * front + 20.0 * front + 30.0 * rear + 40.0 * rear) / 4
    )


def test_the_ignition_is_on_unless_it_is_given():
    for given_ignition, level in (((), 2.0), ((3.0,), 3.0)):
        partial = convert.state_to_wire(state(), CAR, *given_ignition)
        assert decode_state(convert.finish_message(partial, 0, LatchedCommand())).ignitionLevel == level


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
    assert read(after, 0.01, read(after, 0.01)).yaw_rate == read(after, 0.01).yaw_rate, "the same message again"


@pytest.mark.parametrize(
    ("speed", "yaw_rate"), [(5.0, 0.6), (-5.0, -0.6), (1.5, 2.0), (1.499, 0.0), (-1.499, 0.0), (0.0, 0.0)]
)
def test_a_first_message_has_the_yaw_rate_of_a_steady_bend(speed, yaw_rate):
    """Lateral acceleration over speed, on a banked road too; 0 at walking pace."""
    m = wire(speed=speed, acceleration_y=3.0, pitch=0.3, roll=0.2)
    assert read(m, 0.01).yaw_rate == pytest.approx(yaw_rate, abs=1e-9)


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


LIMIT = 1e5  # N m: the largest torque that a command gets
BRAKES = tuple(f"wheel{wheel}_brakingTorque" for wheel in WHEELS)
DRIVES = tuple(f"wheel{wheel}_propulsionTorque" for wheel in WHEELS)
NO_COMMAND = CommandMessage(*[NAN] * 14)


def latch(*commands, before=None):
    """Return what is latched after `commands`, each the fields that it has."""
    latched = before or LatchedCommand()
    for fields in commands:
        convert.apply_command(NO_COMMAND._replace(**fields), latched)
    return latched


def test_nothing_is_requested_before_the_first_command():
    zeros = (0.0,) * 4
    assert LatchedCommand() == LatchedCommand(0.0, 0.0, 0.0, False, zeros, zeros, 0, 0.0, 0.0)
    assert latch({}) == LatchedCommand()


@pytest.mark.parametrize(
    ("name", "sent", "field", "value"),
    [
        ("throttle", -0.1, "throttle", 0.0), ("throttle", 0.5, "throttle", 0.5), ("throttle", 1.1, "throttle", 1.0),
        ("brake", -0.1, "brake", 0.0), ("brake", 0.5, "brake", 0.5), ("brake", 1.1, "brake", 1.0),
        ("steering", -0.5, "steer", 0.5), ("steering", -1.1, "steer", 1.0), ("steering", 1.1, "steer", -1.0),
        ("drive_mode", 0.5, "torque_mode", True), ("drive_mode", 0.499, "torque_mode", False),
    ],
)  # fmt: skip
def test_a_command_changes_one_input_and_stays_until_the_next(name, sent, field, value):
    assert latch({name: sent}) == LatchedCommand(**{field: value})
    assert latch({name: sent}, {}) == LatchedCommand(**{field: value}), "NaN leaves it as it is"
    other = {"throttle": 1.0, "brake": 1.0, "steer": -1.0, "torque_mode": True}
    assert latch({name: sent}, before=LatchedCommand(**other)) == LatchedCommand(**other | {field: value})


BEFORE = (10.0, 20.0, 30.0, 40.0)


def with_wheel(wheel, value):
    """Return BEFORE with the `value` of one wheel."""
    return tuple(value if each == wheel else torque for each, torque in enumerate(BEFORE))


@pytest.mark.parametrize("wheel", range(4))
@pytest.mark.parametrize(
    ("sent", "torque"), [(-300.0, 300.0), (-LIMIT, LIMIT), (-1.5 * LIMIT, LIMIT), (-LIMIT - 0.5, LIMIT)]
)
def test_a_brake_torque_is_negative_on_the_wire_and_limited_for_each_wheel(wheel, sent, torque):
    latched = latch({BRAKES[wheel]: sent}, before=LatchedCommand(brake_torques=BEFORE))
    assert latched == LatchedCommand(brake_torques=with_wheel(wheel, torque)), "the others keep theirs"


@pytest.mark.parametrize("wheel", range(4))
@pytest.mark.parametrize("sent", [NAN, math.inf, -math.inf])
def test_a_torque_that_is_no_finite_number_leaves_its_wheel_as_it_is(wheel, sent):
    command = {**dict.fromkeys(BRAKES, -70.0), **dict.fromkeys(DRIVES, 70.0), BRAKES[wheel]: sent, DRIVES[wheel]: sent}
    wanted = tuple(BEFORE[wheel] if each == wheel else 70.0 for each in range(4))
    latched = latch(command, before=LatchedCommand(drive_torques=BEFORE, brake_torques=BEFORE))
    assert latched == LatchedCommand(drive_torques=wanted, brake_torques=wanted)


@pytest.mark.parametrize("wheel", range(4))
def test_a_brake_torque_of_the_wrong_sign_is_none_and_counted(wheel):
    latched = latch({**dict.fromkeys(BRAKES, -70.0), BRAKES[wheel]: 5.0})
    wanted = tuple(0.0 if each == wheel else 70.0 for each in range(4))
    assert latched == LatchedCommand(brake_torques=wanted, wrong_signs=1)
    assert latch(dict.fromkeys(BRAKES, 5.0), before=latched).wrong_signs == 5
    assert latch(dict.fromkeys(BRAKES, 0.0)).wrong_signs == 0


@pytest.mark.parametrize("wheel", range(4))
@pytest.mark.parametrize(
    ("sent", "torque"), [(300.0, 300.0), (-300.0, -300.0), (LIMIT, LIMIT), (1.5 * LIMIT, LIMIT), (-1.5 * LIMIT, -LIMIT)]
)
def test_a_drive_torque_is_limited_for_each_wheel(wheel, sent, torque):
    latched = latch({DRIVES[wheel]: sent}, before=LatchedCommand(drive_torques=BEFORE))
    assert latched == LatchedCommand(drive_torques=with_wheel(wheel, torque))


def test_latched_inputs_are_the_controls():
    latched = LatchedCommand(0.1, 0.2, 0.3, clutch=0.4, handbrake=0.5)
    assert convert.controls_from_wire(latched) == Controls(0.3, 0.1, 0.2, 0.4, 0.5)
    latched.torque_mode, latched.drive_torques, latched.brake_torques = True, (1.0, 2.0, 3.0, 4.0), (5.0, 6.0, 7.0, 8.0)
    wheels = tuple(WheelTorque(1.0 + k, 5.0 + k) for k in range(4))
    assert convert.controls_from_wire(latched).wheels == convert.latched_torques(latched) == wheels


def same(a, b):
    """Compare numbers of which NaN is one."""
    return a == b or (a != a and b != b)


def test_a_command_by_pedals_leaves_the_torques_alone():
    m = convert.controls_to_wire(Controls(0.25, 0.5, 0.75))
    assert all(map(same, m[:-1], (0.0, 0.5, 0.75, -0.25, *[NAN] * 9, 0.0)))
    assert m.custom == (0.0,) * 50
    custom = (2.0,) * 50
    assert convert.controls_to_wire(Controls(), 6.0, custom)[::14] == (6.0, custom)


def test_a_command_by_torques_has_one_of_each_kind_for_each_wheel():
    wheels = (WheelTorque(1.0, 5.0), WheelTorque(2.0, NAN), WheelTorque(NAN, 7.0), WheelTorque(4.0, math.inf))
    m = convert.controls_to_wire(Controls(0.25, 0.5, 0.75, wheels=wheels), 6.0, (2.0,) * 50)
    assert all(map(same, m[:-1], (6.0, 0.5, 0.75, -0.25, NAN, -5.0, 0.0, -7.0, 0.0, 1.0, 2.0, 0.0, 4.0, 1.0)))
    assert m.custom == (2.0,) * 50


@pytest.mark.parametrize(("value", "share"), [(-0.5, 0.0), (0.0, 0.0), (0.5, 0.5), (1.5, 1.0), (NAN, 0.0)])
def test_a_share_is_within_0_and_1_and_never_nan(value, share):
    assert convert.limit_share(value) == share


@given(steer=st.floats(-1, 1), throttle=st.floats(0, 1), brake=st.floats(0, 1),
       torques=st.none() | st.lists(st.tuples(numbers, st.floats(0, 5000)), min_size=4, max_size=4))  # fmt: skip
def test_controls_there_and_back(steer, throttle, brake, torques):
    wheels = None if torques is None else tuple(WheelTorque(*t) for t in torques)
    wanted = Controls(steer, throttle, brake, wheels=wheels)
    got = apply(convert.controls_to_wire(wanted, 1.0))
    assert (got.steer, got.throttle, got.brake, got.wheels) == (steer, throttle, brake, wheels)
