"""Six dialects of writing laps as CSV: laps to 10 ms, values as they were, and what is said of files that are wrong."""

import numpy as np
import pytest
from helpers import lap_log_files as files

from trailbrake.errors import DataError
from trailbrake.record.lap_logs import read_lap_log
from trailbrake.record.lap_logs.csv_log import read_csv_log

DIALECTS = {
    "RaceChrono 3": (files.write_racechrono_3, "RaceChrono"),
    "RaceChrono 2": (files.write_racechrono_2, "RaceChrono 2"),
    "RaceBox": (files.write_racebox, "RaceBox"),
    "a game": (files.write_game, "CSV table"),
    "MoTeC CSV": (files.write_motec_csv, "CSV table"),
}
# Largest error of each column beside its rounding in the files, in its unit here. North of the plane turns by 0.2 mrad
# there: 0.08 m.
TOLERANCES = {"speed": 0.02, "x": 0.1, "y": 0.1, "z": 0.06, "throttle": 1e-3, "brake": 1e-3, "gear": 0.0,
              "engine_speed": 0.11, "acceleration_y": 0.02, "yaw_rate": 1e-3, "steering_wheel_angle": 1e-4}  # fmt: skip


def difference(recording, laps, name):
    """Return the largest difference of a column from the truth where both are known; places count from the first."""
    truth = laps.rpm * 2.0 * np.pi / 60.0 if name == "engine_speed" else getattr(laps, name)
    found = recording.state[name]
    if name in ("x", "y"):
        truth, found = truth - truth[0], found - found[0]
    return np.nanmax(np.abs(found - np.interp(recording.state["time"], laps.time, truth)))


@pytest.mark.parametrize("rate", [10.0, 25.0, 100.0])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_laps_are_right_to_ten_milliseconds(dialect, rate, tmp_path):
    laps = files.make_laps(rate, laps=2)
    write, kind = DIALECTS[dialect]
    found = read_lap_log(write(tmp_path / "a.csv", laps))
    assert kind in found.about["log"]["kind"]
    assert [lap.number for lap in found.laps] == [1, 2]
    assert all(lap.valid for lap in found.laps)
    assert [lap.time_s for lap in found.laps] == pytest.approx(laps.lap_times, abs=0.01)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_values_are_those_of_the_file(dialect, laps, tmp_path):
    found = read_lap_log(DIALECTS[dialect][0](tmp_path / "a.csv", laps))
    made = {"acceleration_y", "yaw_rate"} & set(found.about["log"]["derived"])
    known = [name for name in TOLERANCES if np.isfinite(found.state[name]).any() and name not in made]
    assert {"speed", "x", "y"} <= set(known)
    # Steps of the truth at the lines, which linear interpolation of half of the rows rounds off.
    apart = {"throttle": 0.3, "brake": 0.3, "engine_speed": 20.0} if dialect == "RaceChrono 3" else {}
    for name in known:
        assert difference(found, laps, name) <= apart.get(name, TOLERANCES[name]), name


@pytest.mark.parametrize("header", [
    # Members of the F1 games' packets, and of Assetto Corsa's pages.
    "m_sessionTime,m_currentLapNum,m_currentLapTimeInMS,m_worldPositionX,m_worldPositionY,m_worldPositionZ,m_speed",
    "time_s,completedLaps,iCurrentTime,carCoordinatesX,carCoordinatesY,carCoordinatesZ,speedKmh",
])  # fmt: skip
def test_names_of_the_games_themselves_are_known(header, tmp_path):
    laps = files.make_laps(50.0, laps=2)
    columns = (laps.time, laps.lap, 1000 * laps.lap_time, laps.x, laps.z, laps.y, 3.6 * laps.speed)
    rows = [[f"{value:.3f}" for value in row] for row in zip(*columns, laps.throttle, strict=True)]
    found = read_lap_log(files.write_rows(tmp_path / "a.csv", [f"{header},throttle"], rows))
    assert [lap.time_s for lap in found.laps] == pytest.approx(laps.lap_times, abs=0.01)


def test_a_lap_without_a_time_gets_it_from_speed_and_places(tmp_path):
    laps = files.make_laps(60.0, laps=2)
    found = read_lap_log(files.write_garage61(tmp_path / "a.csv", laps))
    assert [lap.time_s for lap in found.laps] == pytest.approx(laps.lap_times[1:], abs=0.01)
    assert any("60.0" in note and "taken as the 60" in note for note in found.about["log"]["notes"])
    assert np.isnan(found.state["clutch"]).all()


def test_rows_at_another_rate_than_the_tool_s_get_the_time_of_the_places(tmp_path):
    """Every third row: the even rate of the tool does not count."""
    laps = files.make_laps(20.0, laps=2)
    found = read_lap_log(files.write_garage61(tmp_path / "a.csv", laps))
    assert [lap.time_s for lap in found.laps] == pytest.approx(laps.lap_times[1:], abs=0.01)


def test_what_is_read_is_said(laps, tmp_path):
    log = read_lap_log(files.write_racebox(tmp_path / "a.csv", laps)).about["log"]
    fields = {field["name"]: field for field in log["fields"]}
    assert fields["Speed"] == {"name": "Speed", "unit": "", "used_for": "speed", "rate_hz": 25.0}
    assert "GyroX" in log["unused"]
    assert any("so km/h" in note for note in log["notes"])
    assert any("GForceY is positive to the right" in note for note in log["notes"])


@pytest.mark.parametrize(("unit", "factor"), [("km/h", 3.6), ("mph", 1.0 / 0.44704), ("m/s", 1.0), ("kn", 3.6 / 1.852)])
def test_a_speed_without_a_unit_gets_that_of_the_places(unit, factor, laps, tmp_path):
    found = read_lap_log(files.write_racebox(tmp_path / "a.csv", laps, factor))
    assert any(f"so {unit}" in note for note in found.about["log"]["notes"])
    assert difference(found, laps, "speed") < 0.05


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("Speed_kmh", "Speed_mps"), r"the speed does not fit the positions.* 3.6\d\d times it.*like km/h"),
        (("Speed_kmh", "Speed_mph"), r"does not fit.* 1.6\d\d times it; it looks like km/h"),
        (("PosX;PosY;PosZ", "PosX_ft;PosY_ft;PosZ_ft"), r"3.28\d times it; one of both looks like feet"),
    ],
)
def test_units_that_are_wrong_are_refused(wrong, said, laps, tmp_path):
    path = files.write_game(tmp_path / "a.csv", laps)
    path.write_text(path.read_text().replace(*wrong))
    with pytest.raises(DataError, match=said) as caught:
        read_lap_log(path)
    assert "\n" not in str(caught.value)


def test_without_a_time_and_a_tool_the_time_follows_from_the_places(laps, tmp_path):
    path = files.write_game(tmp_path / "a.csv", laps)
    path.write_text(path.read_text().replace("Timestamp_ms", "Ticks").replace("CurrentLapTimeMs", "Clock"))
    found = read_lap_log(path)
    assert [lap.time_s for lap in found.laps] == pytest.approx(laps.lap_times, abs=0.01)
    assert any("it follows from the speed along the positions, 25.0 rows" in n for n in found.about["log"]["notes"])


def test_a_table_of_something_else_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("name,value\nx,1\n")
    with pytest.raises(DataError, match=r"no table of a drive, expected a header .*, got name, value"):
        read_csv_log(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("")
    with pytest.raises(DataError, match="an empty file"):
        read_csv_log(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_bytes(b"time,speed\n\0\n")
    with pytest.raises(DataError, match="not a text file"):
        read_csv_log(tmp_path / "a.csv")


def test_too_few_samples_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"too few samples for laps, expected 4 a second or more .*, got 1 a second"):
        read_lap_log(files.write_racechrono_2(tmp_path / "a.csv", files.make_laps(1.0)))


def test_a_file_that_is_cut_is_read_to_its_last_whole_line(laps, tmp_path):
    path = files.write_racechrono_2(tmp_path / "a.csv", laps)
    path.write_text(path.read_text()[:-60])
    found = read_lap_log(path)
    assert "the last line is cut off and left out" in found.about["log"]["notes"]
    assert len(found) == len(laps.time) - 1


def test_a_line_that_is_damaged_is_named(laps, tmp_path):
    lines = files.write_racechrono_2(tmp_path / "a.csv", laps).read_text().splitlines()
    lines[100] = lines[100][:30]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    with pytest.raises(DataError, match=r"a\.csv:101: a row is damaged, expected 16 cells"):
        read_csv_log(tmp_path / "a.csv")


def clock(seconds, day=86_400.0):
    seconds %= day
    return f"{seconds // 3600:02.0f}:{seconds // 60 % 60:02.0f}:{seconds % 60 // 1e-3 * 1e-3:06.3f}"


def write_rows(path, laps, name, cell, beside=lambda k: "", encoding="utf-8"):
    """Write laps of a log whose column `name` has `cell(row)`, and `beside(row)` in one more."""
    rows = [f'{cell(k)},{n:.0f},{x:.3f},{y:.3f},{3.6 * v:.3f},"{beside(k)}"' for k, (n, x, y, v) in enumerate(
        zip(laps.lap, laps.x, laps.y, laps.speed, strict=True))]  # fmt: skip
    path.write_bytes("\n".join([f"{name},Lap,X (m),Y (m),Speed (km/h),RPM", *rows, ""]).encode(encoding))
    return read_lap_log(path)


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("Time (min)", lambda t: f"{t / 60.0:.7f}"),
        ("Time", lambda t: f"{1000.0 * t:.0f}"),
        ("timestamp", lambda t: f"{1e6 * (t + 1_795_855_000):.0f}"),
        ("unix time", lambda t: f"{t + 1_795_855_000:.3f}"),
        ("Time", lambda t: clock(t + 86_380.0)),
        ("Date/Time", lambda t: f"05/{1 + (t > 20.0)}/2026 {clock(t + 43_180.0, 43_200.0)} {'AP'[t < 20.0]}M"),
        ("Time of day", lambda t: clock(t + 40_000.0)),
    ],
)
def test_each_form_of_time_gives_the_same_laps(name, cell, laps, tmp_path):
    found = write_rows(tmp_path / "a.csv", laps, name, lambda k: cell(float(laps.time[k])))
    assert len(found) == len(laps.time)
    assert [lap.time_s for lap in found.laps] == pytest.approx(laps.lap_times, abs=0.01)


@pytest.mark.parametrize("name", ["Lap time", "Time"])
def test_a_lap_clock_is_a_time(name, laps, tmp_path):
    """Between the last sample of a lap and the first of the next one lies the usual step."""
    found = write_rows(tmp_path / "a.csv", laps, name, lambda k: clock(float(laps.lap_time[k])))
    assert [lap.time_s for lap in found.laps] == pytest.approx(laps.lap_times, abs=0.01)
    assert any(f"{name} begins anew with each lap" in note for note in found.about["log"]["notes"])


@pytest.mark.parametrize("rows", ["1,0:01.0,48,11,50\n", "1,1e308,48,11,50\n1,-1e308,48,11,50\n1,2,48,inf,50\n"])
def test_no_time_is_refused_in_a_line(rows, tmp_path):
    (tmp_path / "a.csv").write_text(f"Lap,Lap time,Latitude,Longitude,Speed (km/h)\n{rows}")
    with pytest.raises(DataError):
        read_lap_log(tmp_path / "a.csv")


def test_a_second_session_in_a_file_is_said(laps, tmp_path):
    """The second one is longer than the first: nothing of it is joined to that."""
    first = files.Laps(*(v[:-200] if isinstance(v, np.ndarray) else v for v in laps))
    both = files.Laps(*(np.concatenate([a, b]) if isinstance(a, np.ndarray) else a
                        for a, b in zip(first, laps, strict=True)))  # fmt: skip
    found = write_rows(tmp_path / "a.csv", both, "time", lambda k: f"{both.time[k]:.3f}")
    log = found.about["log"]
    assert len(found) == len(first.time)
    assert any(f"the time begins again at sample {len(found) + 1}: another session" in note for note in log["notes"])
    assert {field["rate_hz"] for field in log["fields"] if field["name"] != "RPM"} == {25.0}


def test_text_of_windows_and_a_column_that_cannot_be_read(laps, tmp_path):
    """UTF-16, and thousands with a comma, which may be decimals: the column is not used."""
    found = write_rows(tmp_path / "a.csv", laps, "time", lambda k: f"{laps.time[k]:.3f}",
                       lambda k: f"{3000 + k % 4000:,}", encoding="utf-16")  # fmt: skip
    assert len(found.laps) == len(laps.lap_times)
    assert found.about["log"]["unused"] == ["RPM (no column of numbers)"]


def test_degrees_with_minutes(tmp_path):
    rows = "\n".join(f"{0.1 * k:.1f};52°{1.2 + 1e-4 * k:.4f}'N;W 1°30'{36 + 0.01 * k:.2f}\";1 234" for k in range(50))
    (tmp_path / "a.csv").write_text(f"Time;Latitude;Longitude;RPM\n{rows}\n")
    log = read_csv_log(tmp_path / "a.csv")
    assert files.find_channel(log, "latitude").values[10] == pytest.approx(52.0 + 1.201 / 60.0)
    assert files.find_channel(log, "longitude").values[10] == pytest.approx(-1.51 - 0.1 / 3600.0)
    assert log.unused == ["RPM (no column of numbers)"]


def test_a_column_of_words_is_refused(laps, tmp_path):
    path = files.write_racechrono_2(tmp_path / "a.csv", laps)
    path.write_text(path.read_text().replace(".", "x"))
    with pytest.raises(DataError, match=r"is no column of numbers|no table of a drive"):
        read_csv_log(path)


def test_decimal_commas_and_the_degree_sign_of_windows(tmp_path):
    rows = "\n".join(f"{0.1 * k:.1f};{20.0 + 0.001 * k:.3f};{30 + k % 2}".replace(".", ",") for k in range(100))
    (tmp_path / "a.csv").write_bytes(f"Time [s];Ground Speed [km/h];Steering Angle [°]\n{rows}\n".encode("latin-1"))
    log = read_csv_log(tmp_path / "a.csv")
    assert files.find_channel(log, "speed").values[10] == pytest.approx(20.010)
    assert files.find_channel(log, "speed").time[10] == pytest.approx(1.0)
    assert files.find_channel(log, "steering_wheel_angle").unit == "°"


@pytest.mark.parametrize("separator", [";", "\t"])
def test_more_decimal_commas_than_separators_are_decimal_commas(separator, tmp_path):
    """All cells have one, the first row of samples too, which is no row of units."""
    rows = "\n".join(
        f"{0.1 * k:.1f};{52.0 + 1e-6 * k:.6f};{-1.0:.6f};{36.0 + k:.3f}".replace(".", ",") for k in range(50)
    )
    table = f"Lap 1;33,821\nTime (s);Latitude;Longitude;Speed (km/h)\n{rows}\n"
    (tmp_path / "a.csv").write_text(table.replace(";", separator))
    log = read_csv_log(tmp_path / "a.csv")
    assert files.find_channel(log, "latitude").values == pytest.approx(52.0 + 1e-6 * np.arange(50))
    assert files.find_channel(log, "speed").values == pytest.approx(36.0 + np.arange(50))
    assert files.find_channel(log, "speed").time[10] == pytest.approx(1.0)
    assert log.lap_times == {1: 33.821}


def test_a_line_too_long_for_a_cell_is_no_header(tmp_path):
    (tmp_path / "a.csv").write_text("x" * 150_000)
    with pytest.raises(DataError, match="no table of a drive"):
        read_csv_log(tmp_path / "a.csv")


def test_half_a_lap_has_no_laps(laps, tmp_path):
    half = files.Laps(*(v[:300] if isinstance(v, np.ndarray) else v for v in laps))
    found = read_lap_log(files.write_racebox(tmp_path / "a.csv", half))
    assert found.laps == []
    assert "no finished lap" in found.about["log"]["notes"]
