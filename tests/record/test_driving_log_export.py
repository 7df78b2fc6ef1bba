import csv
from io import BytesIO

import numpy as np
import pytest
from PIL import Image as Picture

from trailbrake.errors import DataError, UsageError
from trailbrake.record import Recorder, Recording
from trailbrake.record.driving_log import SkippedRows, read_rows
from trailbrake.record.driving_log_export import export_driving_log
from trailbrake.state import CarState, Controls, Image


def jpeg(shade):
    out = BytesIO()
    Picture.fromarray(np.full((24, 32, 3), shade, np.uint8)).save(out, "JPEG")
    return out.getvalue()


def recorded(path, ticks=30, *, images=True, started="2026-11-21T14:30:05+0000"):
    recorder = Recorder(path)
    recorder.start({"sim": "trend", "started": started})
    for i in range(ticks):
        image = Image(jpeg(8 * i), lambda data: data) if images and i != 3 else None
        state = CarState(time=0.04 * i, sequence=i, speed=0.05 * i, lap=1.0 + (i > 20), image=image)
        backs = i == 5
        recorder.tick(state, Controls(steer=0.5 if i else -1.0, throttle=0.75, brake=0.0, gear=-1 if backs else 1))
    recorder.close()
    return Recording.open(recorder.path)


def test_a_drive_becomes_the_seven_columns_of_the_simulator(tmp_path):
    recording = recorded(tmp_path / "a.mcap")
    result = export_driving_log(recording, tmp_path / "log")
    assert (result["rows"], result["without_picture"]) == (29, 1)
    with (tmp_path / "log" / "driving_log.csv").open(newline="") as file:
        lines = list(csv.reader(file))
    assert {len(line) for line in lines} == {7}
    first, second = lines[:2]
    assert first[0].endswith("center_2026_11_21_14_30_05_000.jpg")
    assert second[0].endswith("center_2026_11_21_14_30_05_040.jpg")
    assert first[1:] == ["40", "0.75", "0", "0", "0.000", "1"]  # full right: degrees, + right
    assert second[1:] == ["-20", "0.75", "0", "0.05", "0.040", "1"]
    assert lines[4][2] == "-0.75"  # backing: the wire's one pedal
    assert lines[-1][6] == "2"
    with open(second[0], "rb") as picture:
        assert picture.read() == jpeg(8)  # the bytes as they came


def test_a_second_drive_is_added_and_overwrites_nothing(tmp_path):
    recording = recorded(tmp_path / "a.mcap", started=None)
    for _ in range(2):
        export_driving_log(recording, tmp_path / "log")
    skipped = SkippedRows()
    found = list(read_rows(tmp_path / "log", skipped))
    assert not skipped.counts
    assert len(found) == 58
    assert len({row.picture for row in found}) == 58
    assert [row.steer for row in found[:29]] == [row.steer for row in found[29:]] == [-1.0] + [0.5] * 28


def test_no_pictures_and_no_place_are_refused_in_one_line(tmp_path):
    with pytest.raises(DataError, match="no pictures in the recording"):
        export_driving_log(recorded(tmp_path / "b.mcap", images=False), tmp_path / "none")
    assert not (tmp_path / "none").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write the driving log"):
        export_driving_log(recorded(tmp_path / "c.mcap"), tmp_path / "file")
