"""Heats: their order, their seeds, their grids, and what makes one another."""

import sys
from pathlib import Path

import msgspec
import pytest

from trailbrake.errors import UsageError
from trailbrake.race.plan import RaceDayPlan, RaceEntry, RaceRules, TrackRound
from trailbrake.race.schedule import (
    fingerprint_heat,
    named_file,
    read_named_file,
    resolve_files,
    schedule_heats,
    split_command,
)

NAMES = ("a", "b", "c", "d", "e")


def plan(**others):
    values = {
        "entries": tuple(RaceEntry(name=name, driver=name) for name in NAMES),
        "schedule": (
            TrackRound(track="oval", races=2, host={"look": "A", "park": True}),
            TrackRound(track="kite", laps=7),
        ),
        "seed": 10,
    }
    return RaceDayPlan(**(values | others))


def test_each_entry_has_a_simulator_of_its_own_in_each_race():
    found = schedule_heats(plan())
    assert [(heat.race, heat.grid[0].name) for heat in found] == [(r, name) for r in (1, 2, 3) for name in NAMES]
    assert {len(heat.grid) for heat in found} == {1}
    assert [heat.seed for heat in found[::5]] == [10, 11, 12]
    assert [heat.laps for heat in found[::5]] == [3, 3, 7]
    assert found[0].host == ("look=A", "park=true")
    assert found[-1].host == ()


def test_cars_that_share_a_track_go_in_groups_and_the_pole_goes_round():
    grids = [
        ["".join(e.name for e in heat.grid) for heat in schedule_heats(plan(cars=2)) if heat.race == r]
        for r in (1, 2, 3)
    ]
    assert grids == [["ab", "cd", "e"], ["bc", "de", "a"], ["cd", "ea", "b"]]


def nothing(text):
    return b""


@pytest.mark.parametrize("change", [{"seed": 11}, {"track": "kite"}, {"laps": 9}, {"host": ()}, {"grid": ()},
                                    {"rules": RaceRules(contacts=0)}, {"sim": "forza"}])  # fmt: skip
def test_a_heat_that_may_end_otherwise_has_another_fingerprint(change):
    heat = schedule_heats(plan())[0]
    assert fingerprint_heat(msgspec.structs.replace(heat, **change), nothing) != fingerprint_heat(heat, nothing)


def test_what_only_counts_or_waits_changes_no_fingerprint():
    heat = schedule_heats(plan())[0]
    patient = msgspec.structs.replace(
        heat, rules=RaceRules(patience=99.0, start=9.0, wall=9.0, points=(1,), score="finish")
    )
    assert fingerprint_heat(patient, nothing) == fingerprint_heat(heat, nothing)


def test_another_driver_file_or_program_is_another_heat():
    heat = msgspec.structs.replace(schedule_heats(plan())[0], grid=(RaceEntry(name="x", command="python bot.py"),))
    assert fingerprint_heat(heat, nothing) != fingerprint_heat(heat, lambda text: b"new" if text == "bot.py" else b"")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("lane_sign", None),
        ("gen:7", None),
        ("", None),
        ("mine.py", "mine.py"),
        ("sub/mine.py:Fast", "sub/mine.py"),
        ("policy:nets/best.safetensors", "nets/best.safetensors"),
        ("box.fmu", "box.fmu"),
        ("track.csv@wet", "track.csv"),
        ("a.py.d/track.toml", "a.py.d/track.toml"),
    ],
)
def test_texts_that_name_a_file(text, path, tmp_path):
    assert named_file(text, tmp_path) == (tmp_path / path if path else None)


def test_paths_are_made_whole_and_the_rest_of_the_text_stays(tmp_path):
    entries = (
        RaceEntry(name="a", driver="mine.py:Fast", config="gains.toml"),
        RaceEntry(name="b", driver="policy:net"),
    )
    plan = RaceDayPlan(entries=entries, schedule=(TrackRound(track="road.csv@wet"),), cars=2)
    heat = resolve_files(schedule_heats(plan)[0], tmp_path)
    assert heat.track == f"{tmp_path / 'road.csv'}@wet"
    assert [entry.driver for entry in heat.grid] == [f"{tmp_path / 'mine.py'}:Fast", f"policy:{tmp_path / 'net'}"]
    assert heat.grid[0].config == str(tmp_path / "gains.toml")
    plan = RaceDayPlan(entries=(RaceEntry(driver="lane_sign"),), schedule=(TrackRound(track="oval"),))
    assert resolve_files(schedule_heats(plan)[0], tmp_path).track == "oval"


def test_contents_are_those_of_named_files(tmp_path):
    (tmp_path / "mine.py").write_bytes(b"1")
    (tmp_path / "bot").write_bytes(b"2")
    assert [read_named_file(text, tmp_path) for text in ("mine.py:Fast", "bot", "lane_sign", "", "\0")] == [
        b"1", b"2", b"", b"", b"",
    ]  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="quotes are other ones there")
def test_a_command_s_words():
    entry = RaceEntry(name="a", command="{python} 'my bot.py' --port={port} '{\"x\": {port}}'")
    assert split_command(entry, 4567, Path()) == [sys.executable, "my bot.py", "--port=4567", '{"x": 4567}']


def test_a_command_word_by_word_is_left_as_it_is(tmp_path):
    entry = RaceEntry(name="a", command=("{python}", "a b", "{port}"))
    assert split_command(entry, 1, tmp_path) == [sys.executable, "a b", "1"]


def test_a_program_is_looked_for_beside_the_race_file(tmp_path):
    program = tmp_path / "bin" / "bot.exe"
    program.parent.mkdir()
    program.write_text("")
    program.chmod(0o755)
    assert split_command(RaceEntry(command="bin/bot.exe {port}"), 1, tmp_path) == [str(program), "1"]


@pytest.mark.parametrize(
    ("command", "said"),
    [("no_such_bot {port}", "no such program, got no_such_bot"), ("./gone.sh", "no such program"),
     (" ", "an empty command")],
)  # fmt: skip
def test_a_command_that_cannot_be_run_is_one_line(command, said, tmp_path):
    with pytest.raises(UsageError, match="entry Bot, command") as error:
        split_command(RaceEntry(name="Bot", command=command), 1, tmp_path)
    assert said in str(error.value)


@pytest.mark.skipif(sys.platform == "win32", reason="quotes are other ones there")
def test_a_quote_that_does_not_end(tmp_path):
    with pytest.raises(UsageError, match="cannot be cut into words"):
        split_command(RaceEntry(name="Bot", command="bot 'x"), 1, tmp_path)
