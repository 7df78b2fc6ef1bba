"""Bytes <-> packets of Forza's "Data Out", with the wire's names, units and oddities.

Source: protocol page forza-data-out, sections 2 and 7. There is no header: the format is told by the length and by
nothing else, for every datagram anew. Signs and units are changed in `convert.py`.
"""

import struct
from typing import NamedTuple

from trailbrake.errors import WireError
from trailbrake.sims.forza.blocks import Dash, Extra, Gap, Sled, fields, layout

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
        raise WireError("not a Forza datagram", expected=f"{expected_lengths()} bytes", got=str(size))
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
