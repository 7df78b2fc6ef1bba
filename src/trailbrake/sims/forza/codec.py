"""Bytes <-> packets of Forza's "Data Out", with the wire's names, units and oddities.

Source: protocol page forza-data-out, sections 2 and 7. There is no header: only the length of a datagram identifies its
format. `convert.py` changes signs and units.
"""

import math
import struct
from operator import itemgetter
from typing import Any, NamedTuple

from trailbrake.errors import WireError
from trailbrake.sims.forza.blocks import WHEELS, Dash, HorizonBlock, MotorsportBlock, Sled, block_fields, build_struct
from trailbrake.transport.wire_packing import packs_fields

_SLED = build_struct(Sled)
_DASH = build_struct(Sled, Dash)
_HORIZON = build_struct(Sled, HorizonBlock, Dash)
_EXTRA = build_struct(MotorsportBlock)
_N_SLED, _N_GAP = len(Sled._fields), len(HorizonBlock._fields)

# Length of a datagram -> its format. `fh` has a trailing byte (0) in every title but early builds of one; 339 and 340
# are lengths that one tool reports, unconfirmed: the tail is kept and ignored.
FORMATS: dict[int, str] = {
    _SLED.size: "sled",
    _DASH.size: "dash",
    _HORIZON.size: "fh",
    _HORIZON.size + 1: "fh",
    _DASH.size + _EXTRA.size: "fm2023",
    339: "fh",
    340: "fh",
}
LENGTHS: dict[str, int] = {
    "sled": _SLED.size,
    "dash": _DASH.size,
    "fh": _HORIZON.size + 1,
    "fm2023": _DASH.size + _EXTRA.size,
}
ALIASES = {"fh4": "fh"}
TAIL = b"\0"  # of the 324-byte format


class Packet(NamedTuple):
    """One datagram. A block that its format does not have is None; `tail` is what follows the last known field."""

    sled: Sled
    gap: HorizonBlock | None = None
    dash: Dash | None = None
    extra: MotorsportBlock | None = None
    tail: bytes = b""

    @property
    def format(self) -> str:
        """Return sled, dash, fh or fm2023."""
        if self.dash is None:
            return "sled"
        return "fh" if self.gap is not None else "fm2023" if self.extra is not None else "dash"


_new = tuple.__new__  # builds a named tuple from its fields in order, without the cost of its constructor

# The fields of a packet that CarState needs, in the order of the bytes.
SLED_SUBSET_FIELDS = (
    "is_race_on", "timestamp_ms", "engine_max_rpm", "current_engine_rpm",
    "acceleration_x", "acceleration_y", "acceleration_z", "velocity_x", "velocity_y", "velocity_z",
    "angular_velocity_x", "angular_velocity_y", "angular_velocity_z", "yaw", "pitch", "roll",
    *[f"wheel_rotation_speed_{w}" for w in WHEELS], *[f"tire_combined_slip_{w}" for w in WHEELS],
)  # fmt: skip
DASH_SUBSET_FIELDS = (
    "position_x", "position_y", "position_z", "speed", *[f"tire_temp_{w}" for w in WHEELS], "fuel", "best_lap_time",
    "cur_lap_time", "cur_race_time", "lap_no", "accel", "brake", "clutch", "handbrake", "gear", "steer",
    "norm_driving_line",
)  # fmt: skip
_SUBSET_INDEX = {name: place for place, name in enumerate((*SLED_SUBSET_FIELDS, *DASH_SUBSET_FIELDS))}
_select_sled_subset, _select_dash_subset = (
    itemgetter(*map(block._fields.index, names))
    for block, names in ((Sled, SLED_SUBSET_FIELDS), (Dash, DASH_SUBSET_FIELDS))
)
_FINITE_FIELDS = ("velocity_x", "velocity_y", "velocity_z", "yaw", "angular_velocity_y")
_select_finite_sled = itemgetter(*map(_SUBSET_INDEX.__getitem__, _FINITE_FIELDS))
_select_finite_dash = itemgetter(
    *map(_SUBSET_INDEX.__getitem__, (*_FINITE_FIELDS, "position_x", "position_z", "speed"))
)


# The values of SLED_SUBSET_FIELDS and, if the packet has a dash, DASH_SUBSET_FIELDS. A plain tuple: CPython unpacks it
# faster than a named tuple.
StateSubset = tuple[Any, ...]
IS_RACE_ON, TIMESTAMP_MS, CUR_RACE_TIME, GEAR = (
    _SUBSET_INDEX[name] for name in ("is_race_on", "timestamp_ms", "cur_race_time", "gear")
)
SLED_SUBSET_SIZE = len(SLED_SUBSET_FIELDS)  # length of a subset without a dash


def race_time(subset: StateSubset) -> float:
    """Return CurrentRaceTime, s; NaN without a dash."""
    return math.nan if len(subset) == SLED_SUBSET_SIZE else float(subset[CUR_RACE_TIME])


def is_finite(subset: StateSubset) -> bool:
    """Return whether velocity, yaw, yaw rate and, with a dash, position and speed are finite."""
    total: float = sum((_select_finite_sled if len(subset) == SLED_SUBSET_SIZE else _select_finite_dash)(subset))
    return total - total == 0.0


def _build_subset_struct(*blocks: type) -> struct.Struct:
    """Return the structure of blocks that skips the fields outside the subset."""
    codes = ((wire.code, name) for block in blocks for name, wire in block_fields(block).items())
    return struct.Struct(
        "<" + "".join(code if name in _SUBSET_INDEX else f"{struct.calcsize('<' + code)}x" for code, name in codes)
    )


_SUBSET_STRUCTS = {
    "sled": _build_subset_struct(Sled),
    "dash": _build_subset_struct(Sled, Dash),
    "fh": _build_subset_struct(Sled, HorizonBlock, Dash),
}
_SUBSET_STRUCTS["fm2023"] = _SUBSET_STRUCTS["dash"]
_SUBSET_DECODERS = {size: _SUBSET_STRUCTS[form].unpack_from for size, form in FORMATS.items()}


def decode_state_subset(data: bytes) -> StateSubset:
    """Decode the fields of a datagram that CarState needs, in a quarter of the time of `decode_packet`.

    Raises:
        WireError: the length is not that of any title.
    """
    unpack = _SUBSET_DECODERS.get(len(data))
    if unpack is None:
        raise _unknown_length_error(len(data))
    return unpack(data)


def select_state_subset(packet: Packet) -> StateSubset:
    """Return the fields of a decoded packet that CarState needs."""
    subset: StateSubset = _select_sled_subset(packet.sled)
    return subset if packet.dash is None else subset + _select_dash_subset(packet.dash)


def decode_packet(data: bytes) -> Packet:
    """Decode a datagram by its length. Any bytes of a known length are valid.

    Raises:
        WireError: the length is not that of any title.
    """
    size = len(data)
    form = FORMATS.get(size)
    if form == "fh":
        v = _HORIZON.unpack_from(data)
        gap = _new(HorizonBlock, v[_N_SLED : _N_SLED + _N_GAP])
        dash = _new(Dash, v[_N_SLED + _N_GAP :])
        return _new(Packet, (_new(Sled, v[:_N_SLED]), gap, dash, None, data[_HORIZON.size :]))
    if form == "sled":
        return _new(Packet, (_new(Sled, _SLED.unpack(data)), None, None, None, b""))
    if form is None:
        raise _unknown_length_error(size)
    v = _DASH.unpack_from(data)
    extra = _new(MotorsportBlock, _EXTRA.unpack_from(data, _DASH.size)) if form == "fm2023" else None
    return _new(Packet, (_new(Sled, v[:_N_SLED]), None, _new(Dash, v[_N_SLED:]), extra, b""))


def _find_misfit(arguments: tuple[Packet]) -> str:
    """Return the name of the first field of a packet that does not fit its wire type."""
    for block in arguments[0][:4]:
        wires = block_fields(type(block)) if block is not None else {}
        for (name, wire), value in zip(wires.items(), block or (), strict=True):
            try:
                struct.Struct("<" + wire.code).pack(value)
            except (struct.error, OverflowError, TypeError):
                return name
    return ""


@packs_fields(_find_misfit)
def encode_packet(packet: Packet) -> bytes:
    """Encode a packet; its blocks determine the format.

    Raises:
        WireError: a number does not fit its field, or no format has these blocks together.
    """
    sled, gap, dash, extra, tail = packet
    if (dash is None and (gap or extra)) or (gap and extra) or (tail and not gap):
        there = [name for name, block in zip(packet._fields, packet, strict=True) if block]
        raise WireError("no format has these blocks together", got=", ".join(there))
    if dash is None:
        return _SLED.pack(*sled)
    if gap is not None:
        return _HORIZON.pack(*sled, *gap, *dash) + tail
    data = _DASH.pack(*sled, *dash)
    return data if extra is None else data + _EXTRA.pack(*extra)


def _unknown_length_error(size: int) -> WireError:
    return WireError("not a Forza datagram", expected=f"{expected_lengths()} bytes", got=str(size))


def expected_lengths() -> str:
    """Return the known lengths as text."""
    return ", ".join(map(str, sorted(FORMATS)))
