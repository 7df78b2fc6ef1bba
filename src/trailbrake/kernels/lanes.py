"""Blocks of lanes: how many cars stand side by side in one, and how kernels get at their numbers.

A block is a one-dimensional array that holds one quantity after the other, each of its LANES cars; a kernel's inner
loop over the lanes then reads and writes neighbours and becomes vector code. `get` and `put` are plain indexing
without the test for a negative index, which would keep the compiler from seeing that lanes do not overlap.

A quantity of a block fills a cache line: LANES doubles, or twice as many singles. The name LANES in a `lane_jit` or
`inline` function means the latter in its single-precision twin.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from trailbrake.kernels import BACKEND

CACHE_LINE = 64  # bytes of a row of a block: less leaves arithmetic units idle, more leaves the first-level cache


def lanes_of(dtype: DTypeLike) -> int:
    """Return how many lanes a block of such numbers has; plain Python computes no lane in vain."""
    return 1 if BACKEND == "python" else CACHE_LINE // np.dtype(dtype).itemsize


LANES = lanes_of(np.float64)

if TYPE_CHECKING:

    def get(block: Any, row: int, lane: int) -> float:
        """Return quantity `row` of lane `lane` of a block."""

    def put(block: Any, row: int, lane: int, value: float) -> None:
        """Set quantity `row` of lane `lane` of a block to `value`."""

elif BACKEND == "numba":
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic

    def _place(context: Any, builder: Any, array_type: Any, array: Any, row: Any, lane: Any) -> Any:
        data = context.make_array(array_type)(context, builder, array).data
        lanes = CACHE_LINE * 8 // array_type.dtype.bitwidth
        index = builder.add(builder.mul(row, ir.Constant(row.type, lanes)), lane)
        return builder.gep(data, [index], inbounds=True)

    @intrinsic
    def get(typingctx: Any, block: Any, row: Any, lane: Any) -> Any:
        """Return quantity `row` of lane `lane` of a block."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.load(_place(context, builder, signature.args[0], *args))

        return block.dtype(block, types.intp, types.intp), codegen

    @intrinsic
    def put(typingctx: Any, block: Any, row: Any, lane: Any, value: Any) -> Any:
        """Set quantity `row` of lane `lane` of a block to `value`."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            block, row, lane, value = args
            builder.store(value, _place(context, builder, signature.args[0], block, row, lane))
            return context.get_dummy_value()

        return types.void(block, types.intp, types.intp, block.dtype), codegen

else:

    def get(block: Any, row: int, lane: int) -> float:
        """Return quantity `row` of lane `lane` of a block."""
        value: float = block[row + lane]
        return value

    def put(block: Any, row: int, lane: int, value: float) -> None:
        """Set quantity `row` of lane `lane` of a block to `value`."""
        block[row + lane] = value
