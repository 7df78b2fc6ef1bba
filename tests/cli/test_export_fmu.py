"""The verb `export-fmu`."""

import json

import pytest

from trailbrake.cli.main import run_command_line


@pytest.mark.fmi
def test_it_writes_the_file_and_says_where(tmp_path, capsys):
    assert run_command_line(["export-fmu", "speed_hold", "--out", str(tmp_path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["fmu"] == str(tmp_path / "speed_hold.fmu")
    assert (tmp_path / "speed_hold.fmu").stat().st_size > 10_000


def test_an_unknown_driver_is_one_line(tmp_path, capsys):
    pytest.importorskip("pythonfmu3")
    assert run_command_line(["export-fmu", "sped_hold", "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "speed_hold" in error
