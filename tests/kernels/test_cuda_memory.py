"""Constant memory itself needs a card: `world/test_cuda.py` compares equal cars on one."""

import numpy as np
import pytest

from trailbrake.kernels.cuda_memory import pad_columns


@pytest.mark.parametrize(("columns", "dtype", "padded"), [(5, np.float32, 8), (8, np.float32, 8), (5, np.float64, 6)])
def test_padded_lines_begin_on_multiples_of_16_bytes(columns, dtype, padded):
    assert pad_columns(columns, dtype) == padded
    assert padded * np.dtype(dtype).itemsize % 16 == 0
