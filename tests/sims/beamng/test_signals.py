"""Generation 2: the vendor's small contract, every signal that is known, and both ends in lockstep."""

import contextlib
import itertools
import math
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trailbrake.cars.load import load
from trailbrake.errors import DataError, WireError
from trailbrake.sims.beamng import contract, signals
from trailbrake.sims.beamng.contract import HEADER, parse
from trailbrake.sims.beamng.dialect import Fixed, of_options
from trailbrake.sims.beamng.signals import Listed
from trailbrake.sims.beamng.spec import LiveOptions, ServeOptions
from trailbrake.state import CarState, Controls, WheelState, WheelTorque

CAR = load("gt3")
TOP = ",".join(HEADER) + "\n"
THROTTLE = TOP + (
    "connection,time,3rd Party Computation Time,0.0005,number,,s,\n"
    "signalTo,Kinematics,vehicleYaw,,number,,rad,\n"
    "signalTo,Kinematics,vehicleGroundSpeed,,number,,m/s,\n"
    "signalFrom,Driver,throttle,value,number,,,\n"
    "signalFrom,Driver,steeringWheelPosition,value,number,,,\n"
)


def state(**more):
    return CarState(
        x=1.0, y=2.0, z=3.0, yaw=0.0, pitch=0.1, roll=0.05, speed=12.5, velocity_x=12.5, velocity_y=0.0, velocity_z=0.0,
        acceleration_x=1.0, acceleration_y=2.0, acceleration_z=0.0, roll_rate=0.1, pitch_rate=0.2, yaw_rate=0.3,
        throttle=0.5, brake=0.0, clutch=0.0, handbrake=0.0, gear=2, engine_speed=300.0, fuel_litres=10.0,
        steering_wheel_angle=0.3, wheels=[WheelState(angular_velocity=30.0, load=3000.0) for _ in range(4)], **more,
    )  # fmt: skip


def listed(*names, back=("throttle,value",)):
    rows = [f"signalTo,Kinematics,{name},,number" for name in names]
    rows += [f"signalFrom,Driver,{row},number" for row in back]
    return Listed(parse(TOP + "\n".join(rows), "mine.csv"))


def sent(dialect, shown, message_id=0):
    """The bytes about a state, to a controller that has not said anything yet."""
    return dialect.message_of(dialect.told_of(shown, CAR), message_id, dialect.held(), ())


def test_the_vendor_s_example_byte_for_byte():
    """V-E of the protocol page: a car facing world +X at 12.5 m/s; throttle 0.5, steering 0.015 to the right."""
    dialect = Listed(parse(THROTTLE, "throttle_example.csv"))
    to = sent(dialect, state(), 7)
    assert to.hex() == "0000000000001c40182d4454fb21f93f0000000000002940"
    back = dialect.command_of(Controls(steer=-0.015, throttle=0.5), 7.0, ())
    assert back.hex() == "0000000000001c40000000000000e03fb81e85eb51b88e3f"
    held = dialect.held()
    dialect.take(dialect.decode_command(back), held)
    assert (held.throttle, held.steer, held.torque_mode) == (0.5, -0.015, False)
    told = dialect.state_of(dialect.decode_state(to), 0.0005, None)
    assert (told.yaw, told.speed, told.sequence) == (pytest.approx(0.0), 12.5, 7)
    assert math.isnan(told.x)
    assert told.gear is None


def test_every_signal_there_and_back():
    names = [*signals._SLOTS, *signals._MORE]
    dialect = listed(*names)
    s = state()
    told = dialect.state_of(dialect.decode_state(sent(dialect, s)), 0.0005, None)
    for name in ("x", "y", "z", "yaw", "pitch", "roll", "speed", "velocity_x", "acceleration_x", "acceleration_y",
                 "roll_rate", "pitch_rate", "yaw_rate", "throttle", "steering_wheel_angle"):  # fmt: skip
        assert getattr(told, name) == pytest.approx(getattr(s, name), abs=1e-9), name
    assert told.wheels[2].load == 3000.0


def test_the_axes_of_the_car_are_unit_vectors_at_right_angles():
    names = [f"vehicle{axis}{k}" for axis in ("Forward", "Right", "Up") for k in "XYZ"]
    dialect = listed(*names)
    v = dialect.decode_state(sent(dialect, state()))[1:]
    forward, right, up = v[0:3], v[3:6], v[6:9]
    for a, b in itertools.combinations((forward, right, up), 2):
        assert sum(p * q for p, q in zip(a, b, strict=True)) == pytest.approx(0.0, abs=1e-12)
    assert right[1] == pytest.approx(-1.0, abs=0.01), "facing +X, right is -Y"
    assert up[2] > 0.99


def test_a_torque_acts_exactly_when_it_is_listed():
    dialect = listed("vehicleYaw", back=("propulsionTorqueRL,value", "brakingTorqueFL,value"))
    data = dialect.command_of(Controls(wheels=(WheelTorque(7.0, 100.0),) * 2 + (WheelTorque(200.0, 9.0),) * 2), 1.0, ())
    held = dialect.held()
    dialect.take(dialect.decode_command(data), held)
    assert held.torque_mode
    assert held.brake_torques[0] == 100.0, "negative on the wire"
    assert held.drive_torques[2] == 200.0
    assert all(math.isnan(t) for t in (*held.brake_torques[1:], *held.drive_torques[:2], held.drive_torques[3]))


def test_channels():
    """value only -> v; with multiply v*m; with add v+a; both v*m+a; freeze holds the last output."""
    back = ("throttle,value", "throttle,multiply", "throttle,add", "throttle,freeze")
    dialect, take = listed("vehicleYaw", back=back), []
    held = dialect.held()
    for command in ((1.0, 0.5, 0.5, 0.1, 0.0), (2.0, 0.9, 1.0, 0.0, 1.0), (3.0, 0.9, 1.0, 0.0, 0.0)):
        dialect.take(command, held)
        take.append(held.throttle)
    assert take == pytest.approx([0.35, 0.35, 0.9])
    assert dialect.decode_command(dialect.command_of(Controls(throttle=0.7), 1.0, ())) == (1.0, 0.7, 1.0, 0.0, 0.0)


def test_slow_groups_keep_the_frame_s_values():
    text = TOP + "signalTo,Driver,throttle,\nsignalTo,Kinematics,vehicleYaw,\nsignalFrom,Driver,brake,value\n"
    new, old = struct.pack("<3d", 5.0, 1.0, 2.0), struct.pack("<3d", 4.0, 9.0, 9.0)
    assert struct.unpack("<3d", Listed(parse(text, "c")).stair(new, old)) == (5.0, 9.0, 2.0)


@pytest.mark.parametrize(("text", "said"), [
    ("a,b,c\n", "mine.csv:1: is no contract"),
    ("", "mine.csv:1: is no contract"),
    (TOP, "lists no signals one way"),
    (TOP + "signalTo,Kinematics,vehicleYaw\n", "mine.csv:2: a signal without a name"),
    (TOP + "signalUp,Kinematics,vehicleYaw,,\n", "mine.csv:2: no such section"),
    (TOP + "signalFrom,Driver,throttle,times,\n", "mine.csv:2: no such channel"),
    (TOP + 2 * "signalTo,Kinematics,vehicleYaw,,\n", "mine.csv:3: vehicleYaw is listed twice"),
])  # fmt: skip
def test_a_contract_that_is_none_is_one_line(text, said):
    with pytest.raises(DataError, match=said):
        parse(text, "mine.csv")


def test_an_unknown_signal_names_its_line_and_its_like():
    with pytest.raises(DataError, match=r"mine\.csv:2: the signal vehicleYow is not known; did you mean vehicleYaw"):
        listed("vehicleYow")
    with pytest.raises(DataError, match=r"mine\.csv:3: the signal vehicleYaw is not known"):
        listed("vehicleYaw", back=("vehicleYaw,value",))


@settings(max_examples=50)
@given(st.text(max_size=100))
def test_any_text_is_a_contract_or_a_data_error(text):
    for body in (text, TOP + text):
        with contextlib.suppress(DataError, contract.csv.Error):
            parse(body, "c")


@given(st.binary(max_size=64))
def test_only_the_size_tells_a_message(data):
    dialect = Listed(parse(THROTTLE, "c"))
    for decode in (dialect.decode_state, dialect.decode_command):
        if len(data) == 24:
            assert len(decode(data)) == 3
        else:
            with pytest.raises(WireError):
                decode(data)


def test_the_generation_is_chosen_by_the_options(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text(THROTTLE)
    assert isinstance(of_options(ServeOptions()), Fixed)
    assert isinstance(of_options(LiveOptions(generation=2, contract=path)), Listed)


def test_both_ends_in_lockstep(session, tmp_path):
    path = tmp_path / "c.csv"
    path.write_text(THROTTLE)
    both = {"generation": 2, "contract": path, "simulink_time": 0.0005}
    session.serve(**both)
    link = session.connect(**both)
    s = session.exchange(link, Controls(throttle=0.5), times=100)
    assert s.sequence == 99
    assert session.plant.asked[-1][0].throttle == 0.5
    assert s.speed == pytest.approx(98 * 0.0005 * 5.0, rel=0.05)
