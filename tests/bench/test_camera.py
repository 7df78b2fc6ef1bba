import sys

import pytest
from helpers.virtual_display import virtual_display

from trailbrake.bench import camera


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="X11 is Linux's")
def test_its_rows_are_those_of_a_window_that_changes(monkeypatch):
    monkeypatch.setattr(camera, "CHANGES", 4)
    monkeypatch.setattr(camera, "READS", 200)
    with virtual_display() as display:
        monkeypatch.setenv("DISPLAY", display)
        rows = {row.name: row.value for row in camera.measure_rows()}
    assert len(rows) == 10
    assert 0.0 < rows["camera_latency_p50_ms_60"] <= rows["camera_latency_p99_ms_60"]
    assert rows["camera_rate_hz_30"] > 1.0
