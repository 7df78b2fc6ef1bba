"""A file built from the SDK's text. pyirsdk and libibt have read it: `golden/lap_logs/ibt.json` is what they found."""

import json
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from helpers.lap_log_files import find_channel, make_laps, write_ibt

from trailbrake.errors import DataError
from trailbrake.record.lap_logs import read_lap_log
from trailbrake.record.lap_logs.iracing_log import read_iracing_log

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "lap_logs"


def test_we_find_what_two_other_readers_find():
    others = json.loads((GOLDEN / "ibt.json").read_text())
    log, rows = read_iracing_log(GOLDEN / "laps.ibt"), others["rows"]
    read = {channel.name: channel.values for channel in log.channels}
    assert len(read["Speed"]) == others["count"]
    for name, values in others["values"].items():
        found = log.channels[0].time if name == "SessionTime" else read[name]
        assert found[rows].tolist() == values, name
    assert read["Speed"][rows].tolist() == others["speed_of_the_other"]
    named = {channel.name for channel in log.channels} | {text.split(" [")[0] for text in log.unused} | {"SessionTime"}
    assert named == set(others["names"])


def test_laps_are_those_of_the_other_reader_to_a_sample_and_ours_to_ten_milliseconds():
    others = json.loads((GOLDEN / "ibt.json").read_text())["laps_ms"]
    laps, found = make_laps(20.0, laps=1, start=-100.0, beyond=60.0), read_lap_log(GOLDEN / "laps.ibt")
    at = others["num"].index(1.0)
    lasted = (others["end_time"][at] - others["start_time"][at]) / 1000.0
    assert found.laps[0].time_s == pytest.approx(laps.lap_times[0], abs=1e-3)
    assert found.laps[0].time_s == pytest.approx(lasted, abs=0.051)


def test_units_and_names(tmp_path):
    laps = make_laps(60.0, laps=2)
    found = read_lap_log(write_ibt(tmp_path / "a.ibt", laps))
    assert found.about["driver"] == 'A. Person: "quick"'
    assert (found.about["car"], found.about["track"]) == ("Formula Lake", "Round the lake")
    assert [lap.time_s for lap in found.laps] == pytest.approx(laps.lap_times, abs=1e-3)
    for name, tolerance in (("throttle", 1e-6), ("brake", 1e-6), ("speed", 1e-5), ("steering_wheel_angle", 1e-6)):
        assert found.state[name] == pytest.approx(getattr(laps, name), abs=tolerance), name
    assert np.isnan(found.state["clutch"]).all()  # 1 is released there, and it is not said


def test_a_file_is_not_held_in_memory(tmp_path):
    """Rows of 100 kB: the file has 80 MB, its columns 0.1."""
    path = write_ibt(tmp_path / "a.ibt", make_laps(10.0, laps=2))
    data, width = path.read_bytes(), 100_000
    row = struct.unpack_from("<i", data, 36)[0]
    rows_at = struct.unpack_from("<i", data, 52)[0]
    head = bytearray(data[:rows_at])
    struct.pack_into("<i", head, 36, width)
    with path.open("wb") as file:
        file.write(head)
        for start in range(rows_at, len(data), row):
            file.write(data[start : start + row].ljust(width, b"\0"))
    tracemalloc.start()
    log = read_iracing_log(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size > 60_000_000
    assert peak < 25_000_000
    assert find_channel(log, "speed").values == pytest.approx(make_laps(10.0, laps=2).speed, abs=1e-5)


def test_a_file_that_is_cut_is_read_as_far_as_it_goes(tmp_path):
    path = write_ibt(tmp_path / "a.ibt", make_laps(20.0, laps=1))
    path.write_bytes(path.read_bytes()[:-5000])
    log = read_iracing_log(path)
    assert any("the file is cut off" in note for note in log.notes)


@pytest.mark.parametrize(
    ("place", "form", "value"),
    [(0, "<i", 77), (8, "<i", 0), (24, "<i", 1 << 20), (24, "<i", -1), (28, "<i", 1 << 30), (36, "<i", 0),
     (52, "<i", -4), (16, "<i", 1 << 30)],
)  # fmt: skip
def test_damaged_headers_are_refused_in_a_line(place, form, value, tmp_path):
    data = bytearray((GOLDEN / "laps.ibt").read_bytes())
    struct.pack_into(form, data, place, value)
    (tmp_path / "a.ibt").write_bytes(data)
    with pytest.raises(DataError, match="no iRacing log, or its header is damaged"):
        read_iracing_log(tmp_path / "a.ibt")
    (tmp_path / "a.ibt").write_bytes(data[:90])
    with pytest.raises(DataError, match="cut off, got 90 bytes"):
        read_iracing_log(tmp_path / "a.ibt")
