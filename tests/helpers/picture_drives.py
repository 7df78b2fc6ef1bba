"""Recordings to learn from without a simulator: a bright post, and a steer towards it."""

from io import BytesIO

import numpy as np
from PIL import Image as Picture

from trailbrake.record import Recorder
from trailbrake.state import CarState, Controls, Image


def post(where, rng):
    """Return a picture (60, 80, 3) with a bright post at `where`, -1 the right edge, 1 the left one."""
    pixels = rng.integers(0, 40, (60, 80, 3), dtype=np.uint8)
    column = round(39.5 - 34.0 * where)
    pixels[15:50, column - 3 : column + 4] = (230, 200, 90)
    return pixels


def jpeg(pixels):
    out = BytesIO()
    Picture.fromarray(pixels).save(out, "JPEG", quality=85)
    return out.getvalue()


def pixels_of(data):
    return np.asarray(Picture.open(BytesIO(data)).convert("RGB"))


def record(path, ticks=300, seed=0, about=None):
    """Record somebody who steers 0.8 of the way to the post, at half throttle; return the steers."""
    rng = np.random.default_rng(seed)
    recorder = Recorder(path)
    recorder.start({"sim": "trend", "track": "clover"} | (about or {}))
    steers = []
    for i in range(ticks):
        where = 0.9 * np.sin(0.11 * i + seed)
        state = CarState(time=0.04 * i, sequence=i, speed=1.0, steer=0.0, throttle=0.5, brake=0.0, lap=1.0,
                         image=Image(jpeg(post(where, rng)), pixels_of))  # fmt: skip
        steers.append(0.8 * where)
        recorder.tick(state, Controls(steer=steers[-1], throttle=0.5, gear=1))
    recorder.close()
    return np.array(steers)
