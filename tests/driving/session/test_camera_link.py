from helpers.fakes import FakeCar

from trailbrake.driving.session.camera_link import add_camera
from trailbrake.roles import CustomChannels, Wakeable
from trailbrake.state import Controls, Image, Phase


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
