"""Bytes <-> packets of Forza's "Data Out", with the wire's names, units and oddities.

Source: protocol page forza-data-out, sections 2 and 7. There is no header: the format is told by the length and by
nothing else, for every datagram anew. Signs and units are changed in `convert.py`.
"""

import math
import struct
from operator import itemgetter
from typing import Any, NamedTuple

from trailbrake.errors import WireError
from trailbrake.sims.forza.blocks import WHEELS, Dash, Extra, Gap, Sled, fields, layout

_SLED = layout(Sled)
_DASH = layout(Sled, Dash)
_HORIZON = layout(Sled, Gap, Dash)
_EXTRA = layout(Extra)
_N_SLED, _N_GAP = len(Sled._fields), len(Gap._fields)

# Length of a datagram -> its format. `fh` has a trailing byte (0) in every title but early builds of one; 339 and 340
# are claimed by one tool for more data behind it, which nobody has confirmed: the tail is kept and not looked at.
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
MOST_BYTES = 1024  # of a receive buffer: longer than anything above, so that a longer datagram is seen to be foreign


class Packet(NamedTuple):
    """One datagram. A block that its format does not have is None; `tail` is what follows the last known field."""

    sled: Sled
    gap: Gap | None = None
    dash: Dash | None = None
    extra: Extra | None = None
    tail: bytes = b""

    @property
    def format(self) -> str:
        """Return sled, dash, fh or fm2023."""
        if self.dash is None:
            return "sled"
        return "fh" if self.gap is not None else "fm2023" if self.extra is not None else "dash"


_new = tuple.__new__  # without the keyword machinery of a constructor, which would cost as much as the decoding

# What a state is made of, in the order of the bytes.
SEEN_SLED = (
    "is_race_on", "timestamp_ms", "current_engine_rpm", "acceleration_x", "acceleration_y", "acceleration_z",
    "velocity_x", "velocity_y", "velocity_z", "angular_velocity_x", "angular_velocity_y", "angular_velocity_z", "yaw",
    "pitch", "roll", *[f"wheel_rotation_speed_{w}" for w in WHEELS], *[f"tire_combined_slip_{w}" for w in WHEELS],
)  # fmt: skip
SEEN_DASH = (
    "position_x", "position_y", "position_z", "speed", *[f"tire_temp_{w}" for w in WHEELS], "best_lap_time",
    "cur_lap_time", "cur_race_time", "lap_no", "accel", "brake", "clutch", "handbrake", "gear", "steer",
    "norm_driving_line",
)  # fmt: skip
_PLACE = {name: place for place, name in enumerate((*SEEN_SLED, *SEEN_DASH))}
_SLED_OF, _DASH_OF = (
    itemgetter(*map(block._fields.index, names)) for block, names in ((Sled, SEEN_SLED), (Dash, SEEN_DASH))
)
_STEERED_BY = ("velocity_x", "velocity_y", "velocity_z", "yaw", "angular_velocity_y")
_NUMBERS_SLED = itemgetter(*map(_PLACE.__getitem__, _STEERED_BY))
_NUMBERS_DASH = itemgetter(*map(_PLACE.__getitem__, (*_STEERED_BY, "position_x", "position_z", "speed")))


# The numbers of a packet that our state is made of, flat: those of SEEN_SLED and, if it has a dash, SEEN_DASH. A plain
# tuple, since only those are taken apart fast.
Seen = tuple[Any, ...]
IS_RACE_ON, TIMESTAMP_MS, CUR_RACE_TIME, GEAR = (
    _PLACE[name] for name in ("is_race_on", "timestamp_ms", "cur_race_time", "gear")
)
NO_DASH = len(SEEN_SLED)  # so many numbers there are without one


def race_time(numbers: Seen) -> float:
    """Return CurrentRaceTime, s; NaN without a dash."""
    return math.nan if len(numbers) == NO_DASH else float(numbers[CUR_RACE_TIME])


def is_finite(numbers: Seen) -> bool:
    """Return whether what a driver steers by is made of finite numbers."""
    total: float = sum((_NUMBERS_SLED if len(numbers) == NO_DASH else _NUMBERS_DASH)(numbers))
    return total - total == 0.0


def _glance(*blocks: type) -> struct.Struct:
    """Return the structure of blocks in which all but the seen numbers are jumped over."""
    codes = ((wire.code, name) for block in blocks for name, wire in fields(block).items())
    return struct.Struct(
        "<" + "".join(code if name in _PLACE else f"{struct.calcsize('<' + code)}x" for code, name in codes)
    )


_GLANCES = {"sled": _glance(Sled), "dash": _glance(Sled, Dash), "fh": _glance(Sled, Gap, Dash)}
_GLANCES["fm2023"] = _GLANCES["dash"]
_SEE = {size: _GLANCES[form].unpack_from for size, form in FORMATS.items()}


def decode_seen(data: bytes) -> Seen:
    """Decode of a datagram what a state needs: `seen(decode(data))`, in a quarter of the time.

    Raises:
        WireError: a length that no title sends.
    """
    see = _SEE.get(len(data))
    if see is None:
        raise _foreign(len(data))
    return see(data)


def seen(packet: Packet) -> Seen:
    """Return the numbers of `packet` that our state is made of."""
    numbers: Seen = _SLED_OF(packet.sled)
    return numbers if packet.dash is None else numbers + _DASH_OF(packet.dash)


def decode(data: bytes) -> Packet:
    """Decode a datagram by its length.

    Raises:
        WireError: a length that no title sends. Any other bytes of a known length decode to something.
    """
    size = len(data)
    form = FORMATS.get(size)
    if form == "fh":
        v = _HORIZON.unpack_from(data)
        gap = _new(Gap, v[_N_SLED : _N_SLED + _N_GAP])
        dash = _new(Dash, v[_N_SLED + _N_GAP :])
        return _new(Packet, (_new(Sled, v[:_N_SLED]), gap, dash, None, data[_HORIZON.size :]))
    if form == "sled":
        return _new(Packet, (_new(Sled, _SLED.unpack(data)), None, None, None, b""))
    if form is None:
        raise _foreign(size)
    v = _DASH.unpack_from(data)
    extra = _new(Extra, _EXTRA.unpack_from(data, _DASH.size)) if form == "fm2023" else None
    return _new(Packet, (_new(Sled, v[:_N_SLED]), None, _new(Dash, v[_N_SLED:]), extra, b""))


def encode(packet: Packet) -> bytes:
    """Encode a packet; the blocks that it has make the format.

    Raises:
        WireError: a number that does not fit its field, or blocks that no format has together.
    """
    sled, gap, dash, extra, tail = packet
    if (dash is None and (gap or extra)) or (gap and extra) or (tail and not gap):
        there = [name for name, block in zip(packet._fields, packet, strict=True) if block]
        raise WireError("no format has these blocks together", got=", ".join(there))
    try:
        if dash is None:
            return _SLED.pack(*sled)
        if gap is not None:
            return _HORIZON.pack(*sled, *gap, *dash) + tail
        data = _DASH.pack(*sled, *dash)
        return data if extra is None else data + _EXTRA.pack(*extra)
    except (struct.error, OverflowError, TypeError) as error:
        raise WireError(f"a field does not fit: {error}", where=_misfit(packet)) from error


def _foreign(size: int) -> WireError:
    return WireError("not a Forza datagram", expected=f"{expected_lengths()} bytes", got=str(size))


def expected_lengths() -> str:
    """Return the known lengths as text."""
    return ", ".join(map(str, sorted(FORMATS)))


def _misfit(packet: Packet) -> str:
    """Return the name of the first field that does not fit its wire type."""
    for block in packet[:4]:
        wires = fields(type(block)) if block is not None else {}
        for (name, wire), value in zip(wires.items(), block or (), strict=True):
            try:
                struct.Struct("<" + wire.code).pack(value)
            except (struct.error, OverflowError, TypeError):
                return name
    return ""
