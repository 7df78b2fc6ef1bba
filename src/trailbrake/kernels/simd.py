"""`vectorize`: lane code as vector instructions. docs/kernels.md has a worked example.

A phase is one or more functions of a block, constants, a lane and inputs, written for one car. In plain Python
`vectorize` calls them for each lane. For machine code it calls each function once, with objects in place of numbers.
The operators of these objects append one vector instruction each to an LLVM function. Calls, loops and branches on
constants leave no trace in it. So the result is vector code by construction, whatever the optimiser recognises, and
numba has no types to infer, which would take a hundred times as long.

Lane code may use:

* `get` and `put` with rows known at compile time;
* arithmetic, comparisons, `a if test else b` (both sides are computed, one is selected), `and`, `or`, `not`, `min`,
  `max`, `abs`, `math.sqrt`, `np.floor`, and `inline_jit` functions of the same kind;
* `int(x)` as an index that differs from lane to lane. It must be in range in every lane, also in lanes without a car.
  `row = table[int(x)]` is a row of a table and `row[3]` one column of it; rows are read in whole vectors, so such a
  table has a multiple of a block's lanes in columns. `table[int(x), int(y)]` is one element, and so is
  `get_indexed(block, FIRST, int(x), lane)` of a row that this phase does not write.

A branch on a lane's value raises TypeError when it is traced. Within a phase each row is read and written once,
however often the code names it. Nothing is reordered between phases, so a phase should be about as long as a processor
looks ahead (some 250 instructions).
"""

import ast
import inspect
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from trailbrake.kernels import BACKEND
from trailbrake.kernels.lane_blocks import CACHE_LINE_BYTES
from trailbrake.kernels.lane_phases import Phase, Phases, find_source, resolve_phases

if BACKEND == "numba":
    from llvmlite import ir  # type: ignore[import-untyped]
    from llvmlite.binding import get_host_cpu_features  # type: ignore[import-untyped]
    from numba.core import types
    from numba.extending import intrinsic

    from trailbrake.kernels import LANE_SOURCES
    from trailbrake.kernels.enum_constants import parse_function

    VECTORIZED_PHASES: dict[Any, Phases] = {}  # of each vectorized function, for `cuda_compiler`

    def _detect_vector_width() -> int:
        try:
            wide = get_host_cpu_features().get("avx512f", False)
        except RuntimeError:  # LLVM does not know this platform's features
            wide = False
        return CACHE_LINE_BYTES if wide else CACHE_LINE_BYTES // 2

    WIDTH = _detect_vector_width()  # bytes of a vector: a whole row of a block, or the half that AVX2 has
    _INDEX = ir.IntType(64)

    class _Vector:
        """A value in each lane: `value` is an LLVM vector of reals, or of truth values."""

        __slots__ = ("value",)

        def __init__(self, value: Any) -> None:
            self.value = value

        def __bool__(self) -> bool:
            raise TypeError("lane code branches on a lane's value: write `a if test else b`")

        def __neg__(self) -> "_Vector":
            return _Vector(_tracer.builder.fneg(self.value, flags=_tracer.fastmath_flags))

        def __abs__(self) -> "_Vector":
            size: _Vector = _tracer.call_intrinsic("fabs", self)
            return size

    def _arithmetic_operator(name: str, swapped: bool) -> Callable[[Any, Any], _Vector]:
        def operate(a: Any, b: Any) -> _Vector:
            left, right = (b, a) if swapped else (a, b)
            build = getattr(_tracer.builder, name)
            return _Vector(build(_tracer.as_vector(left), _tracer.as_vector(right), flags=_tracer.fastmath_flags))

        return operate

    def _comparison_operator(sign: str) -> Callable[[Any, Any], _Vector]:
        def compare(a: Any, b: Any) -> _Vector:
            build = _tracer.builder.fcmp_unordered if sign == "!=" else _tracer.builder.fcmp_ordered
            return _Vector(build(sign, _tracer.as_vector(a), _tracer.as_vector(b)))

        return compare

    for _python, _name in (("add", "fadd"), ("sub", "fsub"), ("mul", "fmul"), ("truediv", "fdiv")):
        setattr(_Vector, f"__{_python}__", _arithmetic_operator(_name, swapped=False))
        setattr(_Vector, f"__r{_python}__", _arithmetic_operator(_name, swapped=True))
    for _python, _name in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("eq", "=="), ("ne", "!=")):
        setattr(_Vector, f"__{_python}__", _comparison_operator(_name))

    class _LaneIndex:
        """An integer in each lane, plus a constant."""

        def __init__(self, value: Any, offset: int = 0) -> None:
            self.value, self.offset = value, offset

        def __add__(self, more: int) -> "_LaneIndex":
            return _LaneIndex(self.value, self.offset + more)

        __radd__ = __add__

        def extract_lane(self, lane: int) -> Any:
            one = _tracer.builder.sext(_tracer.builder.extract_element(self.value, _i32_constant(lane)), _INDEX)
            return _tracer.builder.add(one, _index_constant(self.offset)) if self.offset else one

    class _LaneTable:
        """A table in memory, `stride` numbers from one row to the next."""

        def __init__(self, data: Any, stride: Any) -> None:
            self.data, self.stride = data, stride

        def __getitem__(self, key: Any) -> Any:
            lanes = range(_tracer.vector.count)
            if not isinstance(key, tuple):
                return _TableRow([self._row_pointer(key.extract_lane(lane)) for lane in lanes])
            row, column = key
            return self.gather_elements(row, [column.extract_lane(lane) for lane in lanes])

        def gather_elements(self, row: "_LaneIndex", columns: Iterable[Any]) -> _Vector:
            """Return for each lane the element in its row and column."""
            vector = ir.Constant(_tracer.vector, ir.Undefined)
            for lane, column in zip(range(_tracer.vector.count), columns, strict=False):
                index = _index_constant(column) if type(column) is int else column
                place = _tracer.builder.gep(self._row_pointer(row.extract_lane(lane)), [index])
                vector = _tracer.builder.insert_element(vector, _tracer.builder.load(place), _i32_constant(lane))
            return _Vector(vector)

        def _row_pointer(self, row: Any) -> Any:
            return _tracer.builder.gep(self.data, [_tracer.builder.mul(row, self.stride)])

    class _TableRow:
        """A row of a table for each lane, read as many columns at once as there are lanes in a vector."""

        def __init__(self, row_pointers: list[Any]) -> None:
            self.row_pointers = row_pointers
            self.columns: dict[int, Any] = {}

        def __getitem__(self, column: int) -> _Vector:
            column = int(column)
            if column not in self.columns:
                count = _tracer.vector.count
                first = column - column % count
                rows = []
                for pointer in self.row_pointers:
                    place = _tracer.builder.gep(pointer, [_index_constant(first)])
                    place = _tracer.builder.bitcast(place, _tracer.vector.as_pointer())
                    rows.append(_tracer.builder.load(place, align=_tracer.real_bytes))
                self.columns.update(enumerate(_transpose_vectors(rows), first))
            return _Vector(self.columns[column])

    def _i32_constant(number: int) -> Any:
        return ir.Constant(ir.IntType(32), number)

    def _index_constant(number: int) -> Any:
        return ir.Constant(_INDEX, number)

    def _shuffle_vectors(a: Any, b: Any, places: list[int]) -> Any:
        mask = ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places)
        return _tracer.builder.shuffle_vector(a, b, mask)

    def _transpose_vectors(rows: list[Any]) -> list[Any]:
        """Return the columns of a square matrix: its off-diagonal blocks are swapped, 1, 2, 4 elements wide.

        Eklundh, A fast computer method for matrix transposing, IEEE Transactions on Computers C-21, 1972.
        """
        count, width = len(rows), 1
        while width < count:
            upper = [k + count - width if k & width else k for k in range(count)]
            lower = [k + count if k & width else k + width for k in range(count)]
            for i in range(count):
                if not i & width:
                    pair = rows[i], rows[i + width]
                    rows[i], rows[i + width] = _shuffle_vectors(*pair, upper), _shuffle_vectors(*pair, lower)
            width *= 2
        return rows

    class _LaneTracer:
        """The LLVM function of one kernel's phases for one type of number, while it is traced."""

        def __init__(self, module: Any, name: str, real: Any, tables: dict[str, bool]) -> None:
            # Bytes of a number, which are also the alignment: blocks need not begin on a vector.
            self.real_bytes = size = 4 if isinstance(real, ir.FloatType) else 8
            self.fastmath_flags = ("contract", "reassoc", "nsz", "arcp", "afn") if size == 4 else ("contract",)
            self.lanes, count = CACHE_LINE_BYTES // size, WIDTH // size
            self.suffix = f"v{count}f{8 * size}"
            self.vector = ir.VectorType(real, count)
            inputs = [kind for table in tables.values() for kind in ((real.as_pointer(), _INDEX) if table else (real,))]
            kind = ir.FunctionType(ir.VoidType(), [real.as_pointer(), _INDEX, *inputs])
            self.function = ir.Function(module, kind, name)
            self.function.linkage = "internal"
            self.function.attributes.add("noinline")
            self.function.attributes.add("nounwind")
            self.builder = ir.IRBuilder(self.function.append_basic_block())
            self.first_lanes = range(0, self.lanes, count)
            self.rows_read: set[int] = set()

        @contextmanager
        def trace_phase(self, first_lane: int) -> Iterator[None]:
            """Trace a phase for the vector of lanes from `first_lane` on, which is skipped where it holds no car."""
            self.first_lane = first_lane
            self.row_values: dict[int, Any] = {}
            self.rows_changed: dict[int, Any] = {}
            if first_lane == 0:
                yield
                return
            used = self.builder.icmp_signed(">", self.function.args[1], _index_constant(first_lane))
            with self.builder.if_then(used, likely=True):
                yield

        def end_phase(self, unused_rows: frozenset[int]) -> None:
            """Store the rows that the phase changed, except `unused_rows`."""
            for row, value in self.rows_changed.items():
                if row not in unused_rows:
                    self.builder.store(value, self.row_pointer(row), align=self.real_bytes)
            # A barrier: without it the whole kernel would be one phase to the compiler.
            self.builder.asm(ir.FunctionType(ir.VoidType(), []), "", "~{memory}", [], side_effect=True)

        def row_pointer(self, row: int) -> Any:
            index = _index_constant(row * self.lanes + self.first_lane)
            place = self.builder.gep(self.function.args[0], [index], inbounds=True)
            return self.builder.bitcast(place, self.vector.as_pointer())

        def trace_inputs(self, tables: dict[str, bool]) -> dict[str, Any]:
            """Return what stands for each input, by name."""
            arguments = iter(self.function.args[2:])
            return {
                name: _LaneTable(next(arguments), next(arguments)) if table else self.splat_scalar(next(arguments))
                for name, table in tables.items()
            }

        def get_row(self, row: Any) -> _Vector:
            if isinstance(row, _LaneIndex):
                table = _LaneTable(self.function.args[0], _index_constant(self.lanes))
                return table.gather_elements(row, range(self.first_lane, self.lanes))
            row = int(row)
            if row not in self.row_values:
                self.row_values[row] = self.builder.load(self.row_pointer(row), align=self.real_bytes)
                self.rows_read.add(row)
            return _Vector(self.row_values[row])

        def put_row(self, row: int, value: Any) -> None:
            self.row_values[row] = self.rows_changed[row] = self.as_vector(value)

        def as_vector(self, value: Any) -> Any:
            if isinstance(value, _Vector):
                return value.value
            return ir.Constant(self.vector, [float(value)] * self.vector.count)

        def splat_scalar(self, scalar: Any) -> _Vector:
            undefined = ir.Constant(self.vector, ir.Undefined)
            one = self.builder.insert_element(undefined, scalar, _i32_constant(0))
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), self.vector.count), None)
            return _Vector(self.builder.shuffle_vector(one, undefined, zeros))

        def call_intrinsic(self, name: str, value: Any) -> _Vector:
            module, full = self.builder.module, f"llvm.{name}.{self.suffix}"
            function = module.globals.get(full)
            if function is None:
                function = ir.Function(module, ir.FunctionType(self.vector, [self.vector]), full)
            return _Vector(self.builder.call(function, [self.as_vector(value)], fastmath=self.fastmath_flags))

    _tracer: Any = None  # of the function being traced: numba compiles one kernel at a time, under its lock

    def _select_lanes(test: Any, yes: Any, no: Any) -> Any:
        if not isinstance(test, _Vector):
            return yes if test else no
        return _Vector(_tracer.builder.select(test.value, _tracer.as_vector(yes), _tracer.as_vector(no)))

    def _and_lanes(a: Any, b: Any) -> Any:
        if not (isinstance(a, _Vector) and isinstance(b, _Vector)):
            return (b if a else a) if isinstance(b, _Vector) or not isinstance(a, _Vector) else (a if b else b)
        return _Vector(_tracer.builder.and_(a.value, b.value))

    def _or_lanes(a: Any, b: Any) -> Any:
        if not (isinstance(a, _Vector) and isinstance(b, _Vector)):
            return (a if a else b) if isinstance(b, _Vector) or not isinstance(a, _Vector) else (b if b else a)
        return _Vector(_tracer.builder.or_(a.value, b.value))

    def _not_lanes(a: Any) -> Any:
        return _Vector(_tracer.builder.not_(a.value)) if isinstance(a, _Vector) else not a

    def _truncate_lanes(value: Any) -> Any:
        if not isinstance(value, _Vector):
            return int(value)
        return _LaneIndex(_tracer.builder.fptosi(value.value, ir.VectorType(ir.IntType(32), _tracer.vector.count)))

    def _min_lanes(a: Any, b: Any) -> Any:
        return _select_lanes(b < a, b, a)  # as Python's, NaN included, and one instruction

    def _max_lanes(a: Any, b: Any) -> Any:
        return _select_lanes(b > a, b, a)

    # What these names mean while lane code is traced.
    _LANE_NAMES = {
        "_select_lanes": _select_lanes,
        "_and_lanes": _and_lanes,
        "_or_lanes": _or_lanes,
        "_not_lanes": _not_lanes,
        "min": _min_lanes,
        "max": _max_lanes,
        "int": _truncate_lanes,
        "math": SimpleNamespace(sqrt=lambda x: _tracer.call_intrinsic("sqrt", x), pi=math.pi),
        "np": SimpleNamespace(floor=lambda x: _tracer.call_intrinsic("floor", x)),
        "get": lambda block, row, lane: _tracer.get_row(row),
        "get_indexed": lambda block, row, index, lane: _tracer.get_row(index + row),
        "put": lambda block, row, lane, value: _tracer.put_row(int(row), value),
    }

    class _BranchRewriter(ast.NodeTransformer):
        """Replaces what Python decides by a truth value by calls that compute both sides."""

        def _make_call(self, node: ast.expr, name: str, *arguments: ast.expr) -> ast.expr:
            return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), list(arguments), []), node)

        def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
            self.generic_visit(node)
            return self._make_call(node, "_select_lanes", node.test, node.body, node.orelse)

        def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
            self.generic_visit(node)
            name = "_and_lanes" if isinstance(node.op, ast.And) else "_or_lanes"
            result = node.values[0]
            for value in node.values[1:]:
                result = self._make_call(node, name, result, value)
            return result

        def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
            self.generic_visit(node)
            return self._make_call(node, "_not_lanes", node.operand) if isinstance(node.op, ast.Not) else node

    _traceable_functions: dict[Any, Any] = {}

    def _make_traceable(function: Any) -> Any:
        """Return `function` in a form that runs on vectors, with the `inline_jit` functions that it calls likewise."""
        source = find_source(function)
        if source not in _traceable_functions:
            tree = ast.fix_missing_locations(_BranchRewriter().visit(parse_function(source)))
            names: dict[str, Any] = {**source.__globals__, **_LANE_NAMES}
            scope: dict[str, Any] = {}
            exec(compile(tree, inspect.getsourcefile(source) or "<lanes>", "exec"), names, scope)
            _traceable_functions[source] = scope[source.__name__]
            for name in scope[source.__name__].__code__.co_names:
                callee = names.get(name)
                if name not in _LANE_NAMES and callee.__hash__ is not None and callee in LANE_SOURCES:
                    names[name] = _make_traceable(callee)
        return _traceable_functions[source]

    def _trace_function(module: Any, name: str, real: Any, phases: Phases, unused_rows: frozenset[int]) -> Any:
        """Return the LLVM function `name` of the phases in `module`, and the rows that its phases read."""
        global _tracer
        before, _tracer = _tracer, _LaneTracer(module, name, real, phases.tables)
        try:
            inputs = _tracer.trace_inputs(phases.tables)
            for calls in phases.calls:
                for first_lane in _tracer.first_lanes:
                    with _tracer.trace_phase(first_lane):
                        for call in calls:
                            arguments = [inputs[key] for key in call.inputs]
                            _make_traceable(call.function)(None, *call.constants, 0, *arguments)
                        _tracer.end_phase(unused_rows)
            _tracer.builder.ret_void()
            return _tracer.function, frozenset(_tracer.rows_read)
        finally:
            _tracer = before

    def _name_phases(phases: Phases) -> str:
        # Unique to functions and constants: kernels that are linked together must not share a name.
        calls = [
            "_".join([call.function.__name__, *map(repr, call.constants)]) for calls in phases.calls for call in calls
        ]
        return re.sub(r"[^\w.-]", "_", "_".join(["lanes", *calls]))

    def vectorize(
        *phases: Phase, inputs: Sequence[str] | None = None, scratch: range = range(0)
    ) -> Callable[..., None]:
        """Return a function for kernels, `run(block, lanes, *inputs)`, that takes a block through the phases.

        The first `lanes` lanes of the block hold cars. The others may be computed or not.

        Args:
            phases: each a function, a tuple `(function, *constants)`, or a list of these that run as one phase. A
                function takes the block, its constants, the lane, and any of the inputs, by the names of its
                parameters. An input annotated otherwise than `float` is a table of the same dtype as the block.
            inputs: names of the inputs in the order of `run`'s parameters; by default as they first appear.
            scratch: rows that are not read after the last phase; of these, `run` stores only what a later phase reads.
        """
        resolved = resolve_phases(phases, inputs)
        tables, name = resolved.tables, _name_phases(resolved)

        def run(typingctx: Any, block: Any, lanes: Any, *values: Any) -> Any:
            for table, kind in zip(tables.values(), values, strict=True):
                if table and (not isinstance(kind, types.Array) or kind.dtype != block.dtype):
                    raise TypeError(f"{name}: expected a table of {block.dtype}, got {kind}")

            def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                real = context.get_data_type(signature.args[0].dtype)
                full = f"{name}_{signature.args[0].dtype}"
                function = builder.module.globals.get(full)
                if function is None:
                    # Twice: the first pass finds the rows that one phase leaves for another.
                    _, rows_read = _trace_function(ir.Module(), full, real, resolved, frozenset())
                    unused_rows = frozenset(scratch) - rows_read
                    function, _ = _trace_function(builder.module, full, real, resolved, unused_rows)
                arguments = [context.make_array(signature.args[0])(context, builder, args[0]).data, args[1]]
                for kind, value in zip(signature.args[2:], args[2:], strict=True):
                    if isinstance(kind, types.Array):
                        array = context.make_array(kind)(context, builder, value)
                        stride = builder.extract_value(array.strides, 0)
                        arguments += [array.data, builder.sdiv(stride, _index_constant(kind.dtype.bitwidth // 8))]
                    else:
                        arguments.append(value)
                builder.call(function, arguments)
                return context.get_dummy_value()

            kinds = [kind if table else block.dtype for table, kind in zip(tables.values(), values, strict=True)]
            return types.void(block, types.intp, *kinds), codegen

        # numba would take `*values` for one tuple.
        names = ["typingctx", "block", "lanes", *tables]
        parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        made: Callable[..., None] = intrinsic(run)
        VECTORIZED_PHASES[made] = resolved
        return made

else:

    def vectorize(
        *phases: Phase, inputs: Sequence[str] | None = None, scratch: range = range(0)
    ) -> Callable[..., None]:
        """Return a function `run(block, lanes, *inputs)` that takes the lanes of a block through the phases."""
        resolved = resolve_phases(phases, inputs)
        positions = {name: k for k, name in enumerate(resolved.tables)}

        def run(block: Any, lanes: int, *values: Any) -> None:
            for calls in resolved.calls:
                for lane in range(lanes):
                    for call in calls:
                        call.function(block, *call.constants, lane, *[values[positions[name]] for name in call.inputs])

        return run
