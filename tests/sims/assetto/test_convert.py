"""What the wire's signs and units mean, in hand-made cases, and the way there and back."""

import math

import pytest
from helpers.assetto.car_pages import state_of
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.cars.car_library import load_car
from trailbrake.errors import WireError
from trailbrake.sims.assetto import codec, convert, spec
from trailbrake.state import FL, FR, CarState, Controls, Pose
from trailbrake.state.tables import STATE_COLUMNS, state_row

CAR = load_car("gt3")
LEVEL = codec.CarData(packet_id=1, look=(0.0, 0.0, 1.0), up=(0.0, 1.0, 0.0))  # facing +Z on a level road


def test_attitude():
    # A turn to the left from +Z is one towards +X.
    assert state_of(LEVEL._replace(look=(1.0, 0.0, 0.0))).yaw == pytest.approx(math.pi / 2)
    c, s = math.cos(0.1), math.sin(0.1)
    climbing = state_of(LEVEL._replace(look=(0.0, s, c), up=(0.0, c, -s)))
    assert (climbing.yaw, climbing.pitch, climbing.roll) == pytest.approx((0.0, -0.1, 0.0))  # nose up is negative
    leaning = state_of(LEVEL._replace(up=(-s, c, 0.0)))  # the roof to the right, -X
    assert (leaning.yaw, leaning.pitch, leaning.roll) == pytest.approx((0.0, 0.0, 0.1))


def test_buttons_and_a_target_on_the_wire():
    held = convert.controls_to_wire(Controls(), buttons=tuple(range(14)), mguh_mode=3, headlights=True)
    assert held[9:23] == tuple(range(14))
    assert (held.brake_balance_up, held.abs_dn, held.turbo_up, held.mguk_recovery_dn) == (0, 3, 6, 13)
    put = convert.controls_to_wire(Controls(), teleport_to=2, teleport=Pose(30.0, 5.0, 2.0, math.pi / 2))
    assert put.teleport_pos == (5.0, 2.0, 30.0)
    assert put.teleport_dir == pytest.approx((1.0, 0.0, 0.0))


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


def test_without_an_angle_the_steer_is_the_share_of_the_lock():
    state = CarState(
        x=30.0, y=5.0, z=2.0, yaw=math.pi / 2, pitch=0.0, roll=0.0, speed=20.0, velocity_x=20.0, velocity_y=0.0,
        velocity_z=0.0, yaw_rate=0.5, steer=0.5, brake=0.3,
    )  # fmt: skip
    wire, public = convert.state_to_wire(state, CAR, 9), convert.state_to_public(state, CAR, 4)
    assert wire.steer == public.steer == pytest.approx(-0.5 * 0.52 * 9.0 * 180 / math.pi)
    angle = 0.26  # rad, to the left, at the road wheels
    assert wire.wheels[FL].look == pytest.approx((math.cos(angle), 0.0, -math.sin(angle)))
    # Turning left, the right wheels are the faster ones, and the front axle moves to the left.
    assert wire.wheels[FR].velocity[0] - wire.wheels[FL].velocity[0] == pytest.approx(0.5 * CAR.body.track_front)
    assert wire.wheels[FL].velocity[2] == pytest.approx(-0.5 * CAR.body.cg_to_front)


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
        if name == "max_engine_speed":
            continue  # of another page: links fill it in
        if name == "best_lap_time" and was < 5e-4:
            continue  # 0 ms = none yet
        if name in ("roll", "yaw", "pitch"):
            assert math.cos(was - now) == pytest.approx(1.0, abs=1e-5), name
            continue
        assert now == pytest.approx(was, rel=1e-5, abs=6e-4), name


@given(st.floats(-1, 1, width=32), *[st.floats(0, 1, width=32)] * 4, st.one_of(st.none(), st.integers(-1, 7)))
def test_controls_there_and_back(steer, throttle, brake, clutch, handbrake, gear):
    controls = Controls(steer, throttle, brake, clutch, handbrake, gear)
    wire = codec.decode_controls(codec.encode_controls(convert.controls_to_wire(controls)))
    back = convert.controls_from_wire(wire, gear if gear is not None else 2)
    assert back.gear == gear
    assert (back.steer, back.throttle, back.brake, back.handbrake) == (steer, throttle, brake, handbrake)
    assert back.clutch == pytest.approx(clutch, abs=1e-6)
