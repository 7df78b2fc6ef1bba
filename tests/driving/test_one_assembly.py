"""Verb by protection: whoever asks for a drive, it has all of them. The contract on connections holds them to it."""

from contextlib import contextmanager, suppress

import pytest
from helpers.fakes import FakeCar, FakeDriver, FakeTap

from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.driving import run
from trailbrake.driving.loop.state_check import StateCheck
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.driving.run import CarWatch, NamedDriver, drive_cars
from trailbrake.driving.session.connection import Connection
from trailbrake.driving.session.drive_session import drive
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.session.progress import SilentListener
from trailbrake.driving.spec import DriveSpec, EmbeddedSite, LiveSite
from trailbrake.errors import TrailbrakeError
from trailbrake.evaluate.cell_drive import drive_cell
from trailbrake.evaluate.plan import Cell
from trailbrake.record.recording_reader import Recording
from trailbrake.run.learn import map_road
from trailbrake.run.learn_car import learn_car_file
from trailbrake.run.options import LearnCarOptions, LearnOptions, TuneOptions
from trailbrake.run.tune import tune_gains
from trailbrake.sims.registry import find

TICKS = 300
# A driver that may request a place on the road, needs a signal, and has a gain.
OWN = """from dataclasses import dataclass
from trailbrake import Controls
from trailbrake.state.fields import quantity
@dataclass(frozen=True)
class Gains:
    hold: float = quantity("-", "throttle", lo=0.1, hi=0.4, default=0.3)
class Driver:
    NEEDS = {"x", "speed", "assetto.turbo_boost"}
    OPTIONAL_COMMANDS = {"teleport"}
    Gains = Gains
    def __init__(self, gains=None):
        self.gains = gains or Gains()
    def reset(self, course):
        pass
    def act(self, state, dt):
        return Controls(throttle=self.gains.hold)
"""


def drive_own(driver, folder):
    drive(DriveFlags(track="kartwerk", car="kart", driver=driver, laps=1, out=folder, report=False).make_spec())


def evaluate_own(driver, folder):
    drive_cell(Cell(sim="assetto", track="kartwerk", car="kart", driver=driver, laps=1), folder / "own.mcap", print)


def learn_track_by_own(driver, folder):
    options = LearnOptions(sim="assetto", track="kartwerk", car="kart", driver=driver, out=folder / "map.csv")
    map_road(find("assetto"), options, listener=SilentListener())


def learn_car_by_its_programme(driver, folder):
    options = LearnCarOptions(sim="assetto", track="pinegrove", car="kart", out=folder / "car.toml", laps=0)
    learn_car_file(find("assetto"), options, listener=SilentListener())


def tune_own(driver, folder):
    options = TuneOptions(driver=driver, sim="assetto", track="kartwerk", cars="kart", trials=1,
                          out=folder / "gains.toml")  # fmt: skip
    tune_gains(find("assetto"), options)


# Verb: (who drives, whether it records, whether it knows the road, whether the driver is the user's).
VERBS = {
    "drive": (drive_own, True, True, True),
    "evaluate": (evaluate_own, True, True, True),
    "learn track": (learn_track_by_own, True, False, True),
    "learn car": (learn_car_by_its_programme, True, True, False),
    "tune": (tune_own, False, True, True),
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_every_protection(verb, tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_RECORDINGS", str(tmp_path))
    own = tmp_path / "own.py"
    own.write_text(OWN)
    call, records, knows_road, is_own = VERBS[verb]
    loops = []

    def run_shortly(first, pacer, others=(), say=print):
        loops.append(first)
        calls = iter(range(TICKS))
        first._goal = lambda: None if next(calls, None) is not None else ""
        return run_loop(first, pacer, others, say)

    run_loop = run.run_loop
    monkeypatch.setattr(run, "run_loop", run_shortly)
    with suppress(TrailbrakeError):  # a road or a car is not learned from a second
        call(str(own), tmp_path)
    loop = loops[0]
    assert isinstance(loop.supervisor, Supervisor)
    assert isinstance(loop._state_check, StateCheck)
    assert loop.commands is not None
    if is_own:
        assert "teleport" in loop.commands._accepted
    if not records:
        return
    recording = Recording.open(next(tmp_path.glob("*.mcap")))
    assert recording.about["spec"]["site"]["track"] in ("kartwerk", "pinegrove")
    assert (recording.road_map is not None) == knows_road
    if is_own:
        assert [signal["name"] for signal in recording.about["signals"]] == ["assetto.turbo_boost"]


@pytest.mark.parametrize("site", [LiveSite(), EmbeddedSite(speed="real"), EmbeddedSite()])
def test_real_time_has_a_watchdog_and_a_game_a_standstill_whoever_drives(site, monkeypatch):
    car, seen = FakeCar(), []

    @contextmanager
    def connect(setup, stopped):
        yield Connection([car], car, pace=None)

    @contextmanager
    def protect(cars, *others, **options):
        seen.append("watchdog")
        yield

    monkeypatch.setattr(run, "open_connection", connect)
    monkeypatch.setattr(run, "protect_cars", protect)
    monkeypatch.setattr(run, "brake_to_standstill", lambda cars, pacer: seen.append("standstill") or True)
    tap = FakeTap()
    watch = CarWatch([tap], lambda: "" if len(tap.seen) > 5 else None)
    outcome = drive_cars(make_setup(find("assetto"), DriveSpec(site=site)), [NamedDriver(FakeDriver(), "fake")],
                         lambda connection: [watch], Supervisor())  # fmt: skip
    is_live = isinstance(site, LiveSite)
    real = is_live or site.speed == "real"
    assert seen == ["watchdog"] * real + ["standstill"] * is_live
    assert outcome.is_at_rest is (True if is_live else None)
