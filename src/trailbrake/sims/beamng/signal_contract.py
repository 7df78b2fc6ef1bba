"""The contract of generation 2: a CSV file that lists the signals of both messages in their order.

Source: protocol page beamng-coupling, section 11. The order of the rows is the order in the messages, so a message can
be divided into its signals whatever their meaning is. The `connection` rows hold the times that the game uses; rows of
other sections (`vehicle`, `sensors`, ...) do not change the messages and are ignored.
"""

import csv
import math
from dataclasses import dataclass
from pathlib import Path

from trailbrake.errors import DataError
from trailbrake.user_files import read_user_text

HEADER = ("Section", "Subsection", "Parameter Name", "Parameter Value", "Type", "Description", "Units", "Notes")
CHANNELS = ("value", "multiply", "add", "freeze")
_TIMES = {"3rd Party Computation Time": "simulink_time", "Ping Time": "ping_time"}


@dataclass(frozen=True, slots=True)
class ContractSignal:
    """One double of a message.

    Attributes:
        group: `Kinematics`, `Driver`, `Wheels`, ...
        name: of the signal.
        channel: how the double acts on the signal, one of CHANNELS; empty in a state message.
        line: line number in the file.
        description: the file's description of the signal, which usually includes the unit.
    """

    group: str
    name: str
    channel: str
    line: int
    description: str = ""


@dataclass(frozen=True, slots=True)
class SignalContract:
    """The signals of both messages.

    Attributes:
        state_signals: from the simulator to the controller.
        command_signals: from the controller to the simulator.
        where: the file's name, for errors.
        simulink_time: s, the controller's computing time; NaN if the file does not say.
        ping_time: s, the round trip of the network; NaN if the file does not say.
    """

    state_signals: tuple[ContractSignal, ...]
    command_signals: tuple[ContractSignal, ...]
    where: str
    simulink_time: float = math.nan
    ping_time: float = math.nan


def parse_contract(text: str, where: str) -> SignalContract:
    """Return the contract in `text`.

    Raises:
        DataError: the text is not a contract; the message names file and line.
    """
    try:
        return _parse_rows(text, where)
    except csv.Error as error:
        raise DataError(f"is no text of comma-separated values: {error}", where=where) from error


def _parse_rows(text: str, where: str) -> SignalContract:
    lines = text.lstrip("\ufeff").splitlines()
    rows = csv.reader(lines)
    header = tuple(cell.strip() for cell in next(rows, []))
    if header[: len(HEADER)] != HEADER:
        raise DataError("is no contract", where=f"{where}:1", expected=",".join(HEADER), got=",".join(header)[:80])
    signals: dict[str, list[ContractSignal]] = {"signalTo": [], "signalFrom": []}
    times: dict[str, float] = {}
    for row in rows:
        place = f"{where}:{rows.line_num}"
        cells = [cell.strip() for cell in row] + [""] * (len(HEADER) - len(row))
        section, name = cells[0], cells[2]
        if section in signals:
            signals[section].append(_parse_signal(cells, rows.line_num, place))
        elif section.lower().startswith("signal"):
            raise DataError("no such section", where=place, expected=", ".join(signals), got=section)
        elif section == "connection" and name in _TIMES:
            times[_TIMES[name]] = _parse_seconds(cells[3], name, place)
    _check_channels(signals["signalFrom"], where)
    if not signals["signalTo"] or not signals["signalFrom"]:
        raise DataError("lists no signals one way", where=where, expected="rows of signalTo and of signalFrom")
    return SignalContract(tuple(signals["signalTo"]), tuple(signals["signalFrom"]), where, **times)


def _parse_signal(cells: list[str], line: int, place: str) -> ContractSignal:
    section, group, name, value, _, description, *_ = cells
    if not name:
        raise DataError("a signal without a name", where=place, expected=",".join(HEADER[:4]), got=",".join(cells[:4]))
    channel = value.lower() if section == "signalFrom" else ""
    if section == "signalFrom" and channel not in CHANNELS:
        raise DataError("no such channel", where=place, expected=", ".join(CHANNELS), got=value)
    return ContractSignal(group, name, channel, line, description)


def _parse_seconds(text: str, name: str, place: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0.0 < seconds < math.inf:
        raise DataError(f"{name} is no time", where=place, expected="seconds, above 0", got=text)
    return seconds


def _check_channels(signals: list[ContractSignal], where: str) -> None:
    """Raise DataError if a channel of a signal is listed twice: the game would use the last one alone."""
    seen: set[tuple[str, str, str]] = set()
    for signal in signals:
        if (key := (signal.group, signal.name, signal.channel)) in seen:
            raise DataError(f"{signal.name} {signal.channel} is listed twice", where=f"{where}:{signal.line}")
        seen.add(key)


def load_contract(path: Path) -> SignalContract:
    """Return the contract in a file.

    Raises:
        UsageError: the file cannot be read.
        DataError: the file is not a contract.
    """
    return parse_contract(read_user_text(path, "contract"), str(path))
