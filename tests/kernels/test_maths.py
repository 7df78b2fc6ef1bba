"""Elementary functions against the library's, over their whole domains, by the errors that their docstrings state."""

import math

import numpy as np
import pytest

from trailbrake.kernels import jit
from trailbrake.kernels.maths import clamp, cos_turns, sincos, sincos_small, sincos_tiny, wrap_angle


@jit
def _small(x, out):
    for i in range(x.shape[0]):
        out[0, i], out[1, i] = sincos_small(x[i])


@jit
def _tiny(x, out):
    for i in range(x.shape[0]):
        out[0, i], out[1, i] = sincos_tiny(x[i])


@jit
def _turns(x, out):
    for i in range(x.shape[0]):
        out[i] = cos_turns(x[i])


@jit
def _sincos(x, out):
    for i in range(x.shape[0]):
        out[0, i], out[1, i] = sincos(x[i])


@jit
def _wrap(x, out):
    for i in range(x.shape[0]):
        out[i] = wrap_angle(x[i])


@jit
def _clamp(x, low, high, out):
    for i in range(x.shape[0]):
        out[i] = clamp(x[i], low, high)


def of(kernel, x, rows=1):
    out = np.empty((rows, len(x)) if rows > 1 else len(x))
    kernel(x, out)
    return out


def test_sine_and_cosine_of_a_tenth():
    x = np.linspace(-0.1, 0.1, 2001)
    sin, cos = of(_tiny, x, 2)
    assert np.abs(sin - np.sin(x)).max() < 1e-7
    assert np.abs(cos - np.cos(x)).max() < 1e-7
    assert of(_tiny, np.zeros(1), 2).tolist() == [[0.0], [1.0]]


def test_cosine_of_turns():
    x = np.concatenate([np.linspace(-2.0, 2.0, 40_001), np.linspace(9999.0, 10_000.0, 1001)])
    assert np.abs(of(_turns, x) - np.cos(2.0 * np.pi * x)).max() < 5e-9


@pytest.mark.parametrize(("most", "error"), [(math.pi / 4.0, 1e-10), (1.0, 4e-8)])
def test_sine_and_cosine_of_small_angles(most, error):
    x = np.linspace(-most, most, 40_001)
    sin, cos = of(_small, x, 2)
    assert np.abs(sin - np.sin(x)).max() < error
    assert np.abs(cos - np.cos(x)).max() < error
    assert of(_small, np.zeros(1), 2)[0, 0] == 0.0


def test_sine_and_cosine_of_large_angles():
    rng = np.random.default_rng(3)
    quarters = 0.5 * math.pi * np.arange(-60, 61)
    x = np.concatenate([rng.uniform(-1e4, 1e4, 40_000), rng.uniform(-7.0, 7.0, 40_000), quarters,
                        quarters + 0.25 * math.pi, quarters - 1e-9, quarters + 1e-9])  # fmt: skip
    sin, cos = of(_sincos, x, 2)
    # The quarter turns that are taken off are rounded: 1e4 rad carry 1e4 * 2^-53 = 1e-12 of that.
    assert np.abs(sin - np.sin(x)).max() < 1e-10
    assert np.abs(cos - np.cos(x)).max() < 1e-10


def test_wrapped_angles_point_the_same_way():
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.uniform(-1e3, 1e3, 10_000), [0.0, 3.0, -3.0, math.pi, -math.pi]])
    wrapped = of(_wrap, x)
    assert wrapped.min() >= -math.pi - 1e-12
    assert wrapped.max() <= math.pi
    assert np.abs(np.sin(wrapped) - np.sin(x)).max() < 1e-12
    assert np.abs(np.cos(wrapped) - np.cos(x)).max() < 1e-12
    assert of(_wrap, np.array([1.5]))[0] == 1.5


def test_clamped_numbers():
    x = np.array([-5.0, -1.0, 0.3, 2.0, 9.0])
    out = np.empty(5)
    _clamp(x, -1.0, 2.0, out)
    assert out.tolist() == [-1.0, -1.0, 0.3, 2.0, 2.0]
