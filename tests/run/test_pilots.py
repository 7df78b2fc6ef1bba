"""Our drivers at the wheel of cars that nobody has taken."""

import pytest

from trailbrake.cars.load import load as load_car
from trailbrake.errors import UsageError
from trailbrake.run.options import WorldOptions
from trailbrake.run.pilots import make_pilots
from trailbrake.run.worlds import build_world
from trailbrake.sims.assetto import spec
from trailbrake.state import CarState
from trailbrake.tracks.load import load as load_track

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


def pilots(tmp_path, text=DRIVER, cars=2):
    (tmp_path / "driver.py").write_text(text)
    return make_pilots(str(tmp_path / "driver.py"), "assetto", load_track("kartwerk"), [load_car("kart")] * cars)


def test_each_car_has_a_driver_and_a_supervisor_of_its_own(tmp_path):
    first, second = pilots(tmp_path)
    state = CarState(time=1.0, speed=10.0)
    assert first(state, 0.003).throttle == 1.0
    first(state, 0.003)
    assert second(state, 0.003).throttle == 1.0


def test_a_driver_that_raises_stops_its_car_and_is_said_once(tmp_path, capsys):
    first, second = pilots(tmp_path)
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
        pilots(tmp_path, DRIVER.replace('"speed"', '"image"'))


def test_who_has_pilots():
    assert spec.pilot(spec.ServeOptions()) == ""  # a single car waits for its client
    assert spec.pilot(spec.ServeOptions(cars=4)) == "convoy"
    assert spec.pilot(spec.ServeOptions(cars=4, park=True)) == ""
    assert spec.pilot(spec.ServeOptions(cars=2, driver="line_follow")) == "line_follow"
    world = build_world("assetto", WorldOptions(track="kartwerk", car="kart"), spec.ServeOptions(cars=3))
    assert len(world.cars) == 3
