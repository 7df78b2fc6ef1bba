"""Column keys of recordings: which there are, and the cells of a packet.

Source: protocol page forza-data-out, sections 2 and 4. The keys of the game's fields are the names in `blocks`.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from trailbrake.errors import UsageError, near
from trailbrake.sims.forza.blocks import Dash, Extra, Gap, Sled
from trailbrake.sims.forza.codec import Packet

Cell = int | float | str | None  # None: the packet's format does not have it

_PLACES = {
    key: (block, index)
    for block, fields in enumerate((Sled._fields, Gap._fields, Dash._fields, Extra._fields))
    for index, key in enumerate(fields)
}
OWN = ("packet_len", "recv_time_ns", "wall_clock")  # not sent by the game
KEYS = (*_PLACES, *OWN)

# What is written when nobody says what, in packet order. Recordings of Horizon titles have never had the gap.
DEFAULTS: dict[str, tuple[str, ...]] = {
    "sled": Sled._fields,
    "dash": Sled._fields + Dash._fields,
    "fh": Sled._fields + Dash._fields,
    "fm2023": Sled._fields + Dash._fields + Extra._fields,
}


def check(keys: Sequence[str], where: str) -> tuple[str, ...]:
    """Return `keys`; UsageError naming `where` and the nearest keys for the first that there is not."""
    for key in keys:
        if key not in KEYS:
            raise UsageError("no such parameter", where=where, got=str(key), hint=near(str(key), list(KEYS)))
    return tuple(keys)


def wall_clock(received_ns: int) -> str:
    """Return the local time of `received_ns` (ns since 1970) as recordings have it: 2026-11-21 14:30:05.000123."""
    return datetime.fromtimestamp(received_ns / 1e9).strftime("%Y-%m-%d %H:%M:%S.%f")


def row_maker(keys: Sequence[str]) -> Callable[[Packet, int, int], list[Cell]]:
    """Return what makes the row of a packet: (packet, ns since 1970 of its arrival, its length) -> cells in order."""

    def one(key: str) -> Callable[[Packet, int, int], Any]:
        if key == "packet_len":
            return lambda packet, received_ns, length: length
        if key == "recv_time_ns":
            return lambda packet, received_ns, length: received_ns
        if key == "wall_clock":
            return lambda packet, received_ns, length: wall_clock(received_ns)
        block, index = _PLACES[key]

        def field(packet: Packet, received_ns: int, length: int) -> Any:
            there = packet[block]
            return there[index] if there is not None else None

        return field

    makers = [one(key) for key in keys]
    return lambda packet, received_ns, length: [make(packet, received_ns, length) for make in makers]
