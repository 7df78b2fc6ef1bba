"""The codec against the protocol page's vectors, against an independent parser, and against rubbish."""

import ctypes
import hashlib
import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.errors import WireError
from trailbrake.sims.forza import codec
from trailbrake.sims.forza.blocks import Dash, HorizonBlock, MotorsportBlock, Sled, block_fields
from trailbrake.sims.forza.codec import Packet

GOLDEN = Path(__file__).parents[2] / "golden" / "wire" / "forza"
# case -> bytes, and the sum that the protocol page states
CASES = {
    "sled": (232, "4362636084d4873a6675ca94df2d7fd8ad124071af74e993490d13f28d541b46"),
    "dash": (311, "fd59ec88c38fc9eec46eddad799c49ac39a0514e97abbcf9667f9d4105ee4f95"),
    "fh": (324, "64f25053324342d231ce3df451fdf805183937ffdb610122bea6096d6d1d2782"),
    "fm2023": (331, "61b7bc72ed7904a55040f5afcd577be99f5005505f8a9f5f33fc77ebb814d8c6"),
    "fh_paused": (324, "722814f55a1b1400d7a921ea1a81a2659f1a2b18d64de70bcfbb085a83ca8015"),
}
BLOCKS = {"sled": Sled, "gap": HorizonBlock, "dash": Dash, "extra": MotorsportBlock}


def golden(case):
    data = bytes.fromhex((GOLDEN / f"{case}.hex").read_text())
    values = json.loads((GOLDEN / f"{case}.json").read_text())
    tail = bytes.fromhex(values.pop("tail", ""))
    return data, Packet(**{name: BLOCKS[name](**block) for name, block in values.items()}, tail=tail)


def f32(packet):
    """Round a packet's floats as the wire does."""
    blocks = (
        block and type(block)(*(ctypes.c_float(v).value if w.code == "f" else v
                                for v, w in zip(block, block_fields(type(block)).values(), strict=True)))
        for block in packet[:4]
    )  # fmt: skip
    return Packet(*blocks, packet.tail)


@pytest.mark.parametrize("case", CASES)
def test_golden_both_ways(case):
    data, packet = golden(case)
    size, digest = CASES[case]
    assert (len(data), hashlib.sha256(data).hexdigest()) == (size, digest)
    assert codec.decode_packet(data) == f32(packet)
    assert codec.encode_packet(packet) == data
    assert codec.decode_packet(data).format == case.removesuffix("_paused")


# ---- An independent parser: the C structures of a tool of others, packed to 1, by the page's offsets ----

F, U8, S8, U16, U32, S32 = (
    ctypes.c_float, ctypes.c_uint8, ctypes.c_int8, ctypes.c_uint16, ctypes.c_uint32, ctypes.c_int32,
)  # fmt: skip


class Packed(ctypes.LittleEndianStructure):
    _pack_ = 1
    _layout_ = "ms"


class CSled(Packed):
    _fields_ = (
        ("IsRaceOn", S32), ("TimestampMS", U32), ("rpm", F * 3), ("acceleration", F * 3), ("velocity", F * 3),
        ("angular_velocity", F * 3), ("ypr", F * 3), ("suspension", F * 4), ("slip_ratio", F * 4), ("spin", F * 4),
        ("strip", S32 * 4), ("puddle", F * 4), ("rumble", F * 4), ("slip_angle", F * 4), ("combined", F * 4),
        ("travel", F * 4), ("ids", S32 * 5),
    )  # fmt: skip


class CDash(Packed):
    _fields_ = (
        ("position", F * 3), ("motion", F * 3), ("tire_temp", F * 4), ("rest", F * 7), ("LapNumber", U16),
        ("bytes", U8 * 6), ("signed", S8 * 3),
    )  # fmt: skip


class CGap(Packed):
    _fields_ = (("CarGroup", U32), ("smashable", F * 2))


class CExtra(Packed):
    _fields_ = (("wear", F * 4), ("TrackOrdinal", S32))


STRUCTURES = {
    "sled": [(0, CSled)],
    "dash": [(0, CSled), (232, CDash)],
    "fh": [(0, CSled), (232, CGap), (244, CDash)],
    "fm2023": [(0, CSled), (232, CDash), (311, CExtra)],
}


def flat(structure):
    out = []
    for name, _ in structure._fields_:
        value = getattr(structure, name)
        out += list(value) if isinstance(value, ctypes.Array) else [value]
    return out


def same(a, b):
    return all(x == y or (math.isnan(x) and math.isnan(y)) for x, y in zip(a, b, strict=True))


known = st.sampled_from(sorted(codec.FORMATS)).flatmap(lambda n: st.binary(min_size=n, max_size=n))


@given(known)
def test_any_bytes_of_a_known_length_mean_what_the_structures_say(data):
    packet = codec.decode_packet(data)
    there = [flat(cls.from_buffer_copy(data, offset)) for offset, cls in STRUCTURES[packet.format]]
    blocks = [block for block in packet[:4] if block is not None]
    assert len(there) == len(blocks)
    assert all(same(a, b) for a, b in zip(there, blocks, strict=True))
    assert packet.tail == data[sum(ctypes.sizeof(cls) for _, cls in STRUCTURES[packet.format]) :]


@given(known)
def test_what_is_seen_of_any_bytes_are_those_numbers_of_the_structures(data):
    there = {}
    for offset, cls in STRUCTURES[codec.decode_packet(data).format]:
        block = {CSled: Sled, CGap: HorizonBlock, CDash: Dash, CExtra: MotorsportBlock}[cls]
        there |= dict(zip(block._fields, flat(cls.from_buffer_copy(data, offset)), strict=True))
    names = codec.SLED_SUBSET_FIELDS + (() if codec.FORMATS[len(data)] == "sled" else codec.DASH_SUBSET_FIELDS)
    seen = codec.decode_state_subset(data)
    assert len(seen) == len(names)
    assert same(seen, [there[name] for name in names])
    assert same(seen, codec.select_state_subset(codec.decode_packet(data)))


def test_what_is_seen_has_names():
    seen = codec.decode_state_subset(golden("fh")[0])
    packet = f32(golden("fh")[1])
    assert (seen[codec.IS_RACE_ON], seen[codec.TIMESTAMP_MS]) == (1, packet.sled.timestamp_ms)
    assert (codec.race_time(seen), seen[codec.GEAR]) == (packet.dash.cur_race_time, packet.dash.gear)
    sled = codec.decode_state_subset(golden("sled")[0])
    assert math.isnan(codec.race_time(sled))
    assert len(sled) == codec.SLED_SUBSET_SIZE
    assert codec.is_finite(seen)
    assert codec.is_finite(sled)


@pytest.mark.parametrize("block", ["sled", "dash"])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_a_driver_steers_by_is_finite_or_not(block, bad):
    names = ("velocity_x", "velocity_y", "velocity_z", "yaw", "angular_velocity_y", "position_x", "position_z", "speed")
    packet = Packet(Sled(1), HorizonBlock(), Dash())
    for name in names:
        if name in BLOCKS[block]._fields:
            part = getattr(packet, block)._replace(**{name: bad})
            assert not codec.is_finite(codec.select_state_subset(packet._replace(**{block: part}))), name
    assert codec.is_finite(codec.select_state_subset(packet._replace(sled=packet.sled._replace(pitch=bad))))


@given(known)
def test_what_was_decoded_is_encoded_to_the_same_bytes(data):
    packet = codec.decode_packet(data)
    if not any(v != v for block in packet[:4] for v in block or ()):  # a NaN's payload carries no information
        assert codec.encode_packet(packet) == data


@given(st.binary(max_size=400).filter(lambda b: len(b) not in codec.FORMATS))
def test_any_other_length_is_foreign(data):
    with pytest.raises(WireError, match="not a Forza datagram, expected 232, 311, 323, 324, 331, 339, 340 bytes"):
        codec.decode_packet(data)
    with pytest.raises(WireError, match="not a Forza datagram, expected 232, 311, 323, 324, 331, 339, 340 bytes"):
        codec.decode_state_subset(data)


def test_the_lengths_are_the_page_s():
    assert codec.FORMATS == {232: "sled", 311: "dash", 323: "fh", 324: "fh", 331: "fm2023", 339: "fh", 340: "fh"}
    assert codec.LENGTHS == {"sled": 232, "dash": 311, "fh": 324, "fm2023": 331}


def test_a_packet_without_content_is_zeros():
    for packet, size in (
        (Packet(Sled()), 232), (Packet(Sled(), dash=Dash()), 311), (Packet(Sled(), HorizonBlock(), Dash()), 323),
        (Packet(Sled(), HorizonBlock(), Dash(), tail=codec.TAIL), 324),
        (Packet(Sled(), dash=Dash(), extra=MotorsportBlock()), 331),
    ):  # fmt: skip
        assert codec.encode_packet(packet) == bytes(size)
        assert codec.decode_packet(bytes(size)) == packet
    assert codec.ALIASES == {"fh4": "fh"}


@pytest.mark.parametrize(
    ("packet", "line"),
    [(Packet(Sled(is_race_on=2**31)), r"is_race_on: a field does not fit: .+"),
     (Packet(Sled(), HorizonBlock(), Dash(steer=128)), r"steer: a field does not fit: .+"),
     (Packet(Sled(), HorizonBlock()), "no format has these blocks together, got sled, gap"),
     (Packet(Sled(), extra=MotorsportBlock()), "no format has these blocks together, got sled, extra"),
     (Packet(Sled(), HorizonBlock(), Dash(), MotorsportBlock(), b"\0"),
      "no format has these blocks together, got sled, gap, dash, extra, tail")],
)  # fmt: skip
def test_what_does_not_fit_is_one_line(packet, line):
    with pytest.raises(WireError, match=f"^{line}$"):
        codec.encode_packet(packet)
