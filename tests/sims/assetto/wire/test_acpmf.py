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


def test_a_text_too_long_is_cut_between_characters_and_still_ends():
    long = "x" * 31 + "🏎" + "y"  # the car takes two units, the first of which would be the last with room
    data = acpmf.encode_static(acpmf.Static(car_model=long, track="z" * 50))
    assert acpmf.decode_static(data).car_model == "x" * 31
    assert acpmf.decode_static(data).track == "z" * 32
    assert data[198:200] == b"\0\0"


def test_units_are_declared():
    units = {
        field.name: field.unit for layout in (acpmf.PHYSICS_LAYOUT, acpmf.GRAPHICS_LAYOUT) for field in layout.fields
    }
    assert units["speed_kmh"] == "km/h"
    assert units["wheel_load"] == "N"
    assert units["i_last_time"] == "ms"
    assert units["gear"] == ""


def test_names_for_people():
    assert acpmf.track_id(acpmf.Static(track="imola")) == "imola"
    assert acpmf.track_id(acpmf.Static(track="nur", track_configuration="gp")) == "nur-gp"
    assert acpmf.milliseconds_text(107352) == "1:47:352"
    assert acpmf.milliseconds_text(-1) == "0:00:000"
