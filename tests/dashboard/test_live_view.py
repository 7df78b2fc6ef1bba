import itertools
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.synthetic_drives import record_drive

from trailbrake.cars.car_library import load_car
from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.control.vehicle.manual_input import ManualInput
from trailbrake.dashboard import live_view as module
from trailbrake.dashboard.live_view import GROUND_CELLS, STRIPS, LiveView, describe_scene, draw_qr_code, replay_header
from trailbrake.dashboard.options import PageAccess, PageOptions, WatchOptions
from trailbrake.dashboard.recorded_frames import RecordedFrames
from trailbrake.dashboard.replay_player import ReplayPlayer
from trailbrake.driving.session.drive_session import drive
from trailbrake.driving.session.progress import SilentListener
from trailbrake.laps import LapRecord
from trailbrake.planning.course import UnmappedCourse
from trailbrake.record.recording_reader import Recording
from trailbrake.roles import LinkCounters, Tap
from trailbrake.state import CarState, Controls
from trailbrake.tracks.road import RoadColumn
from trailbrake.tracks.track_library import load_track

LAP = LapRecord(1, 61.5, True, (20.0, 20.0, 21.5), "", 0.0, 0)
FINDER = ["█▀▀▀▀▀█", "█ ███ █", "█ ▀▀▀ █", "▀▀▀▀▀▀▀"]  # dark modules as blocks: where a camera looks
LINK = SimpleNamespace(counters=LinkCounters(), ACCEPTS=frozenset())


class Notes(SilentListener):
    def __init__(self):
        self.said, self.laps, self.done = [], [], []

    def show_message(self, text):
        self.said.append(text)

    def show_lap(self, lap):
        self.laps.append(lap)

    def show_progress(self, share_done, state, lap):
        self.done.append(share_done)


def test_what_the_terminal_is_told_the_page_is_told_too():
    notes = Notes()
    with LiveView(notes) as page:
        page.show_message("moving")
        page.show_lap(LAP)
        page.show_progress(0.5, CarState(), 1)
        lines = [json.loads(line) for line in page._state.texts]
    assert notes.said == [f"the page is at {page.url}", "moving"]
    assert (notes.laps, notes.done) == ([LAP], [0.5])
    assert lines[0] == {"said": "moving"}
    assert lines[1]["lap"]["time_s"] == 61.5
    assert page._state.end_reason == ""


def test_an_error_is_the_reason_that_the_page_is_told():
    with pytest.raises(ValueError, match="two"), LiveView(SilentListener()) as page:
        raise ValueError("one\n two")
    assert page._state.end_reason == "one two"


def test_a_drive_through_a_wire_without_positions_has_a_page_without_a_map():
    driver = SimpleNamespace(hands=None)
    with LiveView(SilentListener()) as page:
        page.attach_drive({"sim": "trend"}, LINK, driver, UnmappedCourse())
        header = json.loads(page._state.header)["header"]
    assert (header["map"], header["line"], header["by_hand"]) == (None, None, True)


def test_a_driver_with_hands_gets_those_of_the_page():
    driver = SimpleNamespace(hands=None)
    with LiveView(SilentListener()) as page:
        tap = page.start_view({}, LINK, driver, None, None)
        assert isinstance(tap, Tap)
        assert driver.hands() is None
        page._state.control_lease.request_control(1, ManualInput(steer=0.5))
        assert driver.hands() == ManualInput(steer=0.5)
        assert json.loads(page._state.header)["header"]["by_hand"] is True


def test_a_driver_without_hands_is_left_alone():
    driver = SimpleNamespace()
    with LiveView(SilentListener()) as page:
        page.start_view({}, LINK, driver, None, None)
        assert vars(driver) == {}
        assert json.loads(page._state.header)["header"]["by_hand"] is False


def test_a_lap_begins_the_page_s_clock_anew():
    with LiveView(SilentListener()) as page:
        tap = page.start_view({}, LINK, None, None, None)
        for time in (1.0, 8.0):
            tap.tick(CarState(time=time), Controls())
        page.show_lap(LAP)
        assert tap.lap_start == 8.0


def test_the_browser_opens_when_asked_and_its_absence_is_said(monkeypatch):
    opened, notes = [], Notes()
    monkeypatch.setattr(module.webbrowser, "open", lambda url: opened.append(url) or False)
    with LiveView(notes, access=PageAccess(open=True)) as page:
        assert opened == [page.url]
    assert "no browser could be opened" in notes.said[-1]


def test_the_page_opens_nothing_by_itself(monkeypatch):
    monkeypatch.setattr(module.webbrowser, "open", lambda url: pytest.fail("opened"))
    assert not PageOptions().open
    assert not WatchOptions().open
    with LiveView(SilentListener()):
        pass


@pytest.mark.slow
def test_a_whole_drive_is_attended(tmp_path):
    notes = Notes()
    with LiveView(notes) as page:
        options = DriveFlags(track="pinegrove", seconds=3.0, out=tmp_path, report=False)
        summary = drive(options.make_spec(), listener=page, view=page)
        header = json.loads(page._state.header)["header"]
        tap = page._state.source
    assert summary["ended"] == "done"
    assert header["about"]["track"] == "pinegrove"
    assert len(header["map"]["left"]["x"]) > 100
    assert len(header["line"]["x"]) > 100
    assert tap.tick_count == pytest.approx(3.0 * 333, abs=15)
    assert len(tap.encode_path()) // 24 > 5
    assert tap.newest[0].speed > 10.0


def test_road_and_line_are_the_recorded_ones(tmp_path):
    record_drive(tmp_path / "drive.mcap", laps=1, rate=50.0)
    recording = Recording.open(tmp_path / "drive.mcap")
    player = ReplayPlayer(RecordedFrames(recording, None), lambda: 0.0)
    header = replay_header(recording, player, None)
    assert header["about"]["driver"] == "on_rails"
    assert header["map"]["closed"] is True
    assert len(header["map"]["left"]["x"]) == len(recording.road_map.left)
    assert len(header["line"]["x"]) == len(recording.plan.x)
    assert header["by_hand"] is False
    assert [lap["number"] for lap in header["replay"]["laps"]] == [1]


@pytest.fixture(scope="module")
def road():
    return load_track("hartmoor").road


@pytest.fixture(scope="module")
def scene(road):
    return describe_scene(road, np.column_stack([road.column(RoadColumn.X), road.column(RoadColumn.Y)]), None)


def points(flat):
    return np.array(flat).reshape(-1, 3)


def test_the_strips_lie_side_by_side_on_the_road(road, scene):
    strips = {name: points(scene["strips"][name]) for name in STRIPS}
    assert len({len(strip) for strip in strips.values()}) == 1
    offsets = {name: road.locate_many(strip[:, :2])[:, 1] for name, strip in strips.items()}
    for left, right in itertools.pairwise(STRIPS):
        assert (offsets[left] - offsets[right] > -0.3).all(), (left, right)
    widths = np.hypot(*(strips["edge_left"] - strips["edge_right"])[:, :2].T)
    assert widths.min() > 11.9
    np.testing.assert_allclose(strips["edge_left"][0], road.edge_lines()[0][0], atol=0.01)


def test_kerbs_are_where_the_road_has_them(road, scene):
    kerbs = np.array(scene["kerbs"]).reshape(-1, 2)
    assert kerbs.max() == pytest.approx(road.column(RoadColumn.KERB_LEFT).max(), abs=0.01)
    assert (kerbs == 0.0).any()


def test_the_ground_stays_below_the_road(scene):
    ground = scene["ground"]
    heights = np.array(ground["z"]).reshape(GROUND_CELLS, GROUND_CELLS)
    for name in STRIPS:
        strip = points(scene["strips"][name])
        column, row = ((strip[:, :2] - [ground["x0"], ground["y0"]]) / ground["cell"]).T
        i, j = row.astype(int), column.astype(int)
        corners = np.max([heights[i + a, j + b] for a in (0, 1) for b in (0, 1)], axis=0)
        assert (corners < strip[:, 2]).all(), name


def test_the_line_lies_on_the_road(scene):
    line, strips = points(scene["line"]), points(scene["strips"]["edge_left"])
    assert len(line) > 500
    assert line[:, 2].min() > strips[:, 2].min() - 2.0


def test_what_is_not_known_is_none():
    scene = describe_scene(None, None, None)
    assert (scene["strips"], scene["line"], scene["car"]) == (None, None, None)
    json.dumps(scene, allow_nan=False)


def test_a_car_has_its_measures():
    car = load_car("gt3")
    assert describe_scene(None, None, car)["car"]["wheelbase"] == car.body.wheelbase


def test_the_code_in_the_terminal_has_the_corners_of_a_qr_code():
    pytest.importorskip("segno")
    rows = draw_qr_code("http://192.168.1.5:8765/0123456789abcdef/")
    assert len({len(row) for row in rows}) == 1
    assert len(rows[0]) <= 80
    dark = [row.translate(str.maketrans("█ ▀▄", " █▄▀")) for row in rows]
    for column in (2, len(rows[0]) - 9):
        assert [row[column : column + 7] for row in dark[1:5]] == FINDER


def test_without_the_package_of_qr_codes_a_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "segno", None)
    assert draw_qr_code("http://192.168.1.5/") == ["a QR code of it: pip install segno"]
