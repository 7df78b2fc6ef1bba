"""A closed road of two straights and two half circles."""

import math

import numpy as np

from trailbrake.tracks.road import Road


def build_stadium(straight=150.0, radius=50.0, half_width=6.0, grip=1.0):
    length = 2.0 * (straight + math.pi * radius)
    n = round(length / 2.0)
    s = np.arange(n) * length / n
    half = 0.5 * length
    t = np.mod(s, half)
    turn = np.maximum(t - straight, 0.0) / radius
    x = np.minimum(t, straight) + radius * np.sin(turn)
    y = radius * (1.0 - np.cos(turn))
    second = s >= half
    x, y = np.where(second, straight - x, x), np.where(second, 2.0 * radius - y, y)
    return Road.from_columns(
        length / n, True, x, y, turn + math.pi * second, np.where(t > straight, 1.0 / radius, 0.0),
        width_left=half_width, width_right=half_width, grip=grip,
    )  # fmt: skip
