"""The first file of a long drive stands for all of them."""

import io

import numpy as np
import pytest
from helpers.long_drives import LAP_TICKS, SIGNALS, TICKS, record_long_drive
from helpers.small_drives import tick

from trailbrake.analysis.report import write_report
from trailbrake.errors import UsageError
from trailbrake.record import Recorder, Recording, export_csv
from trailbrake.record.parted_file import ONE_FILE, PartLimits


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    return record_long_drive(tmp_path_factory.mktemp("parts") / "a.mcap", PartLimits(seconds=10.0, bytes=0)).paths


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    recorder = record_long_drive(tmp_path_factory.mktemp("whole") / "a.mcap", ONE_FILE)
    assert len(recorder.paths) == 1
    return Recording.open(recorder.path)


def test_the_first_file_stands_for_the_whole_drive(parts, whole):
    joined = Recording.open(parts[0])
    assert joined.paths == parts
    assert len(joined) == TICKS
    for name in whole.state:
        np.testing.assert_array_equal(joined.state[name], whole.state[name])
    for name in whole.controls:
        np.testing.assert_array_equal(joined.controls[name], whole.controls[name])
    np.testing.assert_array_equal(joined.signals["beamng.fuel"], whole.signals["beamng.fuel"])
    assert joined.laps == whole.laps
    assert joined.events == whole.events
    assert list(joined.pictures()) == list(whole.pictures())
    assert joined.wire == whole.wire == {"link": {"lost": 3}}
    assert joined.about == whole.about
    assert not joined.truncated


def test_export_and_report_of_the_first_file_are_those_of_the_whole_drive(parts, whole, tmp_path):
    a, b = io.StringIO(newline=""), io.StringIO(newline="")
    assert export_csv(Recording.open(parts[0]), a) == export_csv(whole, b) == TICKS
    assert a.getvalue() == b.getvalue()
    pages = [write_report(source, tmp_path / name).read_text("utf-8") for source, name in
             ((parts[0], "a.html"), (whole.path, "b.html"))]  # fmt: skip
    assert pages[0].replace(", ".join(path.name for path in parts), "a.mcap") == pages[1]
    for path in parts:
        with pytest.raises(UsageError, match="overwrite the recording"):
            write_report(parts[0], path)


def test_what_is_not_of_the_drive_is_not_joined(parts, tmp_path):
    copies = []
    for path in parts:
        copies.append(tmp_path / path.name)
        copies[-1].write_bytes(path.read_bytes())
    other = Recorder(tmp_path / "a_part5.mcap", signals=SIGNALS)
    other.start({"sim": "another", "part": 5})
    tick(other, 0)
    other.close()
    (tmp_path / "a_part6.mcap").write_bytes(b"no recording")
    (tmp_path / "a_part7.mcap").mkdir()
    (tmp_path / "a_part8.mcap.txt").write_text("a note")
    assert len(Recording.open(copies[0])) == TICKS
    copies[1].unlink()
    gap = Recording.open(copies[0])
    assert gap.truncated
    assert gap.paths == [copies[0], *copies[2:]]
    assert len(gap) == TICKS - len(Recording.open(parts[1]))
    assert [lap.row for lap in gap.laps][-1] == len(gap) - TICKS % LAP_TICKS
