"""`jit` and its relatives: the decorators of every compiled function in the package. docs/kernels.md explains them.

Kernels themselves stand in the rooms of what they compute; those of the graphics card that learners step in `env`.

The environment variable TRAILBRAKE_KERNELS chooses the backend at import:

* `numba` (default): machine code, cached on disk per state of the sources, that releases the GIL. Without `fastmath`:
  results are repeatable to the bit, and tests for NaN work.
* `python`: the same source as plain Python, for debuggers, coverage and the test that compares the two.

Kernels are module-level functions on numbers, arrays and NamedTuples of these, without closures: numba cannot cache a
closure over another compiled function. They allocate no arrays: the caller passes the arrays to write. No module that
`trailbrake --help` imports may import this package.
"""

import os
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

import numpy as np

from trailbrake.errors import UsageError
from trailbrake.kernels import cache

Function = TypeVar("Function", bound=Callable[..., Any])

BACKEND = os.environ.get("TRAILBRAKE_KERNELS", "numba")

if BACKEND == "numba":
    CACHE = cache.prepare_folder()  # before numba is imported, which reads the folder's name then
    CACHE_IS_COLD = cache.is_cold(CACHE)
    COMPILE_NOTICE = cache.describe_compilation(CACHE)
    from trailbrake.kernels.enum_constants import inline_enums
    from trailbrake.kernels.numba_internals import (
        COMMON_OPTIONS,
        INTERNAL_OPTIONS,
        check_numba,
        compile_entry,
        enable_disk_cache,
        njit,
        refuse_python_calls,
        share_between_constants,
        transform_source,
    )

    check_numba()

    # In lane code a product and a sum may become one fused operation. Nothing is reordered and NaN keeps its meaning:
    # results are the same to the bit in every run on one machine.
    FUSED_ARITHMETIC = {"contract"}
    FREE_ARITHMETIC = {"contract", "reassoc", "nsz", "arcp", "afn"}
    LANE_SOURCES: dict[Any, Any] = {}  # the Python function of each `inline_jit` and `lane_jit` kernel
    _recompilers: dict[Any, Callable[..., Any]] = {}
    _single_twins: dict[Any, Any] = {}

    def jit(function: Function) -> Function:
        """Compile `function` on first use; keep the machine code on disk where there is a folder for it."""
        return share_between_constants(_cache_kernel(njit(function, **COMMON_OPTIONS)))  # type: ignore[no-any-return]

    def internal_jit(function: Function) -> Function:
        """Compile `function` for the kernels that call it, not for Python; its machine code is on disk with theirs.

        This saves an eighth of the compile time. A function that two processes need at once is better a `jit`, because
        the second process finds it on disk.
        """
        return refuse_python_calls(share_between_constants(njit(function, **INTERNAL_OPTIONS)))  # type: ignore[no-any-return]

    def exact_inline_jit(function: Function) -> Function:
        """Compile `function` only into its callers, with the arithmetic as written, as `jit` does.

        For small functions in inner loops: a call that passes a NamedTuple of arrays costs about 10 ns.
        """
        return refuse_python_calls(njit(function, forceinline=True, **INTERNAL_OPTIONS))  # type: ignore[no-any-return]

    def inline_jit(function: Function) -> Function:
        """Compile `function` only into its callers: for code inside loops over lanes that must become vector code."""
        return transform_source(_compile_inline(function, function, FUSED_ARITHMETIC), inline_enums)  # type: ignore[no-any-return]

    def lane_jit(function: Function) -> Function:
        """Compile `function`, which works on blocks of lanes, as `jit` does; `single_precision` returns its twin."""
        return transform_source(_compile_lanes(function, function, FUSED_ARITHMETIC), inline_enums)  # type: ignore[no-any-return]

    def single_precision(kernel: Function) -> Function:
        """Return the single-precision twin of a `lane_jit` kernel: for float32 blocks, with float32 constants.

        The kernel and the `inline_jit` functions that it calls are compiled from the same source, with freer
        arithmetic: sums may be reordered and divisions become products. NaN keeps its meaning.
        """
        if kernel not in _single_twins:
            from trailbrake.kernels.lane_blocks import lanes_per_block

            source, recompile = LANE_SOURCES[kernel], _recompilers[kernel]
            folded = inline_enums(source)
            names = {**source.__globals__, "LANES": lanes_per_block(np.float32)}
            for name in folded.__code__.co_names:
                value: Any = names.get(name)
                if isinstance(value, float):
                    names[name] = np.float32(value)
                elif value.__hash__ is not None and value in LANE_SOURCES:
                    names[name] = single_precision(value)
            constants = tuple(np.float32(c) if type(c) is float else c for c in folded.__code__.co_consts)
            code = folded.__code__.replace(co_consts=constants)
            _single_twins[kernel] = recompile(FunctionType(code, names, folded.__name__), None, FREE_ARITHMETIC)
        twin: Function = _single_twins[kernel]
        return twin

    def bind_entry(kernel: Any, *example_args: Any) -> Callable[..., Any]:
        """Return `kernel`'s compiled entry for arguments of the types of `example_args`; compile or load it now.

        A call of the entry skips numba's search by argument types: about 0.3 us, and 0.8 us more for every NamedTuple.
        For the same reason nothing checks the types of the arguments. Later calls must pass exactly what the examples
        are: the same dtypes, array dimensions and layout, `float` for `float` (never `int`), the same NamedTuples.
        Use it where one caller owns all arguments, not in a public function.

        Args:
            kernel: made by `jit` or `lane_jit`.
            example_args: one value for each positional parameter.
        """
        return compile_entry(kernel, example_args)

    def _cache_kernel(kernel: Any) -> Any:
        return kernel if CACHE is None else enable_disk_cache(kernel)

    def _compile_inline(function: Any, source: Any, freedom: set[str]) -> Any:
        kernel = refuse_python_calls(njit(function, forceinline=True, fastmath=freedom, **INTERNAL_OPTIONS))
        LANE_SOURCES[kernel], _recompilers[kernel] = source, _compile_inline
        return share_between_constants(kernel)

    def _compile_lanes(function: Any, source: Any, freedom: set[str]) -> Any:
        kernel = _cache_kernel(njit(function, fastmath=freedom, **COMMON_OPTIONS))
        LANE_SOURCES[kernel], _recompilers[kernel] = source, _compile_lanes
        return share_between_constants(kernel)

elif BACKEND == "python":
    CACHE, CACHE_IS_COLD, COMPILE_NOTICE = None, False, ""

    def jit(function: Function) -> Function:
        """Return `function` itself."""
        return function

    internal_jit = exact_inline_jit = inline_jit = lane_jit = jit

    def single_precision(kernel: Function) -> Function:
        """Return `kernel` itself."""
        return kernel

    def bind_entry(kernel: Any, *example_args: Any) -> Callable[..., Any]:
        """Return `kernel` itself."""
        bound: Callable[..., Any] = kernel
        return bound

else:
    raise UsageError(
        "no such kernel backend", where="TRAILBRAKE_KERNELS", expected="numba or python", got=repr(BACKEND)
    )
