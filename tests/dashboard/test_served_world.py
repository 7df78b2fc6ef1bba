"""A served world on the page, whichever program drives it."""

import json

import numpy as np
import pytest

from trailbrake.dashboard.frame_source import PageRequest
from trailbrake.dashboard.live_view import RATE_HZ, LiveView
from trailbrake.driving.session.progress import SilentListener
from trailbrake.laps import LapRecord
from trailbrake.roles import RoadOutline
from trailbrake.state import CarState

LAP = LapRecord(1, 61.5, True, (), "", 0.0, 0)


class Plant:
    """Cars that stand one behind the other on a straight road."""

    def __init__(self):
        self.commands, self.driven, self.time = [], [], 0.0

    def car_state(self, car):
        return CarState(time=self.time, sequence=1, x=10.0 * car, y=0.0, yaw=0.0, speed=float(car), throttle=0.5)

    def execute_command(self, car, command):
        self.commands.append((car, command))

    def laps(self, car):
        return list(self.driven)

    def road_outline(self):
        line = np.array([[0.0, 0.0], [50.0, 0.0]])
        aside = np.array([0.0, 4.0])
        return RoadOutline(line, line + aside, line - aside, False)


@pytest.fixture
def page():
    with LiveView(SilentListener()) as made:
        yield made


def update_for(view, plant, seconds, rate=1000.0):
    for k in range(round(seconds * rate)):
        plant.time = k / rate
        view.update(100.0 + plant.time)


def test_the_first_car_is_shown_and_the_others_with_it(page):
    plant = Plant()
    view = page.attach_world({"sim": "forza"}, plant, 3)
    header = json.loads(page._state.header)["header"]
    assert header["map"]["left"] == {"x": [0.0, 50.0], "y": [4.0, 4.0]}
    view.update(100.0)
    frame = page._state.source.make_frame(1, 0, 0.0)
    assert [(other.index, other.x, other.speed) for other in frame.others] == [(1, 10.0, 1.0), (2, 20.0, 2.0)]
    columns = [c["name"] for part in ("state", "controls") for c in header[part]]
    assert frame.row[columns.index("x")] == 0.0
    assert frame.row[len(header["state"]) + [c["name"] for c in header["controls"]].index("throttle")] == 0.5


def test_samples_come_at_the_rate_of_the_page_and_ticks_are_counted(page):
    plant = Plant()
    view = page.attach_world({}, plant, 1)
    update_for(view, plant, 1.0)
    tap = page._state.source
    assert tap.tick_count == 1000
    assert tap.measure_health().received == pytest.approx(RATE_HZ, abs=2)


def test_laps_are_shown_once_and_again_after_a_restart(page):
    shown = []
    page._listener.show_lap = shown.append
    plant = Plant()
    view = page.attach_world({}, plant, 1)
    for k, driven in enumerate(([], [LAP], [LAP], [], [LAP])):
        plant.driven = driven
        view.update(100.0 + k)
    assert shown == [LAP, LAP]


def test_a_page_puts_the_car_and_starts_it_again(page):
    plant = Plant()
    view = page.attach_world({}, plant, 1)
    view.update(100.0)
    source = page._state.source
    assert source.describe_controls()["drive"]["offered"] == ["restart", "teleport", "to_pits"]
    assert source.execute_request(PageRequest("restart", (), "")) == ""
    assert source.execute_request(PageRequest("teleport", (3.0, 4.0), "")) == ""
    assert "pause" in source.execute_request(PageRequest("pause", (1.0,), ""))
    assert plant.commands == []
    view.update(101.0)
    (first, restart), (second, put) = plant.commands
    assert (first, restart.restart, second, put.teleport.x, put.teleport.y) == (0, True, 0, 3.0, 4.0)
