"""Heats in this process: lockstep that repeats, a judge that sees the truth, and entries that fail alone."""

import subprocess
import sys
from pathlib import Path

import pytest
from helpers.waiting import HANG

from trailbrake.analysis.race_motion import open_race
from trailbrake.errors import UsageError
from trailbrake.race.heat import NO_ENTRY, Heartbeat, HeatJob, Retirement, run_heat
from trailbrake.race.plan import RaceEntry, RaceRules
from trailbrake.race.schedule import Heat
from trailbrake.record.recording_reader import Recording
from trailbrake.sims.registry import find

ROOT = Path(__file__).resolve().parents[2]
BAD = """
class Raises:
    NEEDS = frozenset({"speed"})
    def reset(self, course): self.calls = 0
    def act(self, state, dt):
        self.calls += 1
        if self.calls == 20: raise ValueError("enough")
        from trailbrake.state import Controls
        return Controls(throttle=0.5, gear=1)

class NoReset(Raises):
    def reset(self, course): raise RuntimeError("no plan")

class TooMuch(Raises):
    NEEDS = frozenset({"wheels.load"})
"""

SILENT = """
import sys, time
from websockets.sync.server import serve

def handle(simulator):
    simulator.send('0{"sid":"x","upgrades":[],"pingInterval":25000,"pingTimeout":60000}')
    simulator.send('42["steer",{"steering_angle":"0","throttle":"1"}]')
    simulator.send("40")
    answers = 0
    for text in simulator:
        if text.startswith('42["telemetry"'):
            answers += 1
            if answers < 20 or sys.argv[2] == "drives":
                simulator.send('42["steer",{"steering_angle":"0","throttle":"1"}]')
            elif sys.argv[2] == "dies":
                print("segmentation dump", flush=True)
                import os
                os._exit(3)

if sys.argv[2] == "never":
    HANG
with serve(handle, "127.0.0.1", int(sys.argv[1]), max_size=None) as server:
    server.serve_forever()
""".replace("HANG", HANG)


def job(tmp_path, *drivers, retired=None, **change):
    bad = tmp_path / "bad.py"
    bad.write_text(BAD)
    drivers = [text.replace("bad.py", str(bad)) for text in drivers]
    values = {"race": 1, "sim": "trend", "track": "oval", "car": "", "host": (), "laps": 1, "seed": 0,
              "rules": RaceRules(seconds=2.0)}  # fmt: skip
    grid = tuple(
        RaceEntry(name=f"e{k}", command=text) if "{port}" in text else RaceEntry(name=f"e{k}", driver=text)
        for k, text in enumerate(drivers)
    )
    heat = Heat(**(values | change), grid=grid)
    return HeatJob(heat=heat, folder=str(tmp_path), out=str(tmp_path), names=tuple(e.name for e in grid), report=False,
               retired=retired or {})  # fmt: skip


def go(job, tmp_path, stopped=lambda: False):
    pulse = Heartbeat(tmp_path / "pulse")
    try:
        return run_heat(job, find(job.heat.sim), pulse, stopped), pulse.read_mark()
    finally:
        pulse.close()


@pytest.mark.slow
def test_a_heat_repeats_to_the_bit_and_is_recorded_as_it_was(tmp_path):
    (first,), pulse = go(job(tmp_path, "wall_follow"), tmp_path)
    (again,), _ = go(job(tmp_path, "wall_follow"), tmp_path)
    assert first.digest == again.digest
    assert (first.ended, first.finished) == ("out of time after 2 s", False)
    assert pulse[0] == NO_ENTRY
    recording = Recording.open(tmp_path / first.recording)
    x, y, time = (recording.state[name] for name in ("x", "y", "time"))
    assert time[-1] == pytest.approx(2.0)
    # Where it was, which the wire does not tell: as far as the fitted car gets in two seconds, at most.
    assert 0.5 < ((x[-1] - x[0]) ** 2 + (y[-1] - y[0]) ** 2) ** 0.5 < 0.5 * 1.14 * 2.0**2
    assert [event.text for event in recording.events] == ["out of time after 2 s"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("driver", "said"),
    [
        ("bad.py:Raises", "the driver raised ValueError at"),
        ("bad.py:NoReset", "getting ready raised RuntimeError"),
        ("bad.py:TooMuch", "needs what trend does not supply: wheels.load"),
        ("bad.py:Gone", "no such driver class"),
    ],
)
def test_a_driver_that_fails_is_out_with_the_reason(driver, said, tmp_path):
    (result,), _ = go(job(tmp_path, driver), tmp_path)
    assert said in result.ended
    assert not result.finished


@pytest.mark.slow
def test_a_retired_driver_is_not_asked_any_more(tmp_path):
    (result,), pulse = go(job(tmp_path, "bad.py:Raises", retired={0: Retirement(10, "hung")}), tmp_path)
    assert result.ended == "hung"
    assert pulse == (NO_ENTRY, 10)
    (never,), _ = go(job(tmp_path, "bad.py:Gone", retired={0: Retirement(0, "hung")}), tmp_path)
    assert never.ended == "hung"  # it has not even been loaded


@pytest.mark.slow
def test_cars_on_one_track_and_one_that_fails_among_them(tmp_path):
    full = {"sim": "assetto", "track": "proving_ground", "rules": RaceRules(seconds=1.0)}
    drivers = ("line_follow", "bad.py:Raises", "line_follow")
    results, _ = go(job(tmp_path, *drivers, **full), tmp_path)
    assert [result.ended.split(":")[0] for result in results] == [
        "out of time after 1 s", results[1].ended.split(":")[0], "out of time after 1 s",
    ]  # fmt: skip
    assert "the driver raised ValueError" in results[1].ended
    starts = [Recording.open(tmp_path / r.recording).state["x"][0] for r in results]
    assert starts[0] - starts[1] == pytest.approx(8.0, abs=0.1)  # m: the grid
    race = open_race(Recording.open(tmp_path / results[2].recording))
    assert [car.path.name for car in race] == [r.recording for r in results]
    again, _ = go(job(tmp_path, *drivers, **full), tmp_path)
    assert [r.digest for r in results] == [r.digest for r in again]


def test_a_stop_ends_a_heat(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        go(job(tmp_path, "wall_follow"), tmp_path, lambda: True)


def test_a_world_that_cannot_be_built_is_no_entry_s_fault(tmp_path):
    with pytest.raises(UsageError, match="no such miniature track"):
        go(job(tmp_path, "wall_follow", track="nowhere"), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "ended"),
    [
        ("stops", "no answer for 1.5 s"),
        ("dies", "the bot ended, exit code 3: segmentation dump"),
        ("never", "not ready after 2 s"),
        ("drives", "out of time after 9 s"),
    ],
)
def test_programs_that_go_on_and_programs_that_do_not(how, ended, tmp_path):
    (tmp_path / "bot.py").write_text(SILENT)
    rules = RaceRules(seconds=9.0, patience=1.5, start=2.0 if how == "never" else 30.0)
    (result,), _ = go(job(tmp_path, f"{{python}} bot.py {{port}} {how}", rules=rules), tmp_path)
    assert result.ended == ended


@pytest.mark.slow
def test_a_heat_of_a_program_repeats_to_the_bit(tmp_path):
    command = f"{{python}} '{ROOT / 'examples' / 'formula_trend_bot.py'}' {{port}}"
    first, again = (go(job(tmp_path, command), tmp_path)[0][0] for _ in range(2))
    assert first.ended == again.ended == "out of time after 2 s"
    assert first.digest == again.digest


def test_two_ends_of_a_pulse_see_the_same(tmp_path):
    here, there = Heartbeat(tmp_path / "pulse"), Heartbeat(tmp_path / "pulse")
    assert there.read_mark() == (NO_ENTRY, 0)
    here.mark_entry(3, 2**40)
    assert there.read_mark() == (3, 2**40)
    here.close()
    there.close()


@pytest.mark.slow
def test_the_last_mark_outlives_the_process(tmp_path):
    text = (
        "import os, sys, pathlib; from trailbrake.race.heat import Heartbeat;"
        "Heartbeat(pathlib.Path(sys.argv[1])).mark_entry(1, 77); os._exit(9)"
    )
    code = subprocess.run([sys.executable, "-c", text, str(tmp_path / "pulse")], check=False).returncode
    assert code == 9
    pulse = Heartbeat(tmp_path / "pulse")
    assert pulse.read_mark() == (1, 77)
    pulse.close()
