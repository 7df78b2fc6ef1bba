"""Camera frames on a wire: JPEG, and base64 in JSON."""

import base64
import binascii
from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np

from trailbrake.errors import WireError

QUALITY = 75  # of the JPEG, with chroma at half size (protocol page formula-trend, section 2)


def encode(pixels: Any, form: str = "JPEG") -> bytes:
    """Return pixels (height, width, 3) uint8 RGB as a file: JPEG, PNG or TGA."""
    from PIL import Image as Picture

    out = BytesIO()
    options: dict[str, Any] = {"quality": QUALITY, "subsampling": "4:2:0"} if form == "JPEG" else {}
    Picture.fromarray(pixels).save(out, form, **options)
    return out.getvalue()


def to_base64(data: bytes) -> str:
    """Return bytes as JSON carries them."""
    return base64.b64encode(data).decode("ascii")


def from_base64(value: Any, key: str) -> bytes:
    """Return the bytes in a value of the wire; WireError where there are none."""
    if not isinstance(value, str):
        raise WireError("not base64", where=key, got=str(value)[:40])
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError) as error:
        raise WireError(f"not base64: {error}", where=key, got=value[:40]) from None


class Pictures:
    """Decodes frames; shows the last good one again where one is damaged.

    Args:
        height: of the black picture that is shown before the first good one.
        width: likewise.
        spoilt: called for every damaged one.
    """

    def __init__(self, height: int, width: int, spoilt: Callable[[], None]) -> None:
        self._good: Any = np.zeros((height, width, 3), np.uint8)
        self._spoilt = spoilt

    def decode(self, data: bytes) -> Any:
        """Return the pixels (height, width, 3) uint8 RGB of a JPEG, PNG or TGA file."""
        from PIL import Image as Picture

        try:
            with Picture.open(BytesIO(data), formats=("JPEG", "PNG", "TGA")) as picture:
                self._good = np.asarray(picture.convert("RGB"))
        except (OSError, ValueError, SyntaxError, Picture.DecompressionBombError):
            self._spoilt()
        return self._good
