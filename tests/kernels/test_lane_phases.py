import numpy as np
import pytest

from trailbrake.kernels import inline_jit
from trailbrake.kernels.lane_phases import find_source, resolve_phases


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
