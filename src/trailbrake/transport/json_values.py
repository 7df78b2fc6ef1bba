"""Numbers as programs of all languages write them into JSON: as numbers or as text, with a decimal point or a comma."""

import math
from typing import Any

from trailbrake.errors import WireError


def parse_number(value: Any, key: str) -> float:
    """Return a number of the wire: 0.5, "0.5", "0,5", "1,234.5" or "1.234,5"; WireError for anything else."""
    if isinstance(value, str):
        text = value.strip()
        dot, comma = text.rfind("."), text.rfind(",")
        if comma > dot:  # the last of the two is the decimal one
            text = text.replace(".", "").replace(",", ".")
        elif comma >= 0:
            text = text.replace(",", "")
        try:
            value = float(text)
        except ValueError:
            raise WireError("not a number", where=key, got=value[:40]) from None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < math.inf:
        raise WireError("not a number", where=key, got=str(value)[:40])
    try:
        return float(value)
    except OverflowError:  # a whole number of hundreds of digits
        raise WireError("not a number", where=key, got=str(value)[:40]) from None


def parse_numbers(value: Any, key: str) -> list[float]:
    """Return a list of numbers; WireError where it is none."""
    if not isinstance(value, list):
        raise WireError("not a list", where=key, got=str(value)[:40])
    return [parse_number(item, key) for item in value]


def require_object(value: Any, where: str) -> dict[str, Any]:
    """Return `value` if it is a JSON object; WireError where it is none."""
    if not isinstance(value, dict):
        raise WireError("not an object", where=where, got=str(value)[:40])
    return value


def clamp_magnitude(value: float, limit: float) -> float:
    """Return `value` held within -limit..limit."""
    return min(max(value, -limit), limit)
