"""Tables derived from the declared fields: names, rows, units, bounds, documentation.

A *row* is the flat tuple of floats behind a recording message or a CSV line. Wheel fields are flattened
as `fl_load`, `fr_load`, ... Integers and flags are floats in a row; None is NaN.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields

from trailbrake.state.car_state import WHEEL_NAMES, CarState, Phase, WheelState
from trailbrake.state.controls import Controls, WheelTorque
from trailbrake.state.fields import NAN, Quantity, declared_quantities

SCHEMA_VERSION = 1  # of the recorded rows; raised when a column changes its meaning

_WHOLE_NUMBERS: dict[str, Quantity] = {
    "sequence": Quantity("1", "sample number, grows by one", -1, math.inf, ""),
    "phase": Quantity("1", "0 driving, 1 paused, 2 lost, 3 finished", 0, 3, ""),
    "gear": Quantity("1", "-1 reverse, 0 neutral, 1, 2, ...", -1, math.inf, ""),
}
_UNIT_SUFFIX = {"1": "", "m": "_m", "s": "_s", "rad": "_rad", "m/s": "_mps", "rad/s": "_radps", "m/s^2": "_mps2",
                "N": "_N", "N m": "_Nm", "Pa": "_Pa", "degC": "_degC", "l": "_l"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RecordColumn:
    """One number of a row: `name` in the row, `path` in the state, and what it means."""

    name: str
    path: str
    quantity: Quantity

    @property
    def csv_name(self) -> str:
        """The column's name with its unit, as exports write it: `time_s`, `x_m`. Names in litres include it."""
        suffix = _UNIT_SUFFIX[self.quantity.unit]
        return self.name if self.quantity.unit == "l" else self.name + suffix


def _scalar_columns(cls: type) -> tuple[RecordColumn, ...]:
    declared = declared_quantities(cls)
    names = [f.name for f in fields(cls) if f.name in declared or f.name in _WHOLE_NUMBERS]
    return tuple(RecordColumn(n, n, declared.get(n) or _WHOLE_NUMBERS[n]) for n in names)


def _wheel_columns(cls: type) -> tuple[RecordColumn, ...]:
    return tuple(
        RecordColumn(f"{wheel}_{name}", f"wheels[{i}].{name}", q)
        for i, wheel in enumerate(WHEEL_NAMES)
        for name, q in declared_quantities(cls).items()
    )


STATE_COLUMNS: tuple[RecordColumn, ...] = _scalar_columns(CarState) + _wheel_columns(WheelState)
CONTROL_COLUMNS: tuple[RecordColumn, ...] = _scalar_columns(Controls) + _wheel_columns(WheelTorque)

# What SUPPLIES, ACCEPTS and NEEDS may name.
STATE_FIELDS: frozenset[str] = frozenset(
    [c.name for c in _scalar_columns(CarState)]
    + [f"wheels.{n}" for n in declared_quantities(WheelState)]
    + ["others", "image", "line_ahead"]
)
CONTROL_FIELDS: frozenset[str] = frozenset(
    [c.name for c in _scalar_columns(Controls)] + [f"wheels.{n}" for n in declared_quantities(WheelTorque)] + ["custom"]
)


def _compile_row_function(columns: tuple[RecordColumn, ...], record: str) -> Callable[..., tuple[float, ...]]:
    # Generated source: one flat tuple display is several times faster than getattr in a loop.
    def term(column: RecordColumn) -> str:
        path = f"{record}.{column.path}"
        return f"({path} if {path} is not None else nan)" if column.path == "gear" else path

    lines = [f"def row({record}):"]
    if any(c.path.startswith("wheels[") for c in columns):
        lines.append(f"    w0, w1, w2, w3 = {record}.wheels or own")
    terms = [f"w{c.path[7]}{c.path[9:]}" if c.path.startswith("wheels[") else term(c) for c in columns]
    lines.append(f"    return ({', '.join(terms)},)")
    scope: dict[str, object] = {"nan": NAN, "own": (WheelTorque(),) * 4}
    exec("\n".join(lines), scope)
    return scope["row"]  # type: ignore[return-value]


state_row: Callable[[CarState], tuple[float, ...]] = _compile_row_function(STATE_COLUMNS, "state")
controls_row: Callable[[Controls], tuple[float, ...]] = _compile_row_function(CONTROL_COLUMNS, "controls")


def state_from_row(row: "tuple[float, ...] | list[float]") -> CarState:
    """Rebuild a CarState from a row in STATE_COLUMNS order (others, image and line_ahead are not in rows)."""
    state = CarState()
    for column, value in zip(STATE_COLUMNS, row, strict=True):
        if column.path.startswith("wheels["):
            setattr(state.wheels[int(column.path[7])], column.path[10:], value)
        elif column.name == "gear":
            state.gear = None if math.isnan(value) else int(value)
        elif column.name == "sequence":
            state.sequence = int(value)
        elif column.name == "phase":
            state.phase = Phase(int(value))
        else:
            setattr(state, column.name, value)
    return state


def markdown_table(cls: type) -> str:
    """Return the documentation table of a declared class."""
    lines = ["| field | unit | range | meaning | frame |", "|---|---|---|---|---|"]
    for c in _scalar_columns(cls):
        q = c.quantity
        span = "" if math.isinf(q.lo) and math.isinf(q.hi) else f"{q.lo:g} .. {q.hi:g}"
        lines.append(f"| `{c.name}` | {q.unit} | {span} | {q.meaning} | {q.frame} |")
    return "\n".join(lines)
