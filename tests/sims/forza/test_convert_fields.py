"""Each field of a packet that a title sends, against the tables of protocol page forza-data-out, sections 2 and 3."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.frames import nose_direction, up_vector
from trailbrake.sims.forza import codec, convert
from trailbrake.sims.forza.blocks import WHEELS, HorizonBlock
from trailbrake.sims.forza.convert import RaceStatus
from trailbrake.state import CarState, WheelState

GT3 = load_car("gt3")


def still(**values):
    """Return a state of which all that is not given is NaN, but the place."""
    return CarState(**{"x": 0.0, "y": 0.0, "z": 0.0} | values)


# One field of the state alone, and what it is on the wire (section 2 of the page). All else is NaN, and so 0 there.
WRITTEN = [
    ("velocity_x", 2.0, "velocity_z", 2.0),
    ("velocity_y", 2.0, "velocity_x", -2.0),
    ("velocity_z", 2.0, "velocity_y", 2.0),
    ("acceleration_x", 3.0, "acceleration_z", 3.0),
    ("acceleration_y", 3.0, "acceleration_x", -3.0),
    ("acceleration_z", 3.0, "acceleration_y", 3.0),
    ("roll_rate", 0.5, "angular_velocity_z", -0.5),
    ("pitch_rate", 0.5, "angular_velocity_x", 0.5),
    ("yaw_rate", 0.5, "angular_velocity_y", -0.5),
    ("yaw", 0.5, "yaw", -0.5),
    ("pitch", 0.5, "pitch", 0.5),
    ("roll", 0.5, "roll", -0.5),
    ("engine_speed", 200.0 * math.pi, "current_engine_rpm", 6000.0),
    ("velocity_x", -2.0, "speed", 2.0),
    ("fuel_litres", 60.0, "fuel", 0.5),  # of 120 l
    ("lap_time", 12.0, "cur_lap_time", 12.0),
    ("best_lap_time", 92.125, "best_lap_time", 92.125),
    ("throttle", 0.2, "accel", 51),
    ("throttle", 1.5, "accel", 255),
    ("throttle", -0.5, "accel", 0),
    ("brake", 0.2, "brake", 51),
    ("clutch", 0.2, "clutch", 51),
    ("handbrake", 0.2, "handbrake", 51),
]


def find_field(packet, name):
    return next(getattr(block, name) for block in (packet.sled, packet.dash, packet.extra) if hasattr(block, name))


@pytest.mark.parametrize(("field", "value", "name", "sent"), WRITTEN)
def test_each_field_of_the_state_has_its_place_on_the_wire(field, value, name, sent):
    assert find_field(convert.state_to_wire(still(**{field: value}), GT3, RaceStatus()), name) == pytest.approx(sent)
    assert find_field(convert.state_to_wire(still(), GT3, RaceStatus()), name) == 0.0


# One field of what is no part of the car alone.
STATUS = [
    ("timestamp_ms", 0xFFFFFFFF, "timestamp_ms", 0xFFFFFFFF),
    ("timestamp_ms", 0x100000005, "timestamp_ms", 5),  # it wraps
    ("race_time", 4.0, "cur_race_time", 4.0),
    ("distance", 4.0, "dist_traveled", 4.0),
    ("last_lap", 4.0, "last_lap_time", 4.0),
    ("laps", 4, "lap_no", 4),
    ("laps", 0x10005, "lap_no", 5),
    ("position", 4, "race_pos", 4),
    ("line", -4, "norm_driving_line", -4),
    ("ai_brake", 0.5, "norm_ai_brake_diff", 64),
    ("ai_brake", 2.0, "norm_ai_brake_diff", 127),
    ("ai_brake", -2.0, "norm_ai_brake_diff", -127),
    ("gear", 4, "gear", 4),
    ("stick", 0.25, "steer", -32),  # theirs to the right
    ("stick", -1.0, "steer", 127),
    ("track_ordinal", 4, "track_ordinal", 4),
]


@pytest.mark.parametrize(("field", "value", "name", "sent"), STATUS)
def test_each_field_of_the_race_has_its_place_on_the_wire(field, value, name, sent):
    status = RaceStatus(**{field: value})
    assert find_field(convert.state_to_wire(still(), GT3, status, "fm2023"), name) == sent


@pytest.mark.parametrize(("field", "value"), [("x", 2.0), ("y", 2.0), ("z", 2.0)])
def test_the_place_on_the_wire(field, value):
    dash = convert.state_to_wire(still(**{field: value}), GT3, RaceStatus()).dash
    x, y, z = dash.position_x, dash.position_y, dash.position_z
    assert (x, y, z) == {"x": (0.0, 0.0, 2.0), "y": (-2.0, 0.0, 0.0), "z": (0.0, 2.0, 0.0)}[field]


@pytest.mark.parametrize("wheel", range(4))
def test_the_numbers_of_each_wheel_on_the_wire(wheel):
    tyre = GT3.tyre_front if wheel < 2 else GT3.tyre_rear
    wheels = [WheelState(0.0, 0.0, 0.0) for _ in range(4)]
    wheels[wheel] = WheelState(
        0.0, 0.0, 0.0, 90.0, 2.0 * tyre.peak_slip_ratio, -math.atan(1.5 * math.tan(tyre.peak_slip_angle)),
        on_track=0.0, core_temperature=100.0, wear=0.75,
    )  # fmt: skip
    strips = tuple(each == (wheel + 1) % 4 for each in range(4))
    sent_packet = convert.state_to_wire(still(wheels=wheels), GT3, RaceStatus(strips=strips), "fm2023")
    mine = {
        "wheel_rotation_speed": 90.0, "tire_slip_ratio": 2.0, "tire_slip_angle": -1.5, "tire_combined_slip": 2.5,
        "surface_rumble": 0.6, "tire_temp": 212.0, "tire_wear": 0.75,
    }  # fmt: skip
    for name, value in mine.items():
        got = [find_field(sent_packet, f"{name}_{each}") for each in WHEELS]
        others = [0.12 if name == "surface_rumble" and strips[each] else 0.0 for each in range(4)]
        assert got == pytest.approx([value if each == wheel else others[each] for each in range(4)]), name
    assert [find_field(sent_packet, f"wheel_on_rumble_strip_{each}") for each in WHEELS] == list(map(int, strips))


@pytest.mark.parametrize(("wear", "sent_wear"), [(-0.5, 0.0), (0.5, 0.5), (1.5, 1.0), (math.nan, 0.0)])
def test_wear_is_0_new_to_1_worn(wear, sent_wear):
    wheels = [WheelState(0.0, 0.0, 0.0, wear=wear) for _ in range(4)]
    assert convert.state_to_wire(still(wheels=wheels), GT3, RaceStatus(), "fm2023").extra.tire_wear_RL == sent_wear


@pytest.mark.parametrize("form", ["sled", "dash", "fh", "fm2023"])
def test_each_format_has_its_blocks(form):
    status = RaceStatus(timestamp_ms=9, laps=3, track_ordinal=5)
    p = convert.state_to_wire(still(), GT3, status, form)
    assert len(codec.encode_packet(p)) == codec.LENGTHS[form]
    assert (p.sled.is_race_on, p.sled.timestamp_ms) == (1, 9)
    assert (p.dash and p.dash.lap_no) == (None if form == "sled" else 3)
    assert (p.gap, p.tail) == ((HorizonBlock(), b"\0") if form == "fh" else (None, b""))
    assert (p.extra and p.extra.track_ordinal) == (5 if form == "fm2023" else None)
    assert convert.state_to_wire(still(), GT3, status) == convert.state_to_wire(still(), GT3, status, "fh")


@pytest.mark.parametrize("rpm", [0.0, 1000.0, 3000.0, 8000.0])
def test_the_engine_s_torque_drives_with_the_throttle_and_drags_without(rpm):
    """The drag is that of idle below it and of the limiter above; a turbocharger's share of the torque follows it."""
    car = load_car("hatchback")
    engine = car.engine

    def torque(throttle, turbo_share=1.0):
        state = still(engine_speed=rpm * math.pi / 30.0, throttle=throttle)
        dash = convert.state_to_wire(state, car, RaceStatus(turbo_share=turbo_share)).dash
        assert dash.power == pytest.approx(dash.torque * rpm * math.pi / 30.0)
        return dash.torque

    drag = -engine.drag_torque(min(max(rpm, 800.0), 6400.0))
    assert torque(1.0) == torque(2.0) == pytest.approx(engine.full_torque(rpm))
    assert torque(0.0) == torque(-1.0) == torque(math.nan) == pytest.approx(drag)
    assert torque(0.25) == pytest.approx(0.25 * engine.full_torque(rpm) + 0.75 * drag)
    assert torque(1.0, 0.0) == pytest.approx(0.65 * engine.full_torque(rpm))
    assert torque(1.0, 0.5) == pytest.approx(0.825 * engine.full_torque(rpm))


def test_boost_is_psi_over_the_atmosphere():
    car = load_car("hatchback")  # its turbocharger adds 0.35 of the torque: 1 / 0.65 of the air
    for throttle, share, psi in ((0.0, 0.0, -14.696), (1.0, 0.0, 0.0), (2.0, 0.0, 0.0), (1.0, 1.0, 7.913)):
        dash = convert.state_to_wire(still(throttle=throttle), car, RaceStatus(turbo_share=share)).dash
        assert dash.boost == pytest.approx(psi, abs=1e-3)


@settings(max_examples=20)
@given(st.floats(-3.0, 3.0), st.floats(-1.0, 1.0), st.floats(-1.0, 1.0), st.tuples(*[st.floats(-0.06, 0.06)] * 4))
def test_compression_is_along_the_car_s_own_axis(yaw, pitch, roll, compressions):
    up, nose = up_vector(yaw, pitch, roll), nose_direction(yaw, pitch)
    wheels = []
    for number, compression in enumerate(compressions):
        below, ahead = GT3.body.cg_height - compression, 1.3 - 0.2 * number
        wheels.append(
            WheelState(*[c + ahead * n - below * u for c, n, u in zip((5.0, 6.0, 7.0), nose, up, strict=True)])
        )
    s = convert.state_to_wire(
        still(x=5.0, y=6.0, z=7.0, yaw=yaw, pitch=pitch, roll=roll, wheels=wheels), GT3, RaceStatus()
    ).sled
    for number, compression in enumerate(compressions):
        droop, bump = (0.04, 0.045) if number < 2 else (0.045, 0.055)  # m, of the GT3's axles
        metres = min(max(compression, -droop), bump)
        name = WHEELS[number]
        assert getattr(s, f"suspension_travel_meters_{name}") == pytest.approx(metres, abs=1e-9)
        share = (metres + droop) / (droop + bump)
        assert getattr(s, f"norm_suspension_travel_{name}") == pytest.approx(share, abs=1e-9)


def test_a_wheel_whose_place_is_not_known_is_not_compressed():
    s = convert.state_to_wire(still(wheels=[WheelState() for _ in range(4)]), GT3, RaceStatus()).sled
    assert s.suspension_travel_meters_FL == pytest.approx(0.0, abs=1e-12)


CLASSES = {  # section 3.7 of the page: the largest index of each class but the last
    "fh": (500, 600, 700, 800, 900, 998),
    "fm2023": (300, 400, 500, 600, 700, 800, 900, 998),
}


def car_of_index(index):
    """Return a GT3 that is as heavy as gives it a performance index."""
    mass = convert.PI_PER_W_KG * GT3.engine.peak_power / (index - 100.0)
    return replace(GT3, body=replace(GT3.body, mass=mass))


@pytest.mark.parametrize(("form", "limits"), CLASSES.items())
def test_the_class_of_an_index_is_that_of_the_title(form, limits):
    for number, limit in enumerate(limits):
        for index, car_class in ((limit, number), (limit + 1, number + 1)):
            sled = convert.state_to_wire(still(), car_of_index(index), RaceStatus(), form).sled
            assert (sled.car_performance_index, sled.car_class) == (index, car_class)


def test_an_index_is_100_to_999_and_an_electric_motor_counts():
    assert convert.state_to_wire(still(), car_of_index(2000), RaceStatus()).sled.car_performance_index == 999
    heavy = replace(GT3, body=replace(GT3.body, mass=1e9))
    assert convert.state_to_wire(still(), heavy, RaceStatus()).sled.car_performance_index == 100
    hybrid = replace(load_car("f1"), body=replace(GT3.body, mass=10_000.0))  # 855 kW
    assert convert.state_to_wire(still(), hybrid, RaceStatus()).sled.car_performance_index == 322
    assert convert.PI_PER_W_KG == 2.6


@pytest.mark.parametrize(("car", "drivetrain"), [("hatchback", 0), ("gt3", 1), ("sports_awd", 2)])
def test_what_a_car_is(car, drivetrain):
    params = load_car(car)
    sled = convert.state_to_wire(still(), params, RaceStatus()).sled
    assert sled.drivetrain_type == drivetrain
    assert (sled.engine_max_rpm, sled.engine_idle_rpm) == (params.engine.limiter_rpm, params.engine.idle_rpm)
    assert sled.car_ordinal == convert.name_ordinal(params.name)


def test_a_name_s_number_is_15_bits_of_its_check_sum():
    assert convert.name_ordinal("123456789") == 0x3926  # of 0xCBF43926, the check value of CRC-32
