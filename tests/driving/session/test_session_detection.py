"""What a drive is named after, and who is asked."""

import signal
import sys
from dataclasses import replace

import pytest
from helpers.processes import command

from trailbrake.cars.car_library import load_car
from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.driving.session import resolved_drive
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.planning.course import UnmappedCourse
from trailbrake.roles import DetectedSession
from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.registry import find
from trailbrake.simulator_tools import SessionTool
from trailbrake.tracks.track_library import load_track


@pytest.fixture
def detecting():
    """Return a simulator that detects the kart track and the kart, and the calls of its tool."""
    seen = []

    def detect(live, *, track, car, idle, say):
        seen.append((track, car))
        say("found")
        return DetectedSession(load_track("kartwerk") if track else None, load_car("kart") if car else None, "changed")

    return replace(find("assetto"), tools={"session": SessionTool(detect, lambda: {"laps": 3})}), seen


def detected(simulator, **options):
    said = []
    setup, course = resolved_drive.find_course(
        make_setup(simulator, DriveFlags(**options).make_spec()), lambda: False, said.append
    )
    live = "own" if setup.live == simulator.live_options() else setup.live
    return setup.spec.track, setup.spec.car, live, course.track.name, course.car.name, said


def test_an_embedded_drive_asks_nobody(detecting):
    simulator, calls = detecting
    assert detected(simulator) == ("hartmoor", "gt3", "own", "hartmoor", "gt3", [])
    assert detected(simulator, track="pinegrove")[0] == "pinegrove"
    assert calls == []


@pytest.mark.parametrize(
    ("named", "wanted", "track", "car"),
    [
        ({}, (True, True), "kartwerk", "kart"),
        ({"track": "pinegrove"}, (False, True), "pinegrove", "kart"),
        ({"car": "f1"}, (True, False), "kartwerk", "f1"),
    ],
)
def test_a_live_drive_asks_for_what_is_not_named(detecting, named, wanted, track, car):
    simulator, calls = detecting
    assert detected(simulator, live=True, **named) == (track, car, "changed", track, car, ["found"])
    assert calls == [wanted]


def test_a_live_drive_with_both_named_asks_nobody(detecting):
    simulator, calls = detecting
    assert detected(simulator, live=True, track="pinegrove", car="f1")[:3] == ("pinegrove", "f1", "own")
    assert calls == []


@pytest.mark.parametrize(
    ("named", "track", "car"),
    [({}, None, None), ({"track": "pinegrove"}, "pinegrove", None), ({"car": "f1"}, None, "f1")],
)
def test_a_live_drive_invents_no_track_and_no_car(named, track, car):
    """Forza's and BeamNG's wires name neither: it once was gt3 on hartmoor, whatever the game had loaded."""
    spec = DriveFlags(sim="beamng", live=True, **named).make_spec()
    setup, course = resolved_drive.find_course(make_setup(find("beamng"), spec), lambda: False, print)
    assert (setup.spec.track, setup.spec.car) == (track or "", car or "")
    assert isinstance(course, UnmappedCourse) == (track is None)
    assert (track and course.track.name, course.car and course.car.name) == (track, car)


def test_what_the_game_says_in_the_end(detecting):
    simulator, _ = detecting
    for live, report in ((True, {"laps": 3}), (False, {})):
        setup = make_setup(simulator, DriveFlags(live=live).make_spec())
        assert (setup.session_tool.report() if setup.session_tool else {}) == report


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="stops the served world by a signal")
def test_a_live_drive_names_no_track_and_no_car(tmp_path):
    """The game of this test is `serve`, its files are those that it writes: the road is read back from fast_lane.ai."""
    root, out = tmp_path / "game", tmp_path / "out"
    with command("serve", "assetto", "--track=kartwerk", "--car=kart", f"--ac-root={root}", shm=tmp_path) as serve:
        serve.until("ready ")
        words = [
            "--live",
            "--json",
            "--no-report",
            "--draw",
            "--laps=0",
            "--seconds=2",
            f"--root={root}",
            f"--out={out}",
        ]
        with command("drive", *words, shm=tmp_path) as drive:
            assert drive.until("the game: ") == "the game: kart on kartwerk, practice"
            assert "fast_lane.ai: " in drive.until("track by ")
            drive.until("moving at ")
            assert drive.end() == 0
            summary = drive.summary
        assert (summary["track"], summary["car"], summary["ended"]) == ("kartwerk", "kart", "done")
        assert summary["off_track_s"] == 0.0
        assert summary["mean_speed_mps"] > 1.0
        assert summary["game"]["session"] == "practice"
        # Given back standing: the car's last page says so, and its controls and lines are gone.
        car = codec.decode_car((tmp_path / spec.car_name(0)).read_bytes())
        assert abs(car.speed_kmh) < 0.5
        assert car.brake == 1.0
        assert not (tmp_path / spec.controls_name(0)).exists()
        assert not (tmp_path / spec.DEBUG_LINES).exists()
        serve.process.send_signal(signal.SIGTERM)
        assert serve.end() == 0
