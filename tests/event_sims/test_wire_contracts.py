"""What wires with one telemetry and one answer have in common: what is refused, and a car with one pedal."""

import json
import math

import pytest

from trailbrake.errors import WireError
from trailbrake.event_sims.one_pedal import REVERSE_BRAKE, UNITY_CAR, Roll, combine_pedals
from trailbrake.sims.trend import codec as trend
from trailbrake.sims.udacity import codec as udacity
from trailbrake.sims.udacity import convert as udacity_convert
from trailbrake.sims.udacity_mpc import codec as udacity_mpc
from trailbrake.sims.udacity_mpc import convert as udacity_mpc_convert
from trailbrake.sims.udacity_pid import codec as udacity_pid
from trailbrake.sims.udacity_pid import convert as udacity_pid_convert
from trailbrake.state import Controls
from trailbrake.units import MPH

TELEMETRY = {
    trend: trend.TrendTelemetry(-12.3457, 0.25, 0.5, 3.25, 61.062, 4, 1, b"jpeg"),
    udacity: udacity.UdacityTelemetry(-2.5, 0.3, 9.1, b"jpeg", 1.04, 2),
    udacity_pid: udacity_pid.UdacityPidTelemetry(0.7598, 0.438, -1.25, 0.3, 1.04, 2),
    udacity_mpc: udacity_mpc.UdacityMpcTelemetry((-32.16, -43.49), (113.36, 105.94), -40.62, 108.73, 3.73, 4.12, 12.5,
                                                 0.0436, 0.3, 1.04, 2),
}  # fmt: skip
LISTS = {"mpc_x": [1], "mpc_y": [3], "next_x": [5, 6], "next_y": [8, 9]}
SHARED = ["steering_angle", "throttle", "speed", "time", "lap"]
NUMBERS = {trend: ["brakes", "status"], udacity: [], udacity_pid: ["cte"], udacity_mpc: ["x", "y", "psi", "psi_unity"]}
MISSING = {
    trend: {"speed": "number"}, udacity: {"speed": "number"}, udacity_pid: {"cte": "number", "speed": "number"},
    udacity_mpc: {"ptsx": "list", "ptsy": "list"} | dict.fromkeys(("x", "y", "psi", "speed"), "number"),
}  # fmt: skip
LOCK = 0.58  # rad, of the car in our world
CONVERTERS = {
    udacity_convert: (udacity.UdacitySteer, lambda speed, pedal: udacity_convert.state_from_wire(
        udacity.UdacityTelemetry(-25.0, pedal, speed, b""), None)),
    udacity_pid_convert: (udacity_pid.UdacityPidSteer, lambda speed, pedal: udacity_pid_convert.state_from_wire(
        udacity_pid.UdacityPidTelemetry(0.5, speed, -25.0, pedal), 4.0)),
    udacity_mpc_convert: (udacity_mpc.UdacityMpcSteer, lambda speed, pedal: udacity_mpc_convert.state_from_wire(
        udacity_mpc.UdacityMpcTelemetry((), (), 0.0, 0.0, 0.0, 0.0, speed, -math.radians(25.0), pedal))),
}  # fmt: skip


def name(module):
    return module.__name__.split(".")[-2] if hasattr(module, "__name__") else None


each_codec = pytest.mark.parametrize("codec", TELEMETRY, ids=name)
each_converter = pytest.mark.parametrize("convert", CONVERTERS, ids=name)


def encoded(codec):
    return json.loads(json.dumps(codec.encode_telemetry(TELEMETRY[codec])))


def refusal(decode, data):
    with pytest.raises(WireError) as caught:
        decode(data)
    return str(caught.value)


@each_codec
def test_a_telemetry_is_read_as_it_was_written_with_our_host_s_clock_and_laps(codec):
    assert codec.decode_telemetry(encoded(codec)) == TELEMETRY[codec]
    assert type(codec.decode_telemetry(encoded(codec)).lap) is int


@each_codec
@pytest.mark.parametrize("data", [None, {}])
def test_driven_by_hand(codec, data):
    assert codec.decode_telemetry(data) is None


@each_codec
def test_what_is_no_object_and_what_lacks_a_number_is_one_line(codec):
    assert refusal(codec.decode_telemetry, 5) == "telemetry: not an object, got 5"
    assert refusal(codec.decode_steer, 5) == "steer: not an object, got 5"
    assert refusal(codec.decode_steer, {"throttle": 1, **LISTS}) == "steering_angle: not a number, got None"
    assert refusal(codec.decode_steer, {"steering_angle": 1, **LISTS}) == "throttle: not a number, got None"
    for key, kind in MISSING[codec].items():
        data = encoded(codec)
        del data[key]
        assert refusal(codec.decode_telemetry, data) == f"{key}: not a {kind}, got None"


@pytest.mark.parametrize(("codec", "key"), [(c, key) for c in TELEMETRY for key in [*SHARED, *NUMBERS[c]]], ids=name)
def test_an_unreadable_number_is_one_line(codec, key):
    said = refusal(codec.decode_telemetry, encoded(codec) | {key: "x" * 60})
    assert said == f"{key}: not a number, got {'x' * 40}"


@pytest.mark.parametrize("codec", [udacity, udacity_pid, udacity_mpc], ids=name)
def test_commands_are_held_within_what_the_simulator_takes(codec):
    for angle, throttle in ((7, -2.5), (-7, 2.5)):
        held = codec.decode_steer({"steering_angle": angle, "throttle": throttle, **LISTS})
        assert held[:2] == (math.copysign(1.0, angle), math.copysign(1.0, throttle))


@pytest.mark.parametrize("codec", [udacity_pid, udacity_mpc], ids=name)
def test_numbers_of_an_answer_are_no_text(codec):
    answer = {"steering_angle": 0, "throttle": 0, **LISTS}
    said = refusal(codec.decode_steer, answer | {"steering_angle": "1"})
    assert said == "steering_angle: text instead of a number, got '1'"
    said = refusal(codec.decode_steer, answer | {"throttle": "0" * 60})
    assert said == f"throttle: text instead of a number, got '{'0' * 39}"


@each_converter
def test_reversing_is_a_speed_and_no_throttle(convert):
    _, read = CONVERTERS[convert]
    state = read(-30.0, -0.5)
    assert (state.steer, state.throttle) == (pytest.approx(1.0), 0.0)
    assert state.speed == pytest.approx(13.4112)


@each_converter
@pytest.mark.parametrize(("speed", "brakes"), [(5.0 * MPH, False), (5.001 * MPH, True)])
def test_below_5_mph_a_pedal_under_0_slows_as_reverse_does(convert, speed, brakes):
    assert combine_pedals(Controls(brake=1.0), speed, UNITY_CAR) == (-1.0 if brakes else 0.0)
    got = convert.controls_from_wire(CONVERTERS[convert][0](0.0, -0.5), speed, LOCK)
    assert (got.throttle, got.brake, got.gear) == (0.0, 0.5 if brakes else 0.2, None)
    rolling = combine_pedals(Controls(brake=1.0), speed, UNITY_CAR, roll=Roll.FORWARD)
    assert rolling == (-1.0 if brakes else -REVERSE_BRAKE)


@each_converter
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_car_with_less_lock_than_the_simulator_s_turns_as_far_as_it_can(convert, side):
    got = convert.controls_from_wire(CONVERTERS[convert][0](side, 0.5), 5.0, 0.1)
    assert got == Controls(steer=-side, throttle=0.5)
