import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.driving.session.session_camera import (
    RenderedCamera,
    camera_fields,
    choose_camera,
    open_camera,
    open_window_camera,
    open_world_camera,
)
from trailbrake.errors import SimulatorError, UsageError
from trailbrake.sims.registry import find
from trailbrake.state import CarState, Controls, Pose, SimCommand
from trailbrake.tracks.track_library import load_track
from trailbrake.transport.capture import live_camera
from trailbrake.transport.capture.camera_option import CameraOption
from trailbrake.world.plant import World

OPTION = CameraOption("world", width=80, height=60, rate=20.0)


@pytest.fixture(scope="module")
def plant():
    return World(load_track("lakeside"), [load_car("hatchback")], period=1.0 / 60.0)


def test_a_driver_s_needs_count_the_camera():
    assert camera_fields("window:x") == {"image"}
    assert camera_fields("") == frozenset()


def test_a_camera_is_for_wires_without_one():
    assert choose_camera("", find("trend"), is_real_time=False) is None
    for name in ("trend", "udacity", "donkeycar"):
        with pytest.raises(UsageError, match=f"{name} has a camera of its own; leave --camera out"):
            choose_camera("world", find(name), is_real_time=False)
    for name in ("forza", "assetto", "beamng"):
        assert choose_camera("world", find(name), is_real_time=False) == CameraOption("world")


def test_a_window_needs_real_time():
    with pytest.raises(UsageError, match="a window shows real time"):
        choose_camera("window:x", find("forza"), is_real_time=False)
    assert choose_camera("window:x", find("forza"), is_real_time=True).title == "x"


def drive_pictures(camera, times):
    return [camera.find_picture(CarState(time=time)) for time in times]


def test_pictures_come_at_the_camera_s_rate_of_simulator_time(plant):
    camera = RenderedCamera(plant, OPTION)
    pictures = drive_pictures(camera, [k / 60.0 for k in range(61)])  # a second at 60 samples
    numbers = [picture.number for picture in pictures]
    assert numbers[:7] == [1, 1, 1, 2, 2, 2, 3]
    assert numbers[-1] == 21
    assert pictures[0] is pictures[2], "between two pictures it is the same object"


def test_a_rate_that_no_multiple_of_the_period_fits_is_met_on_the_mean(plant):
    camera = RenderedCamera(plant, CameraOption("world", width=32, height=24, rate=25.0))
    drive_pictures(camera, [k / 60.0 for k in range(601)])
    assert camera.summarise_pictures()["pictures"] == pytest.approx(250, abs=2)


def test_a_restart_draws_at_once(plant):
    camera = RenderedCamera(plant, OPTION)
    first, again, same = drive_pictures(camera, [5.0, 0.01, 0.03])
    assert (first.number, again.number, same.number) == (1, 2, 2)


def test_it_shows_the_road_from_where_the_car_is(plant):
    plant.reset(0)
    camera = RenderedCamera(plant, CameraOption("world", rate=20.0))
    on_road = camera.find_picture(CarState(time=0.0)).pixels
    assert on_road.shape == (240, 320, 3)
    bottom = on_road[-20:, 100:220].astype(int)
    assert np.ptp(bottom, axis=-1).mean() < 15, "asphalt is grey"
    x, y, z, yaw = plant.track.road.points(0.0)[0].tolist()
    plant.execute_command(0, SimCommand(teleport=Pose(x, y, z, yaw + np.pi / 2)))
    plant.step([Controls()])
    across = camera.find_picture(CarState(time=1.0)).pixels
    assert np.ptp(across[130:150].astype(int), axis=-1).mean() > 30, "grass is green"


def test_equal_drives_have_equal_pictures(plant):
    plant.reset(0)
    one, two = (RenderedCamera(plant, OPTION).find_picture(CarState(time=0.0)) for _ in range(2))
    assert one.data == two.data


def test_a_world_without_a_road_of_full_size_is_refused():
    with pytest.raises(UsageError, match="no road to show"):
        RenderedCamera(object(), OPTION)


def test_a_window_is_opened_and_closed_with_the_drive(monkeypatch):
    class Grabber:
        closed = False

        def grab_pixels(self):
            return np.zeros((24, 32, 4), np.uint8)

        def find_trouble(self):
            return ""

        def close(self):
            Grabber.closed = True

    monkeypatch.setattr(live_camera, "open_window", lambda option: Grabber())
    for opened in (open_window_camera, open_camera):
        Grabber.closed = False
        with opened(CameraOption("window", "x", width=32, height=24)) as camera:
            assert camera.find_picture(CarState()).pixels.shape == (24, 32, 3)
        assert Grabber.closed
    with open_window_camera(OPTION) as camera:
        assert camera is None
    with open_camera(None) as camera:
        assert camera is None


def test_a_world_in_another_process_must_show_its_view(tmp_path, monkeypatch):
    with (
        pytest.raises(SimulatorError, match="no served world shows its view"),
        open_world_camera(OPTION, None, str(tmp_path)),
    ):
        pass
    monkeypatch.setenv("TRAILBRAKE_SHM", str(tmp_path))
    with pytest.raises(SimulatorError, match="no served world shows its view"), open_camera(OPTION):
        pass
