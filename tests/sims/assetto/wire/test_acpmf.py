"""The classic pages against hand-made bytes, against an independent parser, and against rubbish."""

import ctypes
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trailbrake.errors import WireError
from trailbrake.sims.assetto.wire import acpmf

GOLDEN = Path(__file__).parents[3] / "golden" / "wire" / "assetto" / "acpmf"
PAGES = {
    "physics": (acpmf.Physics, acpmf.decode_physics, acpmf.encode_physics, acpmf.PHYSICS_LAYOUT, 580),
    "graphics": (acpmf.Graphics, acpmf.decode_graphics, acpmf.encode_graphics, acpmf.GRAPHICS_LAYOUT, 296),
    "static": (acpmf.Static, acpmf.decode_static, acpmf.encode_static, acpmf.STATIC_LAYOUT, 688),
}


def plain(value):
    return [plain(v) for v in value] if isinstance(value, tuple | list) else value


def tuples(value):
    return tuple(map(tuples, value)) if isinstance(value, list) else value


@pytest.mark.parametrize("page", PAGES)
def test_golden_both_ways(page):
    cls, decode, encode, _, size = PAGES[page]
    data = bytes.fromhex((GOLDEN / f"{page}.hex").read_text())
    values = json.loads((GOLDEN / f"{page}.json").read_text())
    assert len(data) == size
    assert {name: plain(v) for name, v in decode(data)._asdict().items()} == values
    assert encode(cls(**{name: tuples(v) for name, v in values.items()})) == data


# ---- An independent parser: the document's tables as C structures packed to 4 ----

F, I = ctypes.c_float, ctypes.c_int32  # noqa: E741


class Text15(ctypes.Array):
    _type_, _length_ = ctypes.c_uint16, 15


class Text33(ctypes.Array):
    _type_, _length_ = ctypes.c_uint16, 33


def structure(table):
    """Make a structure of lines `name type`; types f, i, f3, f4x3, w15 and so on."""
    kinds = {"f": F, "i": I, "w15": Text15, "w33": Text33, "f2": F * 2, "f3": F * 3, "f4": F * 4, "f5": F * 5,
             "f4x3": (F * 3) * 4}  # fmt: skip
    fields = [(name, kinds[kind]) for name, kind in (entry.split(":") for entry in table.split())]
    body = {"_pack_": 4, "_layout_": "ms", "_fields_": fields}
    return type("Page", (ctypes.LittleEndianStructure,), body)


STRUCTURES = {
    "physics": structure(
        """packetId:i gas:f brake:f fuel:f gear:i rpms:i steerAngle:f speedKmh:f velocity:f3 accG:f3 wheelSlip:f4
        wheelLoad:f4 wheelsPressure:f4 wheelAngularSpeed:f4 tyreWear:f4 tyreDirtyLevel:f4 tyreCoreTemperature:f4
        camberRAD:f4 suspensionTravel:f4 drs:f tc:f heading:f pitch:f roll:f cgHeight:f carDamage:f5
        numberOfTyresOut:i pitLimiterOn:i abs:f kersCharge:f kersInput:f autoShifterOn:i rideHeight:f2 turboBoost:f
        ballast:f airDensity:f airTemp:f roadTemp:f localAngularVel:f3 finalFF:f performanceMeter:f engineBrake:i
        ersRecoveryLevel:i ersPowerLevel:i ersHeatCharging:i ersIsCharging:i kersCurrentKJ:f drsAvailable:i
        drsEnabled:i brakeTemp:f4 clutch:f tyreTempI:f4 tyreTempM:f4 tyreTempO:f4 isAIControlled:i
        tyreContactPoint:f4x3 tyreContactNormal:f4x3 tyreContactHeading:f4x3 brakeBias:f localVelocity:f3"""
    ),
    "graphics": structure(
        """packetId:i status:i session:i currentTime:w15 lastTime:w15 bestTime:w15 split:w15 completedLaps:i position:i
        iCurrentTime:i iLastTime:i iBestTime:i sessionTimeLeft:f distanceTraveled:f isInPit:i currentSectorIndex:i
        lastSectorTime:i numberOfLaps:i tyreCompound:w33 replayTimeMultiplier:f normalizedCarPosition:f
        carCoordinates:f3 penaltyTime:f flag:i idealLineOn:i isInPitLane:i surfaceGrip:f mandatoryPitDone:i
        windSpeed:f windDirection:f"""
    ),
    "static": structure(
        """smVersion:w15 acVersion:w15 numberOfSessions:i numCars:i carModel:w33 track:w33 playerName:w33
        playerSurname:w33 playerNick:w33 sectorCount:i maxTorque:f maxPower:f maxRpm:i maxFuel:f
        suspensionMaxTravel:f4 tyreRadius:f4 maxTurboBoost:f deprecated1:f deprecated2:f penaltiesEnabled:i
        aidFuelRate:f aidTireRate:f aidMechanicalDamage:f aidAllowTyreBlankets:i aidStability:f aidAutoClutch:i
        aidAutoBlip:i hasDRS:i hasERS:i hasKERS:i kersMaxJ:f engineBrakeSettingsCount:i ersPowerControllerCount:i
        trackSPlineLength:f trackConfiguration:w33 ersMaxJ:f isTimedRace:i hasExtraLap:i carSkin:w33
        reversedGridPositions:i pitWindowStart:i pitWindowEnd:i isOnline:i"""
    ),
}


def read(value):
    if isinstance(value, Text15 | Text33):
        units = list(value)
        units = units[: units.index(0)] if 0 in units else units
        return b"".join(u.to_bytes(2, "little") for u in units).decode("utf-16-le", "replace")
    return [read(v) for v in value] if isinstance(value, ctypes.Array) else value


def parsed(page, raw):
    message = STRUCTURES[page].from_buffer_copy(raw)
    return [read(getattr(message, name)) for name, _ in message._fields_]


@pytest.mark.parametrize("page", PAGES)
def test_sizes(page):
    assert ctypes.sizeof(STRUCTURES[page]) == PAGES[page][4] == len(PAGES[page][2](PAGES[page][0]()))


@pytest.mark.parametrize("page", PAGES)
@settings(max_examples=40)
@given(data=st.data())
def test_any_bytes_read_as_the_independent_parser_reads_them(page, data):
    _, decode, _, _, size = PAGES[page]
    raw = data.draw(st.binary(min_size=size, max_size=size))
    assert repr([plain(v) for v in decode(raw)]) == repr(parsed(page, raw))  # NaN is equal to NaN


@pytest.mark.parametrize("page", PAGES)
@settings(max_examples=40)
@given(data=st.data())
def test_what_was_read_can_be_written(page, data):
    cls, decode, encode, layout, size = PAGES[page]
    raw = data.draw(st.binary(min_size=size, max_size=size + 64))
    message = decode(raw)
    message = cls(*(v.replace("\ufffd", "")[:7] if isinstance(v, str) else v for v in message))
    assert repr(decode(encode(message))) == repr(message)
    assert len(layout.fields) == len(message)


@pytest.mark.parametrize("page", PAGES)
@settings(max_examples=20)
@given(data=st.data())
def test_truncated(page, data):
    _, decode, _, _, size = PAGES[page]
    raw = data.draw(st.binary(max_size=size - 1))
    with pytest.raises(WireError, match=rf"is cut short, expected {size} bytes, got {len(raw)}$"):
        decode(raw)


@pytest.mark.parametrize("pair", ["\U0001f3ce", "\U00010000", "\U0010ffff"])
def test_a_text_too_long_is_cut_between_characters_and_still_ends(pair):
    long = "x" * 31 + pair + "y"  # the character takes two units, the first of which would be the last with room
    data = acpmf.encode_static(acpmf.Static(car_model=long, track="z" * 50, player_name="\ud800a"))
    message = acpmf.decode_static(data)
    assert (message.car_model, message.track, message.player_name) == ("x" * 31, "z" * 32, "?a")
    assert data[198:200] == b"\0\0"


# The units of section 6 of the page, and which fields have them; all others have none.
UNITS = {
    "Physics": {
        "0..1": "gas brake kers_charge kers_input clutch brake_bias", "l": "fuel", "rpm": "rpms", "km/h": "speed_kmh",
        "m/s": "velocity local_velocity", "g": "acc_g", "N": "wheel_load", "psi": "wheels_pressure",
        "rad/s": "wheel_angular_speed local_angular_vel", "rad": "camber_rad heading pitch roll",
        "degC": "tyre_core_temperature air_temp road_temp brake_temp tyre_temp_i tyre_temp_m tyre_temp_o",
        "m": "suspension_travel cg_height ride_height tyre_contact_point", "kg": "ballast", "kg/m^3": "air_density",
        "0/1": "pit_limiter_on auto_shifter_on ers_heat_charging ers_is_charging drs_available drs_enabled "
               "is_ai_controlled", "kJ": "kers_current_kj",
    },
    "Graphics": {
        "ms": "i_current_time i_last_time i_best_time session_time_left last_sector_time", "s": "penalty_time",
        "m": "distance_traveled car_coordinates", "0/1": "is_in_pit ideal_line_on is_in_pit_lane mandatory_pit_done",
        "0..1": "normalized_car_position surface_grip", "km/h": "wind_speed", "deg": "wind_direction",
    },
    "Static": {
        "Nm": "max_torque", "W": "max_power", "rpm": "max_rpm", "l": "max_fuel", "J": "kers_max_j ers_max_j",
        "m": "suspension_max_travel tyre_radius track_spline_length",
        "0/1": "penalties_enabled aid_allow_tyre_blankets aid_auto_clutch aid_auto_blip has_drs has_ers has_kers "
               "is_timed_race has_extra_lap is_online",
    },
}  # fmt: skip


@pytest.mark.parametrize(("page", "size", "texts"), [("Physics", 580, 0), ("Graphics", 296, 5), ("Static", 688, 9)])
def test_a_layout_is_read_off_the_fields_and_their_units_are_those_of_the_page(page, size, texts):
    cls = getattr(acpmf, page)
    layout = acpmf.PageLayout(cls)
    found = {}
    for field in layout.fields:
        found.setdefault(field.unit, []).append(field.name)
    del found[""]
    assert {unit: " ".join(names) for unit, names in found.items()} == UNITS[page]
    assert (layout.message_type, layout.struct.size) == (cls, size)
    golden = bytes.fromhex((GOLDEN / f"{page.lower()}.hex").read_text())
    assert layout.decode(golden) == getattr(acpmf, f"decode_{page.lower()}")(golden)
    assert layout.encode(layout.decode(golden)) == golden
    assert sum(field.room > 0 for field in layout.fields) == texts
    assert {field.room for field in layout.fields} <= {0, 30, 66}  # 15 and 33 units


def test_a_page_that_nobody_has_filled_is_zeros_but_for_the_session():
    assert acpmf.encode_physics(acpmf.Physics()) == bytes(580)
    assert acpmf.encode_graphics(acpmf.Graphics()) == bytes(8) + b"\xff" * 4 + bytes(284)
    assert acpmf.encode_static(acpmf.Static()) == bytes(688)


def test_each_place_on_a_page_has_its_name():
    """Offsets of section 6: the four bytes there, and the field that changes with them."""
    offsets = {
        "physics": {0: "packet_id", 16: "gear", 44: "acc_g", 104: "wheel_angular_speed", 244: "number_of_tyres_out",
                    268: "ride_height", 348: "brake_temp", 420: "tyre_contact_point", 564: "brake_bias"},
        "graphics": {4: "status", 8: "session", 42: "last_time", 132: "completed_laps", 176: "tyre_compound",
                     244: "replay_time_multiplier", 252: "car_coordinates", 292: "wind_direction"},
        "static": {60: "number_of_sessions", 134: "track", 400: "sector_count", 420: "suspension_max_travel",
                   520: "track_spline_length", 524: "track_configuration", 592: "ers_max_j", 684: "is_online"},
    }  # fmt: skip
    for page, names in offsets.items():
        decode, size = getattr(acpmf, f"decode_{page}"), getattr(acpmf, f"{page.upper()}_SIZE")
        plain_page = decode(bytes(size))
        for offset, name in names.items():
            data = bytearray(size)
            data[offset : offset + 4] = b"\1\0\1\0"
            changed = decode(bytes(data))
            assert [k for k, a, b in zip(changed._fields, changed, plain_page, strict=True) if a != b] == [name]


def test_the_names_and_numbers_of_the_page():
    names = (acpmf.PHYSICS_NAME, acpmf.GRAPHICS_NAME, acpmf.STATIC_NAME)
    assert names == ("acpmf_physics", "acpmf_graphics", "acpmf_static")
    assert (acpmf.PHYSICS_SIZE, acpmf.GRAPHICS_SIZE, acpmf.STATIC_SIZE, acpmf.PAGE_SIZE) == (580, 296, 688, 4096)
    assert (acpmf.OFF, acpmf.REPLAY, acpmf.LIVE, acpmf.PAUSE) == (0, 1, 2, 3)
    assert acpmf.STATUSES == ("off", "replay", "live", "pause")
    assert acpmf.SESSIONS == {-1: "unknown", 0: "practice", 1: "qualify", 2: "race", 3: "hotlap", 4: "time attack",
                              5: "drift", 6: "drag"}  # fmt: skip


def test_names_for_people():
    assert acpmf.track_id(acpmf.Static(track="imola")) == "imola"
    assert acpmf.track_id(acpmf.Static(track="nur", track_configuration="gp")) == "nur-gp"
    assert acpmf.milliseconds_text(107352) == "1:47:352"
    assert acpmf.milliseconds_text(61_007) == "1:01:007"
    assert acpmf.milliseconds_text(59_999) == "0:59:999"
    assert acpmf.milliseconds_text(60_000) == "1:00:000"
    assert acpmf.milliseconds_text(0) == "0:00:000"
    assert acpmf.milliseconds_text(-1) == "0:00:000"
