"""Our drivers at the wheel of cars that nobody has taken."""

import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.driving.options import WorldOptions
from trailbrake.driving.session.embedded_worlds import build_world
from trailbrake.driving.session.traffic_drivers import load_traffic_drivers
from trailbrake.errors import UsageError
from trailbrake.sims.assetto import spec
from trailbrake.sims.registry import find
from trailbrake.state import CarState
from trailbrake.tracks.track_library import load_track
from trailbrake.world.plant import World

DRIVER = """
from trailbrake.state import Controls

class Driver:
    NEEDS = frozenset({"speed"})

    def reset(self, course):
        self.calls = 0

    def act(self, state, dt):
        self.calls += 1
        if self.calls > 2:
            raise RuntimeError("out of ideas")
        return Controls(throttle=3.0)
"""


def traffic(tmp_path, text=DRIVER, cars=2):
    (tmp_path / "driver.py").write_text(text)
    return load_traffic_drivers(
        str(tmp_path / "driver.py"), find("assetto"), World(load_track("kartwerk"), [load_car("kart")] * cars)
    )


def test_each_car_has_a_driver_and_a_supervisor_of_its_own(tmp_path):
    first, second = traffic(tmp_path)
    state = CarState(time=1.0, speed=10.0)
    assert first(state, 0.003).throttle == 1.0
    first(state, 0.003)
    assert second(state, 0.003).throttle == 1.0


def test_a_driver_that_raises_stops_its_car_and_is_said_once(tmp_path, capsys):
    first, second = traffic(tmp_path)
    state = CarState(time=1.0, speed=10.0)
    answers = [first(state, 0.003) for _ in range(5)]
    assert [answer.throttle for answer in answers] == [1.0, 1.0, 0.0, 0.0, 0.0]
    assert answers[-1].brake > 0.5
    assert second(state, 0.003).throttle == 1.0
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert said[0].startswith("trailbrake: car 0: the driver raised RuntimeError")


def test_a_driver_that_the_wire_cannot_feed_is_refused(tmp_path):
    with pytest.raises(UsageError, match="needs what assetto does not supply: image"):
        traffic(tmp_path, DRIVER.replace('"speed"', '"image"'))


def test_which_cars_have_traffic_drivers():
    world = build_world(find("assetto"), WorldOptions(track="kartwerk", car="kart"), spec.ServeOptions(cars=3))
    assert len(world.cars) == 3

    def choose(**options):
        return find("assetto").make_host(world, spec.ServeOptions(**options)).traffic_driver

    assert choose() == ""  # a single car waits for its client
    assert choose(cars=4) == "convoy"
    assert choose(cars=4, park=True) == ""
    assert choose(cars=2, driver="line_follow") == "line_follow"
