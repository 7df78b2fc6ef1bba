from types import SimpleNamespace

import pytest

from trailbrake.dashboard.drive_controls import MAX_WAITING, DriveControls
from trailbrake.dashboard.frame_source import PageRequest
from trailbrake.drivers.cruise import Driver
from trailbrake.roles import LinkCounters
from trailbrake.tracks.track_library import load_track


class Wire:
    ACCEPTS = frozenset({"steer", "pause", "teleport", "time_scale"})

    def __init__(self):
        self.counters, self.sent = LinkCounters(), []

    def send_command(self, command):
        self.sent.append(command)


@pytest.fixture
def wire():
    return Wire()


def run(controls):
    said = []
    controls.execute_pending(said.append)
    return said


def ask(controls, action, *values, name=""):
    return controls.execute_request(PageRequest(action, values, name), 0.25)


def test_what_the_simulator_accepts_is_offered_and_sent_by_the_drive(wire):
    controls = DriveControls(wire, None, None)
    assert controls.describe()["drive"]["offered"] == ["pause", "teleport", "time_scale"]
    assert ask(controls, "pause", 1.0) == ""
    assert ask(controls, "time_scale", 0.5) == ""
    assert wire.sent == []
    run(controls)
    assert [(c.pause, c.time_scale) for c in wire.sent] == [(True, None), (None, 0.5)]
    assert controls.describe()["drive"]["paused"] is True
    assert controls.describe()["drive"]["time_scale"] == 0.5


@pytest.mark.parametrize(
    ("action", "values"),
    [("restart", ()), ("to_pits", ()), ("time_scale", (1e6,)), ("pause", ()), ("teleport", (1e9, 0.0)), ("fly", ())],
)
def test_what_it_does_not_is_refused(wire, action, values):
    controls = DriveControls(wire, None, None)
    assert ask(controls, action, *values)
    run(controls)
    assert wire.sent == []


def test_a_step_ends_with_the_next_sample(wire):
    controls = DriveControls(wire, None, None)
    ask(controls, "pause", 1.0)
    ask(controls, "step")
    run(controls)
    run(controls)
    assert [c.pause for c in wire.sent] == [True, False]
    wire.counters.received += 1
    run(controls)
    run(controls)
    assert [c.pause for c in wire.sent] == [True, False, True]
    assert controls.describe()["drive"]["paused"] is True


def test_a_car_that_is_put_somewhere_looks_along_the_road(wire):
    road = load_track("pinegrove").road
    x, y, _, yaw = road.points([300.0], 2.0)[0]
    ask(DriveControls(wire, None, None), "teleport", x, y)
    controls = DriveControls(wire, None, road)
    ask(controls, "teleport", x, y)
    run(controls)
    assert (wire.sent[0].teleport.x, wire.sent[0].teleport.y) == (x, y)
    assert wire.sent[0].teleport.yaw == pytest.approx(yaw, abs=1e-3)


def test_gains_change_in_the_driver_s_own_record_and_come_back(wire):
    driver = Driver()
    own, before = driver.gains, driver.gains.speed
    controls = DriveControls(wire, driver, None)
    assert ask(controls, "gain", before + 1.0, name="speed") == ""
    assert ask(controls, "gain", before + 2.0, name="speed") == ""
    assert own.speed == before
    assert run(controls) == [f"gain speed = {before + 1.0:g}", f"gain speed = {before + 2.0:g}"]
    assert driver.gains is own
    assert own.speed == before + 2.0
    for wanted in (before + 1.0, before):
        assert ask(controls, "undo") == ""
        run(controls)
        assert own.speed == wanted
    assert "no gain has been changed" in ask(controls, "undo")


def test_a_gain_out_of_its_range_or_unknown_is_refused(wire):
    controls = DriveControls(wire, Driver(), None)
    assert "expected" in ask(controls, "gain", -1e9, name="speed")
    assert ask(controls, "gain", 1.0, name="colour") == "no gain colour"
    assert ask(DriveControls(wire, SimpleNamespace(), None), "gain", 1.0, name="speed") == "no gain speed"


def test_requests_do_not_pile_up(wire):
    controls = DriveControls(wire, None, None)
    for _ in range(MAX_WAITING):
        assert ask(controls, "pause", 1.0) == ""
    assert "not carried out" in ask(controls, "pause", 1.0)
