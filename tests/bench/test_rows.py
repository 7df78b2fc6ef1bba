import importlib

from trailbrake.bench import BENCHES
from trailbrake.bench.rows import BenchRow, describe_machine, measure_median


def test_medians_and_their_notes():
    values = iter([3.0, 1.0, 2.0])
    assert measure_median(3, lambda: next(values)) == (2.0, "median of 3, 1 to 3")


def test_the_machine_is_described():
    found = describe_machine()
    assert found["cores"] >= 1
    assert set(found) == {"cpu", "cores", "system", "python"}
    assert BenchRow("a", 1.0, "s", "lower").note == ""


def test_every_bench_is_a_module_that_measures_rows():
    for name in set(BENCHES) - {"cuda"}:  # imports numba-cuda
        assert callable(importlib.import_module(f"trailbrake.bench.{name}").measure_rows)
