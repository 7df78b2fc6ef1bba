"""The phases of a vectorized function: functions with their constants, and inputs by name.

`find_row_usage` is for graphics cards, whose compiler keeps the rows of a car in registers: a part of a kernel loads
and stores only the rows that it uses.
"""

import ast
import inspect
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple, TypeAlias

from trailbrake.kernels import BACKEND, lane_blocks
from trailbrake.kernels.enum_constants import parse_function

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


class RowUsage(NamedTuple):
    """Rows of a block.

    Attributes:
        read: rows that a kernel may read.
        written: rows that it may write.
    """

    read: frozenset[int]
    written: frozenset[int]


def find_row_usage(*kernels: Any) -> RowUsage:
    """Return the rows that `kernels` and all that they call may read and write by `get` and `put`.

    A member of a row enumeration stands for all its `width` rows, whatever is added to it.

    Args:
        kernels: made by `inline_jit`, `lane_jit` or `vectorize`, or functions of a phase.
    """
    from trailbrake.kernels import LANE_SOURCES
    from trailbrake.kernels.simd import VECTORIZED_PHASES

    read: set[int] = set()
    written: set[int] = set()
    found: set[Any] = set()
    pending = list(kernels)
    while pending:
        function = pending.pop()
        if function in found:
            continue
        found.add(function)
        if function in VECTORIZED_PHASES:
            pending += [call.function for calls in VECTORIZED_PHASES[function].calls for call in calls]
            continue
        source = find_source(function)
        names = source.__globals__
        for node in ast.walk(parse_function(source)):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            callee = names.get(node.func.id)
            if callee in (lane_blocks.get, lane_blocks.get_indexed):
                read |= _named_rows(node.args[1], names)
            elif callee is lane_blocks.put:
                written |= _named_rows(node.args[1], names)
            elif callee.__hash__ is not None and (callee in LANE_SOURCES or callee in VECTORIZED_PHASES):
                pending.append(callee)
    return RowUsage(frozenset(read), frozenset(written))


def _named_rows(expression: ast.expr, names: dict[str, Any]) -> set[int]:
    rows: set[int] = set()
    for node in ast.walk(expression):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = names.get(node.value.id)
            if isinstance(owner, type) and issubclass(owner, IntEnum):
                first: Any = owner[node.attr]
                rows |= set(range(first, first + first.width))
    return rows
