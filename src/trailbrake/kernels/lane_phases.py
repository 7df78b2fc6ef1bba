"""The phases of a vectorized function: functions with their constants, and inputs by name."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from trailbrake.kernels import BACKEND

LaneFunction: TypeAlias = Callable[..., Any]
# A function, or a function and the constants between its block and its lane.
LaneCallSpec: TypeAlias = LaneFunction | tuple[Any, ...]
Phase: TypeAlias = LaneCallSpec | list[LaneCallSpec]


class LaneCall(NamedTuple):
    """A call that a phase makes: `function(block, *constants, lane, *inputs)`.

    Attributes:
        function: as it was written, or made by `inline_jit`.
        constants: int or float.
        inputs: names of the function's parameters behind the lane.
    """

    function: LaneFunction
    constants: tuple[Any, ...]
    inputs: tuple[str, ...]


class Phases(NamedTuple):
    """What `vectorize` runs.

    Attributes:
        calls: the calls of each phase.
        tables: of each input by name, in order, whether it is a table, and not a number.
    """

    calls: tuple[tuple[LaneCall, ...], ...]
    tables: dict[str, bool]


def resolve_phases(phases: Sequence[Phase], inputs: Sequence[str] | None) -> Phases:
    """Return the calls of `phases`, with their inputs by name.

    Args:
        phases: as `vectorize` takes them.
        inputs: names in the order in which the vectorized function takes them; None: as they first appear.

    Raises:
        TypeError: constants that do not fit a function, an input that is not in `inputs`, or one that is a table in one
            function and a number in another.
    """
    calls: list[tuple[LaneCall, ...]] = []
    tables: dict[str, bool] = {}
    for phase in phases:
        resolved = []
        for spec in phase if isinstance(phase, list) else [phase]:
            function, *constants = spec if isinstance(spec, tuple) else (spec,)
            parameters = list(inspect.signature(find_source(function)).parameters.values())[2 + len(constants) :]
            for parameter in parameters:
                is_table = parameter.annotation not in (float, parameter.empty)
                if tables.setdefault(parameter.name, is_table) != is_table:
                    raise TypeError(f"{function.__name__}(): {parameter.name} is a table in one phase, not in another")
            resolved.append(LaneCall(function, tuple(constants), tuple(parameter.name for parameter in parameters)))
        calls.append(tuple(resolved))
    if inputs is not None:
        missing = [name for name in tables if name not in inputs]
        if missing:
            raise TypeError(f"vectorize(): inputs lacks {', '.join(missing)}")
        tables = {name: tables.get(name, False) for name in inputs}
    return Phases(tuple(calls), tables)


def find_source(kernel: Any) -> Any:
    """Return the Python function that `kernel` was made of, or `kernel` itself."""
    if BACKEND == "numba":
        from trailbrake.kernels import LANE_SOURCES

        return LANE_SOURCES.get(kernel) or getattr(kernel, "py_func", kernel)
    return kernel
