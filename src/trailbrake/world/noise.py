"""Random numbers without a state: the same question has the same answer, in any order and on any thread.

Philox-4x32 with 10 rounds (J. K. Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011): a counter of
four words and a key of two become four words that pass for random. Words are non-negative integers below 2**32 in
int64, so that machine code and plain Python do the same arithmetic.
"""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels import jit, part

Array = NDArray[np.float64]
Ranges = NDArray[np.float64] | NDArray[np.float32]

_WORD = 0xFFFFFFFF
_M0 = 0xD2511F53
_M1 = 0xCD9E8D57
_W0 = 0x9E3779B9
_W1 = 0xBB67AE85
_SCALE = 1.0 / 4294967296.0  # of a word to 0..1
_PLACE = 1.0 / 16777216.0  # of its upper 24 bits


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


def _layers() -> Array:
    # Right edges of the layers of equal area V under exp(-x^2 / 2), widest first; the first stands for base and tail.
    def height(x: float) -> float:
        return math.exp(-0.5 * x * x)

    edges = [_V / height(_R), _R]
    while len(edges) < _LAYERS:
        edges.append(math.sqrt(-2.0 * math.log(_V / edges[-1] + height(edges[-1]))))
    return np.array([*edges, 0.0])


_LAYERS = 128
_R = 3.442619855899  # where the tail begins, and the area of each of 128 layers, from the paper
_V = 9.91256303526217e-3
_EDGES = _layers()


@part
def _seldom(word: int, c0: int, c1: int, c2: int, c3: int, seed: int) -> float:
    # `normal` where the first word is not enough: beside the core of its layer, or in the tail.
    value = 0.0
    for attempt in range(1, 4000):
        layer = word & 127
        sign = 1.0 if word & 128 else -1.0
        x = ((word >> 8) + 0.5) * _PLACE * _EDGES[layer]
        if x < _EDGES[layer + 1]:
            value = sign * x
            break
        a, b, c, _ = philox(c0 + (attempt << 20), c1, c2, c3, seed)
        if layer == 0:
            x = -math.log((a + 0.5) * _SCALE) / _R
            if -2.0 * math.log((b + 0.5) * _SCALE) > x * x:
                value = sign * (_R + x)
                break
        else:
            top = math.exp(-0.5 * _EDGES[layer + 1] * _EDGES[layer + 1])
            foot = math.exp(-0.5 * _EDGES[layer] * _EDGES[layer])
            if foot + (a + 0.5) * _SCALE * (top - foot) < math.exp(-0.5 * x * x):
                value = sign * x
                break
            word = c
    return value


@jit
def normal(word: int, c0: int, c1: int, c2: int, c3: int, seed: int) -> float:
    """Return a standard normal number made of a random word.

    The ziggurat of G. Marsaglia and W. W. Tsang (J. Stat. Software 5 (8), 2000) with 128 layers: 7 bits choose the
    layer, one the sign, 24 the place. One word in 80 is not enough; further ones come from `philox` with the counter
    given, whose first word must be below 2**20.
    """
    layer = word & 127
    x: float = ((word >> 8) + 0.5) * _PLACE * _EDGES[layer]
    if x < _EDGES[layer + 1]:
        return x if word & 128 else -x
    return _seldom(word, c0, c1, c2, c3, seed)


@jit
def blur(ranges: Ranges, spread: float, share: float, limit: float, seed: int, stream: int, tick: int,
         lo: int, hi: int) -> None:  # fmt: skip
    """Put noise on the ranges of the cars `lo`..`hi` - 1.

    Args:
        ranges: (n, beams) m, changed; less than 2**20 beams. Ranges of `limit` or more are no hits and get no noise.
        spread: standard deviation, m.
        share: standard deviation that grows with the range, m per m; adds in squares.
        limit: range of the scanner, m; noise does not reach beyond it, nor below 0.
        seed: 0 .. 2**63 - 1.
        stream: tells sensors with the same seed apart.
        tick: number of the scan, 0 .. 2**32 - 1; a number not used before gives fresh noise.
        lo: first car.
        hi: one past the last.
    """
    beams = ranges.shape[1]
    fixed, growing = spread * spread, share * share
    for car in range(lo, hi):
        for i in range(0, beams, 4):
            a, b, c, d = philox(i, car, tick, stream, seed)
            for k in range(i, min(i + 4, beams)):
                r = float(ranges[car, k])
                if r < limit:
                    r += normal(a, k, car, tick, stream, seed) * math.sqrt(fixed + growing * r * r)
                    ranges[car, k] = min(max(r, 0.0), limit)
                a, b, c = b, c, d


@jit
def lose(ranges: Ranges, share: float, reading: float, seed: int, stream: int, tick: int, lo: int, hi: int) -> None:
    """Lose some of the ranges of the cars `lo`..`hi` - 1.

    Args:
        ranges: (n, beams) m, changed.
        share: probability that a beam is lost, 0..1.
        reading: what a lost beam reads, m.
        seed: 0 .. 2**63 - 1.
        stream: tells sensors with the same seed apart; another than that of `blur`.
        tick: number of the scan, 0 .. 2**32 - 1.
        lo: first car.
        hi: one past the last.
    """
    beams = ranges.shape[1]
    for car in range(lo, hi):
        for i in range(0, beams, 4):
            a, b, c, d = philox(i, car, tick, stream, seed)
            for k in range(i, min(i + 4, beams)):
                if a * _SCALE < share:
                    ranges[car, k] = reading
                a, b, c = b, c, d
