"""`quantity()`: one line that declares a field's unit, meaning, range and frame. `record`: quick classes of such lines.

Recording columns, documentation tables, dashboard panels, bounds and random test data are derived from
these lines (`tables.py`); a second list of field names anywhere is a defect.
"""

import dataclasses
import math
import sys
from dataclasses import dataclass
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
    """Return {field name: Quantity} of the declared float fields of dataclass `cls`, in order."""
    return {f.name: f.metadata["quantity"] for f in dataclasses.fields(cls) if "quantity" in f.metadata}


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
