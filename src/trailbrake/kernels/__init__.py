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
from types import FunctionType
from typing import Any, TypeVar

import numpy as np

from trailbrake.errors import UsageError
from trailbrake.kernels import cache

Function = TypeVar("Function", bound=Callable[..., Any])

BACKEND = os.environ.get("TRAILBRAKE_KERNELS", "numba")

if BACKEND == "numba":
    CACHE = cache.prepare()
    COLD = cache.is_cold(CACHE)
    import numba
    from numba.core import types

    from trailbrake.kernels.fold import fold

    # Without the C callback wrapper, which nobody calls: a tenth of the compile time. And without numba's own count of
    # who holds an array: kernels make none, and the counting would cost two atomic operations on memory that all
    # threads share, about 10 ns, for each array that one kernel passes to another.
    COMMON = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False}
    # In lane code a product and a sum may become one fused operation. Nothing is reordered and NaN keeps its meaning:
    # results are the same to the bit in every run on one machine.
    FUSE = {"contract"}
    make: Any = numba.njit  # its overloads do not know all options
    FREE = {"contract", "reassoc", "nsz", "arcp", "afn"}

    def jit(function: Function) -> Function:
        """Compile `function` on first use; keep the machine code on disk where there is a folder for it."""
        return _kept(make(function, **COMMON))  # type: ignore[no-any-return]

    def part(function: Function) -> Function:
        """Compile `function` for the kernels that call it, not for Python, and keep it on disk with them only.

        An eighth less to compile for each. What two processes need at once is better a `jit`: one finds the other's.
        """
        return _inner(make(function, no_cpython_wrapper=True, **COMMON))  # type: ignore[no-any-return]

    def inline(function: Function) -> Function:
        """Compile `function` into its callers only: what runs inside loops over lanes that must become vector code."""
        return _folding(_inline(function, function, FUSE))  # type: ignore[no-any-return]

    def lane_jit(function: Function) -> Function:
        """Compile `function`, which works on blocks of lanes, as `jit` does; `single` gives its twin."""
        return _folding(_lane_jit(function, function, FUSE))  # type: ignore[no-any-return]

    def single(kernel: Function) -> Function:
        """Return the single-precision twin of a `lane_jit` kernel: for float32 blocks, every constant float32 too.

        It and the `inline` functions that it calls are compiled from the same source with their constants made
        single, and more freely: sums may be reordered and divisions become products. NaN keeps its meaning.
        """
        if kernel not in _twins:
            from trailbrake.kernels.lanes import lanes_of

            source, remake = SOURCES[kernel], _makers[kernel]
            folded = fold(source)
            names = {**source.__globals__, "LANES": lanes_of(np.float32)}
            for name in folded.__code__.co_names:
                value: Any = names.get(name)
                if isinstance(value, float):
                    names[name] = np.float32(value)
                elif value.__hash__ is not None and value in SOURCES:
                    names[name] = single(value)
            constants = tuple(np.float32(c) if type(c) is float else c for c in folded.__code__.co_consts)
            code = folded.__code__.replace(co_consts=constants)
            _twins[kernel] = remake(FunctionType(code, names, folded.__name__), None, FREE)
        twin: Function = _twins[kernel]
        return twin

    def _kept(kernel: Any) -> Any:
        """Keep what `kernel` compiles on disk where there is a folder for it."""
        if CACHE is not None:
            kernel.enable_caching()
            kept = kernel._cache

            def load(signature: Any, context: Any) -> Any:
                # As Cache.load_overload, but without all that numba knows of Python and NumPy, 0.2 s of a start: who
                # compiles asks for it, and machine code that is there needs none of it.
                with kept._guard_against_spurious_io_errors():
                    return kept._load_overload(signature, context)

            kept.load_overload = load
        return kernel

    def _inner(kernel: Any) -> Any:
        """Let calls of `kernel` from Python raise TypeError: there is no entry for them, they would end the process."""

        def refuse(*args: Any, **kws: Any) -> Any:
            raise TypeError(f"{kernel.__name__}() is compiled into kernels only; call one of them, or its py_func")

        kernel._insert, kernel._compile_for_args = lambda *args, **kws: None, refuse
        return kernel

    def _folding(kernel: Any) -> Any:
        """Fold what `kernel` compiles when it does: a start that finds machine code on disk need not wait for it."""
        compiler = kernel._compiler
        compile_as_it_is = compiler.compile

        def compile_folded(*args: Any) -> Any:
            compiler.py_func, compiler.compile = fold(compiler.py_func), compile_as_it_is
            return compile_as_it_is(*args)

        compiler.compile = compile_folded
        return kernel

    def _inline(function: Any, source: Any, freedom: set[str]) -> Any:
        kernel = _inner(make(function, forceinline=True, no_cpython_wrapper=True, fastmath=freedom, **COMMON))
        find = kernel.get_call_template
        # One compilation for all constants that it is called with, not one for each.
        kernel.get_call_template = lambda args, kws: find([plain(arg) for arg in args], kws)
        SOURCES[kernel], _makers[kernel] = source, _inline
        return kernel

    def _lane_jit(function: Any, source: Any, freedom: set[str]) -> Any:
        kernel = _kept(make(function, fastmath=freedom, **COMMON))
        SOURCES[kernel], _makers[kernel] = source, _lane_jit
        return kernel

    plain: Any = types.unliteral
    SOURCES: dict[Any, Any] = {}  # of `inline` and `lane_jit` functions, as they were written
    _makers: dict[Any, Callable[..., Any]] = {}
    _twins: dict[Any, Any] = {}

elif BACKEND == "python":
    COLD = False

    def jit(function: Function) -> Function:
        """Return `function` itself."""
        return function

    part = inline = lane_jit = jit

    def single(kernel: Function) -> Function:
        """Return `kernel` itself."""
        return kernel

else:
    raise UsageError(
        "no such kernel backend", where="TRAILBRAKE_KERNELS", expected="numba or python", got=repr(BACKEND)
    )
