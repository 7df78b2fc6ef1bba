"""Traced lane code against the same formulas in NumPy, and what the tracer must refuse."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from trailbrake import kernels
from trailbrake.kernels import BACKEND, inline_jit, lane_jit, simd
from trailbrake.kernels.lane_blocks import LANES, get, get_indexed, lanes_per_block, put
from trailbrake.kernels.simd import vectorize

ROWS = 8
Array = NDArray[np.float64]
NUMBA = pytest.mark.skipif(BACKEND != "numba", reason="there are no vectors in plain Python")


@pytest.fixture(params=[32, 64])
def anew(request, monkeypatch):
    """Makes a kernel of a function, for vectors of so many bytes, whatever this processor has."""
    monkeypatch.setattr(simd, "WIDTH", request.param, raising=False)
    monkeypatch.setattr(kernels, "CACHE", None, raising=False)
    return lane_jit


@inline_jit
def _twice(x):
    return x + x


def _formula(block, j, factor):
    a, b = get(block, 0, j), get(block, 1, j)
    put(block, 2, j, factor * _twice(a) - b / 3.0 if a > b else -abs(a * b))
    put(block, 3, j, math.sqrt(abs(a)) + np.floor(b))
    near = 1.0 if a > -1.0 and a < 1.0 and not b > 0.5 else 0.0
    put(block, 4, j, near + (2.0 if a > 2.0 or b > 2.0 else 0.0))
    for row in range(2):
        put(block, 5 + row, j, 1.0 - get(block, row, j))
    put(block, 7, j, min(max(a, -0.5), b))


_run_formula = vectorize(_formula)


def _formula_kernel(block, lanes, factor):
    _run_formula(block, lanes, factor)


def numbers(dtype):
    rng = np.random.default_rng(3)
    lanes = lanes_per_block(dtype)
    block = np.zeros((ROWS, lanes), dtype)
    block[:2] = rng.normal(0.0, 2.0, (2, lanes))
    return block


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_it_computes_what_is_written(dtype, anew):
    kernel = anew(_formula_kernel)
    for _ in range(5):
        block = numbers(dtype)
        a, b = block[:2].astype(np.float64)
        kernel(block.reshape(-1), lanes_per_block(dtype), dtype(1.5))
        expected = [
            np.where(a > b, 3.0 * a - b / 3.0, -np.abs(a * b)),
            np.sqrt(np.abs(a)) + np.floor(b),
            ((np.abs(a) < 1.0) & ~(b > 0.5)) + 2.0 * ((a > 2.0) | (b > 2.0)),
            1.0 - a,
            1.0 - b,
            np.minimum(np.maximum(a, -0.5), b),
        ]
        assert block[2:] == pytest.approx(np.array(expected), rel=1e-14 if dtype is np.float64 else 1e-5, abs=1e-6)


def _nan(block, j, one):
    a = get(block, 0, j)
    put(block, 1, j, one if a != a else 0.0)
    put(block, 2, j, min(a, one))
    put(block, 3, j, min(one, a))
    put(block, 4, j, max(a, one))
    put(block, 5, j, max(one, a))


_run_nan = vectorize(_nan)


def _nan_kernel(block, lanes, one):
    _run_nan(block, lanes, one)


def test_nan_is_treated_as_python_does(anew):
    block = np.full((ROWS, LANES), np.nan)
    anew(_nan_kernel)(block.reshape(-1), LANES, 1.0)
    nan = math.nan
    expected = [1.0, min(nan, 1.0), min(1.0, nan), max(nan, 1.0), max(1.0, nan)]
    assert np.array_equal(block[1:6, 0], expected, equal_nan=True)
    assert np.array_equal(block[1:6], np.repeat(block[1:6, :1], LANES, 1), equal_nan=True)


def _first(block, j, one):
    put(block, 1, j, get(block, 0, j) + one)
    put(block, 2, j, get(block, 1, j) + one)
    put(block, 3, j, one)


def _second(block, j, one):
    put(block, 4, j, get(block, 2, j) * 10.0)
    put(block, 4, j, get(block, 4, j) + one)


_run_both = vectorize(_first, _second, scratch=range(1, 4))


def _both_kernel(block, lanes, one):
    _run_both(block, lanes, one)


@NUMBA
def test_phases_follow_each_other_and_leave_only_what_is_asked_for(anew):
    block = np.zeros((ROWS, LANES))
    block[0] = np.arange(LANES)
    anew(_both_kernel)(block.reshape(-1), LANES, 1.0)
    assert block[4].tolist() == [10.0 * (k + 2.0) + 1.0 for k in range(LANES)]
    assert block[2].tolist() == [k + 2.0 for k in range(LANES)]  # the second phase reads it
    assert not block[[1, 3]].any()  # nobody does


@NUMBA
def test_vectors_without_cars_are_left_out_and_blocks_may_lie_anywhere(anew):
    kernel, vector = anew(_both_kernel), simd.WIDTH // 8
    memory = np.zeros(ROWS * LANES + 1)
    for lanes in (1, 4, 5, LANES):
        memory[:] = 0.0
        block = memory[1:]
        kernel(block, lanes, 1.0)
        done = block.reshape(ROWS, LANES)[4] != 0.0
        assert done[:lanes].all()
        assert done.sum() == -(-lanes // vector) * vector


def _read(block, j, table: Array, two: float):
    at = get(block, 0, j)
    line = table[int(at)]
    put(block, 1, j, line[0] + two * line[13])
    put(block, 2, j, line[7])
    put(block, 3, j, table[int(at), int(at * two) + 1])
    put(block, 4, j, get_indexed(block, 5, int(get(block, 7, j)), j))


_run_read = vectorize(_read)


def _read_kernel(block, lanes, table, two):
    _run_read(block, lanes, table, two)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_lane_reads_a_table_at_its_own_place(dtype, anew):
    rng, lanes = np.random.default_rng(4), lanes_per_block(dtype)
    table = rng.normal(size=(17, 32)).astype(dtype)
    at = rng.permutation(17)[:lanes]
    chosen = rng.integers(0, 2, lanes)
    block = np.zeros((ROWS, lanes), dtype)
    block[0], block[7] = at + 0.5, chosen
    block[5:7] = rng.normal(size=(2, lanes))
    anew(_read_kernel)(block.reshape(-1), lanes, table, dtype(0.5))
    assert block[1] == pytest.approx(table[at, 0] + 0.5 * table[at, 13], rel=1e-6)
    assert block[2].tolist() == table[at, 7].tolist()
    assert block[3].tolist() == table[at, ((at + 0.5) * 0.5).astype(int) + 1].tolist()
    assert block[4].tolist() == block[5 + chosen, np.arange(lanes)].tolist()


@NUMBA
def test_a_table_of_other_numbers_than_the_block_s_is_refused():
    with pytest.raises(Exception, match="expected a table of float64"):
        lane_jit(_read_kernel)(np.zeros(ROWS * LANES), LANES, np.zeros((9, 32), np.float32), 0.5)


def _branch(block, j, one):
    if get(block, 0, j) > one:
        put(block, 1, j, one)


_run_branch = vectorize(_branch)


@lane_jit
def _branch_kernel(block, lanes, one):
    _run_branch(block, lanes, one)


@NUMBA
def test_a_branch_on_a_lane_s_value_is_refused():
    with pytest.raises(Exception, match="branches on a lane's value"):
        _branch_kernel(np.zeros(ROWS * LANES), LANES, 1.0)


def _scale_row(block, row, factor, j, two: float, table: Array):
    put(block, row, j, factor * two * table[int(get(block, 0, j))][0])


def _add_rows(block, target, first, second, j):
    put(block, target, j, get(block, first, j) + get(block, second, j))


_run_constants = vectorize(
    [(_scale_row, 1, 3.0), (_scale_row, 2, -5.0)], (_add_rows, 3, 1, 2), inputs=("table", "unused", "two")
)


def _constants_kernel(block, lanes, table, two):
    _run_constants(block, lanes, table, 0.0, two)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_constants_are_bound_and_inputs_go_by_name(dtype, anew):
    lanes = lanes_per_block(dtype)
    block, table = np.zeros((ROWS, lanes), dtype), np.arange(32 * 17, dtype=dtype).reshape(17, 32)
    block[0] = np.arange(lanes)
    anew(_constants_kernel)(block.reshape(-1), lanes, table, dtype(2.0))
    column = table[:lanes, 0]
    assert block[1:4].tolist() == [(6.0 * column).tolist(), (-10.0 * column).tolist(), (-4.0 * column).tolist()]


_run_three = vectorize((_add_rows, 4, 0, 3))
_run_others = vectorize((_add_rows, 5, 0, 2))


def _two_calls_kernel(block, lanes):
    _run_three(block, lanes)
    _run_others(block, lanes)


def test_one_function_with_other_constants_is_another_vectorized_function(anew):
    block = np.arange(ROWS * LANES, dtype=float).reshape(ROWS, LANES)
    expected = block[0] + block[3], block[0] + block[2]
    anew(_two_calls_kernel)(block.reshape(-1), LANES)
    assert block[4].tolist() == expected[0].tolist()
    assert block[5].tolist() == expected[1].tolist()


@pytest.mark.slow
def test_plain_python_calls_each_phase_for_each_lane():
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from test_simd import _both_kernel\n"
        "block = [5.0] + [0.0] * 7\n"
        "_both_kernel(block, 1, 1.0)\n"
        "print(block)\n"
    )
    environment = {**os.environ, "TRAILBRAKE_KERNELS": "python"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[5.0, 6.0, 7.0, 1.0, 71.0, 0.0, 0.0, 0.0]\n"
