"""Signals: values of one simulator's wire that have no field in `CarState`, declared, named and typed like fields.

A simulator declares them (`Simulator.signals`); a drive selects those that its driver needs or its user wants, and its
link fills `CarState.signals` with them. A drive that selects none pays nothing.
"""

import fnmatch
import math
import re
from collections.abc import Iterable, Iterator, KeysView, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from trailbrake.errors import UsageError, suggest_names
from trailbrake.state.fields import Quantity

SignalRole = Literal["", "engine_power", "surface", "kerb"]
_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+")


@dataclass(frozen=True, slots=True)
class Signal:
    """One number of a simulator's wire.

    Attributes:
        name: SIMULATOR.NAME or SIMULATOR.PART.NAME, in lower case: `beamng.wheel_fl.braking_torque`.
        quantity: its unit, meaning and range; NaN while the wire does not supply it.
        role: what a car is learned by. "engine_power": W, negative while it brakes. Of four each (FL, FR, RL, RR),
            "surface": a value of its own for each surface that a wheel stands on; "kerb": not 0 on a kerb, which counts
            as the road. "": none of these.
    """

    name: str
    quantity: Quantity
    role: SignalRole = ""

    @property
    def column(self) -> str:
        """The name of its column in recordings and exports: the dots become underscores."""
        return self.name.replace(".", "_")


def make_signal(
    name: str,
    unit: str,
    meaning: str,
    *,
    lo: float = -math.inf,
    hi: float = math.inf,
    frame: str = "",
    role: SignalRole = "",
) -> Signal:
    """Return a signal; the arguments are those of `fields.quantity` and of `Signal`.

    Raises:
        ValueError: the name is not of the form that `Signal.name` describes.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a signal, expected as beamng.wheel_fl.braking_torque")
    return Signal(name, Quantity(unit, meaning, lo, hi, frame), role)


def find_learning_signals(declared: Sequence[Signal]) -> dict[SignalRole, list[str]]:
    """Return the names of the signals by which a car is learned, by their roles."""
    return {role: [signal.name for signal in declared if signal.role == role] for role in get_args(SignalRole)[1:]}


class SignalValues:
    """The selected signals of one sample, by name: `state.signals["beamng.fuel"]`. Equal if names and values are.

    Args:
        positions: {name: place in `values`}; the samples of a drive share it.
        values: one number per signal, NaN where the wire did not supply it.
    """

    __slots__ = ("_positions", "values")

    def __init__(self, positions: dict[str, int], values: tuple[float, ...]) -> None:
        self._positions, self.values = positions, values

    def __getitem__(self, name: str) -> float:
        try:
            return self.values[self._positions[name]]
        except KeyError:
            known = ", ".join(self._positions) or "none"
            raise KeyError(
                f"signal {name} is not selected: name it in NEEDS or --signals (selected: {known})"
            ) from None

    def get(self, name: str, default: float = math.nan) -> float:
        """Return a signal's value; `default` where the signal is not selected."""
        position = self._positions.get(name)
        return default if position is None else self.values[position]

    def keys(self) -> KeysView[str]:
        """Return the names, as a dict does."""
        return self._positions.keys()

    def items(self) -> Iterator[tuple[str, float]]:
        """Return names and values in pairs."""
        return zip(self._positions, self.values, strict=True)

    def __iter__(self) -> Iterator[str]:
        return iter(self._positions)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"SignalValues({dict(zip(self._positions, self.values, strict=True))})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SignalValues):
            return NotImplemented
        return tuple(self._positions) == tuple(other._positions) and repr(self.values) == repr(other.values)

    def __hash__(self) -> int:
        return hash((tuple(self._positions), repr(self.values)))  # as text: NaN equals NaN


NO_SIGNALS = SignalValues({}, ())


def is_signal_name(name: str) -> bool:
    """Return whether an entry of NEEDS names a signal and not a field: `beamng.fuel`, but not `wheels.load`."""
    return "." in name and not name.startswith("wheels.")


def match_signals(declared: Sequence[Signal], patterns: Iterable[str], *, where: str) -> tuple[Signal, ...]:
    """Return the declared signals that any of `patterns` matches, in declared order.

    Args:
        declared: what a simulator declares.
        patterns: names, or patterns as `beamng.wheel_*`; `all` for every signal.
        where: names the option or the driver in an error.

    Raises:
        UsageError: a pattern matches no signal.
    """
    wanted: set[str] = set()
    for pattern in patterns:
        names = [s.name for s in declared if pattern == "all" or fnmatch.fnmatchcase(s.name, pattern)]
        if not names:
            known = [s.name for s in declared]
            expected = "a signal of docs/signals.md" if known else "nothing: this simulator has no signals"
            raise UsageError("unknown signal", where=where, expected=expected, got=pattern,
                             hint=suggest_names(pattern, known) if known else "")  # fmt: skip
        wanted.update(names)
    return tuple(signal for signal in declared if signal.name in wanted)
