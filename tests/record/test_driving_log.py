import csv
import math
import os
import sys
from io import BytesIO

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image as Picture

from trailbrake.errors import DataError, UsageError
from trailbrake.record import Recorder, Recording
from trailbrake.record.driving_log import SkippedRows, export_driving_log, read_rows, read_usable_rows
from trailbrake.state import CarState, Controls, Image

NAME = "center_2018_09_07_21_12_24_282.jpg"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "IMG").mkdir()
    for name in (NAME, "left_a.jpg", "right_a.jpg", "eagle b.JPG"):
        (tmp_path / "IMG" / name).write_bytes(b"\xff\xd8 something")
    return tmp_path


def read(folder, text, encoding="utf-8"):
    (folder / "driving_log.csv").write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    skipped = SkippedRows()
    return list(read_rows(folder, skipped)), dict(skipped.counts)


# The row of the protocol page, section 8.
def test_a_row_of_formula_trend_as_its_recorder_wrote_it(folder):
    found, skipped = read(folder, f"/somewhere/else/IMG/{NAME},0,0,0,1.083751E-06,0.000,1\n")
    assert skipped == {}
    (row,) = found
    assert row.picture == folder / "IMG" / NAME
    assert (row.steer, row.throttle, row.brake, row.time, row.lap) == (0.0, 0.0, 0.0, 0.0, 1)
    assert row.speed == 1.083751e-06


@pytest.mark.parametrize("path", [rf"D:\games\log, 2\IMG\{NAME}", f"/a, b/IMG/{NAME}", f"IMG/{NAME}", f" {NAME}"])
def test_a_picture_is_found_by_its_name_wherever_it_was_recorded(folder, path):
    found, skipped = read(folder, f"{path},-20,0.5,0.25,1.5,12.34,2\r\n")
    assert skipped == {}
    row = found[0]
    assert (row.steer, row.throttle, row.brake, row.speed, row.time, row.lap) == (0.5, 0.5, 0.25, 1.5, 12.34, 2)


def test_full_right_on_either_layout_is_minus_one_here(folder):
    found, skipped = read(folder, f"{NAME},40,1,0,2,1,1\n{NAME},left_a.jpg,right_a.jpg,1,0.5,0,30.19\n")
    assert skipped == {}
    assert [row.steer for row in found] == [-1.0, -1.0]


def test_udacity_s_header_blank_side_cameras_and_miles_per_hour(folder):
    found, skipped = read(
        folder,
        "center,left,right,steering,throttle,brake,speed\n"
        f"IMG/{NAME}, IMG/left_a.jpg, IMG/right_a.jpg, -0.25, 1, 0, 30\n"
        f"IMG/{NAME},,,0.1,0,0,10\n",
    )
    assert skipped == {}
    assert [row.steer for row in found] == [0.25, -0.1]
    assert found[0].speed == pytest.approx(30 * 1609.344 / 3600)
    assert found[0].lap == 0
    # 2018-09-07 21:12:24.282, from the picture's name.
    assert found[0].time == 1536354744.282


def test_rows_that_cannot_be_used_are_counted_by_reason(folder):
    (folder / "IMG" / "empty.jpg").write_bytes(b"")
    lines = [
        f"{NAME},1,0,0,1,1,1", "empty.jpg,1,0,0,1,1,1", "gone.jpg,1,0,0,1,1,1", f"{NAME},one,0,0,1,1,1",
        f"{NAME},1,0", f"{NAME},41.5,0,0,1,1,1", f"{NAME},1,7,0,1,1,1", f"{NAME},nan,0,0,1,1,1", "1,2,3,4,5,6",
        "", f"{NAME},left_a.jpg,1,0,0,5", f"{NAME},1,0,0,1,1,1,9,9,9,9,9,9,9", "x" * 9000, f"{NAME},1,0,0,1,-5,1",
        f"{NAME},1,0,0,1,1,1",
    ]  # fmt: skip
    found, skipped = read(folder, "\n".join(lines))
    assert len(found) == 2
    assert skipped == {
        "with an empty picture": 1, "whose picture is missing": 1, "with something that is no number": 1,
        "cut short": 1, "out of range": 4, "without a picture's name": 1, "with other columns": 2, "too long": 1,
    }  # fmt: skip
    assert sum(skipped.values()) + len(found) == len(lines) - 1  # the blank one


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"{NAME};-12,5;1;0;0,873;33,04;1", (0.3125, 1.0, 0.873, 33.04)),  # as a table program does
        (f'{NAME},"-12,5",1,0,"0,873","33,04",1', (0.3125, 1.0, 0.873, 33.04)),
        (f"{NAME},-12,5,1,0,0,873,33,04,1", (0.3125, 1.0, 0.873, 33.04)),  # as the simulator does
    ],
)
def test_decimal_commas_are_read_where_one_reading_is_possible(folder, text, wanted):
    found, skipped = read(folder, text)
    assert skipped == {}
    assert (found[0].steer, found[0].throttle, found[0].speed, found[0].time) == pytest.approx(wanted)


def test_decimal_commas_with_several_readings_are_skipped(folder):
    found, skipped = read(folder, f"{NAME},0,1,0,0,1,0,2,1\n")
    assert found == []
    assert skipped == {"with decimal commas that can be read in several ways": 1}


def test_bytes_of_any_kind_are_no_crash(folder):
    found, _ = read(folder, b"\xef\xbb\xbf" + f"{NAME},1,0,0,1,1,1\n".encode() + bytes(range(256)) * 40)
    assert len(found) == 1  # the mark of UTF-8 in front of it is no part of the name


@given(
    st.lists(st.one_of(st.text(max_size=60), st.from_regex(r"[a-z]{0,3}\.jpg(,[-0-9.eE;\"]{0,6}){0,13}")), max_size=8)
)
@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_garbage_gives_rows_in_range_or_reasons(folder, lines):
    (folder / "IMG" / "a.jpg").write_bytes(b"x")
    found, _ = read(folder, "\n".join(lines).encode("utf-8", "surrogatepass"))
    for row in found:
        assert abs(row.steer) <= 1.05
        assert abs(row.throttle) <= 1.05
        assert math.isfinite(row.speed)


def test_a_folder_without_a_usable_row_is_refused_with_the_reasons(folder):
    (folder / "driving_log.csv").write_text("gone.jpg,1,0,0,1,1,1\ngone.jpg,1,0,0,1,1,1\n")
    with pytest.raises(DataError, match=r"2 whose picture is missing \(first in line 1\)"):
        list(read_usable_rows(folder, SkippedRows()))
    with pytest.raises(UsageError, match=r"driving_log.csv: cannot read the driving log"):
        list(read_rows(folder / "nowhere", SkippedRows()))


def test_a_log_is_read_as_a_stream(folder):
    # The first row is there while the rest of an endless log would still have to be read.
    with (folder / "driving_log.csv").open("w") as log:
        for _ in range(20_000):
            log.write(f"{NAME},1,0,0,1,1,1\n")
    reading = read_rows(folder, SkippedRows())
    assert next(reading).lap == 1
    reading.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes among its files")
def test_a_pipe_is_no_picture(tmp_path):
    (tmp_path / "IMG").mkdir()
    os.mkfifo(tmp_path / "IMG" / "a.jpg")
    (tmp_path / "driving_log.csv").write_text("IMG/a.jpg,1,0.2,0,2.5,1.5,1\n")
    skipped = SkippedRows()
    assert not list(read_rows(tmp_path, skipped))
    assert "picture is missing" in str(skipped)


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
