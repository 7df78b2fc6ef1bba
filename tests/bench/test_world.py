import pytest

from trailbrake.bench import world
from trailbrake.env.options import RaceOptions


@pytest.fixture
def small(monkeypatch):
    """A bench of a few cars and steps: what it measures then means nothing, but all of it runs."""
    monkeypatch.setattr(world, "CARS", 16)
    monkeypatch.setattr(world, "WARM_UP", 3)
    monkeypatch.setattr(world, "STEPS", 3)
    monkeypatch.setattr(world, "SECONDS", 0.05)
    monkeypatch.setattr(world, "RUNS", 1)


@pytest.mark.slow
def test_every_row_of_the_plan_is_there(small):
    rows = {row.name: row for row in world.measure_rows()}
    assert {name for name in rows if not name.startswith("peer_")} == {
        "physics_f64", "physics_f32", "vector_env", "vector_env_scan64", "env_single", "env_scan1080_1",
        "env_scan1080_2", "car_bytes",
    }  # fmt: skip
    assert all(row.value > 0.0 for row in rows.values())
    assert "float32" in rows["physics_f32"].note
    assert rows["car_bytes"].value < 4096
    assert rows["car_bytes"].better == "lower"


@pytest.mark.slow
def test_rates_count_every_learner():
    # The same work counted in two ways: 64 learners cannot take 64 times as long as one.
    many = world.measure_vector_env(RaceOptions(), cars=64, threads=1, seconds=0.05)
    one = world.measure_single_env(RaceOptions(), seconds=0.05)
    assert many > one > 100.0


@pytest.mark.slow
@pytest.mark.parametrize("row", ["vector_env", "vector_env_scan64", "env_single", "env_scan1080_1", "env_scan1080_2"])
def test_every_row_measures_something(row, monkeypatch):
    monkeypatch.setattr(world, "CARS", 32)
    assert getattr(world, row)(seconds=0.01) > 0.0
