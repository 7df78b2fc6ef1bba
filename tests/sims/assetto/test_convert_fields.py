"""Each field of the pages alone, against the tables of protocol page assetto-custom-ai, sections 2 and 4."""

import math

import pytest
from helpers.assetto.car_pages import state_of
from hypothesis import given, settings
from hypothesis import strategies as st

from trailbrake.cars.car_library import load_car
from trailbrake.errors import WireError
from trailbrake.sims.assetto import codec, convert
from trailbrake.sims.assetto.wire.car_condition import NO_CONDITION
from trailbrake.state import CarState, Controls, Phase, Pose, WheelState
from trailbrake.state.controls import SETTINGS

CAR = load_car("gt3")
LEVEL = codec.CarData(packet_id=1, look=(0.0, 0.0, 1.0), up=(0.0, 1.0, 0.0))  # facing +Z on a level road


def close(wanted):
    return pytest.approx(wanted, abs=1e-12)


# A number of section 2.3 of the page alone, and what it is to us.
READ = [
    ("packet_id", 333, "time", 1.0),
    ("packet_id", 333, "sequence", 333),
    ("gas", 0.25, "throttle", 0.25),
    ("brake", 0.25, "brake", 0.25),
    ("clutch", 0.25, "clutch", 0.75),
    ("steer", -90.0, "steering_wheel_angle", math.pi / 2),
    ("handbrake", 0.25, "handbrake", 0.25),
    ("fuel", 25.0, "fuel_litres", 25.0),
    ("gear", 3, "gear", 2),
    ("rpm", 3000.0, "engine_speed", 100.0 * math.pi),
    ("speed_kmh", 36.0, "speed", 10.0),
    ("acc_g", (1.0, 0.0, 0.0), "acceleration_y", 9.80665),
    ("acc_g", (0.0, 1.0, 0.0), "acceleration_z", 9.80665),
    ("acc_g", (0.0, 0.0, 1.0), "acceleration_x", 9.80665),
    ("position", (4.0, 0.0, 0.0), "y", 4.0),
    ("position", (0.0, 4.0, 0.0), "z", 4.0),
    ("position", (0.0, 0.0, 4.0), "x", 4.0),
    ("local_velocity", (4.0, 0.0, 0.0), "velocity_y", 4.0),
    ("local_velocity", (0.0, 4.0, 0.0), "velocity_z", 4.0),
    ("local_velocity", (0.0, 0.0, 4.0), "velocity_x", 4.0),
    ("local_angular_velocity", (0.5, 0.0, 0.0), "pitch_rate", 0.5),
    ("local_angular_velocity", (0.0, 0.5, 0.0), "yaw_rate", 0.5),
    ("local_angular_velocity", (0.0, 0.0, 0.5), "roll_rate", 0.5),
    ("car_damage", (1.0, 2.0, 9.0, 4.0, 3.0), "damage", 9.0),
    ("abs_in_action", 1, "abs_active", 1.0),
    ("traction_control_in_action", 1, "tc_active", 1.0),
    ("lap_time_ms", 1500, "lap_time", 1.5),
    ("best_lap_time_ms", 1500, "best_lap_time", 1.5),
    ("spline_position", 0.25, "lap_progress", 0.25),
    ("collision_depth", 0.25, "contact_depth", 0.25),
    ("collision_counter", 4, "contacts", 4.0),
]


@pytest.mark.parametrize(("name", "sent", "field", "value"), READ)
def test_each_number_of_the_page_has_a_field_of_ours(name, sent, field, value):
    got = getattr(state_of(LEVEL._replace(**{name: sent})), field)
    assert (got, type(got)) == (close(value), type(value))
    others = getattr(state_of(LEVEL), field)
    assert others != close(value), "and nothing else sets it"


def test_a_sample_is_new_and_that_of_a_car_that_drives():
    s = state_of(LEVEL)
    assert (s.age, s.phase) == (0.0, Phase.DRIVING)
    assert (s.abs_active, s.tc_active, s.gear) == (0.0, 0.0, -1)
    assert math.isnan(s.steer + s.best_lap_time)  # 0 ms: none yet


@pytest.mark.parametrize("wheel", range(4))
def test_each_wheel_has_its_own_numbers_bit_and_side(wheel):
    data = codec.WheelData(
        contact_point=(1.0, 2.0, 3.0), slip_ratio=0.1, load=4000.0, pressure=26.0, angular_velocity=90.0, wear=0.5,
        core_temperature=80.0, camber_rad=0.05, disc_temperature=400.0, slip_angle_deg=90.0, nd_slip=0.9,
    )  # fmt: skip
    pages = tuple(data if each == wheel else codec.WheelData() for each in range(4))
    wheels = state_of(LEVEL._replace(wheels=pages, wheels_valid_surface=1 << wheel)).wheels
    leans_right = 0.05 if wheel % 2 else -0.05  # outward, on either side
    wanted = WheelState(
        3.0, 1.0, 2.0, 90.0, 0.1, math.pi / 2, 0.9, 4000.0, camber=leans_right, pressure=26.0 * 6894.757293168,
        core_temperature=80.0, disc_temperature=400.0, wear=0.5, on_track=1.0,
    )  # fmt: skip
    for each, got in enumerate(wheels):
        if each != wheel:
            assert (got.x, got.load, got.camber, got.on_track) == (0.0, 0.0, 0.0, 0.0)
            continue
        for name in WheelState.__struct_fields__:
            if name not in ("drive_torque", "brake_torque"):  # no numbers of this page
                assert getattr(got, name) == close(getattr(wanted, name)), name


# A number of a car's public page alone, and what it is of another car. Its nose points to +Z.
OTHERS = [
    ("steer", -90.0, "steering_wheel_angle", math.pi / 2),
    ("rpm", 3000.0, "engine_speed", 100.0 * math.pi),
    ("spline_position", 0.25, "lap_progress", 0.25),
    ("speed_kmh", 36.0, "speed", 10.0),
    ("velocity", (4.0, 0.0, 0.0), "velocity_y", 4.0),
    ("velocity", (0.0, 0.0, 4.0), "velocity_x", 4.0),
    ("acc_g", (1.0, 0.0, 0.0), "acceleration_y", 9.80665),
    ("acc_g", (0.0, 0.0, 1.0), "acceleration_x", 9.80665),
    ("look", (0.5, 0.0, 0.0), "yaw", math.pi / 2),
    ("look", (0.5, 0.0, 0.5), "yaw", math.pi / 4),
    ("position", (4.0, 0.0, 0.0), "y", 4.0),
    ("position", (0.0, 4.0, 0.0), "z", 4.0),
    ("position", (0.0, 0.0, 4.0), "x", 4.0),
    ("car_damage", (1.0, 2.0, 9.0, 4.0, 3.0), "damage", 9.0),
    ("is_braking", 1, "is_braking", 1.0),
]


@pytest.mark.parametrize(("name", "sent", "field", "value"), OTHERS)
def test_each_number_of_a_public_page_has_a_field_of_ours(name, sent, field, value):
    page = codec.CarPublic(look=(0.0, 0.0, 1.0))
    assert getattr(convert.other_from_wire(3, page._replace(**{name: sent})), field) == close(value)
    assert getattr(convert.other_from_wire(3, page), field) == 0.0
    assert convert.other_from_wire(3, page).index == 3


def facing_plus_x(**values):
    """Return a state without any motion whose nose points to +X on the wire; all that is not given is NaN or 0."""
    zeros = dict.fromkeys(
        ("x", "y", "z", "pitch", "roll", "speed", "velocity_x", "velocity_y", "velocity_z", "yaw_rate"), 0.0
    )
    return CarState(**zeros | {"yaw": math.pi / 2} | values)


# A field of ours alone, and what it is on the page; of the world's vectors, ahead is +X and left is -Z.
WRITTEN = [
    ("throttle", 0.25, "gas", 0.25),
    ("brake", 0.25, "brake", 0.25),
    ("clutch", 0.25, "clutch", 0.75),
    ("steering_wheel_angle", math.pi / 2, "steer", -90.0),
    ("handbrake", 0.25, "handbrake", 0.25),
    ("fuel_litres", 25.0, "fuel", 25.0),
    ("gear", 2, "gear", 3),
    ("gear", None, "gear", 1),
    ("gear", -1, "gear", 0),
    ("engine_speed", 100.0 * math.pi, "rpm", 3000.0),
    ("speed", 10.0, "speed_kmh", 36.0),
    ("velocity_x", 4.0, "velocity", (4.0, 0.0, 0.0)),
    ("velocity_y", 4.0, "velocity", (0.0, 0.0, -4.0)),
    ("velocity_z", 4.0, "velocity", (0.0, 4.0, 0.0)),
    ("velocity_x", 4.0, "local_velocity", (0.0, 0.0, 4.0)),
    ("velocity_y", 4.0, "local_velocity", (4.0, 0.0, 0.0)),
    ("velocity_z", 4.0, "local_velocity", (0.0, 4.0, 0.0)),
    ("acceleration_x", 9.80665, "acc_g", (0.0, 0.0, 1.0)),
    ("acceleration_y", 9.80665, "acc_g", (1.0, 0.0, 0.0)),
    ("acceleration_z", 9.80665, "acc_g", (0.0, 1.0, 0.0)),
    ("roll_rate", 0.5, "local_angular_velocity", (0.0, 0.0, 0.5)),
    ("pitch_rate", 0.5, "local_angular_velocity", (0.5, 0.0, 0.0)),
    ("yaw_rate", 0.5, "local_angular_velocity", (0.0, 0.5, 0.0)),
    ("x", 4.0, "position", (0.0, 0.0, 4.0)),
    ("y", 4.0, "position", (4.0, 0.0, 0.0)),
    ("z", 4.0, "position", (0.0, 4.0, 0.0)),
    ("yaw", 0.0, "look", (0.0, 0.0, 1.0)),
    ("pitch", -math.pi / 6, "look", (math.sqrt(0.75), 0.5, 0.0)),
    ("roll", math.pi / 6, "up", (0.0, math.sqrt(0.75), 0.5)),
    ("abs_active", 0.5, "abs_in_action", 0),
    ("abs_active", 0.501, "abs_in_action", 1),
    ("tc_active", 0.5, "traction_control_in_action", 0),
    ("tc_active", 0.501, "traction_control_in_action", 1),
    ("lap_time", 1.5, "lap_time_ms", 1500),
    ("best_lap_time", 1.5, "best_lap_time_ms", 1500),
    ("lap_progress", 0.25, "spline_position", 0.25),
    ("contact_depth", 0.25, "collision_depth", 0.25),
    ("contacts", 4.0, "collision_counter", 4),
]
PUBLIC = [row for row in WRITTEN if row[2] in codec.CarPublic._fields] + [
    ("brake", 0.05, "is_braking", 0),
    ("brake", 0.051, "is_braking", 1),
]


@pytest.mark.parametrize(("field", "value", "name", "sent"), WRITTEN)
def test_each_field_of_ours_has_its_place_on_the_page(field, value, name, sent):
    assert getattr(convert.state_to_wire(facing_plus_x(**{field: value}), CAR, 1), name) == close(sent)


@pytest.mark.parametrize(("field", "value", "name", "sent"), PUBLIC)
def test_each_field_of_ours_has_its_place_on_the_public_page(field, value, name, sent):
    assert getattr(convert.state_to_public(facing_plus_x(**{field: value}), CAR, 1), name) == close(sent)


def test_what_is_not_known_is_0_on_both_pages_and_the_clutch_is_closed():
    for page in (convert.state_to_wire(facing_plus_x(), CAR, 7), convert.state_to_public(facing_plus_x(), CAR, 7)):
        known = {"packet_id": 7, "look": close((1.0, 0.0, 0.0)), "up": (0.0, 1.0, 0.0)}
        known |= {"clutch": 1.0, "gear": 1, "cg_height": CAR.body.cg_height, "wheels_valid_surface": 15}
        for name, value in zip(page._fields, page, strict=True):
            if name != "wheels":
                assert value == known.get(name, type(page)._field_defaults[name]), name
    damaged = (1.0, 2.0, 3.0, 4.0, 5.0)
    assert convert.state_to_wire(facing_plus_x(), CAR, 7, damaged).car_damage == damaged
    assert convert.state_to_public(facing_plus_x(), CAR, 7, damaged).car_damage == damaged


@pytest.mark.parametrize(
    ("field", "value", "sent"),
    [
        ("turbo_boost", 0.75, {"turbo_boost": 0.75}),
        ("pure_feedback", 0.5, {"final_pure_ff": 0.5, "final_ff": 0.5}),
        ("pure_feedback", -2.0, {"final_pure_ff": -2.0, "final_ff": -1.0}),
        ("pure_feedback", 2.0, {"final_pure_ff": 2.0, "final_ff": 1.0}),
        ("drivetrain_torque", 300.0, {"drivetrain_torque": 300.0}),
        ("pit_limiter", True, {"pit_limiter": 1}),
    ],
)
def test_the_condition_of_the_car_is_on_the_page(field, value, sent):
    plain = convert.state_to_wire(facing_plus_x(), CAR, 1)
    changed = convert.state_to_wire(facing_plus_x(), CAR, 1, condition=NO_CONDITION._replace(**{field: value}))
    assert changed == plain._replace(**sent)


@pytest.mark.parametrize("wheel", range(4))
@pytest.mark.parametrize(
    ("on_track", "counts"), [(0.0, False), (0.499, False), (0.5, True), (1.0, True), (math.nan, True)]
)
def test_a_wheel_off_the_track_clears_its_bit(wheel, on_track, counts):
    wheels = [WheelState(on_track=on_track if each == wheel else 1.0) for each in range(4)]
    page = convert.state_to_wire(facing_plus_x(wheels=wheels), CAR, 1)
    assert page.wheels_valid_surface == (15 if counts else 15 - (1 << wheel))


@pytest.mark.parametrize("wheel", range(4))
def test_what_a_wheel_is_on_the_page(wheel):
    state = WheelState(
        1.0, 2.0, 3.0, 90.0, 0.3, math.radians(10.0), 0.9, 4000.0, camber=0.05, pressure=26.0 * 6894.757293168,
        core_temperature=80.0, disc_temperature=400.0, wear=0.5,
    )  # fmt: skip
    wheels = [state if each == wheel else WheelState() for each in range(4)]
    dirt = tuple(0.25 if each == wheel else 0.0 for each in range(4))
    page = convert.state_to_wire(facing_plus_x(wheels=wheels), CAR, 1, condition=NO_CONDITION._replace(dirt=dirt))
    radius = (CAR.tyre_front if wheel < 2 else CAR.tyre_rear).radius
    wanted = codec.WheelData(
        position=(2.0, 3.0 + radius, 1.0), contact_point=(2.0, 3.0, 1.0), contact_normal=(0.0, 1.0, 0.0),
        look=(1.0, 0.0, 0.0), side=(0.0, 0.0, -1.0), velocity=(0.0, 0.0, 0.0), slip_ratio=0.3, load=4000.0,
        pressure=26.0, angular_velocity=90.0, wear=0.5, dirty_level=0.25, core_temperature=80.0,
        camber_rad=0.05 if wheel % 2 else -0.05, disc_temperature=400.0, slip=math.hypot(0.3, math.radians(10.0)),
        slip_angle_deg=10.0, nd_slip=0.9,
    )  # fmt: skip
    for name, value in zip(wanted._fields, wanted, strict=True):
        assert getattr(page.wheels[wheel], name) == close(value), name
    radius = (CAR.tyre_rear if wheel < 2 else CAR.tyre_front).radius
    empty = codec.WheelData(position=(0.0, radius, 0.0), contact_normal=wanted.contact_normal, look=wanted.look,
                            side=wanted.side)  # fmt: skip
    for name, value in zip(empty._fields, empty, strict=True):
        assert getattr(page.wheels[3 - wheel], name) == close(value), name


@pytest.mark.parametrize(
    "field", ["x", "y", "z", "angular_velocity", "slip_ratio", "slip_angle", "combined_slip", "load"]
)
def test_one_number_of_a_wheel_that_is_not_known_is_0_and_the_others_stay(field):
    values = dict.fromkeys(
        ("x", "y", "z", "angular_velocity", "slip_ratio", "slip_angle", "combined_slip", "load"), 2.0
    )
    wheels = [WheelState(**values | {field: math.nan}) for _ in range(4)]
    w = convert.state_to_wire(facing_plus_x(wheels=wheels), CAR, 1).wheels[0]
    y, z, x = w.contact_point
    got = {"x": x, "y": y, "z": z, "angular_velocity": w.angular_velocity, "slip_ratio": w.slip_ratio,
           "slip_angle": math.radians(w.slip_angle_deg), "combined_slip": w.nd_slip, "load": w.load}  # fmt: skip
    assert got == close(values | {field: 0.0})


@settings(max_examples=20)
@given(*[st.floats(-30.0, 30.0)] * 4)
def test_the_wheels_move_as_points_of_a_rigid_body(vx, vy, vz, yaw_rate):
    """v + w x r, with the wheels at the ends of the car's axles; x of ours is ahead, +X on the wire, and y is -Z."""
    body = CAR.body
    state = facing_plus_x(velocity_x=vx, velocity_y=vy, velocity_z=vz, yaw_rate=yaw_rate)
    places = [(body.cg_to_front, 0.5 * body.track_front), (body.cg_to_front, -0.5 * body.track_front),
              (-body.cg_to_rear, 0.5 * body.track_rear), (-body.cg_to_rear, -0.5 * body.track_rear)]  # fmt: skip
    for wheel, (x, y) in zip(convert.state_to_wire(state, CAR, 1).wheels, places, strict=True):
        assert wheel.velocity == pytest.approx((vx - yaw_rate * y, vz, -(vy + yaw_rate * x)), abs=1e-9)


@settings(max_examples=20)
@given(st.floats(-3.0, 3.0), st.floats(-1.0, 1.0), st.floats(-1.0, 1.0), st.floats(-3.0, 3.0))
def test_the_axes_of_the_front_wheels_turn_with_the_steering_about_the_car_s_own_up(yaw, pitch, roll, wheel_angle):
    page = convert.state_to_wire(
        facing_plus_x(yaw=yaw, pitch=pitch, roll=roll, steering_wheel_angle=wheel_angle), CAR, 1
    )
    angle = wheel_angle / CAR.steering.ratio
    rear, up = page.wheels[3], page.up
    assert (rear.look, rear.contact_normal) == (page.look, up)
    height = CAR.tyre_rear.radius
    assert rear.position == close(tuple(c + height * n for c, n in zip(rear.contact_point, up, strict=True)))
    for front in page.wheels[:2]:
        assert front.contact_normal == up
        for k in range(3):
            assert front.look[k] == close(math.cos(angle) * rear.look[k] + math.sin(angle) * rear.side[k])
            assert front.side[k] == close(math.cos(angle) * rear.side[k] - math.sin(angle) * rear.look[k])
    for one, other in ((rear.side, rear.look), (rear.side, up), (rear.look, up)):
        assert sum(a * b for a, b in zip(one, other, strict=True)) == close(0.0)
    # The wire's axes are (left, up, ahead), right-handed: left x up = ahead.
    (ax, ay, az), (bx, by, bz) = rear.side, up
    assert page.look == close((ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx))


@pytest.mark.parametrize(
    ("seconds", "ms"),
    [(math.nan, 0), (-1.0, 0), (0.0, 0), (0.0004, 0), (0.0006, 1), (1.2344, 1234), (1.2346, 1235), (1e9, 0xFFFFFFFF)],
)
def test_times_are_whole_milliseconds(seconds, ms):
    assert convert.to_milliseconds(seconds) == ms


@pytest.mark.parametrize(
    ("controls", "options", "fields"),
    [
        (Controls(clutch=0.0), {}, {"clutch": 1.0, "autoclutch_on_start": 1, "autoclutch_on_change": 1}),
        (Controls(clutch=0.001), {}, {"autoclutch_on_start": 0, "autoclutch_on_change": 0}),
        (Controls(drs=0.5, boost=0.5), {}, {"drs": 0, "kers": 0}),
        (Controls(drs=0.501), {}, {"drs": 1, "kers": 0}),
        (Controls(boost=0.501), {}, {"drs": 0, "kers": 1}),
        (Controls(), {"shift": 1}, {"gear_up": 1, "gear_dn": 0}),
        (Controls(), {"shift": -1}, {"gear_up": 0, "gear_dn": 1}),
        (Controls(gear=0), {}, {"autoshift_active": 0}),
        (Controls(), {}, {"mguh_mode": 0, "headlights": 0, "autoblip_active": 1, "teleport_to": 0}),
        (Controls(), {"headlights": True, "autoblip": False}, {"headlights": 1, "autoblip_active": 0}),
        (Controls(), {"teleport_to": 1}, {"teleport_to": 1, "teleport_pos": (0.0,) * 3, "teleport_dir": (0.0,) * 3}),
    ],
)
def test_the_fields_of_a_client_s_page(controls, options, fields):
    message = convert.controls_to_wire(controls, **options)
    assert {name: getattr(message, name) for name in fields} == fields


def test_held_buttons_change_nothing_else_on_the_page():
    options = {"mguh_mode": 3, "headlights": True, "teleport_to": 2, "teleport": Pose(30.0, 5.0, 2.0, 1.0)}
    held = convert.controls_to_wire(Controls(0.5), shift=1, buttons=(1,) * 14, **options)
    plain = convert.controls_to_wire(Controls(0.5), shift=1, **options)
    assert held[:9] + (0,) * 14 + held[23:] == plain
    assert (held[9:23], held.teleport_to, held.headlights) == ((1,) * 14, 2, 1)


# A field of a client's page alone, and what it requests of a car in third gear.
REQUESTED = [
    ("gas", -0.5, "throttle", 0.0), ("gas", 0.5, "throttle", 0.5), ("gas", 1.5, "throttle", 1.0),
    ("brake", -0.5, "brake", 0.0), ("brake", 0.5, "brake", 0.5), ("brake", 1.5, "brake", 1.0),
    ("handbrake", -0.5, "handbrake", 0.0), ("handbrake", 0.5, "handbrake", 0.5), ("handbrake", 1.5, "handbrake", 1.0),
    ("clutch", -0.5, "clutch", 1.0), ("clutch", 0.25, "clutch", 0.75), ("clutch", 1.5, "clutch", 0.0),
    ("steer", -1.5, "steer", 1.0), ("steer", 0.5, "steer", -0.5), ("steer", 1.5, "steer", -1.0),
    ("drs", 1, "drs", 1.0), ("kers", 255, "boost", 1.0), ("autoshift_active", 1, "gear", None),
]  # fmt: skip


@pytest.mark.parametrize(("name", "sent", "field", "value"), REQUESTED)
def test_each_field_of_a_client_s_page_is_one_of_the_controls(name, sent, field, value):
    nothing = convert.controls_from_wire(codec.CarControls(), 3)
    assert nothing == Controls(clutch=1.0, gear=3, drs=0.0, boost=0.0)
    got = convert.controls_from_wire(codec.CarControls(**{name: sent}), 3)
    setattr(nothing, field, value)
    assert got == nothing


@pytest.mark.parametrize(("number", "name"), list(enumerate(SETTINGS)))
def test_each_setting_is_passed_on(number, name):
    values = [math.nan] * len(SETTINGS)
    values[number] = 0.25
    controls = convert.controls_from_wire(codec.CarControls(), 3, values)
    assert [other for other in SETTINGS if getattr(controls, other) == 0.25] == [name]


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize(("value", "reachable"), [(1e6, True), (-1e6, True), (1000001.0, False), (-math.inf, False)])
def test_a_teleport_goes_no_further_than_single_precision_holds_a_road(axis, value, reachable):
    target = tuple(value if each == axis else 0.0 for each in range(3))
    wire = codec.CarControls(teleport_pos=target, teleport_dir=(0.0, 0.0, 1.0))
    if reachable:
        y, z, x = target
        assert convert.pose_from_wire(wire, 0.5) == Pose(x, y, z, 0.0)
    else:
        with pytest.raises(WireError, match=r"a teleport to nowhere.*\(.*\), \(0\.0, 0\.0, 1\.0\)"):
            convert.pose_from_wire(wire, 0.5)


@pytest.mark.parametrize(
    ("look", "yaw"),
    [((0.5, 0.0, 0.0), math.pi / 2), ((0.0, 0.0, -0.5), math.pi), ((0.0, 1.0, 0.0), 1.25), ((0.0, 0.0, 0.0), 1.25)],
)
def test_a_teleport_s_direction_is_its_heading_unless_it_has_none(look, yaw):
    assert convert.pose_from_wire(codec.CarControls(teleport_dir=look), 1.25).yaw == close(yaw)
    with pytest.raises(WireError):
        convert.pose_from_wire(codec.CarControls(teleport_dir=(math.nan, *look[1:])), 1.25)
