"""The columns of recorded tables, and the cells of a packet's row.

Source: protocol page forza-data-out, sections 2 and 4. The columns of the game's fields have the names in `blocks`.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from trailbrake.errors import UsageError, suggest_names
from trailbrake.sims.forza.blocks import Dash, HorizonBlock, MotorsportBlock, Sled
from trailbrake.sims.forza.codec import Packet

TableCell = int | float | str | None  # None: the packet's format does not have the field

_FIELD_INDEX = {
    key: (block, index)
    for block, fields in enumerate((Sled._fields, HorizonBlock._fields, Dash._fields, MotorsportBlock._fields))
    for index, key in enumerate(fields)
}
RECORDER_COLUMNS = ("packet_len", "recv_time_ns", "wall_clock")  # not sent by the game
COLUMN_KEYS = (*_FIELD_INDEX, *RECORDER_COLUMNS)

# The columns without a list of columns, in packet order. Tables of Horizon titles never have the Horizon block.
DEFAULT_COLUMNS: dict[str, tuple[str, ...]] = {
    "sled": Sled._fields,
    "dash": Sled._fields + Dash._fields,
    "fh": Sled._fields + Dash._fields,
    "fm2023": Sled._fields + Dash._fields + MotorsportBlock._fields,
}


def check_columns(keys: Sequence[str], where: str) -> tuple[str, ...]:
    """Return `keys`; UsageError with the nearest known names for the first unknown key."""
    for key in keys:
        if key not in COLUMN_KEYS:
            raise UsageError(
                "no such parameter", where=where, got=str(key), hint=suggest_names(str(key), list(COLUMN_KEYS))
            )
    return tuple(keys)


def format_wall_clock(received_ns: int) -> str:
    """Return the local time of `received_ns` (ns since 1970) in the form 2026-11-21 14:30:05.000123."""
    return datetime.fromtimestamp(received_ns / 1e9).strftime("%Y-%m-%d %H:%M:%S.%f")


def make_row_builder(keys: Sequence[str]) -> Callable[[Packet, int, int], list[TableCell]]:
    """Return a function (packet, ns of its arrival since 1970, its length) -> cells in the order of `keys`."""

    def make_cell_reader(key: str) -> Callable[[Packet, int, int], Any]:
        if key == "packet_len":
            return lambda packet, received_ns, length: length
        if key == "recv_time_ns":
            return lambda packet, received_ns, length: received_ns
        if key == "wall_clock":
            return lambda packet, received_ns, length: format_wall_clock(received_ns)
        block, index = _FIELD_INDEX[key]

        def read_field(packet: Packet, received_ns: int, length: int) -> Any:
            values = packet[block]
            return values[index] if values is not None else None

        return read_field

    readers = [make_cell_reader(key) for key in keys]
    return lambda packet, received_ns, length: [read(packet, received_ns, length) for read in readers]
