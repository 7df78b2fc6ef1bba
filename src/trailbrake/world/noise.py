"""Random numbers without a state: the same question has the same answer, in any order and on any thread.

Philox-4x32 with 10 rounds (J. K. Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011): a counter of
four words and a key of two become four words that pass for random. Words are non-negative integers below 2**32 in
int64, so that machine code and plain Python do the same arithmetic.
"""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels import jit

Array = NDArray[np.float64]
Ranges = NDArray[np.float64] | NDArray[np.float32]

_WORD = 0xFFFFFFFF
_M0 = 0xD2511F53
_M1 = 0xCD9E8D57
_W0 = 0x9E3779B9
_W1 = 0xBB67AE85
_SCALE = 1.0 / 4294967296.0


@jit
def philox(c0: int, c1: int, c2: int, c3: int, seed: int) -> tuple[int, int, int, int]:
    """Return four random words for a counter of four words and a seed, 0 .. 2**63 - 1."""
    k0 = seed & _WORD
    k1 = (seed >> 32) & _WORD
    c0, c1, c2, c3 = c0 & _WORD, c1 & _WORD, c2 & _WORD, c3 & _WORD
    for _ in range(10):
        # Products of two words wrap round in int64, but their halves come out right.
        p0 = _M0 * c0
        p1 = _M1 * c2
        c0, c1 = ((p1 >> 32) & _WORD) ^ c1 ^ k0, p1 & _WORD
        c2, c3 = ((p0 >> 32) & _WORD) ^ c3 ^ k1, p0 & _WORD
        k0 = (k0 + _W0) & _WORD
        k1 = (k1 + _W1) & _WORD
    return c0, c1, c2, c3


@jit
def normal_pair(a: int, b: int) -> tuple[float, float]:
    """Return two independent standard normal numbers made of two words (G. E. P. Box, M. E. Muller, 1958)."""
    radius = math.sqrt(-2.0 * math.log((a + 0.5) * _SCALE))
    angle = 2.0 * math.pi * _SCALE * b
    return radius * math.cos(angle), radius * math.sin(angle)


@jit
def blur(ranges: Ranges, spread: float, share: float, lost: float, limit: float, seed: int, stream: int, tick: int,
         dropout: float, lo: int, hi: int) -> None:  # fmt: skip
    """Put noise on the ranges of the cars `lo`..`hi` - 1, and lose some of them.

    Args:
        ranges: (n, beams) m, changed. Ranges of `limit` or more are no hits and get no noise.
        spread: standard deviation, m.
        share: standard deviation that grows with the range, m per m; adds in squares.
        lost: what a lost beam reads, m.
        limit: range of the scanner, m; noise does not reach beyond it, nor below 0.
        seed: 0 .. 2**63 - 1.
        stream: tells sensors with the same seed apart.
        tick: number of the scan, 0 .. 2**32 - 1; a number not used before gives fresh noise.
        dropout: probability that a beam is lost, 0..1.
        lo: first car.
        hi: one past the last.
    """
    beams = ranges.shape[1]
    for car in range(lo, hi):
        for i in range(0, beams, 2):
            a, b, c, d = philox(i, car, tick, stream, seed)
            first, second = normal_pair(a, b)
            for k in range(2):
                if i + k >= beams:
                    break
                r = float(ranges[car, i + k])
                if r < limit:
                    noise = first if k == 0 else second
                    r += noise * math.sqrt(spread * spread + share * share * r * r)
                    ranges[car, i + k] = min(max(r, 0.0), limit)
                if (c if k == 0 else d) * _SCALE < dropout:
                    ranges[car, i + k] = lost
