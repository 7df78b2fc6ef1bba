"""Gains of drivers in a file (TOML), one table a driver; `trailbrake tune` writes it, `drive --config` reads it.

    [gains.lane_keep]
    speed = 17.88  # m/s
    steer_p = 3.0

A driver has gains if its class has `Gains`, a frozen dataclass of `quantity` fields with defaults and ranges, and its
constructor takes one: `Driver(gains)`. `drive --gain speed=15` sets single ones. A plain number with a default is a
gain as well; it has no range, so that `tune` cannot search it.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trailbrake.errors import DataError, UsageError, suggest_names
from trailbrake.state.fields import Quantity
from trailbrake.user_files import parse_toml, read_user_text

TABLE = "gains"


def read_gains(path: Path) -> dict[str, dict[str, Any]]:
    """Return {driver: {gain: value}} of a file; {} where it has no gains. The values are not checked.

    Raises:
        UsageError: the file cannot be read.
        DataError: it is too large or no TOML, or its gains are no tables.
    """
    data = parse_toml(read_user_text(path, "configuration"), str(path))
    tables = data.get(TABLE, {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise DataError("gains are no tables", where=str(path), expected=f"[{TABLE}.DRIVER] with numbers below")
    return tables


def parse_gains(texts: Sequence[str], where: str = "--gain") -> dict[str, float]:
    """Return {name: value} of texts KEY=VALUE, whole numbers as int. Names and ranges are not checked.

    Raises:
        UsageError: one is no such text, or its value is no finite number.
    """
    values: dict[str, float] = {}
    value: float
    for text in texts:
        name, _, number = text.partition("=")
        try:
            value = int(number) if number.strip().lstrip("+-").isdecimal() else float(number)
            values[name.strip().replace("-", "_")] = value
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise UsageError("no constant", where=f"{where} {text}", expected="KEY=NUMBER, as speed=15")
    return values


def fit_constant(name: str, value: float, default: Any, where: str) -> Any:
    """Return `value` in the type of `default`: bool, int or float; as it is where the default is no number.

    Raises:
        UsageError: the type cannot have the value; `where` names flag or file.
    """
    kind = type(default) if isinstance(default, int | float) else type(value)
    if kind(value) != value:
        raise UsageError(f"{name} cannot be", where=where, got=f"{value:g}",
                         expected="1 or 0" if kind is bool else "a whole number")  # fmt: skip
    return kind(value)


def declared_gains(cls: Any) -> dict[str, Quantity]:
    """Return {name: Quantity} of the gains in `cls`, a driver's `Gains`; without a range those that declare none.

    Raises:
        DataError: it is no dataclass.
    """
    if not dataclasses.is_dataclass(cls):
        raise DataError("Gains is no dataclass", where=getattr(cls, "__module__", "driver"), got=repr(cls)[:80])
    plain = Quantity("1", "a constant of the driver", -math.inf, math.inf, "")
    return {
        f.name: f.metadata.get("quantity", plain)
        for f in dataclasses.fields(cls)
        if "quantity" in f.metadata or isinstance(f.default, int | float)
    }


def build_gains(cls: Any, table: Mapping[str, Any], where: str) -> Any:
    """Return `cls`, a driver's `Gains`, with the values of `table` over its defaults.

    Raises:
        DataError: an unknown gain, or a value that is no number within its range; `where` names file and table.
        UsageError: a value that the type of a plain field cannot have.
    """
    known = declared_gains(cls)
    for name, value in table.items():
        if name not in known:
            raise DataError(f"no gain {name}", where=where, hint=suggest_names(name, list(known)))
        q = known[name]
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not number or not q.lo <= value <= q.hi:
            raise DataError(
                f"{name} cannot be", where=where, expected=f"{q.lo:g} .. {q.hi:g} {q.unit}", got=repr(value)
            )
    defaults = {f.name: math.nan if "quantity" in f.metadata else f.default for f in dataclasses.fields(cls)}
    return cls(**{name: fit_constant(name, value, defaults[name], where) for name, value in table.items()})


def format_gains(driver: str, gains: Any, about: str) -> str:
    """Return the file's text for one driver: a comment line `about`, then every gain with its unit and meaning."""
    lines = [f"# {about}", f"[{TABLE}.{driver}]"]
    for name, q in declared_gains(type(gains)).items():
        lines.append(f"{name} = {getattr(gains, name):.6g}  # {q.unit}; {q.meaning}")
    return "\n".join(lines) + "\n"
