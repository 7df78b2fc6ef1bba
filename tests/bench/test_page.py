"""The bench of the live page measures what it says, over a short drive; no figure is judged."""

import pytest

from trailbrake.bench import page


@pytest.mark.slow
def test_rows_have_the_fixed_names(monkeypatch):
    monkeypatch.setattr(page, "SECONDS", 1.0)
    monkeypatch.setattr(page, "TICKS", 1000)
    rows = page.measure_rows()
    assert [(row.name, row.unit, row.better) for row in rows] == [
        ("page_latency_p50_ms", "ms", "lower"), ("page_latency_p99_ms", "ms", "lower"),
        ("watched_loop_p99_us", "us", "lower"), ("tap_tick_us", "us", "lower"),
    ]  # fmt: skip
    assert all(row.value > 0.0 for row in rows)
    assert rows[0].value <= rows[1].value
    frames = int(rows[0].note.split(", ")[1].split()[0])
    assert 20 < frames <= 60 * 4
