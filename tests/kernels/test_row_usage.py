from enum import IntEnum

import pytest

from trailbrake.kernels import BACKEND, inline_jit
from trailbrake.kernels.lane_blocks import get, get_indexed, put
from trailbrake.kernels.row_usage import find_row_usage
from trailbrake.kernels.simd import vectorize

pytestmark = pytest.mark.skipif(BACKEND != "numba", reason="plain Python kernels have no rows to find")


class Row(IntEnum):
    """Rows with a width, as in the world's layout."""

    def __new__(cls, row, width):
        member = int.__new__(cls, row)
        member._value_, member.width = row, width
        return member

    SPEED = 0, 1
    WHEEL = 1, 4
    GEAR = 5, 1
    RATIOS = 6, 3
    TOTAL = 9, 1


def sum_wheels(block, lane):
    total = get(block, Row.SPEED, lane)
    for wheel in range(4):
        total = total + get(block, Row.WHEEL + wheel, lane)
    put(block, Row.TOTAL, lane, total)


@inline_jit
def read_ratio(block, lane):
    return get_indexed(block, Row.RATIOS, int(get(block, Row.GEAR, lane)), lane)


@inline_jit
def shift_down(block, lane):
    if read_ratio(block, lane) > 1.0:
        put(block, Row.GEAR, lane, 1.0)


run_sum = vectorize(sum_wheels)


def test_a_phase_uses_all_rows_of_what_it_names():
    assert find_row_usage(run_sum) == ({0, 1, 2, 3, 4}, {9})


def test_rows_of_called_functions_count():
    assert find_row_usage(shift_down) == ({5, 6, 7, 8}, {5})
    assert find_row_usage(run_sum, shift_down) == (set(range(9)), {5, 9})
