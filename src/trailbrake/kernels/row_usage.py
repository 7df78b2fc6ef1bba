"""Which rows of a block a kernel reads and writes, read off its source.

The compiler for graphics cards keeps a car's rows in registers. It loads and stores only the rows that a part of a
kernel uses, so that others do not occupy registers in the meantime.
"""

import ast
from enum import IntEnum
from typing import Any, NamedTuple

from trailbrake.kernels import lane_blocks
from trailbrake.kernels.enum_constants import parse_function
from trailbrake.kernels.lane_phases import find_source


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
