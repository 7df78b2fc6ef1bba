from enum import IntEnum

import numpy as np
import pytest

from trailbrake.kernels import BACKEND, inline_jit
from trailbrake.kernels.lane_blocks import get, get_indexed, put
from trailbrake.kernels.lane_phases import find_row_usage, find_source, resolve_phases
from trailbrake.kernels.simd import vectorize


def scale_row(block, row, factor, lane, two: float, table: np.ndarray):
    """Take two constants and two inputs."""


def read_table(block, lane, two: np.ndarray):
    """Take a table under the name of a number elsewhere."""


@inline_jit
def plain(block, lane, period: float):
    """Take no constant."""


def test_constants_come_before_the_lane_and_inputs_behind_it():
    phases = resolve_phases([(scale_row, 1, 3.0), [plain, (scale_row, 2, 5.0)]], None)
    assert [[call.constants for call in calls] for calls in phases.calls] == [[(1, 3.0)], [(), (2, 5.0)]]
    assert [call.inputs for call in phases.calls[1]] == [("period",), ("two", "table")]
    assert phases.tables == {"two": False, "table": True, "period": False}


def test_inputs_may_be_given_in_order_with_some_that_nothing_uses():
    phases = resolve_phases([(scale_row, 1, 3.0)], ("table", "unused", "two"))
    assert list(phases.tables.items()) == [("table", True), ("unused", False), ("two", False)]


@pytest.mark.parametrize(
    ("phases", "inputs", "message"),
    [
        ([(scale_row, 1, 3.0)], ("two",), "inputs lacks table"),
        ([(scale_row, 1, 3.0), read_table], None, "two is a table in one phase, not in another"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(phases, inputs, message):
    with pytest.raises(TypeError, match=message):
        resolve_phases(phases, inputs)


def test_the_source_of_a_kernel_is_its_python_function():
    assert find_source(plain).__name__ == "plain"
    assert find_source(scale_row) is scale_row


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


@pytest.mark.skipif(BACKEND != "numba", reason="plain Python kernels have no rows to find")
def test_a_phase_uses_all_rows_of_what_it_names():
    assert find_row_usage(run_sum) == ({0, 1, 2, 3, 4}, {9})


@pytest.mark.skipif(BACKEND != "numba", reason="plain Python kernels have no rows to find")
def test_rows_of_called_functions_count():
    assert find_row_usage(shift_down) == ({5, 6, 7, 8}, {5})
    assert find_row_usage(run_sum, shift_down) == (set(range(9)), {5, 9})
