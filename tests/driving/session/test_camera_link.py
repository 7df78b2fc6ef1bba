import numpy as np
import pytest
from helpers.fakes import FakeCar

from trailbrake.cars.car_library import load_car
from trailbrake.driving.session.camera_link import RenderedCamera, add_camera
from trailbrake.errors import UsageError
from trailbrake.roles import CustomChannels, Wakeable
from trailbrake.state import CarState, Controls, Image, Phase, Pose, SimCommand
from trailbrake.tracks.track_library import load_track
from trailbrake.transport.capture.camera_option import CameraOption
from trailbrake.world.plant import World

OPTION = CameraOption("world", width=80, height=60, rate=20.0)


@pytest.fixture(scope="module")
def plant():
    return World(load_track("lakeside"), [load_car("hatchback")], period=1.0 / 60.0)


class FakeCamera:
    def __init__(self, picture=None):
        self.picture, self.seen = picture, []

    def find_picture(self, state):
        self.seen.append(state.time)
        return self.picture

    def summarise_pictures(self):
        return {}

    def close(self):
        pass


class WakeableCar(FakeCar):
    """A link with two abilities more; `waits` it has as an attribute."""

    def __init__(self):
        super().__init__()
        self.custom, self.custom_out, self.slept = (1.0, 2.0), (0.0,), []

    def wait(self, seconds):
        self.slept.append(seconds)


def make_picture():
    return Image(b"data", lambda data: data)


def test_states_have_the_newest_picture_and_the_wire_s_own_values():
    car, camera = FakeCar(), FakeCamera(make_picture())
    link = add_camera(car, camera)
    state = link.read(link.wait_for_sample(None))
    assert state.image is camera.picture
    assert (state.sequence, state.speed) == (car.sequence, car.speed)
    assert camera.seen == [state.time]


def test_the_link_supplies_pictures_and_its_class_is_unchanged():
    link = add_camera(FakeCar(), FakeCamera())
    assert {"image"} == link.SUPPLIES
    assert frozenset() == FakeCar.SUPPLIES


def test_what_is_written_arrives():
    car = FakeCar()
    add_camera(car, FakeCamera()).write(Controls(throttle=0.3))
    assert car.written == [Controls(throttle=0.3)]


def test_abilities_stay_and_none_appears():
    car = WakeableCar()
    link = add_camera(car, FakeCamera())
    assert isinstance(link, Wakeable)
    assert isinstance(link, CustomChannels)
    car.waits = True
    assert link.waits
    link.wait(0.1)
    assert car.slept == [0.1]
    link.custom_out = (5.0,)
    assert car.custom_out == (5.0,)
    car.custom = (3.0,)
    assert link.custom == (3.0,)
    plain = add_camera(FakeCar(), FakeCamera())
    assert not isinstance(plain, Wakeable)
    assert not isinstance(plain, CustomChannels)


def test_a_state_without_a_picture_has_none_and_the_next_has_the_next():
    car, camera = FakeCar(), FakeCamera()
    link = add_camera(car, camera)
    state = link.read(car.wait_for_sample(None))
    assert (state.image, state.phase) == (None, Phase.DRIVING)
    camera.picture = make_picture()
    assert link.read(car.wait_for_sample(None)).image is camera.picture


def test_a_wrapped_link_can_be_wrapped_again():
    inner = add_camera(WakeableCar(), FakeCamera())
    outer = add_camera(inner, FakeCamera(make_picture()))
    assert isinstance(outer, Wakeable)
    assert outer.read(outer.wait_for_sample(None)).image is not None


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
