"""`drive --like RUN`: drives again, says what has changed, refuses what has changed under it."""

import json
from pathlib import Path

import pytest
from helpers.driver_files import write_driver
from helpers.socketio_agents import ring
from msgspec import convert, to_builtins

from trailbrake.cli.drive_flags import find_given
from trailbrake.cli.main import run_command_line
from trailbrake.driving.spec import KeepSpec, make_spec, write_spec

pytestmark = pytest.mark.slow
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def drive(capsys, folder, *words):
    code = run_command_line(["drive", "--json", "--no-report", f"--out={folder}", *words])
    out, err = capsys.readouterr()
    return code, json.loads(out.splitlines()[-1]), err


def test_given_flags_are_those_of_the_command_line():
    assert find_given(["drive", "--laps", "2", "--no-report", "--world=grip=0.9", "--json"]) == {
        "laps",
        "report",
        "world",
    }


def test_a_drive_is_driven_again_to_the_bit_and_with_another_driver(capsys, tmp_path):
    track = ring(tmp_path, straight=40.0, radius=20.0)
    code, first, _ = drive(capsys, tmp_path, "--sim=forza", f"--track={track}", "--car=kart", "--driver=line_follow",
                           "--laps=1", "--gain=learn=1", f"--memory={tmp_path / 'm.json'}")  # fmt: skip
    assert code == 0
    code, again, _ = drive(capsys, tmp_path, "--like", first["recording"])
    assert code == 0
    assert again["like"]["is_same"]
    assert again["like"]["differences"] == []
    code, other, _ = drive(capsys, tmp_path, "--like", first["recording"], "--car=gt3")
    assert other["like"]["differences"] == ["site.car: kart -> gt3"]
    assert not other["like"]["is_same"]


def test_whether_drives_without_a_lap_are_the_same_is_not_known(capsys, tmp_path):
    _, first, _ = drive(capsys, tmp_path, "--track=kartwerk", "--car=kart", "--driver=line_follow", "--seconds=0.1")
    _, again, _ = drive(capsys, tmp_path, "--like", first["recording"])
    assert (again["like"]["laps_before_s"], again["like"]["is_same"]) == ([], None)


def test_a_driver_that_has_changed_since_is_one_line(capsys, tmp_path):
    file = tmp_path / "mine.py"
    write_driver(file, "return Controls(steer=0.0, throttle=0.2)")
    words = ("--sim=beamng", "--track=proving_ground", f"--driver={file}", "--laps=0", "--seconds=1")
    _, first, _ = drive(capsys, tmp_path, *words)
    write_driver(file, "return Controls(steer=0.1, throttle=0.2)")
    code, refused, err = drive(capsys, tmp_path, "--like", first["recording"])
    assert code == 2
    assert "the driver has changed since that drive" in refused["error"]
    assert len([line for line in err.splitlines() if line.startswith("trailbrake: ")]) == 1
    assert drive(capsys, tmp_path, "--like", first["recording"], f"--driver={file}")[0] == 0  # named on purpose
    copy = tmp_path / "other.py"
    copy.write_bytes(file.read_bytes())
    code, other, _ = drive(capsys, tmp_path, "--like", first["recording"], f"--driver={copy}")
    assert code == 0
    assert other["like"]["differences"] == [f"cars[0].driver: {file} -> {copy}"]
    file.unlink()
    code, refused, _ = drive(capsys, tmp_path, "--like", first["recording"])
    assert code == 2
    assert "mine.py" in refused["error"]


def test_a_simulator_s_file_is_one_of_the_inputs_and_files_are_those_of_the_folder_it_was_driven_in(
    capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    file = Path("my_sim.py")
    file.write_bytes((EXAMPLES / "newline_json_sim.py").read_bytes())
    words = ("--sim=my_sim.py", "--track=kartwerk", "--car=kart", "--driver=cruise", "--laps=0", "--seconds=0.5")
    _, first, _ = drive(capsys, tmp_path, *words)
    file.write_text(file.read_text("utf-8").replace("PERIOD, STALE_AFTER_S", "PERIOD, STALE_AFTER_S ", 1), "utf-8")
    code, refused, _ = drive(capsys, tmp_path, "--like", first["recording"])
    assert (code, refused["error"].split(", expected")[0]) == (2, "my_sim.py: the sim has changed since that drive")
    assert drive(capsys, tmp_path, "--like", first["recording"], "--sim=my_sim.py")[0] == 0
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    code, refused, _ = drive(capsys, tmp_path, "--like", first["recording"])
    assert code == 2
    assert "go to the folder that it was driven in, or give --sim FILE" in refused["error"]


def test_a_file_of_a_drive(capsys, tmp_path):
    file = tmp_path / "drive.toml"
    file.write_text(
        '[site]\nkind = "embedded"\nsim = "beamng"\ntrack = "proving_ground"\n[[cars]]\ndriver = "cruise"\n'
        '[goal]\nkind = "seconds"\nseconds = 1.0\n',
        "utf-8",
    )
    code, summary, _ = drive(capsys, tmp_path, "--like", str(file))
    assert (code, summary["sim"], summary["driver"], summary["ended"]) == (0, "beamng", "cruise", "done")
    file.write_text("[site]\nkind = 'embedded'\ntrak = 'oval'\n", "utf-8")
    code, refused, _ = drive(capsys, tmp_path, "--like", str(file))
    assert code == 2
    assert "unknown field `trak`" in refused["error"]


def test_what_a_drive_keeps_is_part_of_it(capsys, tmp_path):
    file = tmp_path / "drive.json"
    keep = KeepSpec(out=str(tmp_path / "kept"), report=False, signals=("assetto.*",))
    spec = make_spec(track="proving_ground", driver="cruise", laps=0, seconds=0.5, **to_builtins(keep))
    file.write_text(json.dumps(write_spec(spec)), "utf-8")
    assert run_command_line(["drive", "--json", "--like", str(file)]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["report"], Path(summary["recording"]).parent) == (None, tmp_path / "kept")
    assert convert(summary["spec"]["keep"], KeepSpec) == keep
    words = [f"--out={tmp_path}", "--like", summary["recording"]]
    assert run_command_line(["drive", "--json", *words]) == 0
    again = json.loads(capsys.readouterr().out)
    assert (again["report"], again["spec"]["keep"]["signals"]) == (None, ["assetto.*"])
    assert run_command_line(["drive", "--json", "--report", *words]) == 0
    assert json.loads(capsys.readouterr().out)["report"]


def test_a_missing_run_and_another_wire_are_one_line(capsys, tmp_path):
    assert drive(capsys, tmp_path, "--like", "nothing")[0] == 2
    _, first, _ = drive(
        capsys, tmp_path, "--track=kartwerk", "--car=kart", "--driver=cruise", "--laps=0", "--seconds=1"
    )
    code, refused, _ = drive(capsys, tmp_path, "--like", first["recording"], "--sim=forza")
    assert code == 2
    assert "its own wire" in refused["error"]
