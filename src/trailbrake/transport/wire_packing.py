"""`packs_fields`: one rule of all binary wires for values that do not fit their fields."""

import struct
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

from trailbrake.errors import WireError

P = ParamSpec("P")
LARGEST = 3.4e38  # of a float of 32 bits


def find_large_number(value: object, name: str = "") -> str:
    """Return the name of the first field in named tuples whose number is too large for 32 bits, "" where none is."""
    if isinstance(value, tuple):
        names = getattr(value, "_fields", None) or [name] * len(value)
        return next(filter(None, map(find_large_number, value, names)), "")
    return name if isinstance(value, int | float) and LARGEST < abs(value) < float("inf") else ""


def packs_fields(
    find_misfit: Callable[[Any], str] = find_large_number,
) -> Callable[[Callable[P, bytes]], Callable[P, bytes]]:
    """Return a decorator of encoders: they raise WireError where a value does not fit its field.

    Args:
        find_misfit: returns the name of that field from the tuple of the encoder's arguments, "" where it is not known.
    """

    def decorate(encode: Callable[P, bytes]) -> Callable[P, bytes]:
        @wraps(encode)
        def encode_checked(*args: P.args, **kwargs: P.kwargs) -> bytes:
            try:
                return encode(*args, **kwargs)
            except (struct.error, OverflowError, TypeError) as error:
                raise WireError(f"a field does not fit: {error}", where=find_misfit(args)) from error

        return encode_checked

    return decorate
