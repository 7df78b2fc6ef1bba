"""`trailbrake reference`: the verb, its file, and its refusals."""

import json

import numpy as np
import pytest
from helpers.socketio_agents import ring

from trailbrake.cars.car_library import load_car
from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.cli.main import run_command_line
from trailbrake.driving.session.drive_session import drive
from trailbrake.errors import UsageError
from trailbrake.planning.line_file import load_racing_line, read_line
from trailbrake.reference.lap_search import PROVEN_LAPS
from trailbrake.reference.options import ReferenceOptions
from trailbrake.reference.reference_session import make_reference_lap
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track


@pytest.mark.slow
def test_the_verb_writes_a_lap_that_the_driver_repeats_through_a_wire(tmp_path, capsys):
    path, name = tmp_path / "lap.csv", str(ring(tmp_path))
    tokens = ["reference", "--track", name, "--car", "kart", "--generations", "3", "--count", "16"]
    assert run_command_line([*tokens, "--out", str(path), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert len(result["laps_s"]) == PROVEN_LAPS
    assert result["time_s"] == pytest.approx(max(result["laps_s"]), abs=1e-4)
    assert np.ptp(result["laps_s"]) < 0.05
    track = load_track(name)
    line = load_racing_line(path, track.road, load_car("kart"))
    grip = line.column(RoadColumn.GRIP)
    assert np.ptp(grip) > 0.0
    assert read_line(path).about["kind"] == "reference"
    summary = drive(DriveFlags(driver="line_track", sim="forza", gain=("learn=0",), track=name, car="kart",
                               line=path, report=False, out=tmp_path).make_spec())  # fmt: skip
    assert [lap["valid"] for lap in summary["laps"]] == [True, True]
    # The file has the path and the grip each 2 m, and speeds are planned anew from them.
    assert summary["best_s"] == pytest.approx(result["time_s"], rel=0.005)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (ReferenceOptions(count=9), "--count"),
        (ReferenceOptions(generations=0), "--generations"),
        (ReferenceOptions(track="serpent_pass"), "needs a circuit"),
    ],
)
def test_what_cannot_be_searched_is_refused(options, message):
    with pytest.raises(UsageError, match=message):
        make_reference_lap(options)
