"""The columns of recorded tables, the cells of a packet's row, and the fields of CarState that the columns determine.

The other fields are NaN or None in what is read from a table: a table's row is encoded as a packet, in which a field
without a column is 0. Read as a state, that 0 would count as a measured value.

Source: protocol page forza-data-out, sections 2 and 4. The columns of the game's fields have the names in `blocks`.
"""

import math
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from trailbrake.errors import UsageError, suggest_names
from trailbrake.sims.forza import codec
from trailbrake.sims.forza.blocks import Dash, HorizonBlock, MotorsportBlock, Sled, block_fields
from trailbrake.sims.forza.codec import Packet
from trailbrake.sims.forza.convert import state_from_wire
from trailbrake.state import CarState
from trailbrake.state.tables import STATE_COLUMNS, state_row

_PACKET_KEYS = {key for block in (Sled, HorizonBlock, Dash, MotorsportBlock) for key in block_fields(block)}
_OF_THE_STREAM = frozenset({"time", "sequence", "age", "phase"})  # not from a packet's fields
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


class UnknownField(NamedTuple):
    """A field of CarState or, with the number of a wheel, of WheelState."""

    wheel: int | None
    name: str


def find_unknown_fields(
    keys: Sequence[str], build_packet: Callable[[list[str]], tuple[Packet, int | None]]
) -> tuple[UnknownField, ...]:
    """Return the fields that do not change with any column of a table.

    Args:
        keys: the table's columns.
        build_packet: makes a packet of the cells of a row.
    """

    def read_row(cells: list[str]) -> tuple[float, ...]:
        return state_row(state_from_wire(codec.select_state_subset(build_packet(cells)[0])))

    def set_cell(column: int) -> list[str]:
        return ["1" if i == column else "" for i in range(len(keys))]

    blank = read_row([""] * len(keys))
    # Of columns with one name the last counts; those that no packet has change nothing, and a table may have many.
    places = {key: k for k, key in enumerate(keys) if key not in RECORDER_COLUMNS}
    sent = [k for key, k in places.items() if key in _PACKET_KEYS]
    known = {i for k in sent for i, value in enumerate(read_row(set_cell(k))) if _differs(value, blank[i])}
    return tuple(
        UnknownField(int(column.path[7]), column.path[10:])
        if column.path.startswith("wheels[")
        else UnknownField(None, column.name)
        for i, column in enumerate(STATE_COLUMNS)
        if i not in known and not math.isnan(blank[i]) and column.name not in _OF_THE_STREAM
    )


def _differs(value: float, other: float) -> bool:
    return value != other and not (math.isnan(value) and math.isnan(other))


def clear_fields(state: CarState, unknown: Sequence[UnknownField]) -> None:
    """Set fields to NaN, and the gear to None."""
    for wheel, name in unknown:
        if name == "gear":
            state.gear = None
        else:
            setattr(state if wheel is None else state.wheels[wheel], name, math.nan)
