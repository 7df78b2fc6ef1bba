"""Tables of packets as text: TSV and CSV with the cells that the recorder of others writes, and back to packets.

Source: protocol page forza-data-out, section 4.2. CSV: commas, CR LF once, a float as the shortest text of the double
that its 32 bits are. TSV: tabs, LF, floats with six decimals. A header line of keys.
"""

import csv
import gzip
import io
from collections.abc import Iterator, Sequence
from ctypes import c_float
from pathlib import Path
from typing import Any, TextIO

from trailbrake.errors import DataError, UsageError
from trailbrake.sims.forza import columns
from trailbrake.sims.forza.blocks import Dash, Extra, Gap, Sled, fields
from trailbrake.sims.forza.codec import TAIL, Packet
from trailbrake.sims.forza.columns import Cell

_INTEGERS = {
    key for block in (Sled, Gap, Dash, Extra) for key, wire in fields(block).items() if wire.code not in "f"
}  # fmt: skip
_STRIPS = "wheel_on_rumble_strip_"


class TableWriter:
    """Writes rows to a file, line by line: a recorder that is killed leaves whole lines behind.

    Args:
        path: the file.
        keys: columns in order.
        form: "csv" or "tsv".
        append: go on at the end of the file, without a header.

    Raises:
        UsageError: the file cannot be opened.
    """

    def __init__(self, path: Path, keys: Sequence[str], form: str, append: bool = False) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # newline "": the line ends are ours on every system; else Windows would make CR CR LF of CSV's.
            self._file: TextIO = path.open("a" if append else "w", buffering=1, newline="", encoding="utf-8")
        except OSError as error:
            raise UsageError("cannot write the table", where=str(path), got=error.strerror or str(error)) from error
        self._csv = csv.writer(self._file) if form == "csv" else None
        self.rows = 0
        if not append:
            self._line(list(keys))

    def write(self, row: list[Cell]) -> None:
        """Write one row."""
        self._line(row if self._csv is not None else [_tsv(cell) for cell in row])
        self.rows += 1

    def _line(self, cells: Sequence[Any]) -> None:
        if self._csv is not None:
            self._csv.writerow(cells)
        else:
            self._file.write("\t".join(cells) + "\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _tsv(cell: Cell) -> str:
    return "" if cell is None else f"{cell:f}" if isinstance(cell, float) else str(cell)


def read_table(path: Path) -> Iterator[tuple[Packet, int | None]]:
    """Yield the packets of a table, and the ns since 1970 of their arrival where the table has them.

    Columns that are not there are 0. Without any dash column the packets are sled ones, with the wear of tyres those of
    FM2023, else Horizon's: tables do not tell. Empty lines are skipped; rumble strips that were read as floats, which
    makes 1.4e-45 of a 1, are 1. The file may be gzip.

    Raises:
        DataError: no header of known keys, or a cell that is no number, with its line.
    """
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError("cannot read the table", where=str(path), got=str(error)) from error
    head = text.partition("\n")[0]
    rows = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if "\t" in head else ",")
    keys = [cell.strip() for cell in next(rows, [])]
    if not set(keys) & set(columns.DEFAULTS["fm2023"]):
        raise DataError(
            "no table of Forza packets", where=f"{path}:1", expected="a line of column names", got=head[:60]
        )
    make = _packet_maker(keys)
    for cells in rows:
        if not any(cells):
            continue
        try:
            yield make(cells)
        except (ValueError, OverflowError, IndexError) as error:
            raise DataError(f"no row of packets: {error}", where=f"{path}:{rows.line_num}") from error


def _packet_maker(keys: list[str]) -> Any:
    where = {key: i for i, key in enumerate(keys)}

    def block(kind: Any) -> Any:
        places = [(where.get(key), key in _INTEGERS, key.startswith(_STRIPS)) for key in kind._fields]

        def values(cells: list[str]) -> Any:
            return kind._make(_cell(cells, *place) for place in places)

        return values if any(place[0] is not None for place in places) else None

    sled, gap, dash, extra = (block(kind) for kind in (Sled, Gap, Dash, Extra))
    received = where.get("recv_time_ns")

    def make(cells: list[str]) -> tuple[Packet, int | None]:
        if len(cells) != len(keys):
            raise ValueError(f"expected {len(keys)} cells, got {len(cells)}")
        time = int(cells[received]) if received is not None else None
        body = sled(cells) if sled else Sled(is_race_on=1)
        if "is_race_on" not in where:  # only packets of a driven car are written
            body = body._replace(is_race_on=1)
        if not (dash or gap or extra):
            return Packet(body), time
        board = dash(cells) if dash else Dash()
        if extra:
            return Packet(body, dash=board, extra=extra(cells)), time
        return Packet(body, gap(cells) if gap else Gap(), board, tail=TAIL), time

    return make


def _cell(cells: list[str], place: int | None, whole: bool, strip: bool) -> int | float:
    if place is None or cells[place] == "":
        return 0 if whole else 0.0
    if not whole:
        return c_float(float(cells[place])).value
    return int(float(cells[place]) != 0.0) if strip else int(cells[place])
