"""Exit codes, one-line errors, and the verbs that list what there is."""

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.processes import command

import trailbrake
from trailbrake.cars.car_library import LIBRARY
from trailbrake.cli import main
from trailbrake.errors import DataError
from trailbrake.state.commands import COMMAND_FIELDS
from trailbrake.state.tables import CONTROL_FIELDS, STATE_FIELDS


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("drvie", 'Did you mean "drive"?'),
        ("drive --lapz 3", "Did you mean --laps?"),
        ("drive --laps two", "--laps"),
        ("drive --laps -1", "expected 0 or more"),
        ("drive --seconds -0.5", "expected 0 or more"),
        ("drive --seconds nan", "expected 0 or more"),
        ("drive --speed fast", '"real", "max"'),
        ("drive --track hartmor", "did you mean hartmoor"),
        ("drive --track nowhere.csv", "nowhere.csv: no such track file"),
        ("drive --laps 1.5", "--laps: no whole number, got 1.5"),
        ("drive --track nothere", "there are: copperbowl"),
        ("drive --car gt4", "did you mean gt3?"),
        ("drive --car nothing.toml", "nothing.toml"),
        ("drive --driver line_folow", "did you mean line_follow"),
        ("drive --driver nothing.py", "no such driver file"),
        ("drive --sim asetto", "did you mean assetto?"),
        ("drive more", '"more" stands without a flag; see trailbrake drive --help'),
        ("drive pinegrove", "did you mean --track pinegrove?; see trailbrake drive --help"),
        ("drive 3", "did you mean --laps 3?"),
        ("train rl --trak x", "see trailbrake train rl --help"),
        ("serve asetto", 'Did you mean "assetto"?'),
        ("serve assetto --cars 0", "a world needs a car"),
        ("serve assetto --cars 99999999999999999999", "serve: no number of cars, expected 1 to 64, got 9999"),
        ("drive --cars 99999999999999999999", "--cars: no number of cars, expected 1 to 64, got 9999"),
        (f"serve trend --connect 127.0.0.1:{'9' * 5000}", "--connect: not an address, expected HOST:PORT"),
        ("serve assetto --track pinegrov", "did you mean pinegrove"),
        ("serve assetto --rate 5", "--rate"),
        ("serve assetto --seconds nan", "expected 0 or more"),
        ("serve assetto --seconds -1", "expected 0 or more"),
        ("serve forza --pad-port -1", "no port, expected 0..65535, got -1"),
        ("watch --seconds nan", "expected 0 or more"),
        ("watch --port -1", "--port: no port, expected 0..65535, got -1"),
        ("doctor forza --seconds nan", "no time to listen"),
        ("sim assetto teleport nan 0 0", "command teleport: expected x within 1e+06, got nan"),
        ("sim assetto teleport 0 0 0 --z inf", "command teleport: expected z within 1e+06 or NaN, got inf"),
        ("replay nowhere.forza --to 127.0.0.1:9 --loops -1", "no number of loops"),
        ("tune --trials 0", "no number of trials"),
        ("bench drvie", 'Did you mean "drive"?'),
        ("tracks --jsn", "Did you mean --json?"),
        ("drive help", "did you mean --help?"),
        ("export", "export: no RECORDING given; see trailbrake export --help"),
        ("compare", "compare: no DRIVES given; see trailbrake compare --help"),
        ("export-fmu --out x", "export-fmu: no DRIVER given; see trailbrake export-fmu --help"),
        ("drive --track", 'Command "drive" parameter --track requires an argument'),
        ("export none.mcap", "none.mcap: cannot read the recording"),
        ("report none.mcap", "none.mcap: cannot read the recording"),
        ("runs --folder none", "--folder none: no such folder"),
        ("doctor examples/newline_json_sim.py", "newline_json has no doctor"),
        ("sim examples/newline_json_sim.py restart", "newline_json has no control"),
    ],
)
def test_wrong_usage_is_one_line_that_says_what_to_try(cli, words, said):
    assert said in cli(*words.split()).error


def test_a_tilde_is_the_home_of_the_user_in_every_shell(cli, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    for word, path in (("~/none.mcap", tmp_path / "none.mcap"), ("./~/none.mcap", "~/none.mcap")):
        assert str(path) in cli("report", word).error
        assert str(path) in cli("drive", f"--like={word}").error


@pytest.mark.parametrize("words", ["report none.mcap", "drive --lapz 3", "serve forza --rate nan"])
def test_a_refusal_is_one_object_too_where_one_was_asked_for(cli, words):
    said = cli(*words.split(), "--json")
    assert said.code == 2
    assert said.err == [f"trailbrake: {said.object['error']}"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "track.csv"),
        ("1,2,3\n", "track.csv"),
        ("x_m,y_m,w_tr_right_m,w_tr_left_m\n0,0,five,5\n", "track.csv:2"),
        ("0,0,5,5\n100,0,5,5\n100,100,5,5\n", "track.csv"),
        ("\n".join(f"{150 * math.sin(k / 20 * math.tau)},{90 * math.sin(2 * k / 20 * math.tau)},4,4"
                   for k in range(20)), "cross"),
    ],
    ids=["empty", "three numbers", "a word", "three points", "crosses itself"],
)  # fmt: skip
def test_a_track_file_that_is_none_is_one_line_that_names_it(cli, tmp_path, text, said):
    (tmp_path / "track.csv").write_text(text)
    line = cli("drive", "--track", tmp_path / "track.csv").error
    assert str(tmp_path / "track.csv") in line
    assert said in line
    assert cli("serve", "assetto", "--track", tmp_path / "track.csv").error == line


def test_a_car_file_that_is_none_is_one_line_that_names_it(cli, tmp_path):
    (tmp_path / "car.toml").write_text("title = 'x'\n")
    assert str(tmp_path / "car.toml") in cli("drive", "--car", tmp_path / "car.toml").error


def test_a_driver_file_that_is_broken_is_one_line_with_its_line(cli, tmp_path):
    (tmp_path / "own.py").write_text("x = 1\nclass Driver\n")
    assert f"{tmp_path / 'own.py'}:2: " in cli("drive", "--driver", tmp_path / "own.py", "--track", "kartwerk").error


def test_help_and_version(cli):
    for words in (["--help"], ["drive", "--help"], ["serve", "assetto", "--help"], []):
        said = cli(*words)
        assert (said.code, said.err) == (0, [])
        assert "Usage: trailbrake" in said.out
    for word in ("--version", "-V", "version"):
        assert cli(word).out.strip() == trailbrake.__version__
    assert cli("help").out == cli("--help").out
    assert cli("help", "compare").out == cli("compare", "--help").out
    flags = cli("drive", "--help").out
    for flag in ("--track", "--car", "--driver", "--laps", "--seconds", "--seed", "--live", "--speed", "--out",
                 "--no-report", "--sim", "--json", "--car-index", "--wait"):  # fmt: skip
        assert flag in flags


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (DataError("wrong", where="here"), 2, "trailbrake: here: wrong\n"),
        (KeyboardInterrupt(), 130, "trailbrake: interrupted\n"),
        (OSError(28, "No space left on device"), 2, "trailbrake: No space left on device\n"),
        (PermissionError(13, "Permission denied", "a b"), 2, "trailbrake: a b: Permission denied\n"),
        (None, 0, ""),
    ],
)
def test_exit_codes(monkeypatch, capsys, error, code, said):
    def verb(tokens, **more):
        if error:
            raise error

    monkeypatch.setattr(main, "build_command_line", lambda simulator, verb_name, name, tokens: verb)
    assert main.run_command_line([]) == code
    assert capsys.readouterr() == ("", said)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a file that is always full")
def test_a_full_disk_behind_standard_output_is_named(monkeypatch, capsys):
    with open("/dev/full", "w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert main.run_command_line(["tracks", "--json"]) == 2
        assert sys.stdout is not full
        assert capsys.readouterr().err == "trailbrake: standard output: No space left on device\n"
        os.dup2(os.open(os.devnull, os.O_WRONLY), full.fileno())  # what waits for it goes there


def test_a_verb_s_number_is_the_exit_code_and_main_ends_with_it(monkeypatch):
    monkeypatch.setattr(main, "build_command_line", lambda simulator, verb, name, tokens: lambda words, **more: 130)
    monkeypatch.setattr(sys, "argv", ["trailbrake"])
    with pytest.raises(SystemExit) as caught:
        main.main()
    assert caught.value.code == 130


@pytest.mark.parametrize(
    ("words", "sim"),
    [
        ([], "assetto"),
        (["--sim", "x"], "x"),
        (["drive", "--sim=y", "--laps"], "y"),
        (["--sim"], "assetto"),
        (["learn", "--live"], "forza"),
        (["watch"], "forza"),
        (["record", "--live"], "forza"),
        (["watch", "--sim", "beamng"], "beamng"),
    ],
)
def test_the_simulator_is_known_before_parsing(words, sim):
    assert main._find_sim_flag(words) == sim


def rows(cli, verb):
    said = cli(verb, "--json")
    assert (said.code, said.err) == (0, [])
    (kind,) = said.object
    assert kind == verb
    return {row["name"]: row for row in said.object[verb]}


def test_sims(cli):
    row = rows(cli, "sims")["assetto"]
    assert row["rate_hz"] == 333.0
    assert set(row["supplies"]) <= STATE_FIELDS
    assert set(row["accepts"]) <= CONTROL_FIELDS | COMMAND_FIELDS


def test_drivers(cli):
    row = rows(cli, "drivers")["line_follow"]
    assert {"x", "y", "yaw", "speed"} <= set(row["needs"]) <= STATE_FIELDS
    assert "assetto" in row["sims"]
    assert len(row["about"]) > 10


def test_tracks(cli):
    found = rows(cli, "tracks")
    assert len([row for row in found.values() if row["closed"]]) >= 4
    assert 4000.0 < found["hartmoor"]["length_m"] < 5000.0
    assert found["serpent_pass"]["climb_m"] > 250.0
    for row in found.values():
        assert row["width_m"][0] <= row["width_m"][1]
        assert row["min_radius_m"] > (0.5 if row.get("world") == "miniature" else 8.0)


def test_a_track_file_says_what_is_known_of_it(cli):
    road = Path(__file__).resolve().parent.parent / "golden" / "lap_logs" / "road.kml"
    said = cli("tracks", road)
    assert "width assumed, 8 m; heights averaged" in said.out
    assert "hartmoor" not in said.out
    (row,) = cli("tracks", road, "--json").object["tracks"]
    assert row["closed"]
    assert row["climb_m"] == pytest.approx(4.0, abs=0.2)


def test_cars_and_simulators_by_name_and_file(cli, tmp_path):
    mine = tmp_path / "mine.toml"
    mine.write_text((LIBRARY / "kart.toml").read_text("utf-8"), "utf-8")
    assert [row["name"] for row in cli("cars", mine, "gt3", "--json").object["cars"]] == [str(mine), "gt3"]
    assert [row["name"] for row in cli("sims", "forza", "--json").object["sims"]] == ["forza"]
    assert cli("sims", "forzza").code == 2


def test_cars(cli):
    found = rows(cli, "cars")
    assert {"f1", "gt3", "hatchback", "kart", "sports_awd"} <= set(found)
    assert found["gt3"]["power_w"] > found["hatchback"]["power_w"] > 5e4
    assert found["f1"]["hybrid_power_w"] == 120e3
    assert found["f1"]["equipment"] == ["hybrid", "DRS"]
    assert found["kart"]["equipment"] == []
    assert found["sports_awd"]["equipment"] == ["turbo", "ABS", "TC"]
    assert {row["drive"] for row in found.values()} <= {"fwd", "rwd", "awd"}


@pytest.mark.parametrize("verb", ["sims", "drivers", "tracks", "cars"])
def test_tables_for_people_name_the_same(cli, verb):
    said = cli(verb)
    assert (said.code, said.err) == (0, [])
    for name in rows(cli, verb):
        assert any(line.split()[:1] == [name] for line in said.out.splitlines())


EARLY = """
import signal, sys
from trailbrake.__main__ import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in what it runs in the background

class Interrupting:
    def find_spec(self, name, *rest):
        if name == "trailbrake.cli.main":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
main()
"""
LATE = """
import atexit, signal, sys
from trailbrake.cli.main import main

signal.signal(signal.SIGINT, signal.default_int_handler)
atexit.register(signal.raise_signal, signal.SIGINT)
sys.argv = ["trailbrake", "--version"]
main()
"""


def test_ctrl_c_while_the_command_line_is_being_loaded_is_one_line():
    done = subprocess.run([sys.executable, "-c", EARLY], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "trailbrake: interrupted\n")
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, ""), "what was to be done is done"


@pytest.mark.parametrize(("words", "title"), [([], "Assetto Corsa"), (["--sim", "beamng"], "BeamNG")])
def test_the_help_of_drive_says_whose_live_flags_it_lists(cli, words, title):
    text = " ".join(cli("drive", *words, "--help").out.split())
    assert f"are those of {title}" in text
    assert "drive --sim NAME --help" in text


# Forked before anything of the package is imported: libraries of others are loaded once for all verbs.
FORKED = """
import os, sys
import cyclopts, msgspec, numba.core.registry, numpy, rich.table

for words in sys.argv[1:]:
    child = os.fork()
    if not child:
        sys.argv = ["trailbrake", *words.split()]
        from trailbrake.__main__ import main
        main()
    print(words, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
READERS = ["race", "evaluate", "drive --like", "report", "replay", "compare", "leaderboard"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="forks")
def test_each_verb_that_reads_a_file_is_whole_in_a_process_of_its_own():
    """What a verb imports does not depend on what other tests, or verbs, have imported before."""
    words = [f"{verb} none.toml" for verb in READERS]
    done = subprocess.run([sys.executable, "-c", FORKED, *words], capture_output=True, text=True, timeout=120.0)
    assert done.stdout.splitlines() == [f"{line} 2" for line in words], done.stderr
    assert [line[:12] for line in done.stderr.splitlines()] == ["trailbrake: "] * len(words), done.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX closes the streams")
@pytest.mark.parametrize(
    ("words", "closed", "code"),
    [("tracks --json", "<&- >&-", 0), ("drive --track nowhere", "2>&-", 2),
     ("drive --seconds 0.1 --no-report", "<&- >&- 2>&-", 0)],
)  # fmt: skip
def test_a_program_whose_streams_are_closed_does_its_work(words, closed, code, tmp_path):
    line = f'"{sys.executable}" -m trailbrake {words} {closed}'
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, stderr=subprocess.PIPE, timeout=300.0)
    assert (done.returncode, done.stderr) == (code, b"")


@pytest.mark.slow
@pytest.mark.parametrize("columns", ["1", "9" * 5000, "-3"])
def test_help_ends_however_wide_the_terminal_says_that_it_is(columns, tmp_path):
    with command("drive", "--help", shm=tmp_path, COLUMNS=columns) as said:
        assert said.end(120.0) == 0
        assert "--track" in said.out


@pytest.mark.slow
@pytest.mark.parametrize("words", [["drive", "--help"], ["tracks"]])
def test_a_reader_that_has_seen_enough_is_no_error(words):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "trailbrake", *words], stdout=writing, stderr=subprocess.PIPE, timeout=120.0
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")
