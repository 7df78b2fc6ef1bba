import inspect
from enum import IntEnum

import pytest

from trailbrake.kernels.enum_constants import inline_enums


class Row(IntEnum):
    A = 3
    B = 7


class Plain:
    A = 4


FACTOR = 2.0


def sample(block, i: int) -> float:
    """Return something."""
    return FACTOR * block[Row.A] + block[Row.B + i] - block[Row.A + 1] + Plain.A


def sums(i: int) -> tuple[int, int, int]:
    return Row.A + Row.B, Row.A + i, 1 + Row.B


def constants(function):
    return {c for c in function.__code__.co_consts if isinstance(c, int)}


def test_a_folded_function_returns_the_same():
    block = [float(k * k) for k in range(20)]
    for i in range(5):
        assert inline_enums(sample)(block, i) == sample(block, i)
        assert inline_enums(sums)(i) == sums(i)


def test_members_and_their_sums_become_plain_numbers():
    assert "Row" in sample.__code__.co_names
    assert "Row" not in inline_enums(sample).__code__.co_names
    assert {3, 7, 4} <= constants(inline_enums(sample))  # 4 is Row.A + 1
    assert {10, 8} <= constants(inline_enums(sums)) | {
        c for t in inline_enums(sums).__code__.co_consts if isinstance(t, tuple) for c in t
    }
    assert all(type(c) is int for c in constants(inline_enums(sample)))


def test_other_names_are_left_alone():
    assert {"Plain", "FACTOR"} <= set(inline_enums(sample).__code__.co_names)


def test_a_folded_function_sees_changes_of_its_module(monkeypatch):
    folded = inline_enums(sample)
    block = [1.0] * 20
    before = folded(block, 0)
    monkeypatch.setattr(inspect.getmodule(sample), "FACTOR", 5.0)
    assert folded(block, 0) == before + 3.0


def test_tracebacks_and_the_cache_find_the_source():
    folded = inline_enums(sample)
    assert (folded.__name__, folded.__module__, folded.__qualname__) == ("sample", sample.__module__, "sample")
    assert folded.__code__.co_filename == sample.__code__.co_filename
    assert folded.__code__.co_firstlineno == pytest.approx(sample.__code__.co_firstlineno, abs=1)
