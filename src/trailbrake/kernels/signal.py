"""Numbers by which threads tell each other something without the interpreter: waiting for one to change, taking turns.

A thread that sleeps runs again 50 to 100 us after it is called; one that looks at a number all the time, in less than
one. Both `watch` and `tell` work without the GIL: threads that wait by them keep nobody from Python.
"""

import platform
import threading
from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels import BACKEND, jit

Numbers = NDArray[np.int64]

APART = 8  # numbers from one that a thread writes to the next: a cache line
_MEASURED = 5_000  # looks by which their pace is measured; a pause takes 10 to 40 ns

if TYPE_CHECKING:

    def _load(numbers: Any, place: int) -> int:
        """Return a number as it is in memory now, and all that was written before it."""

    def _store(numbers: Any, place: int, value: int) -> None:
        """Write a number behind all that was written before."""

    def _pause() -> None:
        """Let the other half of a processor that is shared by two go first."""

    def take(numbers: Any, place: int, more: int) -> int:
        """Add `more` to `numbers[place]`, and return what it was: no two threads get the same."""

elif BACKEND == "numba":
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    _PAUSE = "llvm.x86.sse2.pause" if platform.machine().lower() in ("x86_64", "amd64") else ""

    def _place(context: Any, builder: Any, array_type: Any, array: Any, place: Any) -> Any:
        return builder.gep(context.make_array(array_type)(context, builder, array).data, [place], inbounds=True)

    @intrinsic
    def _load(typingctx: Any, numbers: Any, place: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.load_atomic(_place(context, builder, signature.args[0], *args), "acquire", 8)

        return types.int64(numbers, types.intp), codegen

    @intrinsic
    def _store(typingctx: Any, numbers: Any, place: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            builder.store_atomic(args[2], _place(context, builder, signature.args[0], *args[:2]), "release", 8)
            return context.get_dummy_value()

        return types.void(numbers, types.intp, types.int64), codegen

    @intrinsic
    def _pause(typingctx: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            if _PAUSE:
                kind = ir.FunctionType(ir.VoidType(), [])
                builder.call(cgutils.get_or_insert_function(builder.module, kind, _PAUSE), [])
            return context.get_dummy_value()

        return types.void(), codegen

    @intrinsic
    def take(typingctx: Any, numbers: Any, place: Any, more: Any) -> Any:
        """Add `more` to `numbers[place]`, and return what it was: no two threads get the same."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.atomic_rmw("add", _place(context, builder, signature.args[0], *args[:2]), args[2], "acq_rel")

        return types.int64(numbers, types.intp, types.int64), codegen

else:
    _turn = threading.Lock()

    def _load(numbers: Any, place: int) -> int:
        """Return a number."""
        return int(numbers[place])

    def _store(numbers: Any, place: int, value: int) -> None:
        """Write a number."""
        numbers[place] = value

    def _pause() -> None:
        """Do nothing."""

    def take(numbers: Any, place: int, more: int) -> int:
        """Add `more` to `numbers[place]`, and return what it was: no two threads get the same."""
        with _turn:
            was = int(numbers[place])
            numbers[place] = was + more
        return was


@jit
def tell(numbers: Numbers, place: int, value: int) -> None:
    """Write `value` to `numbers[place]`, for whoever looks there."""
    _store(numbers, place, value)


@jit
def watch(numbers: Numbers, place: int, old: int, spins: int, rest: int) -> int:
    """Return `numbers[place]` once it is no longer `old`, and `rest` pauses later; or after `spins` looks as it is."""
    for _ in range(spins):
        if _load(numbers, place) != old:
            for _ in range(rest):
                _pause()
            break
        _pause()
    return _load(numbers, place)


@cache
def looks_in(seconds: float) -> int:
    """Return how many looks take so long; 0 in plain Python, whose loops would keep all other threads from running."""
    if BACKEND != "numba":
        return 0
    numbers = np.zeros(1, np.int64)
    watch(numbers, 0, 0, 1, 0)
    began = perf_counter()
    watch(numbers, 0, 0, _MEASURED, 0)
    return max(1, int(seconds * _MEASURED / (perf_counter() - began)))
