"""Camera frames on a wire: JPEG, and base64 in JSON."""

import base64
import binascii
from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np

from trailbrake.errors import WireError
from trailbrake.state import Image
from trailbrake.state.car_state import StandIn
from trailbrake.transport.image_header import read_image_size

_MAX_SCANS = 100  # of a JPEG; progressive ones have ten. A file of thousands takes minutes to decode
_JPEG_START, _JPEG_SCAN = b"\xff\xd8", b"\xff\xda"
MAX_PIXELS = 2000 * 2000  # of a picture; no simulator's camera has more
JPEG_QUALITY = 75  # of the JPEG, with chroma at half size (protocol page formula-trend, section 2)


def encode_image(pixels: Any, image_format: str = "JPEG") -> bytes:
    """Return pixels (height, width, 3) uint8 RGB as a file: JPEG, PNG or TGA."""
    from PIL import Image as Picture

    out = BytesIO()
    # Pillow's other formats ignore what only a JPEG has.
    Picture.fromarray(pixels).save(out, image_format, quality=JPEG_QUALITY, subsampling="4:2:0")
    return out.getvalue()


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
        image = _decode_pixels(data)
        if image is None:
            self._on_damaged()
        else:
            self._last_image = image
        return self._last_image


def _decode_pixels(data: bytes) -> Any | None:
    """Return the pixels of a file; None where it is damaged, of another format, or takes too much to decode."""
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
