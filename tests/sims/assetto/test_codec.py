"""The codec against hand-made bytes, against an independent parser, and against rubbish."""

import ctypes
import hashlib
import json
import struct
from pathlib import Path

import pytest
from helpers.assetto.car_pages import select_subset
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.errors import WireError
from trailbrake.sims.assetto import codec

GOLDEN = Path(__file__).parents[2] / "golden" / "wire" / "assetto"

# page -> (message, decode, encode, size, least size that decodes)
PAGES = {
    "controls": (codec.CarControls, codec.decode_controls, codec.encode_controls, 72, 64),
    "car": (codec.CarData, codec.decode_car, codec.encode_car, 672, 668),
    "public": (codec.CarPublic, codec.decode_public, codec.encode_public, 104, 104),
    "sim_state_v0": (codec.SimState, codec.decode_sim_v0, lambda m: codec.encode_sim_v1(m)[:4], 4, 4),
    "sim_state_v1": (codec.SimState, codec.decode_sim_v1, codec.encode_sim_v1, 8, 8),
}


def golden(case):
    """Return the bytes and the values of a case; the values rounded to floats of 32 bits as the wire does."""
    return bytes.fromhex((GOLDEN / f"{case}.hex").read_text()), json.loads((GOLDEN / f"{case}.json").read_text())


def plain(message):
    """Return a message as the golden JSON spells it."""
    out = {}
    for name, value in message._asdict().items():
        if name == "wheels":
            out[name] = [plain(w) for w in value]
        else:
            out[name] = list(value) if isinstance(value, tuple) else value
    return out


def f32(value):
    if isinstance(value, float):
        return ctypes.c_float(value).value
    if isinstance(value, list):
        return [f32(v) for v in value]
    return {k: f32(v) for k, v in value.items()} if isinstance(value, dict) else value


def message_from(cls, values):
    if "wheels" in values:
        values = values | {"wheels": tuple(message_from(codec.WheelData, w) for w in values["wheels"])}
    return cls(**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()})


@pytest.mark.parametrize("case", sorted({p.stem for p in GOLDEN.glob("*.hex")} - {"debug_lines"}))
def test_golden_both_ways(case):
    cls, decode, encode, _, _ = PAGES[case.removesuffix("_668")]
    data, values = golden(case)
    assert plain(decode(data)) == f32(values)
    assert encode(message_from(cls, values))[: len(data)] == data


def test_golden_car_is_the_documents():
    digest = "400517d149f2476501ef1cd291b898024b82cc15ae413f275bdcd108af64191a"
    assert hashlib.sha256(golden("car")[0]).hexdigest() == digest


# ---- An independent parser: the document's tables as C structures packed to 4 ----


class Packed(ctypes.LittleEndianStructure):
    _pack_ = 4
    _layout_ = "ms"


F, B, U32, I32 = ctypes.c_float, ctypes.c_uint8, ctypes.c_uint32, ctypes.c_int32


def fields(text, kind):
    return [(name, kind) for name in text.split()]


class Wheel(Packed):
    _fields_ = [
        *fields("position contact_point contact_normal look side velocity", F * 3),
        *fields(
            "slip_ratio load pressure angular_velocity wear dirty_level core_temperature camber_rad disc_temperature"
            " slip slip_angle_deg nd_slip", F
        ),
    ]  # fmt: skip


class Controls(Packed):
    _fields_ = [
        *fields("gas brake clutch steer handbrake", F),
        *fields(
            "gear_up gear_dn drs kers brake_balance_up brake_balance_dn abs_up abs_dn tc_up tc_dn turbo_up turbo_dn"
            " engine_brake_up engine_brake_dn mguk_delivery_up mguk_delivery_dn mguk_recovery_up mguk_recovery_dn"
            " mguh_mode headlights teleport_to autoclutch_on_start autoclutch_on_change autoblip_active", B
        ),
        *fields("teleport_pos teleport_dir", F * 3),
        *fields("autoshift_active", B),
    ]  # fmt: skip


class Car(Packed):
    _fields_ = [
        ("packet_id", I32),
        *fields("gas brake clutch steer handbrake fuel", F),
        ("gear", I32),
        *fields("rpm speed_kmh", F),
        *fields("velocity acc_g look up position local_velocity local_angular_velocity", F * 3),
        ("cg_height", F),
        ("car_damage", F * 5),
        ("wheels", Wheel * 4),
        *fields("turbo_boost final_ff final_pure_ff", F),
        *fields("pit_limiter abs_in_action traction_control_in_action", B),
        *fields("lap_time_ms best_lap_time_ms", U32),
        *fields("drivetrain_torque spline_position collision_depth", F),
        *fields("collision_counter wheels_valid_surface", U32),
    ]


class Public(Packed):
    _fields_ = [
        ("packet_id", I32),
        *fields("steer rpm spline_position speed_kmh", F),
        *fields("velocity acc_g look up position", F * 3),
        ("car_damage", F * 5),
        ("is_braking", B),
    ]


class SimV0(Packed):
    _fields_ = fields("pause restart_session disable_collisions extra_sleep_ms", B)


class SimV1(Packed):
    _fields_ = [*SimV0._fields_, ("time_scale", F)]


STRUCTURES = {"controls": Controls, "car": Car, "public": Public, "sim_state_v0": SimV0, "sim_state_v1": SimV1}


def from_structure(structure):
    out = {}
    for name, *_ in structure._fields_:
        value = getattr(structure, name)
        if name == "wheels":
            out[name] = [from_structure(w) for w in value]
        else:
            out[name] = list(value) if isinstance(value, ctypes.Array) else value
    return out


def same(a, b):
    """Equality with NaN equal to NaN."""
    return repr(a) == repr(b)


@pytest.mark.parametrize("page", PAGES)
def test_sizes(page):
    assert ctypes.sizeof(STRUCTURES[page]) == PAGES[page][3] == len(PAGES[page][2](PAGES[page][0]()))


@pytest.mark.parametrize("page", PAGES)
@given(data=st.data())
def test_any_bytes_read_as_the_independent_parser_reads_them(page, data):
    _, decode, _, size, _ = PAGES[page]
    raw = data.draw(st.binary(min_size=size, max_size=size))
    expected = from_structure(STRUCTURES[page].from_buffer_copy(raw))
    if page == "sim_state_v0":
        expected["time_scale"] = 1.0
    assert same(plain(decode(raw)), expected)


def messages_of(structure, message):
    """Messages with any content: random bytes and some awkward floats, seen through the independent structure."""
    size = ctypes.sizeof(structure)
    awkward = st.tuples(st.integers(0, max(0, size // 4 - 1)), st.floats(width=32))

    def build(raw, floats):
        raw = bytearray(raw)
        for place, value in floats:
            struct.pack_into("<f", raw, 4 * place, value)
        return message_from(message, from_structure(structure.from_buffer_copy(raw)))

    return st.builds(build, st.binary(min_size=size, max_size=size), st.lists(awkward, max_size=6))


@pytest.mark.parametrize("page", PAGES)
@given(data=st.data())
def test_round_trip_and_oversized(page, data):
    cls, decode, encode, _, _ = PAGES[page]
    message = data.draw(messages_of(STRUCTURES[page], cls))
    tail = data.draw(st.binary(max_size=64))
    assert same(decode(encode(message) + tail), message)


@pytest.mark.parametrize("length", [64, 68, 72, 76, 256])
def test_clients_disagree_about_the_size_of_controls(length):
    data, values = golden("controls")
    message = plain(codec.decode_controls(data.ljust(length, b"\0")[:length]))
    expected = f32(values)
    if length < 72:
        expected["autoshift_active"] = 0
    if length < 68:
        expected["teleport_dir"][2] = 0.0
    assert message == expected


def test_old_car_data_counts_as_on_the_track():
    assert codec.decode_car(golden("car")[0][:668]).wheels_valid_surface == 15


def test_packet_id():
    assert codec.decode_packet_id(golden("car")[0]) == 777
    assert codec.decode_packet_id(b"\1\0\0") == 0


# ---- Debug lines: a count and as many lines ----


class Line(Packed):
    _fields_ = [*fields("start end", F * 3), *fields("color", U32)]


def lines_of(raw, count):
    return [from_structure(Line.from_buffer_copy(raw, 4 + 28 * i)) for i in range(count)]


def test_golden_debug_lines_both_ways():
    data, values = golden("debug_lines")
    lines = codec.decode_debug_lines(data)
    assert [plain(line) for line in lines] == values["lines"]
    assert codec.encode_debug_lines(lines) == data
    assert codec.decode_debug_lines(data.ljust(codec.DEBUG_SIZE, b"\xff")) == lines


def test_a_page_of_16384_bytes_holds_585_lines():
    assert (codec.DEBUG_SIZE, codec.MAX_DEBUG_LINES) == (16384, 585)
    full = codec.encode_debug_lines([codec.LineRecord()] * 585)
    assert len(full) <= 16384
    assert len(codec.decode_debug_lines(full)) == 585
    with pytest.raises(WireError, match="too many debug lines for their page, expected up to 585, got 586"):
        codec.encode_debug_lines([codec.LineRecord()] * 586)


@given(raw=st.binary(max_size=200), count=st.integers(-3, 9))
def test_any_bytes_are_debug_lines_or_an_error(raw, count):
    raw = count.to_bytes(4, "little", signed=True) + raw
    if count >= 0:
        held = min(count, (len(raw) - 4) // 28)
        assert same([plain(line) for line in codec.decode_debug_lines(raw)], lines_of(raw, held))
    else:
        with pytest.raises(WireError, match=f"negative count of lines, expected 0 or more, got {count}"):
            codec.decode_debug_lines(raw)


@given(st.lists(messages_of(Line, codec.LineRecord), max_size=5))
def test_debug_lines_round_trip(lines):
    assert same(codec.decode_debug_lines(codec.encode_debug_lines(lines)), tuple(lines))


# ---- The short way to what our state is made of ----


def test_what_is_seen_of_a_car_is_a_part_of_the_whole_page():
    for case in ("car", "car_668"):
        data, _ = golden(case)
        brief = codec.decode_car_subset(data)
        assert brief == select_subset(codec.decode_car(data))
        assert (brief[codec.SUBSET_PACKET_ID], brief[codec.SUBSET_GEAR]) == (777, 3)
        assert len(set(brief)) > 70  # the golden page has another number in nearly every place


@given(st.binary(min_size=668, max_size=700))
def test_any_bytes_are_seen_as_the_whole_page_would_be(raw):
    assert same(codec.decode_car_subset(raw), select_subset(codec.decode_car(raw)))


# ---- What a message without content is, and the sizes of the document ----


def test_messages_without_content_are_pages_of_zeros():
    assert codec.encode_controls(codec.CarControls()) == bytes(72)
    assert codec.encode_car(codec.CarData()) == bytes(672)
    assert codec.encode_public(codec.CarPublic()) == bytes(104)
    assert codec.encode_sim_v0(codec.SimState()) == bytes(4)
    assert codec.encode_sim_v1(codec.SimState()) == bytes(4) + struct.pack("<f", 1.0)
    assert codec.encode_debug_lines([codec.LineRecord()]) == b"\1\0\0\0" + bytes(24) + b"\xff" * 4
    assert codec.encode_debug_lines([]) == bytes(4)
    assert codec.CarData().wheels == (codec.WheelData(),) * 4
    assert codec.decode_controls(bytes(64)) == codec.CarControls()
    zeros = (codec.decode_car(bytes(672)), codec.decode_public(bytes(104)), codec.decode_sim_v0(bytes(4)))
    assert zeros == (codec.CarData(), codec.CarPublic(), codec.SimState())


def test_the_sizes_are_the_documents():
    assert (codec.PAGE_SIZE, codec.CONTROLS_SIZE, codec.CAR_SIZE, codec.CAR_SIZE_OLD) == (4096, 72, 672, 668)
    assert (codec.PUBLIC_SIZE, codec.SIM_V0_SIZE, codec.SIM_V1_SIZE) == (104, 4, 8)
    assert (codec.PACKET_ID_SIZE, codec.LINE_COUNT_SIZE) == (4, 4)


def test_a_driver_s_fields_replace_the_first_nine_of_a_page():
    data, values = golden("controls")
    driving = (0.5, 0.25, 0.125, -0.75, 1.0, 1, 0, 1, 0)
    page = codec.encode_driving(driving, data)
    names = list(values)[:9]
    assert plain(codec.decode_controls(page)) == f32(values) | dict(zip(names, driving, strict=True))


@pytest.mark.parametrize(
    ("decode", "size", "line"),
    [(codec.decode_controls, 63, "CarControls is cut short, expected 64 bytes, got 63"),
     (codec.decode_car, 667, "CarData is cut short, expected 672 bytes, got 667"),
     (codec.decode_car_subset, 667, "CarData is cut short, expected 672 bytes, got 667"),
     (codec.decode_public, 103, "CarPublic is cut short, expected 104 bytes, got 103"),
     (codec.decode_sim_v0, 3, "SimState v0 is cut short, expected 4 bytes, got 3"),
     (codec.decode_sim_v1, 7, "SimState v1 is cut short, expected 8 bytes, got 7"),
     (codec.decode_debug_lines, 3, "DebugLines is cut short, expected 4 bytes, got 3")],
)  # fmt: skip
def test_a_page_that_is_cut_short_is_one_line(decode, size, line):
    with pytest.raises(WireError) as caught:
        decode(bytes(size))
    assert str(caught.value) == line


def test_the_patch_of_a_safe_stop_changes_the_pedals_alone():
    page = bytearray(codec.encode_controls(codec.CarControls(gas=1.0, steer=0.25, handbrake=0.5, gear_up=1)))
    offset, data = codec.BRAKE_PATCH
    page[offset : offset + len(data)] = data
    changed = codec.decode_controls(bytes(page))
    assert (changed.gas, changed.brake) == (0.0, pytest.approx(0.6))
    assert changed._replace(gas=1.0, brake=0.0) == codec.CarControls(gas=1.0, steer=0.25, handbrake=0.5, gear_up=1)


def test_the_parts_of_a_subset_are_where_their_names_say():
    car = codec.CarData(
        packet_id=1, speed_kmh=2.0, acc_g=(3.0, 3.5, 4.0), look=(4.5, 5.0, 5.5), up=(6.0, 6.5, 7.0),
        position=(7.5, 8.0, 8.5), local_velocity=(9.0, 9.5, 10.0), local_angular_velocity=(10.5, 11.0, 11.5),
        car_damage=(12.0, 13.0, 14.0, 15.0, 16.0),
        wheels=tuple(codec.WheelData(contact_point=(k, k, k), nd_slip=k + 0.5) for k in (20.0, 30.0, 40.0, 50.0)),
        abs_in_action=1, wheels_valid_surface=15,
    )  # fmt: skip
    subset = codec.decode_car_subset(codec.encode_car(car))
    parts = {
        "ACCELERATION": car.acc_g, "LOOK": car.look, "UP": car.up, "POSITION": car.position,
        "VELOCITY": car.local_velocity, "ANGULAR_VELOCITY": car.local_angular_velocity, "DAMAGE": car.car_damage,
    }  # fmt: skip
    for name, values in parts.items():
        assert subset[getattr(codec, f"SUBSET_{name}")] == values, name
    assert subset[codec.SUBSET_BASICS] == car[:10]
    for name, wheel in zip(("FL", "FR", "RL", "RR"), car.wheels, strict=True):
        numbers = subset[getattr(codec, f"SUBSET_WHEEL_{name}")]
        assert (numbers[:3], numbers[-1], len(numbers)) == (wheel.contact_point, wheel.nd_slip, 13)
    session = subset[codec.SUBSET_SESSION]
    assert (session[0], session[-1], len(session)) == (1, 15, 8)
    assert codec.SUBSET_SESSION.stop == len(subset)


@pytest.mark.parametrize(("data", "number"), [(b"", 0), (b"\1\0\0", 0), (b"\1\2\0\0", 513), (b"\1\0\0\0\7", 1)])
def test_a_page_begins_with_its_number_as_soon_as_it_has_one(data, number):
    assert codec.decode_packet_id(data) == number


@pytest.mark.parametrize(
    ("encode", "message", "name"),
    [(codec.encode_car, codec.CarData()._replace(acc_g=(0.0, 1e39, 0.0)), "acc_g"),
     (codec.encode_public, codec.CarPublic()._replace(velocity=(1e39, 0.0, 0.0)), "velocity"),
     (codec.encode_controls, codec.CarControls()._replace(gas=1e39), "gas")],
)  # fmt: skip
def test_a_number_that_no_page_holds_is_an_error_of_its_field(encode, message, name):
    with pytest.raises(WireError, match=f"^{name}: a field does not fit: float too large"):
        encode(message)
