"""`jit`: the one decorator of every compiled function in the package.

The environment variable TRAILBRAKE_KERNELS chooses what it does, at import:

* `numba` (default): machine code, cached on disk per source state, releasing the GIL. Not `fastmath`: results
  are repeatable to the bit and NaN tests work.
* `python`: nothing at all; the same source runs as plain Python, for debuggers, coverage and the test that
  compares the two.

Kernels are module-level functions on scalars and arrays, without closures: numba cannot cache a closure over
another compiled function. Nothing in a module that `trailbrake --help` imports may import this package.
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

    # A product and a sum may become one fused operation. Nothing is reordered and NaN keeps its meaning: results are
    # the same to the bit in every run on one machine.
    FUSE = {"contract"}

    def jit(function: Function) -> Function:
        """Compile `function` on first use; keep the machine code on disk where there is a folder for it."""
        # Without the C callback wrapper, which nobody calls: a tenth of the compile time.
        return numba.njit(  # type: ignore[call-overload,no-any-return]
            function, cache=CACHE is not None, nogil=True, error_model="numpy", no_cfunc_wrapper=True, fastmath=FUSE
        )

    def inline(function: Function) -> Function:
        """Compile `function` into its callers only: for what runs inside loops over cars that must become vector code."""
        return numba.njit(  # type: ignore[call-overload,no-any-return]
            function, forceinline=True, error_model="numpy", no_cfunc_wrapper=True, fastmath=FUSE
        )

elif BACKEND == "python":
    COLD = False

    def jit(function: Function) -> Function:
        """Return `function` itself."""
        return function

    inline = jit

else:
    raise UsageError(
        "no such kernel backend", where="TRAILBRAKE_KERNELS", expected="numba or python", got=repr(BACKEND)
    )
