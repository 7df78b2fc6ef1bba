import math

import pytest

from trailbrake.bench import trend


@pytest.mark.slow
def test_the_rows_have_their_names_and_are_positive(monkeypatch):
    monkeypatch.setattr(trend, "SECONDS", 0.01)
    monkeypatch.setattr(trend, "RUNS", 1)
    monkeypatch.setattr(trend, "WARMING", 0.0)
    monkeypatch.setattr(trend, "CARS", 4)
    monkeypatch.setattr(trend, "FRAMES", 32)
    rows = trend.measure_rows()
    assert [row.name for row in rows] == ["camera_fps", "camera_jpeg_fps", "vector_env_camera96"]
    assert all(row.value > 0.0 and math.isfinite(row.value) for row in rows)
    assert all(row.better == "higher" and row.unit.endswith("/s") for row in rows)
