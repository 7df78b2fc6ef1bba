"""`sim SIM ACTION` on the command line."""

import sys

import pytest
from helpers.assetto.foreign_pages import let_go, pages

from trailbrake.cli.main import run_command_line
from trailbrake.sims.assetto import codec, spec

on_linux = pytest.mark.skipif(sys.platform == "win32", reason="a page outlives its maker there")


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_SHM", str(tmp_path))
    yield pages(tmp_path) / spec.SIM_STATE_V1
    let_go()


@on_linux
def test_pause_time_scale_and_resume(page):
    assert run_command_line(["sim", "assetto", "pause"]) == 0
    assert codec.decode_sim_v1(page.read_bytes()).pause == 1
    assert run_command_line(["sim", "assetto", "time-scale", "4"]) == 0
    assert codec.decode_sim_v1(page.read_bytes()) == codec.SimState(pause=1, time_scale=4.0)
    assert run_command_line(["sim", "assetto", "resume"]) == 0
    assert not page.exists()


@on_linux
def test_a_pause_that_no_game_hears_yet_is_said(page, capsys):
    assert run_command_line(["sim", "assetto", "pause"]) == 0
    assert "no game is there yet" in capsys.readouterr().out
    assert run_command_line(["sim", "assetto", "resume"]) == 0
    assert capsys.readouterr().out == "sent to assetto: pause, time_scale\n"
    (page.parent / spec.public_name(0)).write_bytes(bytes(codec.PUBLIC_SIZE))
    assert run_command_line(["sim", "assetto", "pause"]) == 0
    assert capsys.readouterr().out == (
        "requested a pause, time scale 1; no page shows whether the simulation follows\n"
    )


def test_restart_as_json(page, capsys):
    assert run_command_line(["sim", "assetto", "restart"]) == 2
    assert "no game is there" in capsys.readouterr().err
    (page.parent / spec.public_name(0)).write_bytes(bytes(codec.PUBLIC_SIZE))
    assert run_command_line(["sim", "assetto", "restart", "--json"]) == 0
    assert capsys.readouterr().out.startswith('{"sim": "assetto", "said": ["requested a restart')


@pytest.mark.parametrize("scale", ["0", "-1", "nan", "1e9"])
def test_no_time_scale(page, capsys, scale):
    assert run_command_line(["sim", "assetto", "time-scale", "--", scale]) == 2
    assert "command time_scale: expected 0.001 to 100, got" in capsys.readouterr().err


def test_a_yaw_in_degrees_is_refused(page, capsys):
    assert run_command_line(["sim", "assetto", "teleport", "10", "0", "90"]) == 2
    assert "yaw is an angle in rad, expected -2 pi to 2 pi, got 90; 90 degrees are 1.571 rad" in capsys.readouterr().err


def test_a_car_that_is_not_there(page, capsys):
    assert run_command_line(["sim", "assetto", "teleport", "1", "2", "0.5", "--wait=0.05"]) == 2
    assert "car 0 is not published" in capsys.readouterr().err
    assert run_command_line(["sim", "assetto", "pits", "--wait=0.05", "--car-index=3"]) == 2
    assert "car 3 is not published" in capsys.readouterr().err


def test_wrong_words(page, capsys):
    assert run_command_line(["sim", "assetto", "teleport", "1", "2"]) == 2
    assert run_command_line(["sim", "nosuch", "pause"]) == 2
    assert "Traceback" not in capsys.readouterr().err
