"""The converters: the maps of the axes, each sign, the real recording's relations, and round trips."""

import ctypes
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.cars.car_library import load_car
from trailbrake.sims.forza import codec, convert
from trailbrake.sims.forza.blocks import WHEELS, Dash, HorizonBlock, Sled
from trailbrake.sims.forza.codec import Packet
from trailbrake.sims.forza.convert import ATMOSPHERE, RaceStatus, TurboPressure, boost_pressure
from trailbrake.state import CarState, Controls, Phase, WheelState
from trailbrake.transport.pad_report import NEUTRAL, PadButton, PadReport


def test_without_a_turbocharger_the_throttle_lets_in_its_share_of_the_atmosphere():
    engine = load_car("gt3").engine
    turbo = TurboPressure(engine)
    turbo.update(1.0, 10.0)
    assert turbo.share == 0.0
    assert [boost_pressure(engine, throttle, turbo.share) for throttle in (0.0, 0.5, 1.0)] == [
        -ATMOSPHERE, -0.5 * ATMOSPHERE, 0.0
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["hatchback", "sports_awd"])
def test_a_turbocharger_builds_up_pressure_with_the_car_s_lag(name):
    engine = load_car(name).engine
    turbo = TurboPressure(engine)
    for _ in range(1000):
        turbo.update(1.0, engine.turbo_lag / 1000.0)
    assert turbo.share == pytest.approx(1.0 - math.exp(-1.0), abs=1e-3)
    # air, and so torque, without boost is 1 - turbo_share of that with it
    full = boost_pressure(engine, 1.0, 1.0) + ATMOSPHERE
    assert (boost_pressure(engine, 1.0, 0.0) + ATMOSPHERE) / full == pytest.approx(1.0 - engine.turbo_share)
    assert 0.3e5 < boost_pressure(engine, 1.0, 1.0) < 1.2e5
    assert boost_pressure(engine, 0.0, 1.0) == -ATMOSPHERE


GT3 = load_car("gt3")
values = st.floats(-1e4, 1e4)


def read(packet, time=math.nan, sequence=-1):
    return convert.state_from_wire(codec.select_state_subset(packet), time, sequence)


def packet(sled=None, dash=None):
    return Packet(Sled(is_race_on=1, **(sled or {})), HorizonBlock(), Dash(**(dash or {})), tail=b"\0")


# ---- From the wire ----


@pytest.mark.parametrize(
    ("sled", "dash", "field", "value"),
    [
        ({}, {"position_x": 2.0}, "y", -2.0),  # theirs to the right, ours to the left
        ({}, {"position_y": 2.0}, "z", 2.0),
        ({}, {"position_z": 2.0}, "x", 2.0),
        ({}, {"speed": 2.0}, "speed", 2.0),
        ({}, {"steer": -42}, "steer", 42 / 127),
        ({}, {"steer": 127}, "steer", -1.0),
        ({}, {"steer": -128}, "steer", 1.0),
        ({}, {"norm_driving_line": 64}, "driving_line", 64 / 127),  # left of the line in both
        ({}, {"norm_driving_line": -127}, "driving_line", -1.0),
        ({}, {"norm_driving_line": -128}, "driving_line", -1.0),
        ({}, {"norm_driving_line": -126}, "driving_line", -126 / 127),
        ({}, {"steer": -126}, "steer", 126 / 127),
        ({}, {"accel": 51}, "throttle", 0.2),
        ({}, {"brake": 51}, "brake", 0.2),
        ({}, {"clutch": 51}, "clutch", 0.2),
        ({}, {"handbrake": 51}, "handbrake", 0.2),
        ({}, {"fuel": 0.75}, "fuel", 0.75),
        ({}, {"gear": 0}, "gear", -1),
        ({}, {"gear": 3}, "gear", 3),
        ({}, {"gear": 11}, "gear", None),
        ({}, {"best_lap_time": 92.125}, "best_lap_time", 92.125),
        ({}, {"cur_lap_time": 12.0}, "lap_time", 12.0),
        ({}, {"lap_no": 2}, "lap", 3.0),  # they count completed ones
    ],
)
def test_signs_and_units(sled, dash, field, value):
    got = getattr(read(packet(sled, dash)), field)
    assert got is None if value is None else got == pytest.approx(value)


SLED_SIGNS = [
    ("velocity_x", 2.0, "velocity_y", -2.0),  # theirs to the right, ours to the left
    ("velocity_y", 2.0, "velocity_z", 2.0),
    ("velocity_z", 2.0, "velocity_x", 2.0),
    ("acceleration_x", 3.0, "acceleration_y", -3.0),
    ("acceleration_y", 3.0, "acceleration_z", 3.0),
    ("acceleration_z", 3.0, "acceleration_x", 3.0),
    ("angular_velocity_x", 0.5, "pitch_rate", 0.5),
    ("angular_velocity_y", 0.5, "yaw_rate", -0.5),  # turning right
    ("angular_velocity_z", 0.5, "roll_rate", -0.5),
    ("yaw", 0.5 * math.pi, "yaw", -0.5 * math.pi),  # faces their +X, our -Y
    ("pitch", 0.1, "pitch", 0.1),  # nose down in both
    ("roll", 0.1, "roll", -0.1),  # theirs right side up, ours right side down
    ("current_engine_rpm", 6000.0, "engine_speed", 200.0 * math.pi),
    ("engine_max_rpm", 9000.0, "max_engine_speed", 300.0 * math.pi),
]


@pytest.mark.parametrize(("name", "sent", "field", "value"), SLED_SIGNS)
def test_signs_and_units_of_what_every_format_has(name, sent, field, value):
    for form in (packet({name: sent}), Packet(Sled(is_race_on=1, **{name: sent}))):
        assert getattr(read(form), field) == pytest.approx(value)


@pytest.mark.parametrize("form", [packet(), Packet(Sled(is_race_on=1))])
def test_a_state_has_the_time_and_number_that_are_given_and_no_age(form):
    s = read(form, 1.5, 7)
    assert (s.time, s.sequence, s.phase) == (1.5, 7, Phase.DRIVING)
    assert math.isnan(s.age)
    s = convert.state_from_wire(codec.select_state_subset(form))
    assert (math.isnan(s.time), s.sequence) == (True, -1)


@pytest.mark.parametrize("wheel", range(4))
def test_a_sled_packet_has_spin_and_slip_of_each_wheel(wheel):
    name = WHEELS[wheel]
    sled = Sled(is_race_on=1, **{f"wheel_rotation_speed_{name}": 90.0, f"tire_combined_slip_{name}": 0.5})
    wheels = read(Packet(sled)).wheels
    assert [(w.angular_velocity, w.combined_slip) for w in wheels] == [
        (90.0, 0.5) if each == wheel else (0.0, 0.0) for each in range(4)
    ]


def test_wheels_stand_in_our_order_with_what_the_wire_tells_of_them():
    sled = {f"wheel_rotation_speed_{w}": 90.0 + i for i, w in enumerate(("FL", "FR", "RL", "RR"))}
    sled |= {f"tire_combined_slip_{w}": 0.1 * i for i, w in enumerate(("FL", "FR", "RL", "RR"))}
    dash = {f"tire_temp_{w}": 32.0 + 18.0 * i for i, w in enumerate(("FL", "FR", "RL", "RR"))}
    s = read(packet(sled, dash))
    assert [w.angular_velocity for w in s.wheels] == [90.0, 91.0, 92.0, 93.0]
    assert [w.combined_slip for w in s.wheels] == pytest.approx([0.0, 0.1, 0.2, 0.3])
    assert [w.core_temperature for w in s.wheels] == pytest.approx([0.0, 10.0, 20.0, 30.0])
    assert all(math.isnan(w.slip_angle) and math.isnan(w.load) for w in s.wheels)


def test_a_sled_packet_tells_no_place_no_gear_and_its_speed_by_the_velocity():
    s = read(Packet(Sled(1, velocity_x=2.0, velocity_y=3.0, velocity_z=6.0)), 1.5, 7)
    assert (s.time, s.sequence, s.phase, s.speed) == (1.5, 7, Phase.DRIVING, 7.0)
    assert s.gear is None
    assert all(math.isnan(v) for v in (s.x, s.y, s.throttle, s.steer, s.driving_line, s.wheels[0].core_temperature))


def test_no_best_lap_is_nan_and_not_0():
    assert math.isnan(read(packet()).best_lap_time)
    assert math.isnan(read(packet({}, {"best_lap_time": -11.02})).best_lap_time)


# ---- To the wire ----


def moving(**changes):
    fields = {
        "time": 12.0, "x": 100.0, "y": 20.0, "z": 3.0, "yaw": 0.4, "pitch": 0.05, "roll": -0.02, "speed": 30.0,
        "velocity_x": 30.0, "velocity_y": 0.5, "velocity_z": 0.1, "acceleration_x": 1.0, "acceleration_y": 5.0,
        "acceleration_z": 0.2, "roll_rate": 0.01, "pitch_rate": 0.02, "yaw_rate": 0.2, "steer": 0.1, "throttle": 0.6,
        "brake": 0.0, "clutch": 0.0, "handbrake": 0.0, "gear": 4, "engine_speed": 600.0, "fuel_litres": 60.0,
        "lap_time": 12.0,
        "wheels": [WheelState(99.0 + i, 20.0 - i, 2.5, 90.0 + i, 0.01 * i, -0.02 * i, 0.3, on_track=1.0,
                              core_temperature=80.0) for i in range(4)],
    }  # fmt: skip
    return CarState(**fields | changes)


def sent(state, session=None, form="fh"):
    """Through the bytes, as a receiver sees it."""
    return codec.decode_packet(codec.encode_packet(convert.state_to_wire(state, GT3, session or RaceStatus(), form)))


@given(st.tuples(values, values, values), st.floats(0.0, 1000.0), st.floats(0.0, 1.0),
       st.floats(-1.0, 1.0), st.floats(-1.5, 1.5))  # fmt: skip
def test_the_relations_of_the_page_hold_to_f32_rounding(velocity, engine, throttle, ratio, angle):
    state = moving(engine_speed=engine, throttle=throttle)
    state.velocity_x, state.velocity_y, state.velocity_z = velocity
    for wheel in state.wheels:
        wheel.slip_ratio, wheel.slip_angle = ratio, angle
    p = sent(state)
    s, d = p.sled, p.dash
    assert d.speed == pytest.approx(math.hypot(s.velocity_x, s.velocity_y, s.velocity_z), rel=3e-7)
    assert d.power == pytest.approx(d.torque * 2.0 * math.pi * s.current_engine_rpm / 60.0, rel=3e-7, abs=1e-6)
    for w in ("FL", "FR", "RL", "RR"):
        ratio, angle = getattr(s, f"tire_slip_ratio_{w}"), getattr(s, f"tire_slip_angle_{w}")
        assert getattr(s, f"tire_combined_slip_{w}") == pytest.approx(math.hypot(ratio, angle), rel=3e-7)


def test_nothing_that_is_not_known_reaches_the_wire_as_nan():
    p = sent(CarState(x=1.0, y=2.0, z=3.0), form="fm2023")
    assert all(v == v for block in p[:4] for v in block or ())


@given(st.floats(-5.0, 5.0))
def test_the_driving_line_stops_at_the_edge_or_wraps(share):
    value = round(127 * share)
    assert convert.line_to_wire(share, False) == max(-127, min(127, value))
    assert convert.line_to_wire(share, True) == ctypes.c_int8(value).value


# ---- The pad ----


def test_the_stick_points_the_other_way_than_our_steer():
    assert convert.controls_to_wire(Controls(steer=0.5, throttle=0.75, brake=0.25)) == PadReport(0, 64, 191, -16384)
    assert convert.stick_from_wire(PadReport(left_x=-16384)) == pytest.approx(0.5, abs=1e-4)
    assert convert.stick_from_wire(PadReport(left_x=-32768)) == 1.0


@given(st.floats(-1.0, 1.0), st.floats(0.01, 1.0), st.floats(0.0, 1.0), st.booleans())
def test_controls_come_back_from_the_pad(steer, throttle, brake, handbrake):
    report = convert.controls_to_wire(Controls(steer, throttle, brake, handbrake=float(handbrake)), 3, 20.0)
    back = convert.controls_from_wire(report, convert.stick_from_wire(report))
    assert back.steer == pytest.approx(steer, abs=1e-4)
    assert back.throttle == pytest.approx(throttle, abs=0.5 / 255 + 1e-9)
    assert back.brake == pytest.approx(brake, abs=0.5 / 255 + 1e-9)
    assert back.handbrake == handbrake


def test_nan_is_hands_off():
    assert convert.controls_to_wire(Controls(steer=math.nan, throttle=1.0)) == NEUTRAL


def test_a_dead_zone_swallows_the_middle_and_keeps_the_ends():
    at = lambda x: convert.stick_from_wire(PadReport(left_x=round(x * 32767)), 0.24)  # noqa: E731
    assert at(0.2) == 0.0
    assert at(1.0) == -1.0
    assert at(0.62) == pytest.approx(-0.5, abs=1e-3)


@pytest.mark.parametrize(
    ("controls", "gear", "speed", "report"),
    [
        (Controls(brake=1.0), 1, 0.1, PadReport(PadButton.A, 0, 0)),  # at rest the brake would be reverse
        (Controls(brake=1.0), 1, 0.499, PadReport(PadButton.A, 0, 0)),
        (Controls(brake=1.0), 1, 0.5, PadReport(0, 255, 0)),
        (Controls(brake=1.0), 1, 5.0, PadReport(0, 255, 0)),
        (Controls(), 1, 0.1, PadReport(0, 0, 0)),
        (Controls(throttle=0.2, brake=1.0), 1, 0.1, PadReport(0, 255, 51)),
        (Controls(throttle=0.2, brake=0.4), None, math.nan, PadReport(0, 102, 51)),
        (Controls(handbrake=0.5), 1, 5.0, PadReport(0, 0, 0)),
        (Controls(handbrake=0.501), 1, 5.0, PadReport(PadButton.A, 0, 0)),
        (Controls(throttle=0.2, brake=0.4, gear=-1), 1, 5.0, PadReport(0, 102, 0)),
        (Controls(throttle=0.4, brake=0.2, gear=-1), 1, 5.0, PadReport(0, 102, 0)),
        (Controls(throttle=0.4, brake=0.2, gear=-1), -1, 5.0, PadReport(0, 102, 51)),
        (Controls(throttle=0.2, brake=0.4), -1, 5.0, PadReport(0, 0, 102)),
        (Controls(throttle=0.4, brake=0.2), -1, 5.0, PadReport(0, 0, 102)),
        (Controls(throttle=1.0, gear=-1), 1, 0.1, PadReport(0, 255, 0)),  # the left trigger asks for reverse,
        (Controls(throttle=1.0, gear=-1), -1, 1.0, PadReport(0, 255, 0)),  # drives it,
        (Controls(brake=1.0, gear=-1), -1, 1.0, PadReport(0, 0, 255)),  # and the right one brakes there
        (Controls(throttle=1.0), -1, 1.0, PadReport(0, 0, 255)),
        (Controls(brake=1.0), -1, 1.0, PadReport(0, 0, 255)),
    ],
)
def test_reverse_is_a_held_brake(controls, gear, speed, report):
    assert convert.controls_to_wire(controls, gear, speed) == report


# ---- The real recording ----


@pytest.fixture(scope="module")
def recording(shared):
    from trailbrake.sims.forza.tables import TableReader

    return [packet for packet, _ in TableReader(shared / "data" / "forza_recorded.csv.gz").read_packets()]


def test_every_row_of_the_real_recording_survives_a_datagram(recording):
    assert len(recording) == 2785
    for row in recording:
        assert codec.decode_packet(codec.encode_packet(row)) == row


def test_the_real_recording_agrees_with_the_map_of_the_axes(recording):
    """The movement of our x and y, seen from outside, against our own velocities turned by our angles (section 3.1)."""
    states = [read(p) for p in recording]
    time = np.array([p.dash.cur_race_time for p in recording])
    xyz = np.array([(s.x, s.y, s.z) for s in states])
    body = np.array([(s.velocity_x, s.velocity_y, s.velocity_z) for s in states])
    yaw, pitch, roll = (np.array([getattr(s, n) for s in states]) for n in ("yaw", "pitch", "roll"))
    cy, sy, cp, sp, cr, sr = np.cos(yaw), np.sin(yaw), np.cos(pitch), np.sin(pitch), np.cos(roll), np.sin(roll)
    # ISO 8855: Rz(yaw) Ry(pitch) Rx(roll), written out.
    nose = np.stack([cy * cp, sy * cp, -sp], 1)
    left = np.stack([cy * sp * sr - sy * cr, sy * sp * sr + cy * cr, cp * sr], 1)
    up = np.stack([cy * sp * cr + sy * sr, sy * sp * cr - cy * sr, cp * cr], 1)
    world = nose * body[:, :1] + left * body[:, 1:2] + up * body[:, 2:]
    moved = np.diff(xyz, axis=0) / np.diff(time)[:, None]
    error = np.linalg.norm(moved - 0.5 * (world[1:] + world[:-1]), axis=1)
    assert np.median(error) < 0.021  # the page states 0.020 m/s
    assert np.percentile(error, 90) < 0.05  # 0.04 there; another choice of signs gives 0.25
    fast = body[:, 0] > 20.0
    heading = np.arctan2(np.gradient(xyz[:, 1]), np.gradient(xyz[:, 0]))
    side = np.arctan2(body[:, 1], body[:, 0])
    off = (heading - yaw - side + np.pi) % (2.0 * np.pi) - np.pi
    assert np.median(np.abs(off[fast])) < 0.002
    turn = np.gradient(np.unwrap(yaw), time)
    rate = np.array([s.yaw_rate for s in states])
    assert np.corrcoef(turn[fast], rate[fast])[0, 1] > 0.98
    assert np.polyfit(rate[fast], turn[fast], 1)[0] == pytest.approx(1.0, abs=0.03)


def test_the_real_recording_has_the_page_s_relations(recording):
    for p in recording:
        s, d = p.sled, p.dash
        assert d.speed == pytest.approx(math.hypot(s.velocity_x, s.velocity_y, s.velocity_z), abs=2e-5)
        assert s.tire_combined_slip_FL == pytest.approx(
            math.hypot(s.tire_slip_ratio_FL, s.tire_slip_angle_FL), rel=1e-7, abs=5e-7
        )
    ratio = [p.dash.power / (p.dash.torque * p.sled.current_engine_rpm * math.pi / 30.0) for p in recording
             if abs(p.dash.torque) > 50.0]  # fmt: skip
    assert np.median(ratio) == pytest.approx(0.99993, abs=2e-4)


def test_a_status_without_content_is_that_of_a_car_that_has_not_begun():
    assert RaceStatus()[:10] == (0, 0.0, 0.0, 0.0, 0, 1, 0, 0.0, (False,) * 4, 1)
    assert math.isnan(RaceStatus().stick)
    assert RaceStatus()[11:] == (0.0, 0)


def test_a_paused_packet_has_its_clock_and_zeros():
    for form, size in (("sled", 232), ("dash", 311), ("fh", 324), ("fm2023", 331)):
        data = codec.encode_packet(convert.make_paused_packet(0x01020304, form))
        assert data == bytes(4) + bytes((4, 3, 2, 1)) + bytes(size - 8)
