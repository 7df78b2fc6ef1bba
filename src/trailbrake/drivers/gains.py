"""Gains of drivers in a file (TOML), one table a driver; `trailbrake tune` writes it, `drive --config` reads it.

    [gains.lane_keep]
    speed = 17.88  # m/s
    steer_p = 3.0

A driver has gains where its class has `Gains`, a frozen dataclass of `quantity` fields with defaults and ranges, and
takes one: `Driver(gains)`.
"""

import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trailbrake.errors import DataError, UsageError, near
from trailbrake.state.fields import of

TABLE = "gains"


def read(path: Path) -> dict[str, dict[str, Any]]:
    """Return {driver: {gain: value}} of a file; {} where it has no gains. The values are not checked yet.

    Raises:
        UsageError: the file cannot be read.
        DataError: it is no TOML, or its gains are no tables.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError("cannot read the configuration", where=str(path), got=error.strerror or str(error)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"no valid TOML: {error}", where=str(path)) from error
    tables = data.get(TABLE, {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise DataError("gains are no tables", where=str(path), expected=f"[{TABLE}.DRIVER] with numbers below")
    return tables


def make(cls: Any, table: Mapping[str, Any], where: str) -> Any:
    """Return `cls`, a driver's `Gains`, with the values of `table` over its defaults.

    Raises:
        DataError: an unknown gain, or a value that is no number within its range; `where` names file and table.
    """
    known = of(cls)
    for name, value in table.items():
        if name not in known:
            raise DataError(f"no gain {name}", where=where, hint=near(name, list(known)))
        q = known[name]
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not number or not q.lo <= value <= q.hi:
            raise DataError(
                f"{name} cannot be", where=where, expected=f"{q.lo:g} .. {q.hi:g} {q.unit}", got=repr(value)
            )
    return cls(**{name: float(value) for name, value in table.items()})


def text(driver: str, gains: Any, about: str) -> str:
    """Return the file's text for one driver: a comment line `about`, then every gain with its unit and meaning."""
    lines = [f"# {about}", f"[{TABLE}.{driver}]"]
    for name, q in of(type(gains)).items():
        lines.append(f"{name} = {getattr(gains, name):.6g}  # {q.unit}; {q.meaning}")
    return "\n".join(lines) + "\n"
