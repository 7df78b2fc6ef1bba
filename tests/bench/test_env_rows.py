import pytest

from trailbrake.bench import env_rows
from trailbrake.env.options import RaceOptions


@pytest.mark.slow
def test_rates_count_every_learner():
    # The same work counted in two ways: 64 learners cannot take 64 times as long as one.
    many = env_rows.measure_vector_env(RaceOptions(), cars=64, threads=1, seconds=0.05)
    one = env_rows.measure_single_env(RaceOptions(), seconds=0.05)
    assert many > one > 100.0


@pytest.mark.slow
@pytest.mark.parametrize("row", ["vector_env", "vector_env_scan64", "env_single", "env_scan1080_1", "env_scan1080_2"])
def test_every_row_measures_something(row, monkeypatch):
    monkeypatch.setattr(env_rows, "CARS", 32)
    assert getattr(env_rows, row)(seconds=0.01) > 0.0
