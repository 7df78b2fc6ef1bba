"""Writes packets as text tables (TSV and CSV, with the same cells as an existing recorder), and reads them back.

Source: protocol page forza-data-out, section 4.2. CSV: commas, CR LF once, a float as the shortest text of the double
that its 32 bits are. TSV: tabs, LF, floats with six decimals. A header line of keys.

The columns of recorded tables, the cells of a packet's row, and the fields of CarState that the columns determine.

The other fields are NaN or None in what is read from a table: a table's row is encoded as a packet, in which a field
without a column is 0. Read as a state, that 0 would count as a measured value.

Source: protocol page forza-data-out, sections 2 and 4. The columns of the game's fields have the names in `blocks`.
"""

import csv
import gzip
import io
import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from ctypes import c_float
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from trailbrake.errors import DataError, OsErrors, UsageError, suggest_names
from trailbrake.sims.forza import codec
from trailbrake.sims.forza.blocks import Dash, HorizonBlock, MotorsportBlock, Sled, block_fields
from trailbrake.sims.forza.codec import TAIL, Packet
from trailbrake.sims.forza.convert import state_from_wire
from trailbrake.state import CarState
from trailbrake.state.tables import STATE_COLUMNS, state_row
from trailbrake.user_files import decode_user_text, open_user_file, read_user_file

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
_INTEGER_COLUMNS = {
    key
    for block in (Sled, HorizonBlock, Dash, MotorsportBlock)
    for key, wire in block_fields(block).items()
    if wire.code != "f"
}  # fmt: skip
MAX_COLUMNS = 1000  # of a table; a packet has about a hundred fields
_HEAD_BYTES = 65536  # in which the header of a table stands
MAX_BYTES = 4 << 30  # of a table, unpacked: some 20 h of rows
_STRIP_PREFIX = "wheel_on_rumble_strip_"


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


def has_packet_columns(path: Path) -> bool:
    """Return whether half of the columns of a table, or more, are those of packets; False where it cannot be read."""
    try:
        with open_user_file(path, "table") as file:
            data = file.read(_HEAD_BYTES)
    except (OSError, UsageError):
        return False
    if data[:2] == b"\x1f\x8b":
        try:
            data = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, _HEAD_BYTES)
        except zlib.error:
            return False
    head = data.decode("utf-8-sig", "replace").partition("\n")[0].strip()
    cells = [cell.strip() for cell in head.split("\t" if "\t" in head else ",")]
    known = set(DEFAULT_COLUMNS["fm2023"]) | set(DEFAULT_COLUMNS["fh"])
    return sum(cell in known for cell in cells) >= 0.5 * len(cells)


class TableWriter:
    """Writes rows to a file, line by line, so that a killed recorder leaves complete lines.

    Args:
        path: the file.
        keys: columns in order.
        form: "csv" or "tsv".
        append: append to the file, without a header.

    Raises:
        UsageError: the file cannot be opened.
    """

    def __init__(self, path: Path, keys: Sequence[str], form: str, append: bool = False) -> None:
        with OsErrors("cannot write the table", where=str(path)):
            path.parent.mkdir(parents=True, exist_ok=True)
            # newline "": no translation of line ends; else Windows would write CR CR LF in a CSV.
            self._file: TextIO = path.open("a" if append else "w", buffering=1, newline="", encoding="utf-8")
        self._csv = csv.writer(self._file) if form == "csv" else None
        self.rows = 0
        if not append:
            self._write_line(list(keys))

    def write(self, row: list[TableCell]) -> None:
        """Write one row."""
        self._write_line(row if self._csv is not None else [_format_tsv_cell(cell) for cell in row])
        self.rows += 1

    def _write_line(self, cells: Sequence[Any]) -> None:
        if self._csv is not None:
            self._csv.writerow(cells)
        else:
            self._file.write("\t".join(cells) + "\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _format_tsv_cell(cell: TableCell) -> str:
    return "" if cell is None else f"{cell:f}" if isinstance(cell, float) else str(cell)


class TableReader:
    """Reads the packets of a table.

    Missing columns are 0. A table does not name its format: without dash columns it is sled, with tyre wear fm2023,
    else fh. Empty lines are skipped. A rumble strip of 1.4e-45, an integer 1 read as a float, is 1. The file may be
    compressed with gzip.

    Attributes:
        keys: its columns.
        build_packet: makes of a row's cells a packet and its time of arrival (ns since 1970, or None).

    Raises:
        DataError: the file cannot be read, or its header has no known column.
    """

    def __init__(self, path: Path) -> None:
        text = _read_table_text(path)
        head = text.partition("\n")[0]
        self._path = path
        self._rows = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if "\t" in head else ",")
        try:
            self.keys = [cell.strip() for cell in next(self._rows, [])]
        except csv.Error as error:
            raise DataError(f"no table of Forza packets: {error}", where=f"{path}:1") from error
        if len(self.keys) > MAX_COLUMNS:
            raise DataError("too many columns", where=f"{path}:1", expected=f"{MAX_COLUMNS} at most",
                            got=str(len(self.keys)))  # fmt: skip
        if not set(self.keys) & set(DEFAULT_COLUMNS["fm2023"]):
            raise DataError(
                "no table of Forza packets", where=f"{path}:1", expected="a line of column names", got=head[:60]
            )
        self.build_packet = _make_packet_builder(self.keys)

    def read_packets(self) -> Iterator[tuple[Packet, int | None]]:
        """Yield the packets, and their times of arrival (ns since 1970), None if the table has none.

        Raises:
            DataError: a cell is not a number; the message names the line.
        """
        while True:
            try:
                cells = next(self._rows, None)
                if cells is None:
                    return
                if not any(cells):
                    continue
                packet = self.build_packet(cells)
            except (ValueError, OverflowError, IndexError, OSError, csv.Error) as error:  # OSError: a time before 1970
                raise DataError(f"no row of packets: {error}", where=f"{self._path}:{self._rows.line_num}") from error
            yield packet


def _read_table_text(path: Path) -> str:
    data = read_user_file(path, "table", MAX_BYTES)
    if data[:2] == b"\x1f\x8b":
        try:
            with gzip.open(io.BytesIO(data)) as packed:
                data = packed.read(MAX_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError("cannot unpack the table", where=str(path), got=str(error)) from error
        if len(data) > MAX_BYTES:
            raise DataError("the table is too large", where=str(path), expected=f"{MAX_BYTES} bytes unpacked at most")
    return decode_user_text(data, str(path))


class _CellParser(NamedTuple):
    """Parses one field of a row.

    Attributes:
        column: index of the cell; None if the table does not have the column.
        is_integer: whether the field is an integer.
        is_strip: whether it is a rumble strip, which counts as 1 for any number but 0.
    """

    column: int | None
    is_integer: bool
    is_strip: bool

    def parse_cell(self, cells: list[str]) -> int | float:
        """Return the field's value; 0 for a missing column or an empty cell."""
        if self.column is None or cells[self.column] == "":
            return 0 if self.is_integer else 0.0
        value = float(cells[self.column])
        if not self.is_integer:
            return c_float(value).value
        return int(value != 0.0) if self.is_strip else int(cells[self.column])


def _make_block_builder(kind: Any, indices: dict[str, int]) -> Any:
    """Return a function from a row's cells to a block; None if the table has no column of the block."""
    parsers = [
        _CellParser(indices.get(key), key in _INTEGER_COLUMNS, key.startswith(_STRIP_PREFIX)) for key in kind._fields
    ]

    def build_block(cells: list[str]) -> Any:
        return kind._make(parser.parse_cell(cells) for parser in parsers)

    return build_block if any(parser.column is not None for parser in parsers) else None


def _make_packet_builder(keys: list[str]) -> Callable[[list[str]], tuple[Packet, int | None]]:
    """Return a function from a row's cells to its packet and its time of arrival (ns since 1970, or None)."""
    indices = {key: i for i, key in enumerate(keys)}
    sled, gap, dash, extra = (
        _make_block_builder(kind, indices) for kind in (Sled, HorizonBlock, Dash, MotorsportBlock)
    )
    received, wall_clock = indices.get("recv_time_ns"), indices.get("wall_clock")
    lacks_speed = "speed" not in indices and {"velocity_x", "velocity_y", "velocity_z"} <= set(indices)

    def build_packet(cells: list[str]) -> tuple[Packet, int | None]:
        if len(cells) != len(keys):
            raise ValueError(f"expected {len(keys)} cells, got {len(cells)}")
        received_ns = None
        if received is not None and cells[received]:
            received_ns = int(cells[received])
        elif wall_clock is not None and cells[wall_clock]:
            received_ns = round(datetime.fromisoformat(cells[wall_clock]).timestamp() * 1e9)
        sled_block = sled(cells) if sled else Sled(is_race_on=1)
        if "is_race_on" not in indices:  # tables contain only packets of a driven car
            sled_block = sled_block._replace(is_race_on=1)
        if not (dash or gap or extra):
            return Packet(sled_block), received_ns
        dash_block = dash(cells) if dash else Dash()
        if lacks_speed:
            velocity = sled_block.velocity_x, sled_block.velocity_y, sled_block.velocity_z
            dash_block = dash_block._replace(speed=math.hypot(*velocity))
        if extra:
            return Packet(sled_block, dash=dash_block, extra=extra(cells)), received_ns
        gap_block = gap(cells) if gap else HorizonBlock()
        return Packet(sled_block, gap=gap_block, dash=dash_block, tail=TAIL), received_ns

    return build_packet
