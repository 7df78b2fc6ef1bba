"""What in a race file is a file, and how commands are cut into words."""

import sys
from pathlib import Path

import pytest

from trailbrake.errors import UsageError
from trailbrake.race.plan import RaceDayPlan, RaceEntry, TrackRound
from trailbrake.race.plan_files import named_file, read_named_file, resolve_files, split_command
from trailbrake.race.schedule import schedule_heats


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
