"""`quantity()`: one line that declares a field's unit, meaning, range and frame. `record`: quick classes of such lines.

Recording columns, documentation tables, dashboard panels, bounds and random test data are derived from
these lines (`tables.py`); a second list of field names anywhere is a defect.

`compile_record_calls`: records are written by field name and built by position.

A keyword argument of a struct costs 50 ns: 2 us for a `CarState`, a quarter of what decoding a message takes. The
decorator compiles such calls to positional ones when the module is imported.
"""

import ast
import dataclasses
import inspect
import math
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from types import NoneType
from typing import Any, TypeVar, dataclass_transform

import msgspec

from trailbrake.errors import suggest_names

NAN = math.nan
Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Quantity:
    """What a field means: `unit` (SI, "1" for a ratio), `meaning`, `lo`..`hi`, `frame`."""

    unit: str
    meaning: str
    lo: float
    hi: float
    frame: str


def quantity(
    unit: str, meaning: str, *, lo: float = -math.inf, hi: float = math.inf, frame: str = "", default: float = NAN
) -> Any:
    """Declare a float field. The default NaN means "not supplied"; a simulator never writes 0 for that."""
    return dataclasses.field(default=default, metadata={"quantity": Quantity(unit, meaning, lo, hi, frame)})


def declared_quantities(cls: type) -> dict[str, Quantity]:
    """Return {field name: Quantity} of the declared float fields of dataclass `cls`, in order; {} of another class."""
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    return {f.name: f.metadata["quantity"] for f in fields if "quantity" in f.metadata}


@dataclass_transform(field_specifiers=(dataclasses.field,))
def slotted_record(cls: type[Record]) -> type[Record]:
    """Return a class with slots for a class written as a dataclass.

    It is a struct of msgspec, which is built and compared in compiled code, in a third of the time: a tick of a drive
    builds seven. The functions of `dataclasses` work on it.
    """
    made: Any = dataclass(init=False, repr=False, eq=False)(cls)  # for its fields, not for its slower methods
    fields = []
    for field in dataclasses.fields(made):
        if field.default_factory is not dataclasses.MISSING:
            default = msgspec.field(default_factory=field.default_factory)
        else:
            default = msgspec.field(default=field.default)
        fields.append((field.name, field.type, default))
    namespace = {"__doc__": cls.__doc__, "__dataclass_fields__": made.__dataclass_fields__}
    struct: Any = msgspec.defstruct(cls.__name__, fields, namespace=namespace, module=cls.__module__)
    return struct  # type: ignore[no-any-return]


def suggest_fields(cls: type[Record]) -> type[Record]:
    """Return the record `cls`; where a person types, in a prompt or a notebook, one that names the nearest field.

    A call then costs a microsecond more, which a drive need not pay: `describe_driver_exception` adds the name there.
    """
    if not hasattr(sys, "ps1"):
        return cls
    namespace = {"__doc__": cls.__doc__, "__module__": cls.__module__}
    return _Suggesting(cls.__name__, (cls,), namespace)


class _Suggesting(type(msgspec.Struct)):  # type: ignore[misc]
    def __call__(cls, *args: Any, **values: Any) -> Any:
        try:
            return super().__call__(*args, **values)
        except TypeError as error:
            for name in values.keys() - set(cls.__struct_fields__):
                raise TypeError(f"{error}; {suggest_names(name, cls.__struct_fields__)}") from None
            raise


Function = TypeVar("Function", bound=Callable[..., Any])


def compile_record_calls(function: Function) -> Function:
    """Return `function` with its calls `Record(field=value, ...)` compiled to `Record(value, ...)`.

    A record is a class of `slotted_record`. The arguments are evaluated in the order of its fields. Fields left out
    have their defaults. Without its source, as in a frozen program, the function stays as it is.

    Raises:
        TypeError: a call has an unknown field, or leaves out one whose default is not a plain number; or the function
            uses variables of another function.
    """
    if function.__closure__:
        raise TypeError(f"{function.__qualname__} uses variables of another function")
    try:
        lines, first = inspect.getsourcelines(function)
    except OSError:
        return function
    tree = ast.parse(textwrap.dedent("".join(lines)))
    (definition,) = tree.body
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = [
        decorator for decorator in definition.decorator_list
        if not (isinstance(decorator, ast.Name) and decorator.id == compile_record_calls.__name__)
    ]  # fmt: skip
    compiled = _PositionalCalls(function.__globals__).visit(tree)
    ast.increment_lineno(ast.fix_missing_locations(compiled), first - 1)
    scope: dict[str, Any] = {}
    exec(compile(compiled, inspect.getfile(function), "exec"), function.__globals__, scope)
    result = scope[definition.name]
    result.__qualname__, result.__module__ = function.__qualname__, function.__module__
    return result  # type: ignore[no-any-return]


class _PositionalCalls(ast.NodeTransformer):
    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names

    def visit_Call(self, call: ast.Call) -> ast.Call:
        """Return the call, with positional arguments where it builds a record by keywords alone."""
        self.generic_visit(call)
        cls = self._names.get(call.func.id) if isinstance(call.func, ast.Name) else None
        named = {keyword.arg: keyword.value for keyword in call.keywords}
        if not (isinstance(cls, type) and issubclass(cls, msgspec.Struct)) or call.args or None in named:
            return call
        call.args, call.keywords = _positional_arguments(cls, named), []
        return call


def _positional_arguments(cls: Any, named: dict[str | None, ast.expr]) -> list[ast.expr]:
    fields: tuple[dataclasses.Field[Any], ...] = dataclasses.fields(cls)
    unknown = [name for name in named if name not in cls.__struct_fields__]
    if unknown:
        raise TypeError(f"{cls.__name__} has no field {unknown[0]}")
    last = max((k for k, field in enumerate(fields) if field.name in named), default=-1)
    arguments = []
    for field in fields[: last + 1]:
        default: Any = field.default
        if field.name not in named and type(default) not in (float, int, NoneType):
            raise TypeError(f"{cls.__name__}.{field.name} must be given: its default is not a plain number")
        arguments.append(named.get(field.name) or ast.Constant(default))
    return arguments
