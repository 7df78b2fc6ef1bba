"""Which fields of CarState the columns of a table determine; the others are NaN or None in what is read from it.

A table's row is encoded as a packet, in which a field without a column is 0. Read as a state, that 0 would count as a
measured value.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from trailbrake.sims.forza import codec
from trailbrake.sims.forza.blocks import Dash, HorizonBlock, MotorsportBlock, Sled, block_fields
from trailbrake.sims.forza.codec import Packet
from trailbrake.sims.forza.convert import state_from_wire
from trailbrake.sims.forza.table_columns import RECORDER_COLUMNS
from trailbrake.state import CarState
from trailbrake.state.tables import STATE_COLUMNS, state_row

_PACKET_KEYS = {key for block in (Sled, HorizonBlock, Dash, MotorsportBlock) for key in block_fields(block)}
_OF_THE_STREAM = frozenset({"time", "sequence", "age", "phase"})  # not from a packet's fields


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
