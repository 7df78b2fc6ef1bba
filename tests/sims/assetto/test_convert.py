"""What the wire's signs and units mean, in hand-made cases, and the way there and back."""

import contextlib
import math

import pytest
from helpers.assetto.car_pages import state_of
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.cars.car_library import load_car
from trailbrake.errors import WireError
from trailbrake.sims.assetto import codec, convert, spec
from trailbrake.state import FL, FR, CarState, Controls, Pose, WheelState
from trailbrake.state.tables import STATE_COLUMNS, state_row

CAR = load_car("gt3")
LEVEL = codec.CarData(packet_id=1, look=(0.0, 0.0, 1.0), up=(0.0, 1.0, 0.0))  # facing +Z on a level road


def test_facing_plus_z_the_left_is_plus_x():
    state = state_of(LEVEL._replace(position=(5.0, 2.0, 30.0), local_velocity=(1.0, 0.25, 20.0)))
    assert (state.x, state.y, state.z) == (30.0, 5.0, 2.0)  # ahead 30, left 5, up 2
    assert (state.velocity_x, state.velocity_y, state.velocity_z) == (20.0, 1.0, 0.25)
    assert (state.yaw, state.pitch, state.roll) == (0.0, 0.0, 0.0)


def test_attitude():
    # A turn to the left from +Z is one towards +X.
    assert state_of(LEVEL._replace(look=(1.0, 0.0, 0.0))).yaw == pytest.approx(math.pi / 2)
    c, s = math.cos(0.1), math.sin(0.1)
    climbing = state_of(LEVEL._replace(look=(0.0, s, c), up=(0.0, c, -s)))
    assert (climbing.yaw, climbing.pitch, climbing.roll) == pytest.approx((0.0, -0.1, 0.0))  # nose up is negative
    leaning = state_of(LEVEL._replace(up=(-s, c, 0.0)))  # the roof to the right, -X
    assert (leaning.yaw, leaning.pitch, leaning.roll) == pytest.approx((0.0, 0.0, 0.1))


def test_rates_and_accelerations():
    state = state_of(LEVEL._replace(local_angular_velocity=(0.1, 0.5, 0.2), acc_g=(1.0, 0.5, -2.0), speed_kmh=36.0))
    assert state.yaw_rate == 0.5  # y positive is turning left
    assert (state.pitch_rate, state.roll_rate) == (0.1, 0.2)
    # x positive in a left turn; z negative braking
    assert (state.acceleration_x, state.acceleration_y, state.acceleration_z) == (-2 * 9.80665, 9.80665, 0.5 * 9.80665)
    assert state.speed == pytest.approx(10.0)


def test_steer_gear_clutch_and_engine():
    state = state_of(LEVEL._replace(steer=90.0, gear=0, clutch=1.0, rpm=6000.0, gas=0.25, fuel=30.0))
    assert state.steering_wheel_angle == pytest.approx(-math.pi / 2)  # the wire's right is our negative
    assert math.isnan(state.steer)
    assert state.gear == -1
    assert [state_of(LEVEL._replace(gear=g)).gear for g in (1, 2, 7)] == [0, 1, 6]
    assert state.clutch == 0.0  # the wire's 1 is a released pedal
    assert state.engine_speed == pytest.approx(200 * math.pi)
    assert (state.throttle, state.fuel_litres) == (0.25, 30.0)


def test_time_is_packets_over_333_hz():
    state = state_of(LEVEL._replace(packet_id=666, lap_time_ms=65432, spline_position=0.25))
    assert (state.time, state.sequence) == (2.0, 666)
    assert state.lap_time == pytest.approx(65.432)
    assert math.isnan(state.best_lap_time)  # 0 = none yet
    assert state.lap_progress == 0.25
    assert state_of(LEVEL._replace(best_lap_time_ms=98765)).best_lap_time == pytest.approx(98.765)


def test_wheels():
    wheel = codec.WheelData(
        contact_point=(1.0, 2.0, 3.0), pressure=26.0, camber_rad=-0.05, slip_angle_deg=6.0, nd_slip=0.9, load=4000.0,
        slip_ratio=0.1, angular_velocity=90.0, core_temperature=80.0, disc_temperature=400.0, wear=0.5,
    )  # fmt: skip
    state = state_of(LEVEL._replace(wheels=(wheel,) * 4, wheels_valid_surface=0b1101))
    w = state.wheels[FL]
    assert (w.x, w.y, w.z) == (3.0, 1.0, 2.0)
    assert w.pressure == pytest.approx(179263.69)  # 26 psi
    assert w.slip_angle == pytest.approx(0.104719755)
    assert (w.slip_ratio, w.combined_slip, w.load, w.angular_velocity) == (0.1, 0.9, 4000.0, 90.0)
    assert (w.core_temperature, w.disc_temperature, w.wear) == (80.0, 400.0, 0.5)
    # The roof of the wheel leans inward: to the right on the left side, which ISO 8855 counts positive.
    assert (w.camber, state.wheels[FR].camber) == (0.05, -0.05)
    assert [w.on_track for w in state.wheels] == [1.0, 0.0, 1.0, 1.0]


def test_our_controls_on_the_wire():
    wire = convert.controls_to_wire(Controls(steer=0.25, throttle=0.5, brake=0.125, handbrake=1.0))
    assert wire.steer == -0.25  # left is the wire's negative
    assert (wire.gas, wire.brake, wire.handbrake) == (0.5, 0.125, 1.0)
    assert wire.clutch == 1.0
    assert (wire.autoclutch_on_start, wire.autoclutch_on_change, wire.autoblip_active) == (1, 1, 1)
    assert wire.autoshift_active == 1
    assert (wire.gear_up, wire.gear_dn, wire.teleport_to) == (0, 0, 0)
    manual = convert.controls_to_wire(Controls(gear=3, clutch=0.75), shift=-1)
    assert (manual.autoshift_active, manual.gear_up, manual.gear_dn) == (0, 0, 1)
    assert (manual.clutch, manual.autoclutch_on_start, manual.autoclutch_on_change) == (0.25, 0, 0)
    assert (manual.drs, manual.kers) == (0, 0)  # left alone
    pressed = convert.controls_to_wire(Controls(drs=1.0, boost=0.8))
    assert (pressed.drs, pressed.kers) == (1, 1)
    held = convert.controls_to_wire(Controls(), buttons=tuple(range(14)), mguh_mode=3, headlights=True)
    assert held[9:23] == tuple(range(14))
    assert (held.brake_balance_up, held.abs_dn, held.turbo_up, held.mguk_recovery_dn) == (0, 3, 6, 13)
    assert (held.mguh_mode, held.headlights) == (3, 1)
    put = convert.controls_to_wire(Controls(), teleport_to=2, teleport=Pose(30.0, 5.0, 2.0, math.pi / 2))
    assert put.teleport_pos == (5.0, 2.0, 30.0)
    assert put.teleport_dir == pytest.approx((1.0, 0.0, 0.0))


def test_clients_controls():
    controls = convert.controls_from_wire(codec.CarControls(gas=2.0, brake=-1.0, clutch=1.0, steer=1.5), 3)
    assert controls == Controls(steer=-1.0, throttle=1.0, gear=3, drs=0.0, boost=0.0)
    buttons = convert.controls_from_wire(codec.CarControls(drs=1, kers=255), 3, (0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0))
    assert (buttons.drs, buttons.boost) == (1.0, 1.0)
    assert (buttons.brake_bias, buttons.abs_level, buttons.recovery_level) == (0.6, 0.5, 0.0)
    assert convert.controls_from_wire(codec.CarControls(autoshift_active=1), 3).gear is None


@pytest.mark.parametrize(
    ("wire", "gear", "pressed"),
    [
        (codec.CarControls(gas=1.0), 1, 1.0),  # a page of zeros: clutch pressed, the engine revs
        (codec.CarControls(gas=1.0, autoclutch_on_start=1), 1, 0.0),
        (codec.CarControls(gas=0.0, autoclutch_on_start=1), 1, 1.0),
        (codec.CarControls(gas=1.0, autoclutch_on_start=1), 0, 1.0),
        (codec.CarControls(gas=1.0, clutch=1.0), 1, 0.0),
        (codec.CarControls(gas=1.0, clutch=0.25), 1, 0.75),
    ],
)
def test_clutch_rule(wire, gear, pressed):
    assert convert.controls_from_wire(wire, gear).clutch == pressed


@pytest.mark.parametrize("field", ["gas", "brake", "clutch", "steer", "handbrake"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_controls_that_are_no_numbers(field, value):
    with pytest.raises(WireError, match=f"not a finite number.*{field} -?(nan|inf)"):
        convert.controls_from_wire(codec.CarControls(**{field: value}), 1)


def test_teleport_pose():
    wire = codec.CarControls(teleport_pos=(5.0, 2.0, 30.0), teleport_dir=(0.7, 0.0, 0.7))  # not normalised
    assert convert.pose_from_wire(wire, 0.0) == Pose(30.0, 5.0, 2.0, pytest.approx(math.pi / 4))
    assert convert.pose_from_wire(wire._replace(teleport_dir=codec.ZERO3), 1.25).yaw == 1.25
    with pytest.raises(WireError, match="teleport to nowhere"):
        convert.pose_from_wire(wire._replace(teleport_pos=(math.nan, 0.0, 0.0)), 0.0)


def test_other_cars():
    other = convert.other_from_wire(
        3,
        codec.CarPublic(
            look=(1.0, 0.0, 0.0),
            position=(5.0, 2.0, 30.0),
            velocity=(10.0, 0.0, 1.0),
            speed_kmh=36.0,
            spline_position=0.5,
        ),
    )
    assert (other.index, other.x, other.y, other.z) == (3, 30.0, 5.0, 2.0)
    assert (other.velocity_x, other.velocity_y) == (1.0, 10.0)
    assert other.yaw == pytest.approx(math.pi / 2)
    assert (other.speed, other.lap_progress) == (pytest.approx(10.0), 0.5)


def test_the_published_car_is_whole():
    state = CarState(
        x=30.0, y=5.0, z=2.0, yaw=math.pi / 2, pitch=0.0, roll=0.0, speed=20.0, velocity_x=20.0, velocity_y=0.0,
        velocity_z=0.0, yaw_rate=0.5, steer=0.5, brake=0.3,
    )  # fmt: skip
    wire = convert.state_to_wire(state, CAR, 9)
    assert wire.velocity == pytest.approx((20.0, 0.0, 0.0))  # along +X
    assert wire.look == pytest.approx((1.0, 0.0, 0.0))
    assert wire.steer == pytest.approx(-0.5 * 0.52 * 9.0 * 180 / math.pi)  # no angle told: from the share of lock
    assert wire.cg_height == CAR.body.cg_height
    fl, fr, rl, _ = wire.wheels
    angle = 0.26  # rad, to the left, at the road wheels
    assert fl.look == pytest.approx((math.cos(angle), 0.0, -math.sin(angle)))
    assert rl.look == pytest.approx((1.0, 0.0, 0.0))
    assert rl.side == pytest.approx((0.0, 0.0, -1.0))  # left of +X is -Z
    # Turning left, the right wheels are the faster ones, and the front axle moves to the left.
    assert fr.velocity[0] - fl.velocity[0] == pytest.approx(0.5 * CAR.body.track_front)
    assert fl.velocity[2] == pytest.approx(-0.5 * CAR.body.cg_to_front)
    assert rl.velocity[2] == pytest.approx(0.5 * CAR.body.cg_to_rear)
    assert wire.wheels_valid_surface == 15
    flat = [v for v in state_of(wire).wheels for v in (v.load, v.wear, v.core_temperature)]
    assert all(map(math.isfinite, flat))  # the game writes no NaN: what we do not know is 0
    public = convert.state_to_public(state, CAR, 4)
    assert public.is_braking == 1
    assert (public.packet_id, public.steer) == (4, wire.steer)
    assert public.velocity == wire.velocity


def test_a_wheel_stands_on_its_contact_point():
    state = CarState(x=0.0, y=0.0, z=0.0, yaw=0.0, pitch=0.0, roll=0.0, speed=0.0, velocity_x=0.0, velocity_y=0.0)
    state.velocity_z = 0.0
    state.wheels = [WheelState(x=1.0, y=2.0, z=3.0) for _ in range(4)]
    wheel = convert.state_to_wire(state, CAR, 1).wheels[FL]
    assert wheel.contact_point == (2.0, 3.0, 1.0)
    assert wheel.position == pytest.approx((2.0, 3.0 + CAR.tyre_front.radius, 1.0))


def states():
    def number(column):
        q = column.quantity
        lo, hi = max(q.lo, -1e4), min(q.hi, 1e4)
        if column.name in ("yaw", "pitch", "roll"):
            lo, hi = -1.5, 1.5
        if column.name == "wheels.on_track" or column.name.endswith(("_active", "on_track", "contacts")):
            return st.integers(0, 1).map(float)
        return st.floats(lo, hi)

    def build(values):
        state = CarState()
        for column, value in zip(STATE_COLUMNS, values, strict=True):
            if column.path.startswith("wheels["):
                setattr(state.wheels[int(column.path[7])], column.path[10:], value)
            elif column.name == "gear":
                state.gear = int(value) % 8
            elif column.name not in ("phase", "sequence"):
                setattr(state, column.name, value)
        return state

    return st.tuples(*map(number, STATE_COLUMNS)).map(build)


@given(state=states())
def test_there_and_back(state):
    damage = (0.0, state.damage, 0.0, 0.0, 0.0)  # of which the state has the largest
    back = state_of(codec.decode_car(codec.encode_car(convert.state_to_wire(state, CAR, 333, damage))))
    assert (back.time, back.sequence) == (1.0, 333)
    for column, was, now in zip(STATE_COLUMNS, state_row(state), state_row(back), strict=True):
        name = "wheels." + column.path[10:] if column.path.startswith("wheels[") else column.name
        if name in ("time", "sequence", "phase", "age") or name not in spec.SUPPLIES:
            continue
        if name == "best_lap_time" and was < 5e-4:
            continue  # 0 ms = none yet
        if name in ("roll", "yaw", "pitch"):
            assert math.cos(was - now) == pytest.approx(1.0, abs=1e-5), name
            continue
        assert now == pytest.approx(was, rel=1e-5, abs=6e-4), name


@given(
    st.binary(min_size=672, max_size=672), st.binary(min_size=104, max_size=104), st.binary(min_size=72, max_size=72)
)
def test_rubbish_converts_or_is_a_wire_error(car, public, controls):
    state_row(state_of(codec.decode_car(car)))
    convert.other_from_wire(1, codec.decode_public(public))
    message = codec.decode_controls(controls)
    for door in (convert.controls_from_wire, convert.pose_from_wire):
        with contextlib.suppress(WireError):  # and nothing else
            door(message, 2)


@given(st.floats(-1, 1, width=32), *[st.floats(0, 1, width=32)] * 4, st.one_of(st.none(), st.integers(-1, 7)))
def test_controls_there_and_back(steer, throttle, brake, clutch, handbrake, gear):
    controls = Controls(steer, throttle, brake, clutch, handbrake, gear)
    wire = codec.decode_controls(codec.encode_controls(convert.controls_to_wire(controls)))
    back = convert.controls_from_wire(wire, gear if gear is not None else 2)
    assert back.gear == gear
    assert (back.steer, back.throttle, back.brake, back.handbrake) == (steer, throttle, brake, handbrake)
    assert back.clutch == pytest.approx(clutch, abs=1e-6)
