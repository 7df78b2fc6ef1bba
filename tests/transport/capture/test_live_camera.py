"""The capturing thread, with a grabber that gives out pictures one by one when the test says so."""

import queue
import sys

import numpy as np
import pytest

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.state import CarState
from trailbrake.transport.capture import live_camera
from trailbrake.transport.capture.camera_option import CameraOption
from trailbrake.transport.capture.live_camera import LiveCamera, open_live_camera, open_window

OPTION = CameraOption("window", "x", width=32, height=24, rate=240.0)
PATIENCE = 20.0


class ScriptedGrabber:
    """Gives what is put into `script`: a level, None, or an error; waits for it in the camera's thread."""

    def __init__(self, *script):
        self.script, self.given = queue.Queue(), queue.Queue()
        self.trouble, self.reopened, self.closed = "", 0, False
        for item in script:
            self.script.put(item)

    def grab_pixels(self):
        item = self.script.get(timeout=PATIENCE)
        self.given.put(item)
        if isinstance(item, Exception):
            raise item
        return None if item is None else np.full((24, 32, 4), item, np.uint8)

    def find_trouble(self):
        return self.trouble

    def reopen(self):
        self.reopened += 1

    def close(self):
        self.closed = True


@pytest.fixture
def make_camera():
    made = []

    def make(grabber, say=lambda text: None):
        camera = LiveCamera(grabber, OPTION, say)
        made.append((camera, grabber))
        return camera

    yield make
    for camera, grabber in made:
        camera._ended.set()
        grabber.script.put(None)
        camera.close()


def show(grabber, camera, *items):
    """Let the camera capture `items`, and wait until it has done so."""
    for item in (*items, None):  # it asks for the last when it has dealt with those before
        grabber.script.put(item)
    for _ in (*items, None):
        grabber.given.get(timeout=PATIENCE)


def level(camera):
    return round(float(camera.newest.pixels.mean()))


def test_the_first_picture_is_there_when_it_opens(make_camera):
    grabber = ScriptedGrabber(None, 40)
    assert level(make_camera(grabber)) == 40


def test_the_newest_picture_counts_and_older_ones_are_dropped(make_camera, monkeypatch):
    monkeypatch.setattr(live_camera, "OLDEST_S", 60.0)  # a machine that stalls is no failure
    grabber = ScriptedGrabber(10)
    camera = make_camera(grabber)
    grabber.given.get(timeout=PATIENCE)
    show(grabber, camera, 20, 30, 40)
    newest = camera.find_picture(CarState())
    assert (level(camera), newest.number) == (40, 4)
    assert camera.find_picture(CarState()) is newest, "the same picture is the same object until there is another"


def test_a_picture_that_is_too_old_is_none(make_camera, monkeypatch):
    grabber = ScriptedGrabber(10)
    camera = make_camera(grabber)
    now = camera.newest.taken_at
    monkeypatch.setattr(live_camera.steady_clock, "now", lambda: now + live_camera.OLDEST_S - 0.01)
    assert camera.find_picture(CarState()) is not None
    monkeypatch.setattr(live_camera.steady_clock, "now", lambda: now + live_camera.OLDEST_S + 0.01)
    assert camera.find_picture(CarState()) is None
    monkeypatch.undo()


def test_a_window_that_closes_is_said_once_and_found_again(make_camera, monkeypatch):
    monkeypatch.setattr(live_camera, "_RETRY_S", 0.001)
    said = []
    grabber = ScriptedGrabber(10)
    camera = make_camera(grabber, said.append)
    grabber.given.get(timeout=PATIENCE)
    monkeypatch.setattr(live_camera, "_LOOK_S", -1.0)
    show(grabber, camera, SimulatorError("the window is closed", where="x"), SimulatorError("the window is closed",
         where="x"), 50)  # fmt: skip
    assert said[0] == "camera: x: the window is closed"
    assert said.count(said[0]) == 1
    assert said[-1] == "camera: pictures are back"
    assert grabber.reopened == 2
    assert level(camera) == 50
    assert camera.summarise_pictures()["failures"] == 2


def test_a_window_that_covers_it_is_said(make_camera, monkeypatch):
    monkeypatch.setattr(live_camera, "_LOOK_S", -1.0)
    said = []
    grabber = ScriptedGrabber(10)
    camera = make_camera(grabber, said.append)
    grabber.given.get(timeout=PATIENCE)
    grabber.trouble = "Terminal covers it"
    show(grabber, camera, 20, 30)
    assert said == ["camera: Terminal covers it"]


def test_no_picture_at_all_is_an_error_and_the_grabber_is_closed(monkeypatch):
    monkeypatch.setattr(live_camera, "FIRST_PICTURE_S", -1.0)
    grabber = ScriptedGrabber(None)
    with pytest.raises(SimulatorError, match="no picture comes"):
        LiveCamera(grabber, OPTION)
    assert grabber.closed


def test_the_summary_counts_pictures_and_their_ages(make_camera):
    grabber = ScriptedGrabber(10)
    camera = make_camera(grabber)
    grabber.given.get(timeout=PATIENCE)
    show(grabber, camera, 20)
    camera.find_picture(CarState())
    summary = camera.summarise_pictures()
    assert summary["pictures"] == 2
    assert 0.0 < summary["age_p50_ms"] <= summary["age_p99_ms"]
    assert summary["trouble"] == ""


@pytest.mark.parametrize("package", ["mss"] if sys.platform == "win32" else ["xcffib"])
def test_a_missing_package_is_one_line_with_the_extra(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UsageError) as raised:
        open_window(OPTION)
    assert str(raised.value) == (
        f'--camera: capturing a window needs the package {package}; pip install "trailbrake[capture]"'
    )


def test_a_window_is_captured_until_the_camera_is_closed(monkeypatch):
    grabber = ScriptedGrabber(10)
    monkeypatch.setattr(live_camera, "open_window", lambda option: grabber)
    camera = open_live_camera(OPTION)
    assert camera.find_picture(CarState()).pixels.shape == (24, 32, 3)
    grabber.script.put(None)
    camera.close()
    assert grabber.closed


def test_a_world_in_another_process_must_show_its_view(tmp_path, monkeypatch):
    option = CameraOption("world", width=32, height=24)
    with pytest.raises(SimulatorError, match="no served world shows its view"):
        open_live_camera(option, str(tmp_path))
    monkeypatch.setenv("TRAILBRAKE_SHM", str(tmp_path))
    with pytest.raises(SimulatorError, match="no served world shows its view"):
        open_live_camera(option)
