"""Camera frames on a wire: JPEG, and base64 in JSON.

The size of a picture by its header, read before anything is decoded: a file of 20 kB may unpack to a gigabyte.
"""

import base64
import binascii
from collections.abc import Callable
from io import BytesIO
from typing import Any, Literal

import numpy as np

from trailbrake.errors import SimulatorError, WireError
from trailbrake.state import Image
from trailbrake.state.car_state import StandIn

_MAX_SCANS = 100  # of a JPEG; progressive ones have ten. A file of thousands takes minutes to decode
_JPEG_SCAN = b"\xff\xda"
MAX_PIXELS = 2000 * 2000  # of a picture; no simulator's camera has more
JPEG_QUALITY = 75  # of the JPEG, with chroma at half size (protocol page formula-trend, section 2)
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


def encode_image(pixels: Any, image_format: str = "JPEG") -> bytes:
    """Return pixels (height, width, 3) uint8 RGB as a file: JPEG, PNG or TGA."""
    from PIL import Image as Picture

    out = BytesIO()
    # Pillow's other formats ignore what only a JPEG has.
    Picture.fromarray(pixels).save(out, image_format, quality=JPEG_QUALITY, subsampling="4:2:0")
    return out.getvalue()


def encode_camera(image: Image | None, host: str, image_format: str = "JPEG") -> bytes:
    """Return what the camera of the world of `host` sees as a file; SimulatorError where the world has none."""
    if image is None:
        raise SimulatorError("the world has no camera", where=f"serve {host}")
    return encode_image(image.pixels, image_format)


def encode_base64(data: bytes) -> str:
    """Return bytes as base64 text, for JSON."""
    return base64.b64encode(data).decode("ascii")


def decode_base64(value: Any, key: str) -> bytes:
    """Return the bytes in a value of the wire; WireError where there are none."""
    if not isinstance(value, str):
        raise WireError("not base64", where=key, got=str(value)[:40])
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError) as error:
        raise WireError(f"not base64: {error}", where=key, got=value[:40]) from None


class ImageDecoder:
    """Decodes camera images; returns the last good one where one is damaged, or has more than `MAX_PIXELS`.

    Args:
        height: pixels of the black image that stands for the first good one.
        width: pixels of the same.
        on_damaged: called for every damaged one.
    """

    def __init__(self, height: int, width: int, on_damaged: Callable[[], None]) -> None:
        self._last_image: Any = np.zeros((height, width, 3), np.uint8)
        self._on_damaged = on_damaged

    def make_image(self, data: bytes) -> Image:
        """Return the image in a file of the wire; it is decoded when it is first used."""
        return Image(data, self._decode_marked)

    def _decode_marked(self, data: bytes) -> Any:
        last = self._last_image
        image = self.decode_image(data)
        return StandIn(image) if image is last else image

    def decode_image(self, data: bytes) -> Any:
        """Return the pixels (height, width, 3) uint8 RGB of a JPEG, PNG or TGA file."""
        image = decode_pixels(data)
        if image is None:
            self._on_damaged()
        else:
            self._last_image = image
        return self._last_image


def decode_pixels(data: bytes) -> Any | None:
    """Return the pixels (height, width, 3) uint8 RGB of a JPEG, PNG or TGA file; None where it cannot be read.

    That is a damaged file, one of another format, and one that takes too much to decode.
    """
    from PIL import Image as Picture

    if not _has_fair_size(read_image_size(data)):
        return None
    if data.startswith(_JPEG_START) and data.count(_JPEG_SCAN) > _MAX_SCANS:
        return None
    try:
        with Picture.open(BytesIO(data), formats=("JPEG", "PNG", "TGA")) as picture:
            # A PNG may have its header behind a part that looks like another one.
            return np.asarray(picture.convert("RGB")) if _has_fair_size(picture.size) else None
    except (OSError, ValueError, SyntaxError, Picture.DecompressionBombError):
        return None


def _has_fair_size(size: tuple[int, int]) -> bool:
    return 0 < size[0] * size[1] <= MAX_PIXELS
