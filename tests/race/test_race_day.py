"""Whole race days: what is run, kept, compared and refused."""

import hashlib
import re
import socket
from pathlib import Path

import msgspec
import pytest

from trailbrake.driving.road_monitor import RoadMonitor
from trailbrake.errors import DataError, TrailbrakeError, UsageError
from trailbrake.race import heat_supervisor, standings
from trailbrake.race.entry_result import build_result
from trailbrake.race.options import DayRunOptions
from trailbrake.race.plan import RaceDayPlan, RaceEntry, RaceRules, TrackRound, parse_plan
from trailbrake.race.race_day import check_plan, run_day
from trailbrake.race.result_store import ResultStore
from trailbrake.sims.registry import find

ROOT = Path(__file__).resolve().parents[2]
MINE = """
from trailbrake.state import Controls

class Driver:
    NEEDS = frozenset({"speed"})
    def reset(self, course): pass
    def act(self, state, dt): return Controls(steer=0.0, throttle=THROTTLE, gear=1)
"""


def plan(**change):
    values = {
        "entries": (RaceEntry(name="Mine", driver="mine.py"), RaceEntry(name="Walls", driver="wall_follow_seed")),
        "schedule": (TrackRound(track="oval", races=2, host={"obstacles": 2}),), "day": "one", "seed": 5,
        "rules": RaceRules(seconds=1.0),
    }  # fmt: skip
    return RaceDayPlan(**(values | change))


def run(tmp_path, asked=None, throttle=1.0, jobs=2, **options):
    (tmp_path / "mine.py").write_text(MINE.replace("THROTTLE", str(throttle)))
    said = []
    given = DayRunOptions(db=tmp_path / "races.sqlite", report=False, jobs=jobs, **options)
    return run_day(asked or plan(), tmp_path, given, said.append), said


@pytest.fixture
def quick(monkeypatch):
    """Heats that take no time: their results depend on the heat, on the driver's file, and on `dice`."""
    dice = [0.0]

    def run(heat, folder, out, report, stopped):
        results = []
        for entry in heat.grid:
            text = Path(entry.driver).read_text() if entry.driver.endswith(".py") else entry.driver
            states = hashlib.sha256(f"{text} {dice[0]} {heat.seed}".encode())
            results.append(build_result(entry.name, "quick", RoadMonitor(None), states))
        return heat_supervisor.HeatOutcome(results, "")

    monkeypatch.setattr("trailbrake.race.race_day.heat_supervisor.supervise_heat", run)
    return dice


def test_a_day_is_run_once_and_goes_on_where_it_was_left(tmp_path, quick):
    first, said = run(tmp_path)
    assert (first["ran"], first["kept"], first["differ"]) == (4, 0, [])
    assert said[0] == f"4 heats to run, results in {tmp_path / 'races.sqlite'}"
    assert said[1].startswith("entries ")  # what this system keeps them from
    assert sorted(said[2:]) == [
        f"race {race} on oval obstacles=2: {name}: 0 laps; quick" for race in (1, 2) for name in ("Mine", "Walls")
    ]
    assert [race["seed"] for race in first["days"][0]["races"]] == [5, 6]

    second, said = run(tmp_path)
    assert (second["ran"], second["kept"], second["digest"]) == (0, 4, first["digest"])
    assert "4 of 4 heats are stored already" in said[0]

    again, _ = run(tmp_path, check=True)
    assert (again["ran"], again["differ"], again["digest"]) == (4, [], first["digest"])

    slower, _ = run(tmp_path, throttle=0.25)  # a bot that was changed races again, the others do not
    assert (slower["ran"], slower["kept"], slower["differ"]) == (2, 2, [])
    assert slower["digest"] != first["digest"]


def test_an_entry_that_does_not_repeat_is_found(tmp_path, quick):
    run(tmp_path)
    quick[0] = 1e-9
    again, _ = run(tmp_path, check=True)
    assert sorted(other["entry"] for other in again["differ"]) == ["Mine", "Mine", "Walls", "Walls"]


@pytest.mark.parametrize(
    "other",
    [
        {"schedule": (TrackRound(track="kite"),)},
        {"rules": RaceRules(seconds=1.0, laps=7)},
        {"seed": 6},
        {"schedule": (TrackRound(track="oval", races=2),)},
    ],
)
def test_another_schedule_does_not_replace_stored_races(tmp_path, quick, other):
    first, _ = run(tmp_path)
    with pytest.raises(UsageError, match=r"race 1 of day one is stored with another schedule.*--day NAME"):
        run(tmp_path, plan(**other))
    with ResultStore(tmp_path / "races.sqlite") as store:
        assert standings.build_leaderboard(*store.read_days())["digest"] == first["digest"]
    run(tmp_path, plan(**other), again=True)
    second, _ = run(tmp_path, plan(**other, day="two"))
    with ResultStore(tmp_path / "races.sqlite") as store:
        assert [day.name for day in store.read_days()[1]] == ["one", "two"]
    assert second["kept"] == 0


def test_a_day_takes_further_races_and_entries(tmp_path, quick):
    run(tmp_path, plan(entries=plan().entries[:1], schedule=(TrackRound(track="oval", host={"obstacles": 2}),)))
    summary, _ = run(tmp_path)
    assert (summary["ran"], summary["kept"]) == (3, 1)


def test_what_was_finished_before_a_stop_is_stored(tmp_path, quick, monkeypatch):
    quickly, calls = heat_supervisor.supervise_heat, []

    def until_stopped(heat, *others):
        calls.append(heat)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return quickly(heat, *others)

    monkeypatch.setattr("trailbrake.race.race_day.heat_supervisor.supervise_heat", until_stopped)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, jobs=1)
    after, _ = run(tmp_path, jobs=1)
    assert after["ran"] >= 1
    assert after["kept"] >= 2
    assert after["ran"] + after["kept"] == 4


@pytest.mark.slow
def test_the_page_s_example_is_a_race_day(tmp_path):
    text = (ROOT / "docs" / "race.md").read_text(encoding="utf-8")
    example, driver = (re.search(rf"```{kind}\n(.*?)```", text, re.DOTALL)[1] for kind in ("toml", "python"))
    (tmp_path / "my_driver.py").write_text(driver)
    (tmp_path / "formula_trend_bot.py").write_bytes((ROOT / "examples" / "formula_trend_bot.py").read_bytes())
    asked = parse_plan(example, "example")
    assert len(asked.entries) >= 4
    short = msgspec.structs.replace(asked, rules=msgspec.structs.replace(asked.rules, seconds=1.0, contacts=None))
    once = msgspec.structs.replace(
        short, schedule=tuple(msgspec.structs.replace(r, races=1) for r in short.schedule[:1])
    )
    summary, _ = run(tmp_path, once)
    results = summary["days"][0]["races"][0]["results"]
    assert {result["entry"]: result["ended"] for result in results} == {
        entry.name: "out of time after 1 s" for entry in asked.entries
    }
    assert all(Path(result["recording"]).is_file() for result in results)
    assert Path(summary["out"]) == tmp_path / "Spring-cup" / "Saturday"
    with ResultStore(tmp_path / "races.sqlite") as store:
        assert standings.build_leaderboard(*store.read_days())["digest"] == summary["digest"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sim": "trendy"}, "no such simulator"),
        ({"cars": 2}, "one car only through the wire of trend"),
        ({"entries": (RaceEntry(name="X", driver="lane_sing"),)}, "did you mean lane_sign"),
        ({"entries": (RaceEntry(name="X", driver="line_follow"),)}, "needs what trend does not supply"),
        ({"entries": (RaceEntry(name="X", driver="gone.py:Fast"),)}, "entry X: no such file, got"),
        ({"entries": (RaceEntry(name="X", driver="policy:gone"),)}, "entry X: no such file, got"),
        ({"entries": (RaceEntry(name="X", driver="lane_sign", config="gone.toml"),)}, "entry X: no such file, got"),
        ({"entries": (RaceEntry(name="X", command="no_such_bot {port}"),)}, "no such program, got no_such_bot"),
        ({"entries": (RaceEntry(name="X", command="x"),), "sim": "forza"}, "forza calls no programs; these do: trend"),
        ({"schedule": (TrackRound(track="ovall"),)}, "did you mean oval"),
        ({"schedule": (TrackRound(track="oval", host={"look": "C"}),)}, "look"),
        ({"schedule": (TrackRound(track="oval", host={"lok": "A"}),)}, "did you mean look"),
        ({"schedule": (TrackRound(track="oval", host={"obstacles": 900}),)}, "900"),
        ({"car": "gt3"}, "the miniature world has one car"),
    ],
)
def test_what_is_not_there_is_one_line_before_anything_has_run(change, said, tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    with pytest.raises(TrailbrakeError) as error:
        check_plan(changed := plan(**change), tmp_path, find(changed.sim))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_an_open_road_is_driven_once(tmp_path):
    rounds = (TrackRound(track="serpent_pass", laps=4), TrackRound(track="kartwerk", laps=4))
    asked = plan(sim="forza", entries=(RaceEntry(name="X", driver="lane_keep"),), schedule=rounds)
    assert [item.laps for item in check_plan(asked, tmp_path, find(asked.sim)).schedule] == [1, 4]


def test_a_port_that_another_program_has(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        entry = RaceEntry(name="X", command="{python} bot.py", port=port)
        with pytest.raises(TrailbrakeError, match=f"entry X: port {port} is taken"):
            check_plan(plan(entries=(entry,)), tmp_path, find(plan().sim))


def test_no_database_is_made_for_a_day_that_cannot_be_run(tmp_path):
    with pytest.raises(TrailbrakeError):
        run(tmp_path, plan(sim="trendy"))
    assert not (tmp_path / "races.sqlite").exists()
    (tmp_path / "races.sqlite").write_text("my notes, long enough to be looked at" * 30)
    with pytest.raises(DataError):
        run(tmp_path)
    assert (tmp_path / "races.sqlite").read_text().startswith("my notes")
