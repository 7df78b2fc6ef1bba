"""Generation 2: the vendor's small contract, every signal that is known, and both ends in lockstep."""

import itertools
import math
import struct

import pytest
from helpers.beamng.contracts import THROTTLE
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.cars.car_library import load_car
from trailbrake.errors import WireError
from trailbrake.sims.beamng import signals
from trailbrake.sims.beamng.signal_contract import HEADER, parse_contract
from trailbrake.sims.beamng.signal_format import SignalListFormat
from trailbrake.state import CarState, Controls, WheelState, WheelTorque

CAR = load_car("gt3")
TOP = ",".join(HEADER) + "\n"


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
    return SignalListFormat(parse_contract(TOP + "\n".join(rows), "mine.csv"))


def sent(layout, shown, message_id=0):
    """The bytes about a state, to a controller that has not said anything yet."""
    return layout.finish_message(layout.encode_plant_part(shown, CAR), message_id, layout.make_latched_command(), ())


def test_the_vendor_s_example_byte_for_byte():
    """V-E of the protocol page: a car facing world +X at 12.5 m/s; throttle 0.5, steering 0.015 to the right."""
    layout = SignalListFormat(parse_contract(THROTTLE, "throttle_example.csv"))
    to = sent(layout, state(), 7)
    assert to.hex() == "0000000000001c40182d4454fb21f93f0000000000002940"
    back = layout.encode_controls(Controls(steer=-0.015, throttle=0.5), 7.0, ())
    assert back.hex() == "0000000000001c40000000000000e03fb81e85eb51b88e3f"
    latched = layout.make_latched_command()
    layout.apply_command(layout.decode_command(back), latched)
    assert (latched.throttle, latched.steer, latched.torque_mode) == (0.5, -0.015, False)
    read = layout.state_from_message(layout.decode_state(to), 0.0005, None)
    assert (read.yaw, read.speed, read.sequence) == (pytest.approx(0.0), 12.5, 7)
    assert math.isnan(read.x)
    assert read.gear is None


def test_every_signal_there_and_back():
    names = [*signals.SLOT_OF_SIGNAL, *signals.EXTRA_SIGNALS, "downforceRL"]
    layout = listed(*names)
    s = state()
    read = layout.state_from_message(layout.decode_state(sent(layout, s)), 0.0005, None)
    for name in ("x", "y", "z", "yaw", "pitch", "roll", "speed", "velocity_x", "acceleration_x", "acceleration_y",
                 "roll_rate", "pitch_rate", "yaw_rate", "throttle", "steering_wheel_angle"):  # fmt: skip
        assert getattr(read, name) == pytest.approx(getattr(s, name), abs=1e-9), name
    assert read.wheels[2].load == 3000.0
    assert (read.gear, read.engine_speed) == (2, pytest.approx(300.0))


def test_the_axes_of_the_car_are_unit_vectors_at_right_angles():
    names = [f"vehicle{axis}{k}" for axis in ("Forward", "Right", "Up") for k in "XYZ"]
    layout = listed(*names)
    v = layout.decode_state(sent(layout, state()))[1:]
    forward, right, up = v[0:3], v[3:6], v[6:9]
    for a, b in itertools.combinations((forward, right, up), 2):
        assert sum(p * q for p, q in zip(a, b, strict=True)) == pytest.approx(0.0, abs=1e-12)
    assert right[1] == pytest.approx(-1.0, abs=0.01), "facing +X, right is -Y"
    assert up[2] > 0.99


def test_a_torque_acts_exactly_when_it_is_listed():
    layout = listed("vehicleYaw", back=("propulsionTorqueRL,value", "brakingTorqueFL,value"))
    data = layout.encode_controls(
        Controls(wheels=(WheelTorque(7.0, 100.0),) * 2 + (WheelTorque(200.0, 9.0),) * 2), 1.0, ()
    )
    latched = layout.make_latched_command()
    layout.apply_command(layout.decode_command(data), latched)
    assert latched.torque_mode
    assert latched.brake_torques[0] == 100.0, "negative on the wire"
    assert latched.drive_torques[2] == 200.0
    assert all(
        math.isnan(t) for t in (*latched.brake_torques[1:], *latched.drive_torques[:2], latched.drive_torques[3])
    )


def test_channels():
    """value only -> v; with multiply v*m; with add v+a; both v*m+a; freeze holds the last output."""
    back = ("throttle,value", "throttle,multiply", "throttle,add", "throttle,freeze")
    layout, take = listed("vehicleYaw", back=back), []
    latched = layout.make_latched_command()
    for command in ((1.0, 0.5, 0.5, 0.1, 0.0), (2.0, 0.9, 1.0, 0.0, 1.0), (3.0, 0.9, 1.0, 0.0, 0.0)):
        layout.apply_command(command, latched)
        take.append(latched.throttle)
    assert take == pytest.approx([0.35, 0.35, 0.9])
    assert layout.decode_command(layout.encode_controls(Controls(throttle=0.7), 1.0, ())) == (1.0, 0.7, 1.0, 0.0, 0.0)


def test_slow_groups_keep_the_frame_s_values():
    text = TOP + "signalTo,Driver,throttle,\nsignalTo,Kinematics,vehicleYaw,\nsignalFrom,Driver,brake,value\n"
    new, old = struct.pack("<3d", 5.0, 1.0, 2.0), struct.pack("<3d", 4.0, 9.0, 9.0)
    assert struct.unpack("<3d", SignalListFormat(parse_contract(text, "c")).hold_slow_banks(new, old)) == (
        5.0,
        9.0,
        2.0,
    )


def test_an_unknown_signal_is_carried_without_being_read():
    layout = listed("vehicleYaw", "oiltemp", "FRwheelSpeed", back=("lightbar,value", "throttle,value"))
    assert (layout.state_custom_names, layout.command_custom_names) == (("oiltemp",), ("lightbar",))
    data = layout.finish_message(layout.encode_plant_part(state(), CAR), 3, layout.make_latched_command(), (97.5,))
    message = layout.decode_state(data)
    assert message[2] == 97.5
    assert message[3] == pytest.approx(30.0 * CAR.tyre_front.radius), "the parts of a wheel's name in any order"
    assert layout.extract_state_custom(message) == (97.5,)
    command = layout.decode_command(layout.encode_controls(Controls(throttle=0.5), 1.0, (4.0,)))
    assert command == (1.0, 4.0, 0.5)
    assert layout.extract_command_custom(command) == (4.0,)


@given(st.binary(max_size=64))
def test_only_the_size_tells_a_message(data):
    layout = SignalListFormat(parse_contract(THROTTLE, "c"))
    for decode in (layout.decode_state, layout.decode_command):
        if len(data) == 24:
            assert len(decode(data)) == 3
        else:
            with pytest.raises(WireError):
                decode(data)
