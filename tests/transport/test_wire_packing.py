"""A value that does not fit its field is one line, which names the field."""

import struct
from typing import NamedTuple

import pytest

from trailbrake.errors import WireError
from trailbrake.transport.wire_packing import find_large_number, packs_fields


class Inner(NamedTuple):
    speed: float
    force: tuple[float, float]


class Outer(NamedTuple):
    number: int
    inner: Inner


@packs_fields()
def encode(message):
    return struct.pack("<B3f", message.number, message.inner.speed, *message.inner.force)


@pytest.mark.parametrize(
    ("message", "line"),
    [(Outer(1, Inner(2.0, (3.0, -1e39))), "force: a field does not fit: float too large to pack with f format"),
     (Outer(1, Inner(1e300, (0.0, 0.0))), "speed: a field does not fit: float too large.*"),
     (Outer(256, Inner(0.0, (0.0, 0.0))), "a field does not fit: .*format requires.*"),
     (Outer(1, Inner(None, (0.0, 0.0))), "a field does not fit: required argument.*")],
)  # fmt: skip
def test_what_does_not_fit_is_one_line(message, line):
    with pytest.raises(WireError, match=f"^{line}$"):
        encode(message)


def test_what_fits_is_packed_and_infinity_fits():
    message = Outer(255, Inner(float("inf"), (float("nan"), 3e38)))
    assert len(encode(message)) == 13
    assert find_large_number(message) == ""
