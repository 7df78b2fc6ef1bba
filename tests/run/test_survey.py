"""What a drive is named after, and who is asked."""

import signal
import sys
from types import SimpleNamespace

import pytest
from processes import command

from trailbrake.cars.load import load as load_car
from trailbrake.roles import Surroundings
from trailbrake.run import survey
from trailbrake.run.options import DriveOptions
from trailbrake.sims import registry
from trailbrake.sims.assetto import codec, spec
from trailbrake.tracks.load import load as load_track


@pytest.fixture
def asked(monkeypatch):
    """Put a `live` module in place that knows the kart track and the kart; return what it is asked."""
    seen = []

    def find(live, *, track, car, idle, say):
        seen.append((track, car))
        say("found")
        return Surroundings(load_track("kartwerk") if track else None, load_car("kart") if car else None, "changed")

    module = SimpleNamespace(survey=find, report=lambda: {"laps": 3})
    part = registry.part
    monkeypatch.setattr(registry, "part", lambda sim, name: module if name == "live" else part(sim, name))
    return seen


def surveyed(**options):
    said = []
    options, live, track, car = survey.surveyed(DriveOptions(**options), "live", lambda: False, said.append)
    return options.track, options.car, live, track.name, car.name, said


def test_an_embedded_drive_asks_nobody(asked):
    assert surveyed() == ("hartmoor", "gt3", "live", "hartmoor", "gt3", [])
    assert surveyed(track="pinegrove")[0] == "pinegrove"
    assert asked == []


@pytest.mark.parametrize(
    ("named", "wanted", "track", "car"),
    [
        ({}, (True, True), "kartwerk", "kart"),
        ({"track": "pinegrove"}, (False, True), "pinegrove", "kart"),
        ({"car": "f1"}, (True, False), "kartwerk", "f1"),
    ],
)
def test_a_live_drive_asks_for_what_is_not_named(asked, named, wanted, track, car):
    assert surveyed(live=True, **named) == (track, car, "changed", track, car, ["found"])
    assert asked == [wanted]


def test_a_live_drive_with_both_named_asks_nobody(asked):
    assert surveyed(live=True, track="pinegrove", car="f1")[:3] == ("pinegrove", "f1", "live")
    assert asked == []


def test_what_the_game_says_in_the_end(asked):
    assert survey.told_by(DriveOptions(live=True)) == {"laps": 3}
    assert survey.told_by(DriveOptions()) == {}


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
            "--seconds=8",
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
        assert summary["mean_speed_mps"] > 5.0
        assert summary["game"]["session"] == "practice"
        # Given back standing: the car's last page says so, and its controls and lines are gone.
        car = codec.decode_car((tmp_path / spec.car_name(0)).read_bytes())
        assert abs(car.speed_kmh) < 0.5
        assert car.brake == 1.0
        assert not (tmp_path / spec.controls_name(0)).exists()
        assert not (tmp_path / spec.DEBUG_LINES).exists()
        serve.process.send_signal(signal.SIGTERM)
        assert serve.end() == 0
