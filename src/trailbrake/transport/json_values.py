"""Numbers as programs of all languages write them into JSON: as numbers or as text, with a decimal point or a comma."""

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import msgspec

from trailbrake.errors import WireError

_COMMA_NUMBER = r"-?\d+,\d+(?:[eE][-+]?\d+)?"
# Both are no JSON: behind a number and a comma an object has a quotation mark.
_COMMA_MEMBER = re.compile(rf'("\s*:\s*)({_COMMA_NUMBER})(?=\s*(?:,\s*"|\}}))')
_COMMA_LIST = re.compile(rf"\[\s*{_COMMA_NUMBER}(?:\s*,\s*{_COMMA_NUMBER})*\s*\]")
_MARKED_NUMBER = re.compile(r"-?[\d.,]*([.,])\d+(?:[eE][-+]?\d+)?")
_LONGEST_NUMBER = 40  # characters


def decode_json(text: str) -> Any:
    """Return what a JSON text holds; a bare number with a decimal comma, as some programs write it, becomes text.

    Raises:
        WireError: it is no JSON.
    """
    try:
        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError:
            quoted = _COMMA_MEMBER.sub(r'\1"\2"', text)
            if quoted == text:
                raise
            return msgspec.json.decode(_COMMA_LIST.sub(_quote_numbers, quoted))
    except (msgspec.DecodeError, RecursionError) as error:
        raise WireError(f"no JSON: {error}", where="message", got=text[:40]) from None


def _quote_numbers(found: re.Match[str]) -> str:
    return re.sub(_COMMA_NUMBER, r'"\g<0>"', found[0])


def find_decimal_mark(data: Any) -> str:
    """Return the mark with which an object's numbers are written, "." or ","; "" where none has a fraction."""
    for value in data.values() if isinstance(data, dict) else ():
        if isinstance(value, float):
            return "."
        if isinstance(value, str) and len(value) <= _LONGEST_NUMBER and (found := _MARKED_NUMBER.fullmatch(value)):
            return found[1]
    return ""


def write_decimal_commas(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object for a program that reads decimal commas: texts with them, and numbers without any mark.

    JSON has no decimal comma: 0.25 becomes 25E-2, which is the same in both ways of writing.
    """
    return {key: _write_decimal_comma(value) for key, value in data.items()}


def _write_decimal_comma(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace(".", ",")
    if isinstance(value, list | tuple):
        return [_write_decimal_comma(item) for item in value]
    sign, digits, exponent = Decimal(repr(float(value))).as_tuple()
    return msgspec.Raw(f"{'-' * sign}{int(''.join(map(str, digits)))}E{exponent}".encode())


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


def require_number(value: Any, key: str) -> float:
    """Return a number of the wire that is not written as text; WireError for anything else."""
    if isinstance(value, str):
        raise WireError("text instead of a number", where=key, got=repr(value)[:40])
    return parse_number(value, key)


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
