"""From a window's pixels to the picture that a driver receives: scaled, square pixels kept, as JPEG and as pixels."""

from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.state import Image
from trailbrake.transport.image_codec import encode_image

Pixels = NDArray[np.uint8]


class CapturedImage(Image):
    """A picture that was captured beside the wire.

    `data` is a JPEG, as a recording keeps it, and `pixels` are those of that JPEG: a network sees in a drive what it
    was trained on.

    Args:
        pixels: (height, width, 3) uint8 RGB, before compression.
        number: of the picture, from 1.
        taken_at: when the capture began, s, as `system.steady_clock.now`.

    Attributes:
        number: as above.
        taken_at: as above.
    """

    __slots__ = ("number", "taken_at")

    def __init__(self, pixels: Pixels, number: int, taken_at: float) -> None:
        super().__init__(encode_image(pixels), decode_jpeg)
        self.number, self.taken_at = number, taken_at
        self._pixels = decode_jpeg(self.data)  # here, not in the loop that reads it

    @classmethod
    def restore(cls, data: bytes, number: int, taken_at: float) -> "CapturedImage":
        """Return the picture whose `data`, `number` and `taken_at` came from another process; decoded when used."""
        picture = cls.__new__(cls)
        Image.__init__(picture, data, decode_jpeg)
        picture.number, picture.taken_at = number, taken_at
        return picture


def decode_jpeg(data: bytes) -> Any:
    """Return the pixels (height, width, 3) uint8 RGB of a JPEG that we made."""
    from PIL import Image as Picture

    with Picture.open(BytesIO(data), formats=("JPEG",)) as picture:
        return np.asarray(picture.convert("RGB"))


def find_middle(size: tuple[int, int], wanted: tuple[int, int]) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of the largest middle part of a picture with the shape of another one.

    Args:
        size: width and height of the picture, pixels.
        wanted: width and height of the other one.
    """
    (width, height), (other_width, other_height) = size, wanted
    part_width = min(float(width), height * other_width / other_height)
    part_height = min(float(height), width * other_height / other_width)
    left, top = 0.5 * (width - part_width), 0.5 * (height - part_height)
    return left, top, left + part_width, top + part_height


def scale_picture(pixels: Pixels, width: int, height: int) -> Pixels:
    """Return the middle of a picture as (height, width, 3) uint8 RGB: each pixel is the mean of those that it covers.

    Args:
        pixels: (h, w, 4) uint8 with blue first, as screens have them, or (h, w, 3) RGB.
        width: of the result, pixels.
        height: of the result, pixels.
    """
    from PIL import Image as Picture

    rows, columns, channels = pixels.shape
    if channels == 3 and (columns, rows) == (width, height):
        return pixels
    mode = "RGBX" if channels == 4 else "RGB"
    # Not a copy: a picture of a whole screen is 8 MB, and a copy holds the interpreter's lock.
    picture = Picture.frombuffer(mode, (columns, rows), np.ascontiguousarray(pixels), "raw", mode, 0, 1)
    # Reduced by whole numbers first, which is ten times as quick and changes a level here and there.
    small = picture.resize((width, height), Picture.Resampling.BOX, find_middle((columns, rows), (width, height)), 1.0)
    result = np.asarray(small)
    return np.ascontiguousarray(result[..., 2::-1]) if channels == 4 else result
