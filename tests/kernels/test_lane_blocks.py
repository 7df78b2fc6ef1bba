import os
import subprocess
import sys

import numpy as np
import pytest

from trailbrake.kernels import BACKEND, lane_jit, single_precision
from trailbrake.kernels.lane_blocks import LANES, get, lanes_per_block, put

ROWS = 5


@lane_jit
def _copy(block, to, row, other):
    for j in range(LANES):
        put(to, other, j, 2.0 * get(block, row, j) + 1.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_row_of_a_block_is_its_lanes_side_by_side(dtype):
    lanes, copy = lanes_per_block(dtype), _copy if dtype is np.float64 else single_precision(_copy)
    block = np.arange(ROWS * lanes, dtype=dtype)
    for row in range(ROWS):
        to = np.zeros(ROWS * lanes, dtype)
        copy(block, to, row, ROWS - 1 - row)
        seen = to.reshape(ROWS, lanes)
        assert np.array_equal(seen[ROWS - 1 - row], 2.0 * block.reshape(ROWS, lanes)[row] + 1.0)
        assert np.count_nonzero(seen) == lanes


@pytest.mark.slow
def test_lanes_are_whole_cache_lines_in_machine_code_and_one_in_plain_python():
    expected = (1, 1) if BACKEND == "python" else (8, 16)
    assert (LANES, lanes_per_block(np.float32)) == expected
    code = (
        "from trailbrake.kernels.lane_blocks import *\n"
        "b = [0.0, 1.0, 2.0]\nput(b, 1, 0, 7.0)\nprint(LANES, b, get(b, 2, 0))\n"
    )
    environment = {**os.environ, "TRAILBRAKE_KERNELS": "python"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split(maxsplit=1) == ["1", "[0.0, 7.0, 2.0] 2.0\n"]
