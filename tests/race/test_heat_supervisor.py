"""Entries that hang, that end the process, and programs: each loses its own race, and what it leaves is cleaned up."""

import threading
from pathlib import Path

import msgspec
import pytest
from helpers.waiting import HANG

from trailbrake.race import heat_supervisor
from trailbrake.race.entry_result import lost_result
from trailbrake.race.heat_supervisor import keep_file, keep_files, unused_path
from trailbrake.race.plan import RaceDayPlan, RaceEntry, RaceRules, TrackRound
from trailbrake.race.race_day import check_plan
from trailbrake.race.schedule import Heat
from trailbrake.sims.registry import find

DRIVERS = """
import os, threading
from trailbrake.state import Controls

class Goes:
    NEEDS = frozenset({"speed"})
    def reset(self, course): pass
    def act(self, state, dt): return Controls(throttle=1.0, gear=1)

class Hangs(Goes):
    def act(self, state, dt):
        if state.time > 0.3: threading.Event().wait()
        return Controls(throttle=1.0, gear=1)

class HangsAtOnce(Hangs):
    def reset(self, course):
        threading.Event().wait()

class Dies(Hangs):
    def act(self, state, dt):
        if state.time > 0.3:
            print("my last words", flush=True)
            os._exit(7)
        return Controls(throttle=1.0, gear=1)
"""


def heat(tmp_path, *entries, sim="trend", track="oval", **rules):
    (tmp_path / "mine.py").write_text(DRIVERS)
    grid = tuple(
        RaceEntry(name=f"e{k}", command=text) if "{port}" in text
        else RaceEntry(name=f"e{k}", driver=text.replace("mine.py", str(tmp_path / "mine.py")))
        for k, text in enumerate(entries)
    )  # fmt: skip
    return Heat(race=1, sim=sim, track=track, car="", host=(), laps=1, seed=0, grid=grid,
                rules=RaceRules(**({"seconds": 1.0, "patience": 1.5, "start": 30.0} | rules)))  # fmt: skip


def go(tmp_path, *entries, **others):
    return heat_supervisor.supervise_heat(
        heat(tmp_path, *entries, **others), tmp_path, tmp_path / "out", False, lambda: False
    )


@pytest.mark.slow
def test_who_hangs_or_ends_the_process_is_out_and_the_others_on_the_track_drive_on(tmp_path):
    # What a day does before its first heat: drivers of others keep no kernels that they compile.
    day = RaceDayPlan(entries=(RaceEntry(name="a", driver="line_follow"), RaceEntry(name="b", driver=__file__)),
                      schedule=(TrackRound(track="proving_ground"),), sim="assetto")  # fmt: skip
    check_plan(day, tmp_path, find("assetto"))
    entries = ("mine.py:Goes", "mine.py:Hangs", "mine.py:HangsAtOnce", "mine.py:Dies")
    outcome = go(tmp_path, *entries, sim="assetto", track="proving_ground", start=6.0)
    assert [result.ended for result in outcome.results] == [
        "out of time after 1 s", "no answer for 1.5 s", "no answer for 6 s",
        "its process ended, exit code 7: my last words",
    ]  # fmt: skip
    assert "my last words" in Path(outcome.log).read_text()
    left = sorted(path.name for path in (tmp_path / "out").iterdir())  # those of the attempts before are gone
    assert left == sorted([*(f"01_proving_ground_e{k}.mcap" for k in range(4)), Path(outcome.log).name])


@pytest.mark.slow
def test_what_cannot_be_run_at_all_is_said(tmp_path):
    (result,) = go(tmp_path, "wall_follow", track="nowhere").results
    assert "no such miniature track" in result.ended


@pytest.mark.slow
def test_a_stop_ends_the_heat_and_its_program(tmp_path):
    stop = threading.Event()
    threading.Timer(1.0, stop.set).start()
    with pytest.raises(KeyboardInterrupt):
        heat_supervisor.supervise_heat(
            heat(tmp_path, f'{{python}} -c "{HANG}" {{port}}'), tmp_path, tmp_path / "out", False, stop.is_set
        )
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    "change",
    [
        {"recording": "../victim"},
        {"recording": "{victim}"},
        {"recording": "link"},
        {"report": ".."},
        {"entry": "other"},
        {},
    ],
)
def test_results_that_an_entry_wrote_itself_move_no_file_and_end_no_day(tmp_path, change):
    victim, attempt = tmp_path / "victim", tmp_path / "attempt"
    victim.write_text("mine")
    attempt.mkdir()
    (attempt / "link").symlink_to(victim)
    running = heat(tmp_path, "wall_follow")
    change = {key: value.format(victim=victim) for key, value in change.items()}
    honest = lost_result("e0", "drove")
    path = attempt / "result.json"
    path.write_bytes(msgspec.json.encode([msgspec.structs.replace(honest, **change)]))
    (result,) = heat_supervisor._read_results(path, running)
    assert result.ended == ("the results of the heat cannot be read" if change else "drove")
    assert (result.entry, result.recording, result.report) == ("e0", "", "")
    assert victim.read_text() == "mine"


@pytest.mark.parametrize("content", [b"", b"rubbish", b"\xff", b"[]", b"[{}]", b"[" * 100_000, b"null"])
def test_results_that_are_none_are_those_of_a_lost_race(tmp_path, content):
    (tmp_path / "result.json").write_bytes(content)
    (result,) = heat_supervisor._read_results(tmp_path / "result.json", heat(tmp_path, "wall_follow"))
    assert result.ended == "the results of the heat cannot be read"


def test_no_file_is_written_over(tmp_path):
    assert unused_path(tmp_path / "a.mcap") == tmp_path / "a.mcap"
    (tmp_path / "a.mcap").touch()
    (tmp_path / "a-2.html").touch()
    assert unused_path(tmp_path / "a.mcap") == tmp_path / "a-3.mcap"


def test_a_recording_and_its_report_keep_one_name(tmp_path):
    attempt, out = tmp_path / "attempt", tmp_path / "out"
    for folder in (attempt, out):
        folder.mkdir()
    for name in ("a.mcap", "a.html", "words.log"):
        (attempt / name).write_text(name)
    (out / "a.html").write_text("of before")
    result = msgspec.structs.replace(lost_result("e0", ""), recording="a.mcap", report="a.html")
    kept = keep_files(result, attempt, out)
    assert (kept.recording, kept.report) == (str(out / "a-2.mcap"), str(out / "a-2.html"))
    assert (out / "a-2.html").read_text() == "a.html"
    assert (out / "a.html").read_text() == "of before"
    assert keep_file(attempt / "words.log", out / "words.log") == str(out / "words.log")
    without = lost_result("e0", "")
    assert keep_files(without, attempt, out) == without
