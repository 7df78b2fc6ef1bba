"""`CudaCompiler`: kernels, and all that they call, as functions of a graphics card, compiled from the same source.

Each thread of the card computes one car: blocks have one lane there, and a vectorized function runs its phases one
after the other. It needs the extra `gpu`. With NUMBA_ENABLE_CUDASIM=1 the same runs as plain Python on the processor,
car by car, for tests.
"""

from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from trailbrake.errors import UsageError
from trailbrake.kernels import BACKEND
from trailbrake.kernels.lane_phases import Phases, find_source

_HINT = 'pip install "trailbrake[gpu]", and a driver of the card that is new enough for it'


def require_cuda() -> ModuleType:
    """Return `numba.cuda`.

    Raises:
        UsageError: numba finds no card that it can use; with numba's own reason.
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


class CudaCompiler:
    """Compiles kernels to functions of a graphics card, each once.

    Args:
        single: whether numbers are float32 and arithmetic is free, as in `kernels.single_precision`.
    """

    def __init__(self, *, single: bool) -> None:
        self._single = single
        self._cuda: Any = require_cuda()
        # `fastmath` of CUDA: its elementary functions have errors of some 1e-7.
        self._options = {"device": True, "fastmath": single}
        self._made: dict[Any, Any] = {}
        self._numpy = ModuleType("numpy of the card")  # the part of it that lane code may use
        self._numpy.floor = self._make_floor()  # type: ignore[attr-defined]

    def compile_kernel(self, kernel: Any) -> Any:
        """Return a kernel, a vectorized function or a function of a phase as a function of the card."""
        if kernel not in self._made:
            self._made[kernel] = self._compile_device(self._translate_kernel(kernel))
        return self._made[kernel]

    def _compile_device(self, function: Any) -> Any:
        return self._cuda.jit(**self._options)(function)

    def _translate_kernel(self, kernel: Any) -> Any:
        from trailbrake.kernels import LANE_SOURCES, lane_blocks
        from trailbrake.kernels.enum_constants import inline_enums
        from trailbrake.kernels.simd import VECTORIZED_PHASES

        if kernel in VECTORIZED_PHASES:
            return self._chain_phases(VECTORIZED_PHASES[kernel])
        if kernel is lane_blocks.get:
            return _get_lane
        if kernel is lane_blocks.put:
            return _put_lane
        folded = inline_enums(find_source(kernel))
        names: dict[str, Any] = {**folded.__globals__, "LANES": 1, "np": self._numpy}
        for name in folded.__code__.co_names:
            value = names.get(name)
            if isinstance(value, float):
                names[name] = self._to_real(value)
            elif value.__hash__ is None:
                continue
            elif (
                value in LANE_SOURCES
                or value in VECTORIZED_PHASES
                or value in (lane_blocks.get, lane_blocks.put)
                or hasattr(value, "py_func")
            ):
                names[name] = self.compile_kernel(value)
        constants = tuple(self._to_real(c) if type(c) is float else c for c in folded.__code__.co_consts)
        return FunctionType(folded.__code__.replace(co_consts=constants), names, folded.__name__)

    def _chain_phases(self, phases: Phases) -> Any:
        # As source text, because numba cannot compile a loop over functions. A block has one lane, number 0.
        calls = [call for calls in phases.calls for call in calls]
        names: dict[str, Any] = {f"call{k}": self.compile_kernel(call.function) for k, call in enumerate(calls)}
        names["real"] = np.float32 if self._single else np.float64
        arguments = {name: name if table else f"real({name})" for name, table in phases.tables.items()}
        body = ""
        for k, call in enumerate(calls):
            constants = [f"real({value!r})" if type(value) is float else repr(int(value)) for value in call.constants]
            values = ["block", *constants, "0", *(arguments[name] for name in call.inputs)]
            body += f"    call{k}({', '.join(values)})\n"
        exec(f"def run({', '.join(['block', 'lanes', *phases.tables])}):\n{body}", names)
        return names["run"]

    def _make_floor(self) -> Any:
        import numba

        simulated: Any = numba.config
        if simulated.ENABLE_CUDASIM:
            return np.floor
        from numba.cuda import libdevice

        names = {"whole": libdevice.floorf if self._single else libdevice.floor}
        exec("def floor(x):\n    return whole(x)\n", names)
        return self._compile_device(names["floor"])

    def _to_real(self, value: float) -> Any:
        return np.float32(value) if self._single else value


def _get_lane(block: Any, row: int, lane: int) -> Any:
    return block[row + lane]


def _put_lane(block: Any, row: int, lane: int, value: float) -> None:
    block[row + lane] = value
