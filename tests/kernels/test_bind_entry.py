"""Entries that are bound to argument types: the same results as the kernel, in both backends."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from trailbrake.kernels import BACKEND, bind_entry, jit, lane_jit


class Table(NamedTuple):
    values: np.ndarray
    spacing: float
    closed: bool


@jit
def interpolate(table, position, out):
    i = int(position / table.spacing)
    j = i + 1 if i + 1 < table.values.shape[0] or not table.closed else 0
    u = position / table.spacing - i
    out[0] = (1.0 - u) * table.values[i] + u * table.values[j]
    return j


@lane_jit
def scale(values, factor):
    for i in range(values.shape[0]):
        values[i] *= factor


def test_an_entry_computes_what_its_kernel_computes():
    table, out = Table(np.arange(5.0) ** 2, 0.5, True), np.zeros(1)
    entry = bind_entry(interpolate, table, 0.0, out)
    for position in (0.0, 0.2, 1.1, 2.4):
        expected = interpolate(table, position, out), out[0]
        out[0] = np.nan
        assert (entry(table, position, out), out[0]) == expected


def test_an_entry_takes_other_values_of_the_same_types():
    entry = bind_entry(interpolate, Table(np.zeros(3), 1.0, False), 0.0, np.zeros(1))
    out = np.zeros(1)
    assert entry(Table(np.array([1.0, 5.0, 2.0, 4.0]), 2.0, True), 7.0, out) == 0
    assert out[0] == pytest.approx(2.5)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_lane_kernels_have_an_entry_for_each_precision(dtype):
    values = np.arange(4, dtype=dtype)
    bind_entry(scale, values, dtype(2.0))(values, dtype(3.0))
    assert values.tolist() == [0.0, 3.0, 6.0, 9.0]


@pytest.mark.skipif(BACKEND != "numba", reason="plain Python accepts any number of arguments")
def test_a_wrong_number_of_arguments_is_an_error():
    entry = bind_entry(scale, np.zeros(2), 1.0)
    with pytest.raises(TypeError):
        entry(np.zeros(2))


@pytest.mark.slow
def test_in_plain_python_the_entry_is_the_function():
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "import test_bind_entry as t\nassert t.bind_entry(t.scale, [0.0], 1.0) is t.scale\n"
    )
    environment = {**os.environ, "TRAILBRAKE_KERNELS": "python"}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
