"""Corners of a report are those of a comparison; each picture is shown where it was taken."""

import base64

import numpy as np
import pytest
from helpers.compared_drives import record_laps
from helpers.picture_drives import pixels_of, record
from helpers.synthetic_drives import record_drive

from trailbrake.analysis.comparison import DriveChoice, compare_drives
from trailbrake.analysis.lap_traces import trace_laps
from trailbrake.analysis.report_places import MAX_PICTURES, choose_pictures, describe_corners
from trailbrake.record import Recording


def test_corners_have_the_numbers_of_a_comparison_and_lie_on_the_grid(tmp_path):
    recording = Recording.open(record_laps(tmp_path / "a.mcap", rate=50.0, laps=2)[0])
    shown = trace_laps(recording)
    corners = describe_corners(recording, shown)
    compared = compare_drives([DriveChoice(recording, "a")]).corners
    bends = [corner for corner in compared if corner.number]
    assert [corner["title"] for corner in corners] == [corner.name for corner in bends] != []
    lap = shown.laps[0]
    for corner in corners:
        for name in ("entry", "apex", "exit"):
            assert 0.0 <= corner[name] <= shown.step * shown.count
        # Where the report says that the corner is sharpest, the car turns.
        curvature = lap.channels["curvature"][round(corner["apex"] / shown.step)]
        assert abs(curvature) > 0.5 * np.nanmax(np.abs(lap.channels["curvature"]))


def test_without_positions_there_are_no_corners(tmp_path):
    record(tmp_path / "a.mcap", ticks=100)
    recording = Recording.open(tmp_path / "a.mcap")
    assert describe_corners(recording, trace_laps(recording)) == []


def test_each_picture_is_where_it_was_taken(tmp_path):
    record(tmp_path / "a.mcap", ticks=2000)
    recording = Recording.open(tmp_path / "a.mcap")
    shown = trace_laps(recording)
    (found,) = choose_pictures(recording, shown)
    assert 50 < len(found["at"]) <= MAX_PICTURES
    assert found["at"] == sorted(set(found["at"]))
    rows = {bytes(picture.data): picture.row for picture in recording.pictures()}
    for at, address in zip(found["at"], found["data"], strict=True):
        kind, _, code = address.partition(",")
        assert kind == "data:image/jpeg;base64"
        data = base64.b64decode(code)
        assert pixels_of(data).shape == (60, 80, 3)
        # 1 m/s: the place is the time of the picture's row.
        assert at * shown.step == pytest.approx(0.04 * rows[data], abs=shown.step)


def test_a_drive_without_a_camera_has_no_pictures(tmp_path):
    recording = Recording.open(record_drive(tmp_path / "a.mcap", laps=1, rate=50.0).path)
    assert not any(lap["at"] for lap in choose_pictures(recording, trace_laps(recording)))
