"""A driver that is asked and not obeyed."""

import pytest

from trailbrake.driving.probe_driver import load_probe_driver
from trailbrake.errors import DriverError, UsageError
from trailbrake.sims.registry import find
from trailbrake.state import CarState

FILE = """
class Driver:
    NEEDS = frozenset({"speed"})

    def reset(self, course):
        self.length, self.steps = course.track.road.length, []

    def act(self, state, dt):
        self.steps.append(dt)
        return {answer}
"""


def made(tmp_path, answer):
    path = tmp_path / "mine.py"
    path.write_text(FILE.replace("{answer}", answer))
    return load_probe_driver(find("beamng"), str(path), "hartmoor", "gt3")


def test_it_is_told_the_road_and_the_time_between_states(tmp_path):
    answer = made(tmp_path, "(self.length, list(self.steps))")
    for time in (5.0, 5.25, 5.5, 5.0):
        length, steps = answer(CarState(time=time))
    assert length > 1000.0
    assert steps == [0.0, 0.25, 0.25, 0.0]


def test_what_it_raises_is_one_line(tmp_path):
    with pytest.raises(DriverError, match=r"act\(\) raised ZeroDivisionError"):
        made(tmp_path, "1 / 0")(CarState(time=0.0))


def test_it_must_fit_the_wire():
    with pytest.raises(UsageError, match="needs what beamng does not supply: image"):
        load_probe_driver(find("beamng"), "lane_sign", "hartmoor", "gt3")
