import json

import numpy as np
import pytest
from helpers.html_page import Page
from helpers.line_columns import documented_columns
from helpers.socketio_agents import ring

from trailbrake.cars.car_library import load_car
from trailbrake.cli.main import run_command_line
from trailbrake.errors import UsageError
from trailbrake.optimal.line_session import plan_line
from trailbrake.optimal.options import LineOptions
from trailbrake.planning.line_file import cached_line_path, load_racing_line, read_line
from trailbrake.tracks.track_library import load_track

pytest.importorskip("casadi", reason='CasADi is not installed: pip install "trailbrake[limit]"')


@pytest.mark.slow
def test_the_verb_writes_a_line_that_drives_take(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_LINES", str(tmp_path / "kept"))
    path, track = tmp_path / "line.csv", str(ring(tmp_path))
    tokens = ["line", "--track", track, "--car", "gt3", "--step", "6", "--out", str(path), "--json"]
    assert run_command_line(tokens) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["time_s"] < result["plan_time_s"]
    assert result["worth"]["percent_grip_s"] > 0.0
    assert result["worth_most"][0]["saved_s"] > 0.0
    data = json.loads(Page((tmp_path / "line.html").read_text("utf-8")).data)
    fast, usual = data["laps"]
    assert (fast["name"], usual["name"], data["reference"]) == ("minimum time", "minimum curvature", 1)
    assert 0.0 < result["time_s"] - fast["time"][-1] < 0.03  # the last place is up to 1 m before the line
    assert np.mean(fast["speed"]) > np.mean(usual["speed"])
    assert {signal["name"] for signal in data["signals"]} == fast["signals"].keys()
    assert all(len(fast[name]) == data["count"] for name in ("speed", "x", "y", "error", "acceleration_y"))
    line = read_line(path)
    known = {name.replace("_fl", wheel) for name in documented_columns() for wheel in ("_fl", "_fr", "_rl", "_rr")}
    assert set(line.columns) <= known
    followed = load_racing_line(path, load_track(track).road, load_car("gt3"))
    assert np.isfinite(followed.table).all()
    assert cached_line_path(load_track(track).road, load_car("gt3")).read_bytes() == path.read_bytes()
    assert run_command_line(tokens) == 0
    assert json.loads(capsys.readouterr().out)["cached"]


@pytest.mark.parametrize(("name", "value"), [("step", 0.1), ("margin", -1.0), ("starts", 4)])
def test_options_out_of_range_are_refused(name, value):
    with pytest.raises(UsageError, match=f"--{name}: out of range"):
        plan_line(LineOptions(**{name: value}))
