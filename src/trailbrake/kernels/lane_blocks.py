"""Blocks of lanes: the memory layout of cars, and how kernels read and write it.

A block is a one-dimensional array of rows. A row holds one quantity of LANES cars side by side, so that a loop over the
lanes reads and writes neighbours and becomes vector code. `get` and `put` are plain indexing without the test for a
negative index, which would keep the compiler from seeing that lanes do not overlap.

A row fills a cache line: LANES doubles, or twice as many singles. In the single-precision twin of a `lane_jit` or
`inline_jit` function LANES is the latter.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from trailbrake.kernels import BACKEND

CACHE_LINE_BYTES = 64  # of a row: shorter rows leave arithmetic units idle, longer ones the first-level cache


def lanes_per_block(dtype: DTypeLike) -> int:
    """Return the number of lanes of a block of such numbers; 1 in plain Python, which gains nothing by more."""
    return 1 if BACKEND == "python" else CACHE_LINE_BYTES // np.dtype(dtype).itemsize


LANES = lanes_per_block(np.float64)

if TYPE_CHECKING:

    def get(block: Any, row: int, lane: int) -> float:
        """Return quantity `row` of lane `lane` of a block."""

    def put(block: Any, row: int, lane: int, value: float) -> None:
        """Set quantity `row` of lane `lane` of a block to `value`."""

    def get_indexed(block: Any, row: int, index: int, lane: int) -> float:
        """Return quantity `row + index` of lane `lane` of a block, where only `row` is known at compile time."""

elif BACKEND == "numba":
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic

    def _element_pointer(context: Any, builder: Any, array_type: Any, array: Any, row: Any, lane: Any) -> Any:
        data = context.make_array(array_type)(context, builder, array).data
        lanes = CACHE_LINE_BYTES * 8 // array_type.dtype.bitwidth
        index = builder.add(builder.mul(row, ir.Constant(row.type, lanes)), lane)
        return builder.gep(data, [index], inbounds=True)

    @intrinsic
    def get(typingctx: Any, block: Any, row: Any, lane: Any) -> Any:
        """Return quantity `row` of lane `lane` of a block."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.load(_element_pointer(context, builder, signature.args[0], *args))

        return block.dtype(block, types.intp, types.intp), codegen

    @intrinsic
    def put(typingctx: Any, block: Any, row: Any, lane: Any, value: Any) -> Any:
        """Set quantity `row` of lane `lane` of a block to `value`."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            block, row, lane, value = args
            builder.store(value, _element_pointer(context, builder, signature.args[0], block, row, lane))
            return context.get_dummy_value()

        return types.void(block, types.intp, types.intp, block.dtype), codegen

    @intrinsic
    def get_indexed(typingctx: Any, block: Any, row: Any, index: Any, lane: Any) -> Any:
        """Return quantity `row + index` of lane `lane` of a block, where only `row` is known at compile time."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            block, row, index, lane = args
            row = builder.add(row, index)
            return builder.load(_element_pointer(context, builder, signature.args[0], block, row, lane))

        return block.dtype(block, types.intp, types.intp, types.intp), codegen

else:

    def get(block: Any, row: int, lane: int) -> float:
        """Return quantity `row` of lane `lane` of a block."""
        value: float = block[row + lane]
        return value

    def put(block: Any, row: int, lane: int, value: float) -> None:
        """Set quantity `row` of lane `lane` of a block to `value`."""
        block[row + lane] = value

    def get_indexed(block: Any, row: int, index: int, lane: int) -> float:
        """Return quantity `row + index` of lane `lane` of a block, where only `row` is known at compile time."""
        value: float = block[row + index + lane]
        return value
