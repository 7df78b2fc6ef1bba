"""The rows of the bench, without measuring: that takes minutes and says nothing about being right."""

import io
import json
import signal
import subprocess

import pytest

from trailbrake.bench import drive as bench
from trailbrake.cli.main import run_command_line

NAMES = ["cold_start_s", "warm_start_s", "help_s", "lockstep_realtime_factor", "loop_p99_us"]
LOOP = {"ticks": 20_000, "p50_us": 40.0, "p99_us": 90.0, "p999_us": 200.0, "overruns": 0}


@pytest.fixture
def fake(monkeypatch):
    driven = []

    def drive(**names):
        driven.append(names)
        return {"realtime_factor": 20.0, "loop": LOOP, "link": {"lost": 0}}

    monkeypatch.setattr(bench, "drive", drive)
    monkeypatch.setattr(bench, "_time_until_moving", lambda out, cold: 8.0 if cold else 1.5)
    monkeypatch.setattr(bench, "_time_help", lambda: 0.25)
    return driven


def test_the_rows_are_those_that_were_promised(fake):
    rows = bench.measure_rows()
    assert [row.name for row in rows] == NAMES
    assert [row.value for row in rows] == [8.0, 1.5, 0.25, 20.0, 90.0]
    assert [row.better for row in rows] == ["lower", "lower", "lower", "higher", "lower"]
    assert [row.unit for row in rows] == ["s", "s", "s", "1", "us"]
    assert all(row.note for row in rows)


def test_the_loop_is_measured_in_real_time_for_a_minute_with_recording_on(fake):
    bench.measure_rows()
    loop = fake[-1]
    assert (loop["speed"], loop["laps"], loop["seconds"]) == ("real", 0, 60.0)


def test_json(fake, capsys):
    assert run_command_line(["bench", "drive", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert set(said) == {"bench", "machine", "rows"}
    assert said["bench"] == "drive"
    assert [row["name"] for row in said["rows"]] == NAMES
    assert all(set(row) == {"name", "value", "unit", "better", "note"} for row in said["rows"])


def test_the_table_names_every_row(fake, capsys):
    assert run_command_line(["bench", "drive"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in NAMES)


class FakeProcess:
    def __init__(self, lines):
        self.stderr, self.signals = io.StringIO(lines), []

    def send_signal(self, number):
        self.signals.append(number)

    def communicate(self, timeout):
        return "", ""


@pytest.mark.parametrize("cold", [True, False])
def test_a_start_is_measured_to_the_first_move_with_a_cache_of_its_own_when_cold(monkeypatch, tmp_path, cold):
    started = []
    process = FakeProcess("compiling kernels\nmoving at 0.1 s\nlap 1\n")

    def popen(words, **more):
        started.append((words, more["env"]))
        return process

    monkeypatch.setattr(subprocess, "Popen", popen)
    monkeypatch.setenv("TRAILBRAKE_CACHE", "the user's")
    assert 0.0 < bench._time_until_moving(tmp_path, cold=cold) < 5.0
    words, environment = started[0]
    assert "drive" in words
    assert (environment["TRAILBRAKE_CACHE"] != "the user's") is cold
    assert process.signals == [signal.SIGTERM]


def test_a_drive_that_does_not_move_is_no_measurement(monkeypatch, tmp_path):
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: FakeProcess("trailbrake: no\n"))
    with pytest.raises(RuntimeError, match="did not get moving: trailbrake: no"):
        bench._time_until_moving(tmp_path, cold=False)
