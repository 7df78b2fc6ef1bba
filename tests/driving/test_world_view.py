import io
import math
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from helpers.ports import free_udp_port
from helpers.processes import command
from helpers.virtual_display import virtual_display
from PIL import Image

from trailbrake.cars.car_library import load_car
from trailbrake.driving import world_view
from trailbrake.driving.world_view import HEIGHT, RATE_HZ, WIDTH, WorldView, encode_ppm, open_view
from trailbrake.errors import UsageError
from trailbrake.record.recording_reader import Recording
from trailbrake.tracks.track_library import load_track
from trailbrake.train.sources import find_sources
from trailbrake.transport.capture.picture_scaling import decode_jpeg
from trailbrake.transport.capture.view_page import PAGE_NAME, ViewReader
from trailbrake.vision.lanes import road_middle
from trailbrake.world.plant import World

PATIENCE = 20.0


@pytest.fixture(scope="module")
def plant():
    return World(load_track("lakeside"), [load_car("hatchback")], period=1.0 / 60.0)


def await_picture(reader):
    deadline = time.monotonic() + PATIENCE
    while (pixels := reader.grab_pixels()) is None:
        assert time.monotonic() < deadline, "no picture came"
    return pixels


def test_the_view_is_drawn_when_a_picture_is_due(plant, tmp_path):
    view = WorldView(plant, str(tmp_path))
    reader = ViewReader(str(tmp_path))
    view.update(10.0)
    first = await_picture(reader).copy()
    assert first.shape == (HEIGHT, WIDTH, 3)
    taken = []
    plant_state = plant.car_state

    def count_states(car):
        taken.append(car)
        return plant_state(car)

    plant.car_state = count_states
    try:
        view.update(10.0 + 0.5 / RATE_HZ)
        assert taken == [], "nothing is due: a tick costs a comparison"
        view.update(10.0 + 1.5 / RATE_HZ)
        assert taken == [0]
    finally:
        del plant.car_state
    assert (await_picture(reader) == first).all(), "the car stands"
    view.close()
    reader.close()
    assert not (tmp_path / PAGE_NAME).exists()


def test_no_view_costs_nothing(plant, tmp_path):
    with open_view("none", plant, str(tmp_path), "title") as view:
        assert view is None
    assert list(tmp_path.iterdir()) == []


def test_a_page_is_there_as_long_as_the_host(plant, tmp_path):
    with open_view("page", plant, str(tmp_path), "title") as view:
        assert view is not None
        if sys.platform != "win32":
            assert (tmp_path / PAGE_NAME).exists()
    assert list(tmp_path.iterdir()) == []


def test_a_world_without_a_road_of_full_size_is_refused(tmp_path):
    with (
        pytest.raises(UsageError, match="no road to show; its wire has a camera of its own"),
        open_view("page", object(), str(tmp_path), "title"),
    ):
        pass


@pytest.mark.parametrize(("answer", "got"), [("no display name", "no display name"), ("", "no answer")])
def test_a_window_that_cannot_open_is_one_line_and_the_page_is_removed(plant, tmp_path, monkeypatch, answer, got):
    program = f"print({answer!r})"
    start = world_view.subprocess.Popen
    monkeypatch.setattr(world_view.subprocess, "Popen",
                        lambda words, **more: start([words[0], "-c", program], **more))  # fmt: skip
    with (
        pytest.raises(UsageError, match=f"no window can be opened, got {got}; --view page needs no screen"),
        open_view("window", plant, str(tmp_path), "title"),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_the_toolkit_s_format_holds_every_pixel():
    pixels = np.random.default_rng(3).integers(0, 256, (6, 9, 3), np.uint8)
    with Image.open(io.BytesIO(encode_ppm(pixels))) as picture:
        assert (np.asarray(picture) == pixels).all()


@pytest.fixture
def display(tmp_path, monkeypatch):
    with virtual_display() as name:
        monkeypatch.setenv("DISPLAY", name)
        yield name


@pytest.fixture
def game(tmp_path, display):
    """`serve forza --view window`, as a game that shows its window; yields the flags of a drive beside it."""
    telemetry, pad = free_udp_port(), free_udp_port()
    words = ["serve", "forza", "--track=lakeside", "--car=hatchback", "--view=window", f"--send=127.0.0.1:{telemetry}",
             f"--pad-port={pad}", "--json"]  # fmt: skip
    with command(*words, shm=tmp_path) as host:
        host.until("ready ")
        yield [f"--listen=127.0.0.1:{telemetry}", f"--pad=udp:127.0.0.1:{pad}"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="X11 is Linux's")
def test_a_driver_by_sight_drives_a_wire_without_a_camera(tmp_path, game):
    """road_sight through Forza's wire, by the picture of a window, recorded for `train clone`."""
    words = ["drive", "--sim=forza", "--live", *game, "--track=lakeside", "--car=hatchback", "--driver=road_sight",
             "--camera=window:trailbrake forza,rate=60", "--seconds=10", "--laps=0", "--json", "--no-report",
             f"--out={tmp_path / 'out'}", f"--log={tmp_path / 'log'}"]  # fmt: skip
    with command(*words, shm=tmp_path) as drive:
        assert drive.end(300.0) == 0, drive.said
        summary = drive.summary
    assert summary["ended"] == "done"
    assert summary["mean_speed_mps"] > 5.0
    assert summary["off_track_s"] == 0.0
    assert summary["camera"]["failures"] == 0
    assert summary["camera"]["pictures"] > 50
    recording = Recording.open(summary["recording"])
    assert recording.about["camera"] == "window:trailbrake forza,rate=60"
    pictures = [picture.data for picture in recording.pictures()]
    assert 50 < len(pictures) <= len(recording)
    assert len(set(pictures)) > 25, "the window moves; how often depends on the machine"
    seen = decode_jpeg(pictures[len(pictures) // 2])
    assert seen.shape == (240, 320, 3)
    assert not math.isnan(road_middle(seen, 0.62))
    # Both ways in which `train clone` reads it.
    assert summary["driving_log"]["rows"] == len(pictures)
    for source in find_sources([Path(summary["recording"]), tmp_path / "log"]):
        labels = source.read_labels()
        assert np.isfinite(labels.steer).all()
        assert sum(1 for _ in source.read_pictures(range(len(labels)))) == len(pictures)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="X11 is Linux's")
def test_a_window_that_is_not_there_is_one_line_at_once(tmp_path, display):
    words = ["drive", "--sim=forza", "--live", "--driver=road_sight", "--track=lakeside", "--camera=window:Forza"]
    with command(*words, shm=tmp_path) as drive:
        assert drive.end() != 0
    assert drive.said[-1] == "trailbrake: --camera window:Forza: no such window; the screen has no windows"


@pytest.mark.slow
def test_in_real_time_the_host_s_view_comes_from_its_process(tmp_path):
    """`--camera world` without a screen: the host writes its view to a page of the private wire."""
    words = ["drive", "--sim=assetto", "--camera=world,size=160x120", "--speed=real", "--track=lakeside",
             "--car=hatchback", "--driver=road_sight", "--seconds=4", "--laps=0", "--json", "--no-report",
             f"--out={tmp_path / 'out'}"]  # fmt: skip
    with command(*words, shm=tmp_path) as drive:
        assert drive.end(300.0) == 0, drive.said
        summary = drive.summary
    assert summary["camera"]["pictures"] > 10
    assert summary["off_track_s"] == 0.0
    recording = Recording.open(summary["recording"])
    pictures = [picture.data for picture in recording.pictures()]
    assert 10 < len(pictures) < len(recording) / 2, "a wire of 333 samples a second, a camera of 30"
    assert decode_jpeg(pictures[0]).shape == (120, 160, 3)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
