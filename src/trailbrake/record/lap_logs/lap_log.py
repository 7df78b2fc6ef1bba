"""`LapLog`: what a reader finds in a lap log of others, before it becomes a recording of ours."""

import math
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array
from trailbrake.record.lap_logs.channel_names import ChannelNames

SHORTEST_STEP = 1e-5  # s between samples
DATE_FORMS = ("%d/%m/%Y %H:%M:%S", "%d/%m/%Y %H:%M")  # as MoTeC's logs and tables of others have them


class LogChannel(NamedTuple):
    """A channel of a log that is read.

    Attributes:
        name: in the log.
        unit: as the log states it, "" where it does not.
        column: what it is, as `channel_names` has it.
        time: (n,) s; empty where the log has no time.
        values: (n,) in its unit; NaN where the log has none.
    """

    name: str
    unit: str
    column: str
    time: Array
    values: Array

    @property
    def rate(self) -> float:
        """Samples per second, of those that are known; NaN without a time."""
        known = np.flatnonzero(np.isfinite(self.values))
        if len(known) < 2 or not len(self.time):
            return float("nan")
        steps = np.diff(self.time[known])
        steps = steps[steps > 0.0]  # not NaN, and not where a second session begins
        return float(len(steps) / steps.sum()) if steps.sum() > SHORTEST_STEP else float("nan")


@dataclass
class LapLog:
    """What a reader found.

    Attributes:
        kind: what it is, in words.
        channels: what is read; the first one of a column counts.
        about: track, car, driver, started, as far as the log states them.
        unused: "name [unit]" of the channels that mean nothing here.
        beacons: s of the channels' time at which laps ended, where the log lists them.
        lap_times: s by the number of the lap, where the log lists them.
        row_rate: rows per second, of a tool whose rows are even and without a time; NaN: not known.
        notes: one line each, of what was left out or decided.
    """

    kind: str
    channels: list[LogChannel]
    about: dict[str, str] = field(default_factory=dict)
    unused: list[str] = field(default_factory=list)
    beacons: list[float] = field(default_factory=list)
    lap_times: dict[int, float] = field(default_factory=dict)
    row_rate: float = float("nan")
    notes: list[str] = field(default_factory=list)


def format_date(text: str) -> str:
    """Return a date and time of day in the form of ISO 8601; `text` itself where it has no form that tools write."""
    for form in DATE_FORMS:
        with suppress(ValueError):
            return datetime.strptime(text, form).isoformat()
    return text


def parse_moment(text: str) -> float:
    """Return s since 1970 of a moment of ISO 8601 (UTC where it names no zone); NaN for other text."""
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return math.nan


@dataclass
class LogWork:
    """A log on its way to our columns, with what was decided."""

    log: LapLog
    where: str
    names: ChannelNames
    columns: dict[str, Array] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)  # as the log states them
    labels: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def rename(self, column: str, name: str) -> str:
        """Make another column of one; return the name."""
        self.columns[name] = self.columns.pop(column)
        self.units[name], self.labels[name] = self.units.pop(column), self.labels.pop(column)
        return name

    def leave_out(self, column: str, why: str) -> None:
        """Take a column out, for a reason."""
        self.left_out.append(f"{self.labels.get(column, column)}: {why}")
        del self.columns[column]
