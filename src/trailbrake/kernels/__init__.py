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

    def jit(function: Function) -> Function:
        """Compile `function` on first use; keep the machine code on disk where there is a folder for it."""
        # Without the C callback wrapper, which nobody calls: a tenth of the compile time. And without numba's own
        # count of who holds an array: kernels make none, and the counting would cost two atomic operations on memory
        # that all threads share, about 10 ns, for each array that one kernel passes to another.
        return numba.njit(  # type: ignore[call-overload,no-any-return]
            function, cache=CACHE is not None, nogil=True, error_model="numpy", no_cfunc_wrapper=True, _nrt=False
        )

elif BACKEND == "python":
    COLD = False

    def jit(function: Function) -> Function:
        """Return `function` itself."""
        return function

else:
    raise UsageError(
        "no such kernel backend", where="TRAILBRAKE_KERNELS", expected="numba or python", got=repr(BACKEND)
    )
