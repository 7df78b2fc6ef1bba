"""Everything that this package needs of numba beyond its public interface, and one check of it at start.

numba may rename private parts in any minor release, so pyproject.toml bounds its version. `check_numba` raises one
clear error where a version lacks a part, before the first kernel is defined.
"""

import gc
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numba
from numba.core import event, types
from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher

from trailbrake.errors import UsageError

VERSIONS = ">=0.61,<0.69"  # tried with this package; as in pyproject.toml

# No C callback wrapper, because no C code calls kernels: a tenth of the compile time. No reference counts of arrays
# (`_nrt`): kernels allocate none, and the counts would cost two atomic operations on memory that all threads share,
# about 10 ns, for each array that one kernel passes to another.
COMMON_OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False}
INTERNAL_OPTIONS = {**COMMON_OPTIONS, "no_cpython_wrapper": True}

_PRIVATE = {
    Dispatcher: ("_insert", "_compile_for_args", "get_call_template", "enable_caching", "compile"),
    FunctionCache: ("_load_overload", "_guard_against_spurious_io_errors", "load_overload", "cache_path"),
}
_PRIVATE_OF_KERNELS = ("_cache", "_compiler")

njit: Any = numba.njit  # its type stubs lack the options above
typeof: Any = numba.typeof
unliteral: Any = types.unliteral


class _CollectorPause(event.Listener):
    """Keeps Python's garbage collector off while kernels compile: an eighth of the time, for about 50 MB of memory.

    Compilations nest, and numba's lock lets one thread compile at a time.
    """

    def __init__(self) -> None:
        self._depth, self._was_enabled = 0, False

    def on_start(self, event: Any) -> None:
        if not self._depth:
            self._was_enabled = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if not self._depth and self._was_enabled:
            gc.enable()


event.register("numba:compile", _CollectorPause())  # type: ignore[no-untyped-call]


def check_numba() -> None:
    """Check that numba has every private part that this package uses.

    Raises:
        UsageError: a part is missing; the message names it and the versions that have it.
    """
    missing = [
        f"{owner.__name__}.{name}" for owner, names in _PRIVATE.items() for name in names if not hasattr(owner, name)
    ]
    probe = njit(_probe)
    missing += [f"Dispatcher.{name}" for name in _PRIVATE_OF_KERNELS if not hasattr(probe, name)]
    known = getattr(getattr(probe, "targetdescr", None), "options", None)
    options = (*INTERNAL_OPTIONS, "forceinline", "fastmath")
    missing += [f"option {name}" for name in options if not hasattr(known, name)]
    if missing:
        raise UsageError(
            "this version of numba does not fit", where="numba", expected=f"numba{VERSIONS}",
            got=f"{numba.__version__} without {', '.join(missing)}", hint=f'pip install "numba{VERSIONS}"',
        )  # fmt: skip


def _probe() -> None:
    """Do nothing; `check_numba` makes a kernel of it and never compiles it."""


def enable_disk_cache(kernel: Any) -> Any:
    """Let `kernel` keep its machine code on disk; return it.

    numba's own `load_overload` first imports all that it knows of Python and NumPy, 0.2 s of a start. Compilation
    needs that and imports it itself; machine code from disk does not. A damaged file (a full disk, a lost power supply)
    is dropped with one line, and the kernel compiled again.
    """
    kernel.enable_caching()
    kept = kernel._cache

    def load(signature: Any, context: Any) -> Any:
        with kept._guard_against_spurious_io_errors():
            try:
                return kept._load_overload(signature, context)
            except OSError:
                raise
            except Exception as error:  # whatever unpickling damaged bytes may raise
                _say_once(
                    f"trailbrake: a damaged file of kernels in {kept.cache_path}: compiling again ({error!r:.80})"
                )
                kept._cache_file.flush()
        return None

    kept.load_overload = load
    return kernel


@cache
def _say_once(line: str) -> None:
    print(line, file=sys.stderr)


def refuse_python_calls(kernel: Any) -> Any:
    """Let calls of `kernel` from Python raise TypeError; return it.

    It was compiled without a Python wrapper, and a call would end the process.
    """

    def refuse(*args: Any, **kws: Any) -> Any:
        raise TypeError(f"{kernel.__name__}() is compiled into kernels only; call one of them, or its py_func")

    kernel._insert, kernel._compile_for_args = lambda *args, **kws: None, refuse
    return kernel


def transform_source(kernel: Any, transform: Callable[[Any], Any]) -> Any:
    """Let `kernel` compile `transform(function)`, called at its first compilation only; return it.

    A start that finds machine code on disk need not wait for `transform`.
    """
    compiler = kernel._compiler
    compile_original = compiler.compile

    def compile_transformed(*args: Any) -> Any:
        compiler.py_func, compiler.compile = transform(compiler.py_func), compile_original
        return compile_original(*args)

    compiler.compile = compile_transformed
    return kernel


def share_between_constants(kernel: Any) -> Any:
    """Let `kernel` be compiled once for all constants that kernels pass to it, not once for each; return it."""
    find_template = kernel.get_call_template
    kernel.get_call_template = lambda args, kws: find_template([_widen_constant(arg) for arg in args], kws)
    return kernel


def _widen_constant(constant: Any) -> Any:
    """Return the type of the numbers to which the type of a constant, or of a member of an IntEnum, belongs."""
    return constant.dtype if isinstance(constant, types.IntEnumMember) else unliteral(constant)


def compile_entry(kernel: Any, example_args: tuple[Any, ...]) -> Callable[..., Any]:
    """Return the compiled entry of `kernel` for the types of `example_args`."""
    entry: Callable[..., Any] = kernel.compile(tuple(typeof(argument) for argument in example_args))
    return entry
