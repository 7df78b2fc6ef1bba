"""`write_video`: pictures as a file that browsers play: WebM where PyAV is installed, else an animated PNG."""

import os
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from trailbrake.errors import UsageError

VIDEO_SUFFIXES = (".webm", ".png")
WEBM_RATE, PNG_RATE = 25, 5  # pictures a second
PNG_SHARE = 2  # by which the sides of an animated PNG are smaller
BIT_RATE = 400_000  # bit/s of a WebM
_CODEC = "libvpx-vp9"

Picture = NDArray[np.uint8]


def _import_av() -> Any:
    # PyAV, or None where it is not installed.
    try:
        import av
    except ImportError:
        return None
    return av


def choose_rate() -> int:
    """Return how many pictures a second `write_video` is to get: few where PyAV is not installed."""
    return PNG_RATE if _import_av() is None else WEBM_RATE


def write_video(path: Path, pictures: Iterator[Picture], rate: int) -> Path:
    """Write a video, whole or not at all, and return its path: `path` with .webm or .png.

    Args:
        path: of the video; its ending is replaced, its folder made.
        pictures: (height, width, 3) uint8 RGB each, of equal and even sides; at least one.
        rate: of the pictures, 1/s.

    Raises:
        UsageError: it cannot be written.
    """
    av = _import_av()
    target = path.with_suffix(VIDEO_SUFFIXES[0] if av else VIDEO_SUFFIXES[1])
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if av:
            _write_webm(av, part, pictures, rate)
        else:
            _write_animated_png(part, pictures, rate)
        os.replace(part, target)
    except OSError as error:  # errors of FFmpeg are OSErrors, too
        raise UsageError("cannot write the video", where=str(target), got=error.strerror or str(error)) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
    return target


def _write_webm(av: Any, path: Path, pictures: Iterator[Picture], rate: int) -> None:
    with av.open(str(path), "w", format="webm") as container:
        stream = None
        for number, picture in enumerate(pictures):
            if stream is None:
                stream = container.add_stream(_CODEC, rate=rate, options={"deadline": "realtime", "cpu-used": "8"})
                stream.height, stream.width = picture.shape[:2]
                stream.pix_fmt, stream.bit_rate = "yuv420p", BIT_RATE
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, rate)
            container.mux(stream.encode(frame))
        if stream is not None:
            container.mux(stream.encode())


def _write_animated_png(path: Path, pictures: Iterator[Picture], rate: int) -> None:
    # Smaller pictures with few colours: PNG keeps every pixel.
    small = [Image.fromarray(picture).reduce(PNG_SHARE).quantize(64) for picture in pictures]
    small[0].save(path, "PNG", save_all=True, append_images=small[1:], duration=1000 // rate, loop=0)
