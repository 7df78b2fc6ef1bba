"""`quantity()`: one line that declares a field's unit, meaning, range and frame.

Recording columns, documentation tables, dashboard panels, bounds and random test data are derived from
these lines (`tables.py`); a second list of field names anywhere is a defect.
"""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

NAN = math.nan


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


def of(cls: type) -> dict[str, Quantity]:
    """Return {field name: Quantity} of the declared float fields of dataclass `cls`, in order."""
    return {f.name: f.metadata["quantity"] for f in dataclasses.fields(cls) if "quantity" in f.metadata}
