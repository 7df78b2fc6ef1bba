"""Atomic counters in memory that threads share: release, acquire, wait for a change, fetch and add.

A sleeping thread runs again 50 to 100 us after it is woken. A thread that polls a counter reacts in less than 1 us.
These kernels release the GIL, so a polling thread does not keep others from running Python.
"""

import platform
import threading
from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels import BACKEND, jit

AtomicCounters = NDArray[np.int64]

COUNTER_STRIDE = 8  # int64 places between counters of different threads: a cache line each
_MEASURED_SPINS = 5_000  # polls that `count_spins` times; a pause takes 10 to 40 ns

if TYPE_CHECKING:

    def _load_atomic(numbers: Any, place: int) -> int:
        """Return a counter; later reads see all that was stored before it (acquire)."""

    def _store_atomic(numbers: Any, place: int, value: int) -> None:
        """Set a counter after all earlier writes (release)."""

    def _pause_cpu() -> None:
        """Yield to the other hardware thread of this core."""

    def fetch_add(numbers: Any, place: int, more: int) -> int:
        """Add `more` to `numbers[place]` and return the value before; no two threads get the same value."""

elif BACKEND == "numba":
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    _PAUSE_INTRINSIC = "llvm.x86.sse2.pause" if platform.machine().lower() in ("x86_64", "amd64") else ""

    def _element_pointer(context: Any, builder: Any, array_type: Any, array: Any, place: Any) -> Any:
        return builder.gep(context.make_array(array_type)(context, builder, array).data, [place], inbounds=True)

    @intrinsic
    def _load_atomic(typingctx: Any, numbers: Any, place: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.load_atomic(_element_pointer(context, builder, signature.args[0], *args), "acquire", 8)

        return types.int64(numbers, types.intp), codegen

    @intrinsic
    def _store_atomic(typingctx: Any, numbers: Any, place: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            builder.store_atomic(
                args[2], _element_pointer(context, builder, signature.args[0], *args[:2]), "release", 8
            )
            return context.get_dummy_value()

        return types.void(numbers, types.intp, types.int64), codegen

    @intrinsic
    def _pause_cpu(typingctx: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            if _PAUSE_INTRINSIC:
                kind = ir.FunctionType(ir.VoidType(), [])
                builder.call(cgutils.get_or_insert_function(builder.module, kind, _PAUSE_INTRINSIC), [])
            return context.get_dummy_value()

        return types.void(), codegen

    @intrinsic
    def fetch_add(typingctx: Any, numbers: Any, place: Any, more: Any) -> Any:
        """Add `more` to `numbers[place]` and return the value before; no two threads get the same value."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.atomic_rmw(
                "add", _element_pointer(context, builder, signature.args[0], *args[:2]), args[2], "acq_rel"
            )

        return types.int64(numbers, types.intp, types.int64), codegen

else:
    _add_lock = threading.Lock()

    def _load_atomic(numbers: Any, place: int) -> int:
        """Return a counter."""
        return int(numbers[place])

    def _store_atomic(numbers: Any, place: int, value: int) -> None:
        """Set a counter."""
        numbers[place] = value

    def _pause_cpu() -> None:
        """Do nothing."""

    def fetch_add(numbers: Any, place: int, more: int) -> int:
        """Add `more` to `numbers[place]` and return the value before; no two threads get the same value."""
        with _add_lock:
            was = int(numbers[place])
            numbers[place] = was + more
        return was


@jit
def store_release(counters: AtomicCounters, index: int, value: int) -> None:
    """Set `counters[index]` to `value`; threads that see it also see all earlier writes."""
    _store_atomic(counters, index, value)


@jit
def spin_until_changed(counters: AtomicCounters, index: int, old: int, spins: int, pauses: int) -> int:
    """Return `counters[index]` once it differs from `old`, `pauses` pauses later; or `old` after `spins` polls."""
    for _ in range(spins):
        if _load_atomic(counters, index) != old:
            for _ in range(pauses):
                _pause_cpu()
            break
        _pause_cpu()
    return _load_atomic(counters, index)


@cache
def count_spins(seconds: float) -> int:
    """Return how many polls take `seconds`; 0 in plain Python, where polling would block all other threads."""
    if BACKEND != "numba":
        return 0
    numbers = np.zeros(1, np.int64)
    spin_until_changed(numbers, 0, 0, 1, 0)
    began = perf_counter()
    spin_until_changed(numbers, 0, 0, _MEASURED_SPINS, 0)
    return max(1, int(seconds * _MEASURED_SPINS / (perf_counter() - began)))
