import math
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.roads import circle

from trailbrake.dashboard import live_tap as module
from trailbrake.dashboard.frame_source import PageRequest
from trailbrake.dashboard.lap_follower import LapPace
from trailbrake.dashboard.live_tap import MAX_WAITING, DriveControls, LiveTap
from trailbrake.drivers.cruise import Driver
from trailbrake.driving.road_monitor import WireLapScorer
from trailbrake.laps import LapRecord
from trailbrake.roles import LinkCounters, Tap
from trailbrake.state import CarState, Controls, DebugLine, SimCommand
from trailbrake.tracks.track_library import load_track


class Clock:
    now = 50.0

    def __call__(self):
        return self.now


def points(tap):
    return np.frombuffer(tap.encode_path(), "<f8").reshape(-1, 3)


def test_it_is_a_tap_and_keeps_the_newest():
    tap = LiveTap(Clock())
    assert isinstance(tap, Tap)
    state, controls = CarState(time=1.0), Controls(throttle=0.5)
    tap.tick(CarState(time=0.5), Controls())
    tap.tick(state, controls)
    assert tap.newest[0] is state
    assert tap.newest[1] is controls
    assert tap.tick_count == 2


def test_points_are_two_metres_apart():
    tap = LiveTap(Clock())
    for k in range(100):
        tap.tick(CarState(time=k * 0.1, x=0.25 * k, y=1.0, speed=2.5), Controls())
    tap.tick(CarState(time=11.0), Controls())  # nothing known: no point
    np.testing.assert_allclose(points(tap)[:2], [[0.0, 1.0, 2.5], [2.0, 1.0, 2.5]])
    assert len(points(tap)) == 13


def test_a_restart_is_another_drive():
    tap = LiveTap(Clock())
    for time in (5.0, 6.0, 0.5):
        tap.tick(CarState(time=time, x=10.0 * time, y=0.0, speed=1.0), Controls())
    assert tap.restart_count == 1
    np.testing.assert_allclose(points(tap), [[5.0, 0.0, 1.0]])
    assert tap.lap_start == 0.5


def test_hours_of_driving_stay_small(monkeypatch):
    monkeypatch.setattr(module, "MAX_PATH_POINTS", 10)
    tap = LiveTap(Clock())
    for k in range(100):
        tap.tick(CarState(time=float(k), x=5.0 * k, y=0.0, speed=5.0), Controls())
    assert len(points(tap)) <= 10
    assert points(tap)[-1, 0] == 495.0
    np.testing.assert_allclose(np.diff(points(tap)[:, 0]), 5.0)


def test_health():
    clock = Clock()
    counters = LinkCounters(received=7, lost=2, stale=1, resyncs=3)
    link = SimpleNamespace(counters=counters, ACCEPTS=frozenset())
    tap = LiveTap(clock, link)
    assert math.isnan(tap.measure_health().silent)
    for k in range(200):
        tap.tick(CarState(time=k * 0.01, age=0.003), Controls())
    clock.now += 2.0
    health = tap.measure_health()
    assert health.silent == pytest.approx(2.003)
    assert health.loop_rate == pytest.approx(100.0)
    assert (health.received, health.lost, health.stale, health.resyncs) == (7.0, 2.0, 1.0, 3.0)


def test_the_lap_clock_is_the_wire_s_own_or_ours():
    tap = LiveTap(Clock())
    tap.tick(CarState(time=10.0), Controls())
    tap.tick(CarState(time=14.0), Controls())
    assert tap.measure_health().lap_clock == 4.0
    tap.mark_lap()
    tap.tick(CarState(time=15.5), Controls())
    assert tap.measure_health().lap_clock == 1.5
    tap.tick(CarState(time=16.0, lap_time=9.0), Controls())
    assert tap.measure_health().lap_clock == 9.0


def test_a_driver_s_own_picture():
    driver = SimpleNamespace(debug=None)
    tap = LiveTap(Clock(), None, driver)
    assert tap.debug_image is None
    driver.debug = np.zeros((2, 2, 3), np.uint8)
    assert tap.debug_image is driver.debug
    assert LiveTap(Clock(), None, object()).debug_image is None


def test_lines_of_the_driver_stay_until_others_come():
    tap = LiveTap(Clock())
    line = DebugLine((0.0, 0.0, 1.0), (5.0, 5.0, 1.0), 0xFF0000)
    tap.tick(CarState(time=0.0), Controls(command=SimCommand(lines=(line,))))
    kept = tap.lines
    tap.tick(CarState(time=0.1), Controls())
    tap.tick(CarState(time=0.2), Controls(command=SimCommand(pause=True)))
    assert tap.lines is kept
    assert kept == (line,)
    tap.tick(CarState(time=0.3), Controls(command=SimCommand(lines=())))
    assert tap.lines == ()


def drive_lap(tap, clock, start, seconds, speed):
    """A straight lap at one speed, updated at 30 Hz as the server does."""
    for k in range(round(30 * seconds)):
        t = k / 30
        tap.tick(CarState(time=start + t, x=speed * t, y=0.0, z=0.0, yaw=0.0, speed=speed, lap_time=t), Controls())
        clock.now += 1 / 30
        tap.update()
    tap.mark_lap(LapRecord(1, seconds, True, (), "", 0.0, 0))


def test_a_page_that_comes_late_gets_the_last_half_minute():
    tap, clock = LiveTap(Clock()), Clock()
    drive_lap(tap, clock, 0.0, 40.0, 5.0)
    width = len(tap.make_frame(1, 0, 0.0).row)
    rows = np.frombuffer(tap.encode_rows(), "<f8").reshape(-1, width)
    assert rows[-1, 0] == pytest.approx(40.0, abs=0.1)
    assert rows[0, 0] == pytest.approx(rows[-1, 0] - 30.0, abs=0.1)
    assert np.diff(rows[:, 0]).max() < 0.08


def test_the_second_lap_is_seen_beside_the_first():
    tap, clock = LiveTap(Clock()), Clock()
    drive_lap(tap, clock, 0.0, 20.0, 5.0)  # 100 m
    drive_lap(tap, clock, 20.0, 10.0, 8.0)  # 80 m in 10 s, where the first took 16 s
    frame = tap.make_frame(1, 0, 0.0)
    assert frame.row[-len(LapPace.__slots__) + 1] == pytest.approx(-6.0, abs=0.1), "the column delta"
    ghost = frame.others[0]
    assert ghost.index == 1001
    assert ghost.x == pytest.approx(5.0 * (10.0 - 1 / 30), abs=0.2)


def test_a_drive_refuses_what_it_cannot_do():
    tap = LiveTap(Clock())
    assert tap.describe_controls()["drive"]["offered"] == []
    assert "fly" in tap.execute_request(PageRequest("fly"))


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


@pytest.mark.parametrize("road", [circle(100.0).road, None])
def test_a_lap_that_was_rewound_is_neither_the_best_nor_on_the_page(road):
    said, time, length = [], 0.0, 200.0 * math.pi
    tap = LiveTap(Clock(), road=road, publish=lambda kind, value: said.append((kind, value)))
    scorer = WireLapScorer(tap.mark_lap)

    def drive(lap, speed, start=0.0, until=length, clock=0.0):
        nonlocal time
        for s in np.arange(start, until, speed / 30.0):
            angle = s / 100.0
            state = CarState(time=time, x=100.0 * math.sin(angle), y=-100.0 * math.cos(angle), z=0.0, yaw=angle,
                             speed=speed, lap=float(lap), lap_time=clock + (s - start) / speed)  # fmt: skip
            tap.tick(state, Controls())
            scorer.observe_state(state)
            tap.update()
            time += 1.0 / 30.0

    drive(1, 40.0)
    drive(2, 50.0)
    drive(3, 50.0, until=100.0)
    assert tap._follower.best.number == 2
    drive(2, 20.0, start=300.0, until=600.0, clock=6.0)  # set back over the line, and in lap 3 along it
    assert tap._follower.best.number == 1
    assert tap.pace.delta == pytest.approx(6.0 + 300.0 / 20.0 - 600.0 / 40.0, abs=0.1)
    drive(2, 20.0, start=600.0, clock=21.0)
    drive(3, 45.0, until=400.0)
    drive(3, 45.0, start=90.0, clock=2.0)
    assert tap.pace.lap_distance == pytest.approx(length, abs=2.0)
    drive(4, 40.0, until=100.0)
    best = tap._follower.best
    assert (best.number, best.time_s) == (3, pytest.approx(length / 45.0, abs=0.1))
    assert best.samples[:, 1] == pytest.approx(45.0 * best.samples[:, 0], abs=2.0)
    assert [value for kind, value in said if kind == "undone_laps"] == [1]
