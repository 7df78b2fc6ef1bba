"""Lane code as vector instructions: a function written for one car is run once, and writes down what it does.

`vectors(phase, ...)` gives a function for kernels that takes all lanes of a block through each phase in turn. A phase
is a function of a block, a lane and numbers. In plain Python it is called for each lane. For machine code it is called
with objects in place of numbers, whose operators append one vector instruction each to the program; so calls, loops
and branches on constants leave nothing behind, and there is no loop that a compiler might fail to turn into vector
code, nor types for numba to find out, which takes a hundred times as long.

Lane code may use `get` and `put` with rows known at this point, arithmetic, comparisons, `a if test else b` (both
are worked out, one is taken), `and`, `or`, `not`, `min`, `max`, `abs`, `math.sqrt`, `np.floor`, and `inline` functions
of the same kind. A branch on a lane's value is refused when it is traced. Within a phase a row is read and written
once, however often it is named; between phases nothing is reordered: a phase is about as long as a processor looks
ahead.
"""

import ast
import inspect
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from trailbrake.kernels import BACKEND
from trailbrake.kernels.lanes import LANES

Phase = Callable[..., None]

if BACKEND == "numba":
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba.core import types
    from numba.extending import intrinsic

    from trailbrake.kernels import SOURCES
    from trailbrake.kernels.fold import parse

    PHASES: dict[Any, tuple[Phase, ...]] = {}  # of what `vectors` made: the same lane by lane, for `device`
    WIDTH = 32  # bytes of a vector: what processors of the last ten years have; LANES of doubles are two of them
    _INDEX = ir.IntType(64)

    class _Vector:
        """One number of each lane; `numbers` of it, or tests, in the program being written."""

        __slots__ = ("value",)

        def __init__(self, value: Any) -> None:
            self.value = value

        def __bool__(self) -> bool:
            raise TypeError("lane code branches on a lane's value: write `a if test else b`")

        def __neg__(self) -> "_Vector":
            return _Vector(_now.builder.fneg(self.value, flags=_now.freedom))

        def __abs__(self) -> "_Vector":
            size: _Vector = _now.call("fabs", self)
            return size

    def _arithmetic(name: str, swapped: bool) -> Callable[[Any, Any], _Vector]:
        def operate(a: Any, b: Any) -> _Vector:
            left, right = (b, a) if swapped else (a, b)
            return _Vector(getattr(_now.builder, name)(_now.lift(left), _now.lift(right), flags=_now.freedom))

        return operate

    def _comparison(sign: str) -> Callable[[Any, Any], _Vector]:
        def compare(a: Any, b: Any) -> _Vector:
            build = _now.builder.fcmp_unordered if sign == "!=" else _now.builder.fcmp_ordered
            return _Vector(build(sign, _now.lift(a), _now.lift(b)))

        return compare

    for _python, _name in (("add", "fadd"), ("sub", "fsub"), ("mul", "fmul"), ("truediv", "fdiv")):
        setattr(_Vector, f"__{_python}__", _arithmetic(_name, swapped=False))
        setattr(_Vector, f"__r{_python}__", _arithmetic(_name, swapped=True))
    for _python, _name in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("eq", "=="), ("ne", "!=")):
        setattr(_Vector, f"__{_python}__", _comparison(_name))

    class _Program:
        """The instructions of one kernel for one type of number, as they are written down."""

        def __init__(self, module: Any, name: str, real: Any, scalars: int) -> None:
            self.size = size = 4 if isinstance(real, ir.FloatType) else 8  # bytes; blocks need not begin on a vector
            self.freedom = ("contract", "reassoc", "nsz", "arcp", "afn") if size == 4 else ("contract",)
            self.suffix = f"v{WIDTH // size}f{8 * size}"
            self.vector = ir.VectorType(real, WIDTH // size)
            kind = ir.FunctionType(ir.VoidType(), [real.as_pointer(), _INDEX, *[real] * scalars])
            self.function = ir.Function(module, kind, name)
            self.function.linkage = "internal"
            self.function.attributes.add("noinline")
            self.function.attributes.add("nounwind")
            self.builder = ir.IRBuilder(self.function.append_basic_block())
            self.chunks = range(0, LANES, self.vector.count)
            self.read: set[int] = set()

        @contextmanager
        def where_used(self, first: int) -> Iterator[None]:
            """Write a phase for the vector of lanes from `first` on, which is left out where they hold no car."""
            self.first = first
            self.known: dict[int, Any] = {}
            self.changed: dict[int, Any] = {}
            if first == 0:
                yield
                return
            used = self.builder.icmp_signed(">", self.function.args[1], ir.Constant(_INDEX, first))
            with self.builder.if_then(used, likely=True):
                yield

        def end(self, forgotten: frozenset[int]) -> None:
            """End the phase: write what it changed, but for rows that are `forgotten`."""
            for row, value in self.changed.items():
                if row not in forgotten:
                    self.builder.store(value, self.place(row), align=self.size)
            # Nothing crosses this line: else the whole kernel would be one phase to the compiler.
            self.builder.asm(ir.FunctionType(ir.VoidType(), []), "", "~{memory}", [], side_effect=True)

        def place(self, row: int) -> Any:
            index = ir.Constant(_INDEX, row * LANES + self.first)
            spot = self.builder.gep(self.function.args[0], [index], inbounds=True)
            return self.builder.bitcast(spot, self.vector.as_pointer())

        def get(self, block: Any, row: int, lane: Any) -> _Vector:
            if row not in self.known:
                self.known[row] = self.builder.load(self.place(row), align=self.size)
                self.read.add(row)
            return _Vector(self.known[row])

        def put(self, block: Any, row: int, lane: Any, value: Any) -> None:
            self.known[row] = self.changed[row] = self.lift(value)

        def lift(self, value: Any) -> Any:
            if isinstance(value, _Vector):
                return value.value
            return ir.Constant(self.vector, [float(value)] * self.vector.count)

        def splat(self, scalar: Any) -> _Vector:
            one = self.builder.insert_element(
                ir.Constant(self.vector, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0)
            )
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), self.vector.count), None)
            return _Vector(self.builder.shuffle_vector(one, ir.Constant(self.vector, ir.Undefined), zeros))

        def call(self, name: str, value: Any) -> _Vector:
            module, full = self.builder.module, f"llvm.{name}.{self.suffix}"
            function = module.globals.get(full)
            if function is None:
                function = ir.Function(module, ir.FunctionType(self.vector, [self.vector]), full)
            return _Vector(self.builder.call(function, [self.lift(value)], fastmath=self.freedom))

    _now: Any = None  # the program being written: numba compiles one kernel at a time, under its lock

    def _select(test: Any, yes: Any, no: Any) -> Any:
        if not isinstance(test, _Vector):
            return yes if test else no
        return _Vector(_now.builder.select(test.value, _now.lift(yes), _now.lift(no)))

    def _both(a: Any, b: Any) -> Any:
        if not (isinstance(a, _Vector) and isinstance(b, _Vector)):
            return (b if a else a) if isinstance(b, _Vector) or not isinstance(a, _Vector) else (a if b else b)
        return _Vector(_now.builder.and_(a.value, b.value))

    def _either(a: Any, b: Any) -> Any:
        if not (isinstance(a, _Vector) and isinstance(b, _Vector)):
            return (a if a else b) if isinstance(b, _Vector) or not isinstance(a, _Vector) else (b if b else a)
        return _Vector(_now.builder.or_(a.value, b.value))

    def _not(a: Any) -> Any:
        return _Vector(_now.builder.not_(a.value)) if isinstance(a, _Vector) else not a

    def _least(a: Any, b: Any) -> Any:
        return _select(b < a, b, a)  # as Python's, NaN included, and one instruction

    def _most(a: Any, b: Any) -> Any:
        return _select(b > a, b, a)

    _WORDS = {
        "_select": _select, "_both": _both, "_either": _either, "_not": _not, "min": _least, "max": _most,
        "math": SimpleNamespace(sqrt=lambda x: _now.call("sqrt", x), pi=math.pi),
        "np": SimpleNamespace(floor=lambda x: _now.call("floor", x)),
        "get": lambda block, row, lane: _now.get(block, int(row), lane),
        "put": lambda block, row, lane, value: _now.put(block, int(row), lane, value),
    }  # fmt: skip

    class _Rewriter(ast.NodeTransformer):
        """What Python would decide by a truth value, as calls that can take both ways."""

        def _call(self, node: ast.expr, name: str, *arguments: ast.expr) -> ast.expr:
            return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), list(arguments), []), node)

        def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
            self.generic_visit(node)
            return self._call(node, "_select", node.test, node.body, node.orelse)

        def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
            self.generic_visit(node)
            result = node.values[0]
            for value in node.values[1:]:
                result = self._call(node, "_both" if isinstance(node.op, ast.And) else "_either", result, value)
            return result

        def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
            self.generic_visit(node)
            return self._call(node, "_not", node.operand) if isinstance(node.op, ast.Not) else node

    _traceable: dict[Any, Any] = {}

    def _prepared(function: Any) -> Any:
        """Return `function` such that it can be run with vectors, and the `inline` functions that it calls likewise."""
        source = SOURCES.get(function, function)
        if source not in _traceable:
            tree = ast.fix_missing_locations(_Rewriter().visit(parse(source)))
            names: dict[str, Any] = {**source.__globals__, **_WORDS}
            scope: dict[str, Any] = {}
            exec(compile(tree, inspect.getsourcefile(source) or "<lanes>", "exec"), names, scope)
            _traceable[source] = scope[source.__name__]
            for name in scope[source.__name__].__code__.co_names:
                callee = names.get(name)
                if name not in _WORDS and callee.__hash__ is not None and callee in SOURCES:
                    names[name] = _prepared(callee)
        return _traceable[source]

    def _write(
        module: Any, name: str, real: Any, scalars: int, phases: tuple[Phase, ...], forgotten: frozenset[int]
    ) -> Any:
        """Return the function `name` of the phases in `module`, and the rows that its phases read."""
        global _now
        before, _now = _now, _Program(module, name, real, scalars)
        try:
            numbers = [_now.splat(scalar) for scalar in _now.function.args[2:]]
            for phase in phases:
                for first in _now.chunks:
                    with _now.where_used(first):
                        _prepared(phase)(None, 0, *numbers)
                        _now.end(forgotten)
            _now.builder.ret_void()
            return _now.function, frozenset(_now.read)
        finally:
            _now = before

    def vectors(*phases: Phase, scratch: range = range(0)) -> Any:
        """Return a function of kernels, `run(block, lanes, *numbers)`, that takes a block through the phases.

        The first `lanes` lanes hold cars; the others are computed or not, as it comes.

        Args:
            phases: functions of a block, a lane and the numbers, see above.
            scratch: rows that nobody reads afterwards: those that no later phase reads either are not written.
        """
        scalars = len(inspect.signature(phases[0]).parameters) - 2
        name = "_".join(["lanes", *(phase.__name__ for phase in phases)])

        def run(typingctx: Any, block: Any, lanes: Any, *numbers: Any) -> Any:
            def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                real = context.get_data_type(signature.args[0].dtype)
                full = f"{name}_{signature.args[0].dtype}"
                function = builder.module.globals.get(full)
                if function is None:
                    # Twice: only the first time tells which rows one phase leaves for another.
                    _, read = _write(ir.Module(), full, real, scalars, phases, frozenset())
                    function, _ = _write(builder.module, full, real, scalars, phases, frozenset(scratch) - read)
                data = context.make_array(signature.args[0])(context, builder, args[0]).data
                builder.call(function, [data, *args[1:]])
                return context.get_dummy_value()

            return types.void(block, types.intp, *[block.dtype] * scalars), codegen

        names = ["typingctx", "block", "lanes", *(f"number{k}" for k in range(scalars))]
        each = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        run.__signature__ = inspect.Signature(each)  # type: ignore[attr-defined] # numba would take *numbers for a tuple
        made = intrinsic(run)
        PHASES[made] = phases
        return made

else:

    def vectors(*phases: Phase, scratch: range = range(0)) -> Any:
        """Return a function `run(block, lanes, *numbers)` that takes the lanes of a block through the phases."""

        def run(block: Any, lanes: int, *numbers: float) -> None:
            for phase in phases:
                for lane in range(lanes):
                    phase(block, lane, *numbers)

        return run
