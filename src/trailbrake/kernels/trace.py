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

What each lane reads at a place of its own: `int(x)` is an index, of a number that is surely in range (a lane that holds
no car and one whose numbers are NaN are computed like any other). `line = table[int(x)]` is a line of a table, and
`line[3]` a column of it; lines are read in whole vectors, so such a table has a multiple of a block's lanes in columns.
`table[int(x), int(y)]` is one number, and so is `get(block, FIRST + int(x), lane)` of a row that this phase does not
write. Parameters of a phase that are not annotated `float` are tables, of the same numbers as the block.
"""

import ast
import inspect
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from trailbrake.kernels import BACKEND
from trailbrake.kernels.lanes import CACHE_LINE

Phase = Callable[..., None]


def tables_of(phase: Phase) -> list[bool]:
    """Return of each parameter of a phase behind block and lane whether it is a table, and not a number."""
    parameters = list(inspect.signature(phase).parameters.values())[2:]
    return [parameter.annotation not in (float, parameter.empty) for parameter in parameters]


if BACKEND == "numba":
    from llvmlite import ir  # type: ignore[import-untyped]
    from llvmlite.binding import get_host_cpu_features  # type: ignore[import-untyped]
    from numba.core import types
    from numba.extending import intrinsic

    from trailbrake.kernels import SOURCES
    from trailbrake.kernels.fold import parse

    PHASES: dict[Any, tuple[Phase, ...]] = {}  # of what `vectors` made: the same lane by lane, for `device`

    def _width() -> int:
        try:
            wide = get_host_cpu_features().get("avx512f", False)
        except RuntimeError:  # not told on this platform
            wide = False
        return CACHE_LINE if wide else CACHE_LINE // 2

    WIDTH = _width()  # bytes of a vector: a row of a block at once, or what processors of the last ten years have
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

    class _Index:
        """A whole number of each lane, with a constant added to it."""

        def __init__(self, value: Any, more: int = 0) -> None:
            self.value, self.more = value, more

        def __add__(self, more: int) -> "_Index":
            return _Index(self.value, self.more + more)

        __radd__ = __add__

        def of(self, lane: int) -> Any:
            one = _now.builder.sext(_now.builder.extract_element(self.value, _short(lane)), _INDEX)
            return _now.builder.add(one, _long(self.more)) if self.more else one

    class _Table:
        """Rows of numbers; `stride` numbers from one to the next."""

        def __init__(self, data: Any, stride: Any) -> None:
            self.data, self.stride = data, stride

        def __getitem__(self, key: Any) -> Any:
            if not isinstance(key, tuple):
                return _Line([self._at(key.of(lane)) for lane in range(_now.vector.count)])
            row, column = key
            return self.picked(row, [column.of(lane) for lane in range(_now.vector.count)])

        def picked(self, row: "_Index", columns: Iterable[Any]) -> _Vector:
            """Return for each lane the number in its row and column."""
            vector = ir.Constant(_now.vector, ir.Undefined)
            for lane, column in zip(range(_now.vector.count), columns, strict=False):
                place = _now.builder.gep(self._at(row.of(lane)), [_long(column) if type(column) is int else column])
                vector = _now.builder.insert_element(vector, _now.builder.load(place), _short(lane))
            return _Vector(vector)

        def _at(self, row: Any) -> Any:
            return _now.builder.gep(self.data, [_now.builder.mul(row, self.stride)])

    class _Line:
        """A row of a table for each lane, read as many columns at once as there are lanes in a vector."""

        def __init__(self, places: list[Any]) -> None:
            self.places = places
            self.columns: dict[int, Any] = {}

        def __getitem__(self, column: int) -> _Vector:
            column = int(column)
            if column not in self.columns:
                count = _now.vector.count
                first = column - column % count
                lines = []
                for place in self.places:
                    spot = _now.builder.gep(place, [_long(first)])
                    spot = _now.builder.bitcast(spot, _now.vector.as_pointer())
                    lines.append(_now.builder.load(spot, align=_now.size))
                self.columns.update(enumerate(_transposed(lines), first))
            return _Vector(self.columns[column])

    def _short(number: int) -> Any:
        return ir.Constant(ir.IntType(32), number)

    def _long(number: int) -> Any:
        return ir.Constant(_INDEX, number)

    def _shuffled(a: Any, b: Any, places: list[int]) -> Any:
        mask = ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places)
        return _now.builder.shuffle_vector(a, b, mask)

    def _transposed(lines: list[Any]) -> list[Any]:
        """Return the columns of a square of numbers: its parts off the diagonal change places, 1, 2, 4 numbers wide.

        Eklundh, A fast computer method for matrix transposing, IEEE Transactions on Computers C-21, 1972.
        """
        count, width = len(lines), 1
        while width < count:
            upper = [k + count - width if k & width else k for k in range(count)]
            lower = [k + count if k & width else k + width for k in range(count)]
            for i in range(count):
                if not i & width:
                    pair = lines[i], lines[i + width]
                    lines[i], lines[i + width] = _shuffled(*pair, upper), _shuffled(*pair, lower)
            width *= 2
        return lines

    class _Program:
        """The instructions of one kernel for one type of number, as they are written down."""

        def __init__(self, module: Any, name: str, real: Any, tables: list[bool]) -> None:
            self.size = size = 4 if isinstance(real, ir.FloatType) else 8  # bytes; blocks need not begin on a vector
            self.freedom = ("contract", "reassoc", "nsz", "arcp", "afn") if size == 4 else ("contract",)
            self.lanes, count = CACHE_LINE // size, WIDTH // size
            self.suffix = f"v{count}f{8 * size}"
            self.vector = ir.VectorType(real, count)
            rest = [kind for table in tables for kind in ((real.as_pointer(), _INDEX) if table else (real,))]
            kind = ir.FunctionType(ir.VoidType(), [real.as_pointer(), _INDEX, *rest])
            self.function = ir.Function(module, kind, name)
            self.function.linkage = "internal"
            self.function.attributes.add("noinline")
            self.function.attributes.add("nounwind")
            self.builder = ir.IRBuilder(self.function.append_basic_block())
            self.chunks = range(0, self.lanes, count)
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
            used = self.builder.icmp_signed(">", self.function.args[1], _long(first))
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
            index = _long(row * self.lanes + self.first)
            spot = self.builder.gep(self.function.args[0], [index], inbounds=True)
            return self.builder.bitcast(spot, self.vector.as_pointer())

        def given(self, tables: list[bool]) -> list[Any]:
            arguments = iter(self.function.args[2:])
            return [_Table(next(arguments), next(arguments)) if t else self.splat(next(arguments)) for t in tables]

        def get(self, block: Any, row: Any, lane: Any) -> _Vector:
            if isinstance(row, _Index):
                return _Table(self.function.args[0], _long(self.lanes)).picked(row, range(self.first, self.lanes))
            row = int(row)
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
            one = self.builder.insert_element(ir.Constant(self.vector, ir.Undefined), scalar, _short(0))
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

    def _whole(value: Any) -> Any:
        if not isinstance(value, _Vector):
            return int(value)
        return _Index(_now.builder.fptosi(value.value, ir.VectorType(ir.IntType(32), _now.vector.count)))

    def _least(a: Any, b: Any) -> Any:
        return _select(b < a, b, a)  # as Python's, NaN included, and one instruction

    def _most(a: Any, b: Any) -> Any:
        return _select(b > a, b, a)

    _WORDS = {
        "_select": _select, "_both": _both, "_either": _either, "_not": _not, "min": _least, "max": _most,
        "int": _whole,
        "math": SimpleNamespace(sqrt=lambda x: _now.call("sqrt", x), pi=math.pi),
        "np": SimpleNamespace(floor=lambda x: _now.call("floor", x)),
        "get": lambda block, row, lane: _now.get(block, row, lane),
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
        module: Any, name: str, real: Any, tables: list[bool], phases: tuple[Phase, ...], forgotten: frozenset[int]
    ) -> Any:
        """Return the function `name` of the phases in `module`, and the rows that its phases read."""
        global _now
        before, _now = _now, _Program(module, name, real, tables)
        try:
            given = _now.given(tables)
            for phase in phases:
                for first in _now.chunks:
                    with _now.where_used(first):
                        _prepared(phase)(None, 0, *given)
                        _now.end(forgotten)
            _now.builder.ret_void()
            return _now.function, frozenset(_now.read)
        finally:
            _now = before

    def vectors(*phases: Phase, scratch: range = range(0)) -> Any:
        """Return a function of kernels, `run(block, lanes, *given)`, that takes a block through the phases.

        The first `lanes` lanes hold cars; the others are computed or not, as it comes.

        Args:
            phases: functions of a block, a lane, and the same numbers and tables; see above.
            scratch: rows that nobody reads afterwards: those that no later phase reads either are not written.
        """
        tables = tables_of(SOURCES.get(phases[0], phases[0]))
        name = "_".join(["lanes", *(phase.__name__ for phase in phases)])

        def run(typingctx: Any, block: Any, lanes: Any, *given: Any) -> Any:
            for table, kind in zip(tables, given, strict=True):
                if table and (not isinstance(kind, types.Array) or kind.dtype != block.dtype):
                    raise TypeError(f"{name}: expected a table of {block.dtype}, got {kind}")

            def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                real = context.get_data_type(signature.args[0].dtype)
                full = f"{name}_{signature.args[0].dtype}"
                function = builder.module.globals.get(full)
                if function is None:
                    # Twice: only the first time tells which rows one phase leaves for another.
                    _, read = _write(ir.Module(), full, real, tables, phases, frozenset())
                    function, _ = _write(builder.module, full, real, tables, phases, frozenset(scratch) - read)
                arguments = [context.make_array(signature.args[0])(context, builder, args[0]).data, args[1]]
                for kind, value in zip(signature.args[2:], args[2:], strict=True):
                    if isinstance(kind, types.Array):
                        array = context.make_array(kind)(context, builder, value)
                        stride = builder.extract_value(array.strides, 0)
                        arguments += [array.data, builder.sdiv(stride, _long(kind.dtype.bitwidth // 8))]
                    else:
                        arguments.append(value)
                builder.call(function, arguments)
                return context.get_dummy_value()

            kinds = [kind if table else block.dtype for table, kind in zip(tables, given, strict=True)]
            return types.void(block, types.intp, *kinds), codegen

        names = ["typingctx", "block", "lanes", *(f"given{k}" for k in range(len(tables)))]
        each = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        run.__signature__ = inspect.Signature(each)  # type: ignore[attr-defined] # numba would take *given for a tuple
        made = intrinsic(run)
        PHASES[made] = phases
        return made

else:

    def vectors(*phases: Phase, scratch: range = range(0)) -> Any:
        """Return a function `run(block, lanes, *given)` that takes the lanes of a block through the phases."""

        def run(block: Any, lanes: int, *given: Any) -> None:
            for phase in phases:
                for lane in range(lanes):
                    phase(block, lane, *given)

        return run
