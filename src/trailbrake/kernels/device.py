"""`device`: a kernel and all that it calls as functions of a graphics card, compiled from the same source.

A thread of the card has one car: blocks have one lane there, and `vectors` are their phases one after the other. Needs
the extra `gpu`; NUMBA_ENABLE_CUDASIM=1 runs the same on a processor as plain Python, car by car, for tests.
"""

from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from trailbrake.errors import UsageError
from trailbrake.kernels import BACKEND
from trailbrake.kernels.trace import tables_of

_HINT = 'pip install "trailbrake[gpu]", and a driver of the card that is new enough for it'


def cuda() -> ModuleType:
    """Return `numba.cuda`, where there is a card that it can use.

    Raises:
        UsageError: there is none, with numba's own reason.
    """
    if BACKEND != "numba":
        raise UsageError("no graphics card", where="TRAILBRAKE_KERNELS", expected="numba", got=BACKEND)
    import numba.cuda

    module: Any = numba.cuda

    if not module.is_available():
        try:
            module.current_context()
        except Exception as error:
            reason = next((line.strip() for line in str(error).splitlines()[1:] if line.strip()), type(error).__name__)
        else:
            reason = "numba names none"
        raise UsageError("no graphics card that numba can use", where="CUDA", got=reason.rstrip("."), hint=_HINT)
    found: ModuleType = module
    return found


class Device:
    """Makes functions of a graphics card of kernels, each once.

    Args:
        single: whether numbers are float32 and arithmetic is free, as in `kernels.single`.
    """

    def __init__(self, *, single: bool) -> None:
        self._single = single
        self._cuda: Any = cuda()
        # Contraction as on a processor; the free arithmetic is CUDA's own, whose functions are good to some 1e-7.
        self._options = {"device": True, "fastmath": single}
        self._made: dict[Any, Any] = {}
        self._numpy = ModuleType("numpy of the card")  # as much of it as lane code may use
        self._numpy.floor = self._floor()  # type: ignore[attr-defined]

    def of(self, kernel: Any) -> Any:
        """Return `kernel`, made by `jit`, `inline`, `lane_jit` or `vectors`, or a phase, as a function of the card."""
        if kernel not in self._made:
            self._made[kernel] = self._compiled(self._translated(kernel))
        return self._made[kernel]

    def _compiled(self, function: Any) -> Any:
        return self._cuda.jit(**self._options)(function)

    def _translated(self, kernel: Any) -> Any:
        from trailbrake.kernels import SOURCES, lanes
        from trailbrake.kernels.fold import fold
        from trailbrake.kernels.trace import PHASES

        if kernel in PHASES:
            return self._in_turn(PHASES[kernel])
        if kernel is lanes.get:
            return _get
        if kernel is lanes.put:
            return _put
        folded = fold(_source(kernel))
        names: dict[str, Any] = {**folded.__globals__, "LANES": 1, "np": self._numpy}
        for name in folded.__code__.co_names:
            value = names.get(name)
            if isinstance(value, float):
                names[name] = self._number(value)
            elif value.__hash__ is None:
                continue
            elif value in SOURCES or value in PHASES or value in (lanes.get, lanes.put) or hasattr(value, "py_func"):
                names[name] = self.of(value)
        constants = tuple(self._number(c) if type(c) is float else c for c in folded.__code__.co_consts)
        return FunctionType(folded.__code__.replace(co_consts=constants), names, folded.__name__)

    def _in_turn(self, phases: tuple[Any, ...]) -> Any:
        # Written out: a loop over functions is nothing that numba could compile.
        tables = tables_of(_source(phases[0]))
        names: dict[str, Any] = {f"phase{k}": self.of(phase) for k, phase in enumerate(phases)}
        names["real"] = np.float32 if self._single else np.float64
        given = [f"given{k}" for k in range(len(tables))]
        cast = "".join(f", {name}" if table else f", real({name})" for name, table in zip(given, tables, strict=True))
        body = "".join(f"    phase{k}(block, 0{cast})\n" for k in range(len(phases)))
        exec(f"def run({', '.join(['block', 'lanes', *given])}):\n{body}", names)
        return names["run"]

    def _floor(self) -> Any:
        import numba

        simulated: Any = numba.config
        if simulated.ENABLE_CUDASIM:
            return np.floor
        from numba.cuda import libdevice

        names = {"whole": libdevice.floorf if self._single else libdevice.floor}
        exec("def floor(x):\n    return whole(x)\n", names)
        return self._compiled(names["floor"])

    def _number(self, value: float) -> Any:
        return np.float32(value) if self._single else value


def _source(kernel: Any) -> Any:
    from trailbrake.kernels import SOURCES

    return SOURCES.get(kernel) or getattr(kernel, "py_func", kernel)


def _get(block: Any, row: int, lane: int) -> Any:
    return block[row + lane]


def _put(block: Any, row: int, lane: int, value: float) -> None:
    block[row + lane] = value
