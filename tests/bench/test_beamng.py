"""The rows of the bench, without measuring."""

import pytest

from trailbrake.bench import beamng as bench


def test_the_rows_are_those_that_were_promised(monkeypatch):
    monkeypatch.setattr(bench, "_measure_exchanges", lambda command: 12_000.0 if "serve" in command else 20_000.0)
    monkeypatch.setattr(bench.coupling_cases, "_measure_speed", lambda case: case.expected_speed)
    rows = bench.measure_rows()
    cases, rows = rows[2:], rows[:2]
    assert [row.value for row in cases] == [1.0, 0.75, 0.25, 1.0, 0.5, 1.0, 0.5, 1.0]
    assert "0.75 in theory" in cases[1].note
    assert [(row.name, row.value, row.unit, row.better) for row in rows] == [
        ("lockstep_exchanges_per_s", 12_000.0, "1/s", "higher"),
        ("link_exchanges_per_s", 20_000.0, "1/s", "higher"),
    ]
    assert "6.0x real time" in rows[0].note


@pytest.mark.slow
def test_an_exchange_is_measured_between_two_processes(monkeypatch):
    monkeypatch.setattr(bench, "EXCHANGES", 200)
    monkeypatch.setattr(bench, "WARM_UP", 10)
    assert bench._measure_exchanges([bench.sys.executable, "-m", "trailbrake.bench.beamng"]) > 10.0
