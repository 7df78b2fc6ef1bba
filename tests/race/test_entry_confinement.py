"""Hostile entries of a race day: what they may use, and that a race goes on and nothing of them stays."""

import os
import sys
from pathlib import Path

import pytest
from helpers.waiting import HANG, wait_for

from trailbrake.errors import DataError
from trailbrake.race import competitor_process, entry_confinement, heat_supervisor
from trailbrake.race.plan import EntryLimits, RaceEntry, RaceRules, parse_plan
from trailbrake.race.schedule import Heat, fingerprint_heat

MARK = "hostile_child_of_a_race"
PLAN = '[[schedule]]\ntrack = "oval"\n[[entries]]\ndriver = "lane_sign"\n'
linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems have fewer limits, or none")


def test_secrets_of_the_environment_are_not_inherited(tmp_path, monkeypatch):
    for name in ("AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "SSH_AUTH_SOCK", "WANDB_API_KEY", "XDG_DATA_HOME", "MINE"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("LC_NUMERIC", "de_DE")
    environment = entry_confinement.make_environment(EntryLimits(environment=("MINE",)), tmp_path)
    assert {name for name, value in environment.items() if value == "secret"} == {"MINE"}
    assert environment["PATH"] == os.environ["PATH"]
    assert environment["LC_NUMERIC"] == "de_DE"
    assert {environment[name] for name in ("HOME", "TMPDIR", "TEMP")} == {str(tmp_path)}


def test_limits_stand_in_the_race_file():
    plan = parse_plan(PLAN + '[limits]\nmemory = 512\nnetwork = true\nenvironment = ["WANDB_MODE"]\n', "day.toml")
    assert plan.limits == EntryLimits(memory=512, network=True, environment=("WANDB_MODE",))
    assert parse_plan(PLAN, "day.toml").limits == EntryLimits()
    for text in ("memory = -1", "open_files = 3", "cpu = -5", "memry = 1", 'memory = "1 GB"'):
        with pytest.raises(DataError, match=r"day\.toml"):
            parse_plan(PLAN + f"[limits]\n{text}\n", "day.toml")


def test_limits_do_not_make_stored_results_others():
    heat = Heat(race=1, sim="trend", track="oval", car="", host=(), laps=1, seed=0, rules=RaceRules(),
                grid=(RaceEntry(name="a", driver="lane_sign"),), limits=EntryLimits(memory=1))  # fmt: skip
    # Of a version without limits.
    assert fingerprint_heat(heat, lambda text: b"") == FINGERPRINT


FINGERPRINT = "0be95bc531fcd117177203cff6d5ad1e08b574ea7c0671d18a5aafde1a04822c"


def test_only_what_does_not_ship_with_trailbrake_is_foreign():
    assert not entry_confinement.is_foreign(RaceEntry(driver="lane_sign"))
    assert not entry_confinement.is_foreign(RaceEntry(driver="policy:any"))
    for entry in (RaceEntry(driver="mine.py"), RaceEntry(driver="policy:a.npz"), RaceEntry(command="a {port}")):
        assert entry_confinement.is_foreign(entry)


@linux
@pytest.mark.slow
def test_a_program_runs_in_a_home_of_its_own_and_leaves_no_child(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    text = (
        f"import os, time\nif os.fork() == 0:\n  os.setsid(); os.execlp('sleep', '{MARK}', '300')\n"
        "print(os.environ['HOME'], os.path.expanduser('~'), os.environ.get('TRAILBRAKE_CACHE'), flush=True)\n"
        f"open(os.environ['HOME'] + '/mine', 'w').close(); {HANG}"
    )
    entry = RaceEntry(name="a", command=("{python}", "-c", text, "{port}"))
    with competitor_process.run_program(entry, 4321, tmp_path, out / "log") as process:
        wait_for((out / competitor_process.HOME / "mine").exists)
    assert process.returncode is not None
    home = out / competitor_process.HOME
    assert competitor_process.read_last_line(out / "log") == f"{home} {home} None"
    assert not any(MARK in line for line in command_lines())


def command_lines():
    lines = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            lines.append(Path(f"/proc/{name}/cmdline").read_bytes().decode("utf-8", "replace"))
        except OSError:
            continue
    return lines


DRIVERS = f"""
import os, signal, socket, subprocess
from trailbrake.state import Controls

class Base:
    NEEDS = frozenset({{"speed"}})
    def reset(self, course): pass
    def act(self, state, dt):
        if state.time > 0.2: self.attack()
        return Controls(throttle=1.0, gear=1)

class Forks(Base):
    def attack(self):
        for _ in range(200):
            subprocess.Popen(["sleep", "300"], start_new_session=True)
        signal.pause()

class Writes(Base):
    def attack(self):
        said = []
        for path in (__file__, os.environ["NUMBA_CACHE_DIR"] + "/../../../../poison", "/tmp/{MARK}"):
            try: open(path, "a").write("#")
            except OSError as error: said.append(error.strerror)
        try: socket.create_connection(("192.0.2.1", 80), 5)
        except OSError as error: said.append(error.strerror)
        raise ValueError(", ".join(said) + " " + os.environ.get("SECRET_TOKEN", "no token"))
"""


@pytest.fixture
def drivers(tmp_path, monkeypatch):
    """A file of drivers; the kernels that a heat needs are compiled, as they are before a day begins."""
    monkeypatch.setenv("SECRET_TOKEN", "secret")
    (tmp_path / "mine.py").write_text(DRIVERS)
    return tmp_path / "mine.py"


def run_entries(tmp_path, *entries, **limits):
    grid = tuple(RaceEntry(name=f"e{k}", driver=text) for k, text in enumerate(entries))
    rules = RaceRules(seconds=1.0, patience=20.0, start=120.0)
    heat = Heat(race=1, sim="trend", track="oval", car="", host=(), laps=1, seed=0, grid=grid, rules=rules,
                limits=EntryLimits(**limits))  # fmt: skip
    (result,) = heat_supervisor.supervise_heat(heat, tmp_path, tmp_path / "out", False, lambda: False).results
    return result.ended


@linux
@pytest.mark.slow
def test_a_hostile_driver_loses_its_race_and_nothing_else(tmp_path, drivers):
    before = drivers.read_text()
    said = run_entries(tmp_path, f"{drivers}:Writes")
    assert "no token" in said
    if "cut off from the network" in entry_confinement.describe_confinement(EntryLimits()):
        assert said.count("Read-only file system") == 3
        assert "Network is unreachable" in said
        assert drivers.read_text() == before
    said = run_entries(tmp_path, f"{drivers}:Forks", processes=20)
    # For root the kernel does not count; the heat's supervisor does.
    assert "more than 20 processes" in said or "BlockingIOError" in said


def test_what_the_system_gives_is_said_in_one_line():
    line = entry_confinement.describe_confinement(EntryLimits())
    assert line.startswith("entries ")
    assert "\n" not in line
    if "cut off" in line:
        assert "the network" not in entry_confinement.describe_confinement(EntryLimits(network=True))
