import base64
import json
import math
import re
from contextlib import closing

import numpy as np
import pytest
from helpers.browser import Browser, find
from helpers.compared_drives import record_laps
from helpers.html_page import Page
from helpers.picture_drives import pixels_of, record
from helpers.synthetic_drives import LENGTH, LapDone, edges, planned_speed, record_drive, state_at

from trailbrake.analysis.comparison import DriveChoice, compare_drives
from trailbrake.analysis.lap_traces import trace_laps
from trailbrake.analysis.report import MAX_PICTURES, choose_pictures, describe_corners, write_report
from trailbrake.errors import DataError, UsageError
from trailbrake.record import Recorder, Recording
from trailbrake.state import CarState, Controls, SignalValues
from trailbrake.state.signals import make_signal


def report_of(path, tmp_path):
    text = write_report(path, tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    return text, page, json.loads(page.data)


@pytest.fixture(scope="module")
def drive(tmp_path_factory):
    return record_drive(tmp_path_factory.mktemp("drive") / "a.mcap", laps=2, rate=200.0).path


def test_one_file_that_needs_nothing_else(drive, tmp_path):
    text, page, _ = report_of(drive, tmp_path)
    assert len(text) < 1_000_000
    assert page.addresses == []
    assert "default-src 'none'" in text
    assert not re.search(r"@import|url\((?!data:)", text)
    assert "$" not in re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)


def test_a_drive_without_a_valid_lap_has_nothing_best(tmp_path):
    recorder = Recorder(tmp_path / "invalid.mcap")
    recorder.start({})
    for k in range(3):
        recorder.tick(state_at(0.1 * k, 10.0 * k, 50.0, 0.0, 0.1 * k, k), Controls())
    recorder.store_lap(LapDone(1, 49.223, False, (16.0, 16.0, 17.223), "contact"))
    recorder.close()
    _, page, _ = report_of(recorder.path, tmp_path)
    assert "1 lap, none valid, quickest 49.223" in page.text
    assert "★" not in page.text
    assert "best sectors" not in page.text


def test_it_goes_beside_the_recording_unless_told_otherwise(drive):
    assert write_report(drive) == drive.with_suffix(".html")
    assert drive.with_suffix(".html").is_file()


def test_it_is_not_written_over_a_file_of_another_kind(drive, tmp_path):
    mine = tmp_path / "mine.toml"
    mine.write_text("[body]\n", "utf-8")
    with pytest.raises(UsageError, match=r"--out: no file for the result, expected NAME.html, got .*mine.toml"):
        write_report(drive, mine)
    assert mine.read_text("utf-8") == "[body]\n"


def test_the_heading_and_the_lap_table(drive, tmp_path):
    _, page, _ = report_of(drive, tmp_path)
    laps = Recording.open(drive).laps
    for part in ("on_rails", "stadium", "synthetic", "2 laps, best 45.", "a.mcap", "supervisor: the drive is over"):
        assert part in page.text
    assert page.cells[page.cells.index("1") + 1] == f"{laps[0].time_s:.3f}"
    assert page.text.count("★") == 4, "the best lap and its sectors"
    row = page.cells[page.cells.index("2") + 1 :]
    assert row[0] == f"{laps[1].time_s:.3f}"
    assert row[1] == f"{laps[1].time_s - laps[0].time_s:+.3f}"
    assert row[2:5] == [f"{s:.3f}" for s in laps[1].sectors_s]
    assert row[7] == "no: off the road"


def test_the_numbers_behind_the_charts(drive, tmp_path):
    _, _, data = report_of(drive, tmp_path)
    recording = Recording.open(drive)
    assert (data["basis"], data["best"], data["step"]) == ("planned line", 1, 1.0)
    assert data["count"] == pytest.approx(LENGTH - 2 * math.pi * 1.5, abs=3)
    assert [lap["number"] for lap in data["laps"]] == [1, 2]
    for lap, done in zip(data["laps"], recording.laps, strict=True):
        assert lap["time_s"] == round(done.time_s, 3)
        assert (lap["valid"], lap["finished"]) == (done.valid, True)
        assert lap["time"][0] == pytest.approx(0.0, abs=0.03)
        assert lap["time"][-1] == pytest.approx(done.time_s, abs=0.05)
        for name in ("speed", "x", "y", "throttle", "brake", "steer", "gear", "error", "acceleration_x"):
            assert len(lap[name]) == data["count"]
    second = data["laps"][1]
    # The car drives at 99 % of the plan in its second lap, and sways by 0.85 m about it.
    share = np.array(second["speed"]) / np.array(data["plan"]["speed"])
    assert np.median(share) == pytest.approx(0.99, abs=0.003)
    assert max(map(abs, second["error"])) == pytest.approx(0.85, abs=0.03)
    assert set(second["gear"]) <= {3, 4, 5}
    for at in (100, 700, 1300):
        assert data["plan"]["speed"][at] == pytest.approx(planned_speed(at), abs=1.5)
        assert math.hypot(second["x"][at] - data["plan"]["x"][at], second["y"][at] - data["plan"]["y"][at]) < 0.95
    assert data["plan"]["time"][-1] == pytest.approx(0.99 * recording.laps[1].time_s, abs=0.3)
    assert data["map"]["closed"] is True
    np.testing.assert_allclose(data["map"]["left"]["x"], np.round(edges(6.0)[:, 0], 2))


def test_a_game_that_tells_x_y_and_speed_only(tmp_path):
    path = record_drive(tmp_path / "a.mcap", laps=2, rate=60.0, full=False, with_plan=False).path
    _, page, data = report_of(path, tmp_path)
    assert "derived from what it did supply: acceleration x, acceleration y" in page.text
    assert "distances are those driven" in page.text
    assert "no map" not in page.text
    assert data["plan"] is None
    assert data["map"] is None
    lap = data["laps"][1]
    assert lap["error"] is None
    assert lap["gear"] is None
    assert lap["throttle"] is not None, "what the driver commanded stands in"
    assert data["count"] == pytest.approx(LENGTH, abs=25)
    braking = [v for v in lap["acceleration_x"] if v is not None]
    assert min(braking) == pytest.approx(-11.0, abs=1.5)


def test_speed_from_positions_alone(tmp_path):
    recorder = Recorder(tmp_path / "a.mcap")
    for i in range(600):
        recorder.tick(CarState(time=i / 60.0, x=20.0 * i / 60.0, y=0.0), Controls())
    recorder.close()
    _, page, data = report_of(recorder.path, tmp_path)
    assert "No lap was finished." in page.text
    assert data["laps"][0]["finished"] is False
    assert np.median([v for v in data["laps"][0]["speed"] if v is not None]) == pytest.approx(20.0, abs=0.01)


def test_nothing_but_time_still_makes_a_page(tmp_path):
    recorder = Recorder(tmp_path / "a.mcap")
    for i in range(100):
        recorder.tick(CarState(time=i / 10.0), Controls())
    recorder.close()
    _, _, data = report_of(recorder.path, tmp_path)
    assert data["laps"][0]["x"] is None


@pytest.mark.parametrize("ticks", [1, 2])
def test_hardly_any_ticks(tmp_path, ticks):
    recorder = Recorder(tmp_path / "a.mcap")
    for i in range(ticks):
        recorder.tick(state_at(i * 0.1, i, 10.0, 0.0, 0.0, i), Controls())
    recorder.close()
    _, _, data = report_of(recorder.path, tmp_path)
    assert data["count"] >= 1


def test_nothing_recorded_is_refused(tmp_path):
    recorder = Recorder(tmp_path / "a.mcap")
    recorder.start({"sim": "synthetic"})
    recorder.close()
    with pytest.raises(DataError, match="nothing was recorded"):
        write_report(recorder.path, tmp_path / "r.html")


def test_a_cut_recording_says_so(drive, tmp_path):
    cut = tmp_path / "cut.mcap"
    data = drive.read_bytes()
    cut.write_bytes(data[: len(data) * 2 // 3])
    _, page, data = report_of(cut, tmp_path)
    assert "The recording is not complete" in page.text
    assert [lap["finished"] for lap in data["laps"]] == [True, False]
    assert None in data["laps"][1]["speed"]


def test_texts_cannot_become_markup(tmp_path):
    evil = "</script><script>alert('$title')</script><b>&\u2028"
    recorder = Recorder(tmp_path / "a.mcap")
    recorder.start({"driver": evil, "<k>": [evil], "track": None})
    for i in range(60):
        recorder.tick(state_at(i * 0.1, i, 10.0, 0.0, 0.0, i), Controls())
    recorder.store_event(1.0, evil)
    recorder.close()
    text, page, _ = report_of(recorder.path, tmp_path)
    assert "alert('" not in text.replace("alert(&#x27;", "")
    assert page.text.count("alert(") >= 3
    assert page.scripts == 9


def test_many_laps_stay_a_small_report(tmp_path):
    recorder = Recorder(tmp_path / "a.mcap")
    time = 0.0
    for lap in range(1, 31):
        for i in range(100):
            recorder.tick(state_at(time + i * 0.4, LENGTH * i / 100, 45.0, 0.0, i * 0.4, i), Controls())
        time += 40.0
        recorder.store_lap(LapDone(lap, 39.9 - (lap == 17), True, ()))
    recorder.close()
    text, page, data = report_of(recorder.path, tmp_path)
    assert len(text) < 3_000_000
    assert len(data["laps"]) == 12
    assert {1, 17, 30} <= {lap["number"] for lap in data["laps"]}
    assert "18 more laps are in the table" in page.text


def test_a_place_that_cannot_be_written(drive, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write the report"):
        write_report(drive, tmp_path / "file" / "report.html")


def test_a_game_that_tells_no_positions_has_no_map_and_nothing_is_said_to_be_derived_from_them(tmp_path):
    recorder = Recorder(tmp_path / "a.mcap")
    recorder.start({"sim": "trend", "driver": "lane_sign", "track": "oval", "car": "miniature"})
    for k in range(500):
        recorder.tick(CarState(time=0.04 * k, sequence=k, speed=min(0.05 * k, 2.0), lap=1.0), Controls(throttle=1.0))
    recorder.close()
    _, page, data = report_of(tmp_path / "a.mcap", tmp_path)
    assert "derived from what it did supply: acceleration x." in page.text
    assert "distances are those driven" in page.text
    assert "there is no map" in page.text
    (lap,) = data["laps"]
    assert lap["x"] is lap["acceleration_y"] is None
    assert data["count"] >= 150  # some 38 m: a point every 20 cm and not every metre
    assert max(lap["speed"]) == 2.0


def test_a_chart_for_each_selected_signal(tmp_path):
    fuel = make_signal("beamng.fuel", "1", "fuel, share of a full tank")
    recorder = Recorder(tmp_path / "a.mcap", signals=[fuel])
    recorder.start({"sim": "beamng", "signals": [{"name": fuel.name, "unit": "1", "meaning": "fuel"}]})
    for i in range(400):
        state = state_at(i * 0.1, i, 10.0, 0.0, 0.0, i)
        state.signals = SignalValues({fuel.name: 0}, (1.0 - i / 400.0,))
        recorder.tick(state, Controls())
    recorder.close()
    _, page, data = report_of(recorder.path, tmp_path)
    assert [signal["name"] for signal in data["signals"]] == ["beamng.fuel"]
    known = [value for value in data["laps"][0]["signals"]["beamng.fuel"] if value is not None]
    assert known[0] == pytest.approx(1.0, abs=0.01)
    assert known == sorted(known, reverse=True)
    assert "{'name'" not in page.text


def test_the_drive_as_data_can_be_driven_again(tmp_path):
    spec = {"version": 1, "site": {"kind": "embedded", "track": "<oval>"}, "cars": [{"driver": "mine.py"}]}
    inputs = {
        "sha256": {"driver": "ab" * 32},
        "versions": {"trailbrake": "0.2.0"},
        "contents": {"line": ["own", "PACKED"]},
    }
    path, _ = record_laps(tmp_path / "my run.mcap", rate=50.0, laps=1, spec=spec, inputs=inputs)
    text, page, _ = report_of(path, tmp_path)
    assert "trailbrake drive --like 'my run.mcap'" in page.text
    assert '"track": "<oval>"' in page.text
    assert "ab" * 32 in page.text
    assert "PACKED" not in text


def test_channels_of_engine_and_wheels_are_the_largest_of_the_four(tmp_path):
    recorder = Recorder(tmp_path / "a.mcap")
    recorder.start({})
    for i in range(400):
        state = CarState(time=0.02 * i, sequence=i, speed=20.0, engine_speed=500.0)
        for wheel, slip in zip(state.wheels, (0.01, -0.04, 0.02, 0.03), strict=True):
            wheel.slip_ratio, wheel.core_temperature = slip, 80.0 + 100.0 * slip
        recorder.tick(state, Controls())
    recorder.close()
    _, _, data = report_of(tmp_path / "a.mcap", tmp_path)
    (lap,) = data["laps"]
    assert set(lap["engine_speed"]) == {500.0}
    assert set(lap["slip_ratio"]) == {0.04}
    assert set(lap["core_temperature"]) == {83.0}
    assert (lap["combined_slip"], lap["disc_temperature"]) == (None, None)


@pytest.mark.slow
@pytest.mark.skipif(find() is None, reason="no Chromium here")
def test_channels_are_chosen_and_the_cursor_names_the_corner(drive, tmp_path):
    page = write_report(drive, tmp_path / "report.html")
    with closing(Browser(tmp_path / "browser", (500, 1400))) as tab:
        tab.open(page.as_uri())
        tab.wait("charts.length > 3")
        tab.wait("charts[0].plot.width === byId('charts').clientWidth")  # beside a scroll bar
        tab.size(400, 850)
        tab.evaluate("window.before = charts.length; setCursor(Math.round(corners[0].apex / report.step))")
        tab.wait("document.getElementById('readout').textContent.includes(', T1')")
        assert "forward g" not in tab.evaluate("document.getElementById('readout').textContent")
        longitudinal = (
            "[...document.querySelectorAll('#channels label')].find((e) => e.textContent.trim() === 'Longitudinal')"
        )
        tab.evaluate(f"{longitudinal}.querySelector('input').click()")
        tab.wait("charts.length === before + 1")
        tab.wait("document.getElementById('readout').textContent.includes('forward g')")
        tab.wait("document.documentElement.scrollWidth <= 400")
        assert tab.complaints == []


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
