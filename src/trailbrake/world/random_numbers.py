"""Random numbers without a state: the same question has the same answer, in any order and on any thread.

Philox-4x32 with 10 rounds (J. K. Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011): a counter of
four words and a key of two become four words that pass for random. Words are non-negative integers below 2**32 in
int64, so that machine code and plain Python do the same arithmetic.
"""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.kernels import internal_jit, jit

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


def _ziggurat_edges() -> Array:
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
_EDGES = _ziggurat_edges()


@internal_jit
def _retry_normal(word: int, c0: int, c1: int, c2: int, c3: int, seed: int) -> float:
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
def normal_from_word(word: int, c0: int, c1: int, c2: int, c3: int, seed: int) -> float:
    """Return a standard normal number made of a random word.

    The ziggurat of G. Marsaglia and W. W. Tsang (J. Stat. Software 5 (8), 2000) with 128 layers: 7 bits choose the
    layer, one the sign, 24 the place. One word in 80 is not enough; further ones come from `philox` with the counter
    given, whose first word must be below 2**20.
    """
    layer = word & 127
    x: float = ((word >> 8) + 0.5) * _PLACE * _EDGES[layer]
    if x < _EDGES[layer + 1]:
        return x if word & 128 else -x
    return _retry_normal(word, c0, c1, c2, c3, seed)
