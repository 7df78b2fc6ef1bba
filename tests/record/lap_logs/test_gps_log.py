"""Files of gpxpy, simplekml and pynmea2."""

from pathlib import Path

import numpy as np
import pytest
from helpers.lap_log_files import make_laps

from trailbrake.errors import DataError
from trailbrake.record.lap_logs import read_lap_log
from trailbrake.record.lap_logs.gps_log import read_geo_log, read_nmea_log

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "lap_logs"


@pytest.fixture(scope="module")
def laps():
    return make_laps(5.0, laps=2)


@pytest.mark.parametrize("name", ["laps.gpx", "laps.kml", "laps.nmea"])
def test_places_and_times(name, laps):
    found = read_lap_log(GOLDEN / name)
    assert len(found) == len(laps.time)
    assert found.state["time"] == pytest.approx(laps.time, abs=1e-3)
    for column, tolerance in (("x", 0.1), ("y", 0.1), ("z", 0.006)):
        truth = getattr(laps, column)
        start = 0.0 if column == "z" else truth[0] - found.state[column][0]
        assert found.state[column] == pytest.approx(truth - start, abs=tolerance), column
    assert found.about["started"].startswith("2026-05-09T13:16:19")


@pytest.mark.parametrize("name", ["laps.gpx", "laps.kml", "laps.nmea"])
def test_laps_at_the_chosen_line_are_right_to_ten_milliseconds(name, laps):
    """The truth is where the line of the note is crossed, on laps of a hundred times the rate."""
    found = read_lap_log(GOLDEN / name)
    assert len(found.laps) == 2
    fine = make_laps(500.0, laps=2)
    crossed = found.laps[0].end - found.laps[0].time_s
    place = np.interp(crossed, fine.time, fine.along)
    times = np.interp(place + fine.length * np.arange(3), fine.along, fine.time)
    assert [lap.time_s for lap in found.laps] == pytest.approx(np.diff(times).tolist(), abs=0.01)
    assert any("laps are counted at a line chosen" in note for note in found.about["log"]["notes"])


def test_speed_of_nmea_is_that_of_the_receiver(laps):
    found = read_lap_log(GOLDEN / "laps.nmea")
    assert found.state["speed"] == pytest.approx(laps.speed, abs=3e-4)
    assert np.median(np.abs(read_lap_log(GOLDEN / "laps.gpx").state["speed"] - laps.speed)) < 0.1


def test_damaged_sentences_are_counted(tmp_path, laps):
    data = (GOLDEN / "laps.nmea").read_bytes().replace(b"N,00101.1", b"N,00101.2", 3)
    (tmp_path / "a.nmea").write_bytes(data + b"$GPRMC,131619.000,A,52")
    log = read_nmea_log(tmp_path / "a.nmea")
    assert any("4 damaged sentences" in note for note in log.notes)
    assert len(log.channels[0].time) == len(laps.time) - 1  # GGA, RMC, GGA


def test_without_sentences_or_times_there_is_no_log(tmp_path):
    (tmp_path / "a.nmea").write_text("hello\n")
    with pytest.raises(DataError, match=r"no NMEA log, expected \$GPRMC .*, got hello"):
        read_nmea_log(tmp_path / "a.nmea")
    with pytest.raises(DataError, match="no times in the file; it can be a road"):
        read_geo_log(GOLDEN / "road.kml")
