"""The CSV file that lists the signals of generation 2, both ways, in the order of the message.

Source: protocol page beamng-coupling, section 11. Only the lists are read: where the ends are and how long they take
are options of ours, whatever the file's `connection` rows say.
"""

import csv
from dataclasses import dataclass
from pathlib import Path

from trailbrake.errors import DataError, UsageError

HEADER = ("Section", "Subsection", "Parameter Name", "Parameter Value", "Type", "Description", "Units", "Notes")
CHANNELS = ("value", "multiply", "add", "freeze")
_SECTIONS = {"signalTo", "signalFrom", "vehicle", "connection"}


@dataclass(frozen=True, slots=True)
class Signal:
    """One double of a message.

    Attributes:
        group: `Kinematics`, `Driver`, `Wheels`, ...
        name: of the signal.
        channel: what the double is to the signal, one of CHANNELS; from the controller only.
        line: of the file.
    """

    group: str
    name: str
    channel: str
    line: int


@dataclass(frozen=True, slots=True)
class Contract:
    """Which signals go each way.

    Attributes:
        to: from the simulator to the controller.
        back: from the controller to the simulator.
        where: the file, for errors.
    """

    to: tuple[Signal, ...]
    back: tuple[Signal, ...]
    where: str


def parse(text: str, where: str) -> Contract:
    """Return the contract in `text`.

    Raises:
        DataError: it is none; the message names file and line.
    """
    lines = text.lstrip("\ufeff").splitlines()
    rows = csv.reader(lines)
    header = tuple(cell.strip() for cell in next(rows, []))
    if header[: len(HEADER)] != HEADER:
        raise DataError("is no contract", where=f"{where}:1", expected=",".join(HEADER), got=",".join(header)[:80])
    signals: dict[str, list[Signal]] = {"signalTo": [], "signalFrom": []}
    seen: set[tuple[str, str, str]] = set()
    for row in rows:
        place = f"{where}:{rows.line_num}"
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if cells[0] not in _SECTIONS:
            raise DataError("no such section", where=place, expected=", ".join(sorted(_SECTIONS)), got=cells[0])
        if cells[0] not in signals:
            continue
        if len(cells) < 4 or not cells[2]:
            raise DataError("a signal without a name", where=place, expected=",".join(HEADER[:4]), got=",".join(cells))
        channel = cells[3].lower() if cells[0] == "signalFrom" else ""
        if cells[0] == "signalFrom" and channel not in CHANNELS:
            raise DataError("no such channel", where=place, expected=", ".join(CHANNELS), got=cells[3])
        if (key := (cells[0], cells[2], channel)) in seen:
            raise DataError(f"{cells[2]} {channel}".strip() + " is listed twice", where=place)
        seen.add(key)
        signals[cells[0]].append(Signal(cells[1], cells[2], channel, rows.line_num))
    if not signals["signalTo"] or not signals["signalFrom"]:
        raise DataError("lists no signals one way", where=where, expected="rows of signalTo and of signalFrom")
    return Contract(tuple(signals["signalTo"]), tuple(signals["signalFrom"]), where)


def load(path: Path) -> Contract:
    """Return the contract in a file.

    Raises:
        UsageError: there is no such file.
        DataError: it is no contract.
    """
    try:
        return parse(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise UsageError("cannot be read", where=f"--contract {path}", got=str(error.strerror)) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"is no text of comma-separated values: {error}", where=str(path)) from error
