"""Camera frames on a wire: JPEG, and base64 in JSON."""

import base64
import binascii
from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np

from trailbrake.errors import WireError
from trailbrake.transport.image_header import read_image_size

_MAX_SCANS = 100  # of a JPEG; progressive ones have ten. A file of thousands takes minutes to decode
_JPEG_START, _JPEG_SCAN = b"\xff\xd8", b"\xff\xda"
MAX_PIXELS = 2000 * 2000  # of a picture; no simulator's camera has more
JPEG_QUALITY = 75  # of the JPEG, with chroma at half size (protocol page formula-trend, section 2)


def encode_image(pixels: Any, image_format: str = "JPEG") -> bytes:
    """Return pixels (height, width, 3) uint8 RGB as a file: JPEG, PNG or TGA."""
    from PIL import Image as Picture

    out = BytesIO()
    options: dict[str, Any] = {"quality": JPEG_QUALITY, "subsampling": "4:2:0"} if image_format == "JPEG" else {}
    Picture.fromarray(pixels).save(out, image_format, **options)
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

    def decode_image(self, data: bytes) -> Any:
        """Return the pixels (height, width, 3) uint8 RGB of a JPEG, PNG or TGA file."""
        from PIL import Image as Picture

        width, height = read_image_size(data)
        many_scans = data.startswith(_JPEG_START) and data.count(_JPEG_SCAN) > _MAX_SCANS
        if not 0 < width * height <= MAX_PIXELS or many_scans:
            self._on_damaged()
            return self._last_image
        try:
            with Picture.open(BytesIO(data), formats=("JPEG", "PNG", "TGA")) as picture:
                if picture.size[0] * picture.size[1] > MAX_PIXELS:
                    raise ValueError("the headers of the picture contradict each other")
                self._last_image = np.asarray(picture.convert("RGB"))
        except (OSError, ValueError, SyntaxError, Picture.DecompressionBombError):
            self._on_damaged()
        return self._last_image
