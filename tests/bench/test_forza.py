"""The bench of the Forza wire measures what it says: few exchanges, and no figure is judged."""

import pytest

from trailbrake.bench import forza
from trailbrake.sims.forza.raw import RawWriter


@pytest.mark.slow
def test_rows_have_the_fixed_names(monkeypatch):
    monkeypatch.setattr(forza, "EXCHANGES", 30)
    monkeypatch.setattr(forza, "WARM_UP", 10)
    monkeypatch.setattr(forza, "BULK_ROWS", 3000)
    monkeypatch.setattr(forza, "BATCHES", 2)
    rows = forza.measure_rows()
    assert [(row.name, row.unit, row.better) for row in rows] == [
        ("decode_us", "us", "lower"), ("bulk_rows_per_s", "1/s", "higher"), ("packet_to_pad_p99_us", "us", "lower"),
    ]  # fmt: skip
    assert all(row.value > 0.0 for row in rows)
    assert "30 exchanges" in rows[2].note


def test_the_game_of_the_bench_answers_to_the_pad():
    game = forza.ForzaGame()
    first = game.next_datagram()
    for _ in range(300):
        game.send_pad_report(forza.pad_report.encode_report(forza.pad_report.driving_report(0.0, 1.0)))
        last = game.next_datagram()
    game.close()
    assert forza.codec.decode_packet(first).dash.speed < 0.1
    assert forza.codec.decode_packet(last).dash.speed > 3.0


def test_all_rows_of_a_file_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(forza, "BULK_ROWS", 10)
    writer = RawWriter(tmp_path / "r")
    for i in range(10):
        writer.write(bytes(324), i)
    writer.close()
    assert forza.measure_bulk_rows(tmp_path / "r") > 0.0
