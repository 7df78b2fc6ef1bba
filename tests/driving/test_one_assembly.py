"""Verb by protection: whoever asks for a drive, it has all of them. The contract on connections holds them to it."""

from contextlib import closing, contextmanager, suppress

import pytest
from helpers.fakes import FakeCar, FakeDriver, FakeTap

from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.driving import run
from trailbrake.driving.loop.state_check import StateCheck
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.driving.options import PadCheckOptions
from trailbrake.driving.pad_check import check_pad
from trailbrake.driving.run import CarWatch, NamedDriver, drive_cars
from trailbrake.driving.session.connection import Connection
from trailbrake.driving.session.drive_session import drive
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.session.progress import SilentListener
from trailbrake.driving.spec import DriveSpec, EmbeddedSite, LiveSite
from trailbrake.errors import TrailbrakeError
from trailbrake.evaluate.cell_task import drive_cell
from trailbrake.evaluate.plan import Cell
from trailbrake.learning.car_learning import learn_car_file
from trailbrake.learning.options import LearnCarOptions, LearnOptions
from trailbrake.learning.road_mapping import map_road
from trailbrake.race import heat
from trailbrake.race.heat import Heartbeat, HeatJob, run_heat
from trailbrake.race.plan import RaceEntry, RaceRules
from trailbrake.race.schedule import Heat
from trailbrake.record.recording_reader import Recording
from trailbrake.sims.registry import find
from trailbrake.tuning.options import TuneOptions
from trailbrake.tuning.tune import tune_gains

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


def race_own(driver, folder):
    grid = (RaceEntry(name="own", driver=driver),)
    own = Heat(race=1, sim="assetto", track="kartwerk", car="kart", host=(), laps=1, seed=0, rules=RaceRules(),
                grid=grid)  # fmt: skip
    job = HeatJob(heat=own, folder=str(folder), out=str(folder), names=("own",), report=False)
    pulse = Heartbeat(folder / "pulse")
    ticks = iter(range(TICKS))
    with closing(pulse), suppress(KeyboardInterrupt):
        run_heat(job, find("assetto"), pulse, lambda: next(ticks, None) is None)


def check_the_pad(driver, folder):
    check_pad(find("forza"), PadCheckOptions())


VERBS = {
    "drive": drive_own,
    "evaluate": evaluate_own,
    "race": race_own,
    "learn track": learn_track_by_own,
    "learn car": learn_car_by_its_programme,
    "tune": tune_own,
    "pad-check": check_the_pad,
}


# What docs/drive-spec.md promises: driver, declared commands, declared signals, recording, road in it.
PROMISES = {
    "drive": ("yours", "yes", "yes", "yes", "yes"),
    "evaluate": ("yours", "yes", "yes", "yes", "yes"),
    "race": ("yours", "yes", "to the driver", "yes", "yes"),
    "learn track": ("yours", "yes", "yes", "yes", "no: it is found"),
    "learn car": ("its programme", "yes", "yes", "yes", "yes"),
    "tune": ("yours", "yes", "yes", "no", "-"),
    "pad-check": ("its levels", "yes", "yes", "no", "-"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_every_protection(verb, tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_RECORDINGS", str(tmp_path))
    own = tmp_path / "own.py"
    own.write_text(OWN)
    driver, commands, signals, records, road = PROMISES[verb]
    is_own = driver == "yours"
    loops = []
    assemble = run.assemble_car

    def assemble_shortly(link, driver, supervisor, watch, pace=None):
        calls = iter(range(TICKS))
        bounded = watch._replace(goal=lambda: None if next(calls, None) is not None else "")
        loops.append(assemble(link, driver, supervisor, bounded, pace))
        return loops[-1]

    for module in (run, heat):
        monkeypatch.setattr(module, "assemble_car", assemble_shortly)
    with suppress(TrailbrakeError):  # a road or a car is not learned from a second
        VERBS[verb](str(own), tmp_path)
    loop = loops[0]
    assert isinstance(loop.supervisor, Supervisor)
    assert isinstance(loop._state_check, StateCheck)
    assert loop.commands is not None
    if is_own:
        assert ("teleport" in loop.commands._accepted) == (commands == "yes")
    recordings = list(tmp_path.glob("*.mcap"))
    assert bool(recordings) == (records == "yes")
    if not recordings:
        return
    recording = Recording.open(recordings[0])
    assert (recording.road_map is not None) == (road == "yes")
    if verb != "race":
        assert recording.about["spec"]["site"]["track"] in ("kartwerk", "pinegrove")
    if is_own:
        kept = [signal["name"] for signal in recording.about.get("signals", ())]
        assert kept == (["assetto.turbo_boost"] if signals == "yes" else [])


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
