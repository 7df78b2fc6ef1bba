"""The CDR encoding of small flat messages, little-endian, as ROS 2 and the tools around MCAP read it.

A `CdrLayout` maps field names to ROS 2 types, in order. `format.TICK` packs the rows of floats faster; this
module is for the few messages that carry text, flags and arrays.
"""

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

CdrLayout = Mapping[str, str]

HEADER = b"\x00\x01\x00\x00"  # plain CDR, little-endian, no options
_SCALARS = {
    "float64": struct.Struct("<d"), "int32": struct.Struct("<i"), "uint32": struct.Struct("<I"),
    "bool": struct.Struct("<?"),
}  # fmt: skip
_LENGTH = struct.Struct("<I")
TYPES = (*_SCALARS, "string", "float64[]", "uint8[]")


def _alignment_padding(offset: int, size: int) -> int:
    return -offset % size  # alignment counts from behind the header


def encode_message(layout: CdrLayout, values: Mapping[str, Any]) -> bytes:
    """Return the message with `values[name]` for every field of `layout`."""
    body = bytearray()
    for name, kind in layout.items():
        value = values[name]
        if kind in _SCALARS:
            packer = _SCALARS[kind]
            body += bytes(_alignment_padding(len(body), packer.size)) + packer.pack(value)
            continue
        body += bytes(_alignment_padding(len(body), 4))
        if kind == "string":
            # A zero byte ends a CDR string, so none may be inside; half surrogates come from odd file names.
            data = str(value).replace("\0", " ").encode("utf-8", "backslashreplace") + b"\0"
            body += _LENGTH.pack(len(data)) + data
        elif kind == "uint8[]":
            body += _LENGTH.pack(len(value)) + bytes(value)
        elif kind == "float64[]":
            array = np.ascontiguousarray(value, dtype="<f8")
            body += _LENGTH.pack(array.size)
            if array.size:
                body += bytes(_alignment_padding(len(body), 8)) + array.tobytes()
        else:
            raise ValueError(f"no CDR encoding for {kind!r}")
    return HEADER + bytes(body)


def decode_message(layout: CdrLayout, message: bytes) -> dict[str, Any]:
    """Return {field name: value}; the inverse of `encode`. Raises ValueError on bytes that do not fit."""
    if message[:4] != HEADER:
        raise ValueError("not a little-endian CDR message")
    body, offset, values = message[4:], 0, {}
    try:
        for name, kind in layout.items():
            if kind in _SCALARS:
                packer = _SCALARS[kind]
                offset += _alignment_padding(offset, packer.size)
                (values[name],) = packer.unpack_from(body, offset)
                offset += packer.size
                continue
            offset += _alignment_padding(offset, 4)
            (count,) = _LENGTH.unpack_from(body, offset)
            offset += 4
            if kind == "string":
                values[name] = body[offset : offset + count].rstrip(b"\0").decode("utf-8")
                offset += count
            elif kind == "uint8[]":
                values[name] = bytes(body[offset : offset + count])
                offset += count
            else:
                offset += _alignment_padding(offset, 8) if count else 0
                values[name] = np.frombuffer(body, dtype="<f8", count=count, offset=offset)
                offset += 8 * count
    except struct.error as error:
        raise ValueError(f"message ends early: {error}") from error
    if offset > len(body):
        raise ValueError("message ends early")
    return values
