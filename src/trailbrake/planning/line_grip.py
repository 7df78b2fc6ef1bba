"""How much of the grip that is planned with the speeds of a line need, place by place.

The model of `trailbrake line` knows the loads of four wheels and the slip of their tyres. The envelope that speeds are
planned with while driving is simpler: it allows too little in some bends and too much in others. The factor on the grip
with which the envelope just contains the motion of the line makes up for that.
"""

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels import jit
from trailbrake.planning.envelope import Envelope
from trailbrake.planning.grip_use import scale_envelope
from trailbrake.planning.speed_profile import PathShape
from trailbrake.tracks.road import Road

Array = NDArray[np.float64]

LEAST_NEED = 0.85  # of the envelope, below which a place does not say how much grip there is
MEAN_LENGTH = 10.0  # m, over which the need is averaged: a plan follows no single row


def find_needed_grip(line: Road, speeds: Array, shapes: Array, limits: Envelope) -> Array:
    """Return the factors (n,) on the grip of a line with which a car's envelope just contains its speeds.

    Where they need less than LEAST_NEED, the factors are those of the places before and after.

    Args:
        line: the line.
        speeds: (n,) m/s, at its rows.
        shapes: (n, 5) `PathShape` of the rows.
        limits: the car's envelope.
    """
    need = np.empty(len(speeds))
    _fill_needs(np.ascontiguousarray(shapes), np.ascontiguousarray(speeds), _differentiate(line, speeds), limits, need)
    width = max(round(0.5 * MEAN_LENGTH / line.spacing), 1)
    padded = np.pad(need, width, mode="wrap" if line.closed else "edge")
    mean = np.convolve(padded, np.ones(2 * width + 1) / (2 * width + 1), "valid")
    known = np.flatnonzero(mean >= LEAST_NEED)
    if not known.size:
        return np.ones(len(speeds))
    factors: Array = np.interp(np.arange(len(need)), known, mean[known], period=len(need) if line.closed else None)
    return factors


def _differentiate(line: Road, speeds: Array) -> Array:
    """Return the accelerations (n,) m/s^2 along the path."""
    squares = 0.5 * speeds * speeds
    if line.closed:
        central: Array = (np.roll(squares, -1) - np.roll(squares, 1)) / (2.0 * line.spacing)
        return central
    slope: Array = np.gradient(squares, line.spacing)
    return slope


@jit
def _fill_needs(shapes: Array, speeds: Array, accelerations: Array, limits: Envelope, out: Array) -> None:
    for i in range(len(speeds)):
        shape = PathShape(shapes[i, 0], shapes[i, 1], shapes[i, 2], shapes[i, 3], shapes[i, 4])
        out[i] = scale_envelope(speeds[i], accelerations[i], shape, limits)
