"""`CudaCompiler`: kernels, and all that they call, as functions of a graphics card, compiled from the same source.

Each thread of the card computes one car: blocks have one lane there, and a vectorized function runs its phases one
after the other. It needs the extra `gpu`. With NUMBA_ENABLE_CUDASIM=1 the same runs as plain Python on the processor,
car by car, for tests.
"""

from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from trailbrake.errors import UsageError
from trailbrake.kernels import BACKEND, lane_blocks
from trailbrake.kernels.lane_phases import Phases, find_source

_HINT = 'pip install "trailbrake[gpu]", and a driver of the card that is new enough for it'


def require_cuda() -> ModuleType:
    """Return `numba.cuda`.

    Raises:
        UsageError: numba finds no card that it can use, with numba's own reason; a driver older than CUDA's compiler;
            cards of different kinds, of which it would take whichever comes first.
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
    if not module.config.ENABLE_CUDASIM:
        driver, toolkit = module.cudadrv.driver.get_version(), module.runtime.get_version()
        names = [_read_name(card) for card in module.gpus]
        if driver[0] < toolkit[0]:
            expected, got = (f"CUDA {major}.{minor}" for major, minor in (toolkit, driver))
            raise UsageError("the driver of the graphics card is too old", where="CUDA", expected=expected, got=got)
        if len(set(names)) > 1:
            hint = "choose one, such as CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=0"
            raise UsageError("graphics cards of different kinds", where="CUDA", got=", ".join(names), hint=hint)
    found: ModuleType = module
    return found


def _read_name(card: Any) -> str:
    name: str | bytes = card.name
    return name.decode() if isinstance(name, bytes) else name


class BlockAccess(NamedTuple):
    """What functions of the card call in place of those of `lane_blocks`; the lane is always 0.

    Attributes:
        get: `(block, row, lane)`, of a row known at compile time.
        get_indexed: `(block, row, index, lane)`, of row `row + index`, where only `row` is known.
        put: `(block, row, lane, value)`, of a row known at compile time.
    """

    get: Callable[..., Any]
    get_indexed: Callable[..., Any]
    put: Callable[..., None]


def _get_element(block: Any, row: int, lane: int) -> Any:
    return block[row]


def _get_indexed_element(block: Any, row: int, index: int, lane: int) -> Any:
    return block[row + index]


def _put_element(block: Any, row: int, lane: int, value: float) -> None:
    block[row] = value


ARRAY_ACCESS = BlockAccess(_get_element, _get_indexed_element, _put_element)


def make_transfer(*, load: Sequence[int] = (), store: Sequence[int] = ()) -> Any:
    """Return a function of the card, `(block)`, that stores rows of `block.rows` to a car, then loads others from it.

    The car is line `block.car` of `block.cars`. The function is a line of source text for each row: one index that
    is not constant would keep the whole array out of registers.
    """
    lines = [f"    block.cars[block.car, {row}] = block.rows[{row}]\n" for row in store]
    lines += [f"    block.rows[{row}] = block.cars[block.car, {row}]\n" for row in load]
    names: dict[str, Any] = {}
    exec("def transfer(block):\n" + ("".join(lines) or "    pass\n"), names)
    return names["transfer"]


class CudaCompiler:
    """Compiles kernels to functions of a graphics card, each once.

    Args:
        single: whether numbers are float32 and arithmetic is free, as in `kernels.single_precision`.
        access: how kernels read and write a block; by default it is an array with one number in each row.
        replacements: functions of the card in place of kernels that others call.
        hooks: functions of the card, `(block)`, to call before and after a vectorized function; None: nothing.
    """

    def __init__(
        self,
        *,
        single: bool,
        access: BlockAccess | None = None,
        replacements: Mapping[Any, Any] | None = None,
        hooks: Mapping[Any, tuple[Any, Any]] | None = None,
    ) -> None:
        self._single = single
        self._hooks = dict(hooks or {})
        accessors = access or ARRAY_ACCESS
        self._replacements: dict[Any, Any] = {
            lane_blocks.get: accessors.get,
            lane_blocks.get_indexed: accessors.get_indexed,
            lane_blocks.put: accessors.put,
            **(replacements or {}),
        }
        self._cuda: Any = require_cuda()
        # `fastmath` of CUDA: its elementary functions have errors of some 1e-7.
        self._options = {"device": True, "fastmath": single}
        self._made: dict[Any, Any] = {}
        self._numpy = ModuleType("numpy of the card")  # the part of it that lane code may use
        for name in ("floor", "ceil"):
            setattr(self._numpy, name, self._make_rounding(name))

    def compile_kernel(self, kernel: Any) -> Any:
        """Return a kernel, a vectorized function or a function of a phase as a function of the card."""
        if kernel not in self._made:
            self._made[kernel] = self._compile_device(self._translate_kernel(kernel))
        return self._made[kernel]

    def _compile_device(self, function: Any) -> Any:
        return self._cuda.jit(**self._options)(function)

    def _translate_kernel(self, kernel: Any) -> Any:
        from trailbrake.kernels import LANE_SOURCES
        from trailbrake.kernels.enum_constants import inline_enums
        from trailbrake.kernels.simd import VECTORIZED_PHASES

        if kernel in self._replacements:
            return self._replacements[kernel]
        if kernel in VECTORIZED_PHASES:
            return self._chain_phases(VECTORIZED_PHASES[kernel], *self._hooks.get(kernel, (None, None)))
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
                or value in self._replacements
                or hasattr(value, "py_func")
            ):
                names[name] = self.compile_kernel(value)
        constants = tuple(self._to_real(c) if type(c) is float else c for c in folded.__code__.co_consts)
        return FunctionType(folded.__code__.replace(co_consts=constants), names, folded.__name__)

    def _chain_phases(self, phases: Phases, before: Any, after: Any) -> Any:
        # As source text, because numba cannot compile a loop over functions. A block has one lane, number 0.
        calls = [call for calls in phases.calls for call in calls]
        names: dict[str, Any] = {f"call{k}": self.compile_kernel(call.function) for k, call in enumerate(calls)}
        names["real"] = np.float32 if self._single else np.float64
        arguments = {name: name if table else f"real({name})" for name, table in phases.tables.items()}
        hooks = {name: self._compile_device(hook) for name, hook in (("before", before), ("after", after)) if hook}
        names |= hooks
        body = "    before(block)\n" if before else ""
        for k, call in enumerate(calls):
            constants = [f"real({value!r})" if type(value) is float else repr(int(value)) for value in call.constants]
            values = ["block", *constants, "0", *(arguments[name] for name in call.inputs)]
            body += f"    call{k}({', '.join(values)})\n"
        body += "    after(block)\n" if after else ""
        exec(f"def run({', '.join(['block', 'lanes', *phases.tables])}):\n{body}", names)
        return names["run"]

    def _make_rounding(self, name: str) -> Any:
        import numba

        simulated: Any = numba.config
        if simulated.ENABLE_CUDASIM:
            return getattr(np, name)
        from numba.cuda import libdevice

        names = {"whole": getattr(libdevice, f"{name}f" if self._single else name)}
        exec("def rounding(x):\n    return whole(x)\n", names)
        return self._compile_device(names["rounding"])

    def _to_real(self, value: float) -> Any:
        return np.float32(value) if self._single else value
