"""What channels of lap logs are, by their names and units: `channel_names.toml`, and a file of the user's beside it."""

import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import platformdirs

from trailbrake.errors import DataError
from trailbrake.state.tables import STATE_COLUMNS
from trailbrake.user_files import parse_toml, read_user_text

LOG_COLUMNS = {
    "time_of_day": "s",
    "latitude": "rad",
    "longitude": "rad",
    "distance": "m",
    "lap_share": "1",
    "last_lap_time": "s",
    "surface": "1",
}  # and their SI units
SI_UNITS = {column.name: column.quantity.unit for column in STATE_COLUMNS} | LOG_COLUMNS
_IN_BRACKETS = re.compile(r"\s*[\[(]([^\])]*)[\])]")
_SOURCE = re.compile(r"\s*\*\w+$")  # behind a name of RaceChrono's second format


class ChannelRule(NamedTuple):
    """What a channel is: a column, and the unit where the log states none ("" for not known)."""

    column: str
    unit: str


class LogDialect(NamedTuple):
    """A tool that is known by columns in its header: what it names otherwise, and its rows per second (NaN)."""

    title: str
    header: frozenset[str]
    columns: dict[str, ChannelRule]
    row_rate: float


class ChannelNames(NamedTuple):
    """Both tables: rules by plain names in the order of preference, dialects, and factors by SI unit and unit."""

    rules: dict[str, ChannelRule]
    dialects: list[LogDialect]
    units: dict[str, dict[str, float]]

    def choose_dialect(self, names: Sequence[str]) -> LogDialect | None:
        """Return the dialect whose columns are all among `names`; None for none."""
        plain = {plain_name(split_unit(name)[0]) for name in names}
        return next((dialect for dialect in self.dialects if dialect.header <= plain), None)

    def find_rule(self, name: str, dialect: LogDialect | None = None) -> ChannelRule | None:
        """Return what a channel is by its name; None where it means nothing here."""
        plain = plain_name(split_unit(name)[0])
        if dialect is not None and plain in dialect.columns:
            return dialect.columns[plain] if dialect.columns[plain].column else None
        rule = self.rules.get(plain)
        if rule is None and (found := self._split_suffix(name)) is not None:
            rule = self.rules.get(plain_name(found[0]))
        return rule

    def find_unit(self, name: str) -> str:
        """Return the unit in the name of a channel: in brackets, or behind an underscore; "" for none."""
        unit = split_unit(name)[1]
        if unit or plain_name(name) in self.rules:
            return unit
        found = self._split_suffix(name)
        return found[1] if found is not None else ""

    def _split_suffix(self, name: str) -> tuple[str, str] | None:
        base, mark, unit = name.strip().rpartition("_")
        if not mark or not base:
            return None
        known = any(plain_unit(unit) in units for units in self.units.values())
        return (base, unit) if known else None

    def find_factor(self, column: str, unit: str) -> float | None:
        """Return by what values of a unit are multiplied; None where the column does not know the unit."""
        return self.units.get(SI_UNITS[column], {}).get(plain_unit(unit))


def plain_name(name: str) -> str:
    """Return the letters and digits of a name in lower case, without the `m_` of members in packets of games."""
    return "".join(c for c in name.lower().removeprefix("m_") if c.isalnum())


def plain_unit(unit: str) -> str:
    """Return a unit in lower case, without spaces, with ^2 for the square."""
    return unit.lower().replace(" ", "").replace("²", "^2") if unit.lower() != "unix time" else "unix time"


def split_unit(name: str) -> tuple[str, str]:
    """Return the name of a channel without the unit in brackets, and that unit; "" for none."""
    found = _IN_BRACKETS.search(name)
    unit = found[1].strip() if found else ""
    return _SOURCE.sub("", _IN_BRACKETS.sub("", name)), unit


def user_channels_file() -> Path:
    """Return the user's own table: TRAILBRAKE_CHANNELS, else in the user's configuration folder."""
    chosen = os.environ.get("TRAILBRAKE_CHANNELS")
    return (
        Path(chosen)
        if chosen
        else Path(platformdirs.user_config_dir("trailbrake", appauthor=False), "lap_channels.toml")
    )


def load_channel_names() -> ChannelNames:
    """Return the package's table, with the user's before it.

    Raises:
        DataError: the user's file is none; the message names the key.
    """
    path = user_channels_file()
    return _load(path, path.stat().st_mtime_ns if path.is_file() else 0)


@cache
def _load(path: Path, modified: int) -> ChannelNames:
    return read_channel_names(path if modified else None)


def read_channel_names(path: Path | None) -> ChannelNames:
    """Return the package's table, with that of a user's file before it; DataError as `load_channel_names`."""
    own = Path(__file__).with_name("channel_names.toml").read_text("utf-8")
    tables = [(parse_toml(own, "channel_names.toml"), "channel_names.toml")]
    if path is not None:
        tables.insert(0, (parse_toml(read_user_text(path, "table of channels"), str(path)), str(path)))
    made = ChannelNames({}, [], {})
    for table, where in tables:
        try:
            _add_table(made, table)
        except (AttributeError, TypeError, ValueError, KeyError) as error:
            wanted = "[units.UNIT], [names] and [dialects.NAME] as in the package's own"
            raise DataError("no table of channels", where=where, expected=wanted, got=str(error)) from None
    return made


def _add_table(made: ChannelNames, table: dict[str, Any]) -> None:
    for unit, factors in table.get("units", {}).items():
        known = made.units.setdefault(unit, {})
        known.update(
            {plain_unit(name): float(factor) for name, factor in factors.items() if plain_unit(name) not in known}
        )
    for column, names in table.get("names", {}).items():
        for name in names:
            bare, unit = split_unit(name)
            made.rules.setdefault(plain_name(bare), _make_rule(column, unit))
    for title, dialect in table.get("dialects", {}).items():
        columns = {plain_name(name): _make_rule(*split_unit(column)) for name, column in dialect["columns"].items()}
        header = frozenset(map(plain_name, dialect["header"]))
        made.dialects.append(LogDialect(title, header, columns, float(dialect.get("rate_hz", "nan"))))


def _make_rule(column: str, unit: str) -> ChannelRule:
    if column and column not in SI_UNITS:
        raise ValueError(f"no column {column}")
    return ChannelRule(column, unit)
