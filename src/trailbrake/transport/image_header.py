"""The size of a picture by its header, read before anything is decoded: a file of 20 kB may unpack to a gigabyte."""

from typing import Literal

_JPEG_START, _PNG_START = b"\xff\xd8", b"\x89PNG\r\n\x1a\n"
_START_OF_SCAN, _END = 0xDA, 0xD9
_FRAME_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # the other three are tables and extensions
_BARE_MARKERS = frozenset((0x01, *range(0xD0, 0xD9)))  # without a length


def read_image_size(data: bytes) -> tuple[int, int]:
    """Return (width, height) in pixels of a JPEG, PNG or TGA file; (0, 0) where the header is damaged.

    Of a JPEG with several frame headers it is the largest width and the largest height.
    """
    if data.startswith(_PNG_START):
        return _read_numbers(data, 16, 4, "big")
    if data.startswith(_JPEG_START):
        return _read_jpeg_size(data)
    return _read_numbers(data, 12, 2, "little")  # TGA begins with nothing of its own


def _read_numbers(data: bytes, at: int, size: int, order: Literal["big", "little"]) -> tuple[int, int]:
    if len(data) < at + 2 * size:
        return 0, 0
    return int.from_bytes(data[at : at + size], order), int.from_bytes(data[at + size : at + 2 * size], order)


def _read_jpeg_size(data: bytes) -> tuple[int, int]:
    width = height = 0
    at = 2
    while at + 4 <= len(data):
        if data[at] != 0xFF:
            at += 1  # as decoders do: they look for the next marker
            continue
        marker = data[at + 1]
        if marker == 0xFF or marker == 0x00:
            at += 1
            continue
        if marker in (_START_OF_SCAN, _END):
            break
        if marker in _FRAME_MARKERS:
            rows, columns = _read_numbers(data, at + 5, 2, "big")
            width, height = max(width, columns), max(height, rows)
        at += 2 if marker in _BARE_MARKERS else 2 + max(int.from_bytes(data[at + 2 : at + 4], "big"), 2)
    return width, height
