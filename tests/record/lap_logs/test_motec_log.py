"""A log that ldparser (github.com/gotzl/ldparser) has written, and our own."""

import shutil
import struct
from pathlib import Path

import numpy as np
import pytest
from helpers.lap_log_files import make_laps, write_racebox

from trailbrake.errors import DataError
from trailbrake.record.lap_logs import read_lap_log
from trailbrake.record.lap_logs.motec_log import read_motec_log
from trailbrake.record.motec_export import CHANNEL, HEADER, export_motec

OTHERS = Path(__file__).resolve().parents[2] / "golden" / "lap_logs" / "laps.ld"
OUR_COLUMNS = ("speed", "x", "y", "acceleration_x", "acceleration_y", "yaw_rate")


def test_the_log_of_another_writer():
    laps, found = make_laps(20.0, laps=2), read_lap_log(OTHERS)
    assert found.about["driver"] == "A. Person"
    assert (found.about["car"], found.about["track"]) == ("lake car", "Round the lake")
    assert found.about["started"] == "2026-05-09T13:16:19"
    assert [lap.number for lap in found.laps] == [1, 2]
    assert [lap.time_s for lap in found.laps] == pytest.approx(laps.lap_times, abs=1e-5)
    assert found.state["speed"] == pytest.approx(laps.speed, abs=1e-5)
    assert found.state["throttle"] == pytest.approx(laps.throttle, abs=6e-4)  # whole tenths of a percent
    assert found.state["acceleration_y"] == pytest.approx(laps.acceleration_y, abs=1e-5)
    assert found.state["x"] - found.state["x"][0] == pytest.approx(laps.x - laps.x[0], abs=0.1)
    assert found.about["log"]["unused"] == ["Damper Pos FL [mm]"]
    rates = {field["name"]: field["rate_hz"] for field in found.about["log"]["fields"]}
    assert (rates["Ground Speed"], rates["Gear"]) == (20.0, 10.0)


def test_slower_channels_are_interpolated_and_gears_are_not():
    laps, found = make_laps(20.0, laps=2), read_lap_log(OTHERS)
    assert set(np.unique(found.state["gear"])) <= set(np.unique(laps.gear))
    even = np.interp(laps.time, laps.time[::2], np.round(laps.rpm[::2])) * 2.0 * np.pi / 60.0
    assert found.state["engine_speed"][:-1] == pytest.approx(even[:-1], abs=1e-3)


def test_written_by_us_and_read_again(laps, tmp_path):
    """At the log's own rate, values are those that were written, to 32 bits and the 0.2 us of its times since 1970."""
    first = read_lap_log(write_racebox(tmp_path / "a.csv", make_laps(100.0)))
    export_motec(first, tmp_path / "ours.ld")
    again = read_lap_log(tmp_path / "ours.ld")
    assert [lap.time_s for lap in again.laps] == pytest.approx([lap.time_s for lap in first.laps], abs=1e-3)
    assert [lap.number for lap in again.laps] == [lap.number for lap in first.laps]
    for name in OUR_COLUMNS:
        largest = np.nanmax(np.abs(first.state[name]))
        assert again.state[name] == pytest.approx(first.state[name], abs=2e-5 * largest), name


def test_without_the_file_of_beacons_laps_are_counted_at_a_chosen_line(tmp_path):
    shutil.copy(OTHERS, tmp_path / "a.ld")
    found = read_lap_log(tmp_path / "a.ld")
    notes = " ".join(found.about["log"]["notes"])
    assert "no .ldx file" in notes
    assert "laps are counted at a line chosen" in notes
    assert len(found.laps) == 2  # the out lap begins behind it


def damage(tmp_path, place, form, value):
    data = bytearray(OTHERS.read_bytes())
    struct.pack_into(form, data, place, value)
    (tmp_path / "a.ld").write_bytes(data)
    return tmp_path / "a.ld"


def test_damaged_logs_are_refused_in_a_line(tmp_path):
    first = struct.unpack_from("<I", OTHERS.read_bytes(), 8)[0]
    for place, form, value, said in (
        (0, "<I", 7, "no MoTeC log, got a file that begins with 0x7"),
        (8, "<I", 1 << 30, "no MoTeC log, or it is cut off"),
        (first + 4, "<I", first, "the list of channels is damaged"),
        (first + 12, "<I", 1 << 29, "Ground Speed: the samples are cut off"),
    ):  # fmt: skip
        with pytest.raises(DataError, match=said):
            read_motec_log(damage(tmp_path, place, form, value))
    (tmp_path / "a.ld").write_bytes(OTHERS.read_bytes()[: HEADER.size + CHANNEL.size])
    with pytest.raises(DataError, match="cut off"):
        read_motec_log(tmp_path / "a.ld")


def test_a_channel_of_a_kind_that_is_not_known_is_not_used(tmp_path):
    first = struct.unpack_from("<I", OTHERS.read_bytes(), 8)[0]
    log = read_motec_log(damage(tmp_path, first + 18, "<H", 99))
    assert "Ground Speed [km/h]" in log.unused


def test_a_beacon_that_is_no_time_is_refused(tmp_path):
    shutil.copy(OTHERS, tmp_path / "a.ld")
    text = OTHERS.with_suffix(".ldx").read_text().replace('Time="', 'Time="x')
    (tmp_path / "a.ldx").write_text(text)
    with pytest.raises(DataError, match=r"a\.ldx: no time of a beacon"):
        read_motec_log(tmp_path / "a.ld")
