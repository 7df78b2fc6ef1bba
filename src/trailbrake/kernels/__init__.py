"""`jit`: the one decorator of every compiled function in the package.

The environment variable TRAILBRAKE_KERNELS chooses what it does, at import:

* `numba` (default): machine code, cached on disk per source state, releasing the GIL. Not `fastmath`: results
  are repeatable to the bit and NaN tests work.
* `python`: nothing at all; the same source runs as plain Python, for debuggers, coverage and the test that
  compares the two.

Kernels are module-level functions on scalars and arrays, without closures: numba cannot cache a closure over
another compiled function. They make no arrays: whoever calls them brings the ones to write into. Nothing in a
module that `trailbrake --help` imports may import this package.
"""

import os
from collections.abc import Callable
from typing import Any, TypeVar

from trailbrake.errors import UsageError
from trailbrake.kernels import cache

Function = TypeVar("Function", bound=Callable[..., Any])

BACKEND = os.environ.get("TRAILBRAKE_KERNELS", "numba")

if BACKEND == "numba":
    CACHE = cache.prepare()
    COLD = cache.is_cold(CACHE)
    import numba
    from llvmlite import binding
    from numba.core import types
    from numba.core.compiler_lock import global_compiler_lock

    from trailbrake.kernels.fold import fold

    # Without the C callback wrapper, which nobody calls: a tenth of the compile time. And without numba's own count of
    # who holds an array: kernels make none, and the counting would cost two atomic operations on memory that all
    # threads share, about 10 ns, for each array that one kernel passes to another.
    COMMON = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False}
    # In lane code a product and a sum may become one fused operation. Nothing is reordered and NaN keeps its meaning:
    # results are the same to the bit in every run on one machine.
    FUSE = {"contract"}

    def jit(function: Function) -> Function:
        """Compile `function` on first use; keep the machine code on disk where there is a folder for it."""
        return numba.njit(function, cache=CACHE is not None, **COMMON)  # type: ignore[call-overload,no-any-return]

    def inline(function: Function) -> Function:
        """Compile `function` into its callers only: what runs inside loops over lanes that must become vector code."""
        kernel = numba.njit(fold(function), forceinline=True, no_cpython_wrapper=True, fastmath=FUSE, **COMMON)
        find = kernel.get_call_template
        # One compilation for all constants that it is called with, not one for each.
        kernel.get_call_template = lambda args, kws: find([types.unliteral(arg) for arg in args], kws)
        return kernel  # type: ignore[no-any-return]

    def lane_jit(function: Function) -> Function:
        """Compile `function`, which holds loops over lanes, as `jit` does, but let those loops be loops.

        A loop over LANES lanes is two or so vectors long, and the compiler would unroll it; all loops of a substep in
        one straight line make it keep hundreds of values on the stack, at two thirds of the speed.
        """
        kernel = numba.njit(fold(function), cache=CACHE is not None, fastmath=FUSE, **COMMON)
        compile_plainly = kernel.compile

        def compile_rolled(signature: Any) -> Any:
            with global_compiler_lock:  # the compiler's options are those of the process
                binding.set_option("", "--unroll-full-max-count=0")
                try:
                    return compile_plainly(signature)
                finally:
                    binding.set_option("", f"--unroll-full-max-count={NO_LIMIT}")

        kernel.compile = compile_rolled
        return kernel  # type: ignore[no-any-return]

    NO_LIMIT = 2**32 - 1

elif BACKEND == "python":
    COLD = False

    def jit(function: Function) -> Function:
        """Return `function` itself."""
        return function

    inline = lane_jit = jit

else:
    raise UsageError(
        "no such kernel backend", where="TRAILBRAKE_KERNELS", expected="numba or python", got=repr(BACKEND)
    )
