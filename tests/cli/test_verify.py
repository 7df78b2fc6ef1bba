import getpass
import json
import socket
from pathlib import Path

import pytest

from trailbrake.cli import verify
from trailbrake.cli.main import run_command_line
from trailbrake.driving import verification
from trailbrake.driving.verification import Verification
from trailbrake.sims.registry import find
from trailbrake.simulator import load_part
from trailbrake.wire_checks import Judgement

NAMES = ("assetto", "beamng", "forza", "trend")


def result_of(sim, verdict="does not hold", end_reason=""):
    judgements = []
    for assumption in load_part(find(sim).tools["verify"]).assumptions:
        is_text = isinstance(assumption.check, str)
        judgement = Judgement("undecided", assumption.check) if is_text else Judgement(verdict, "-0.123 +- 0.0045")
        judgements.append((assumption, judgement))
    return Verification(tuple(judgements), end_reason)


@pytest.fixture
def found(monkeypatch):
    """Replace the drive by a result; return where to put it."""
    results = []
    monkeypatch.setattr(verification, "verify_wire", lambda tool, setup, clock, say: results[0])
    return results


@pytest.mark.parametrize("sim", NAMES)
def test_lines_fit_a_terminal_and_break_no_id(sim):
    result = result_of(sim)
    lines = verify.list_judgements(result)
    assert max(map(len, lines)) <= verify.WIDTH
    for assumption, judgement in result.judgements:
        assert sum(assumption.id in line for line in lines) == 1
        statement = assumption.statement if judgement.verdict == "does not hold" else assumption.check
        assert "".join(statement.split()) in "".join("".join(lines).split())


def test_what_does_not_hold_comes_first_and_is_the_exit_code(found, tmp_path, capsys):
    found.append(result_of("forza"))
    out = tmp_path / "found.md"
    assert run_command_line(["verify", "forza", f"--out={out}"]) == 1
    captured = capsys.readouterr()
    assert captured.out.splitlines()[0].split()[:3] == ["does", "not", "hold"]
    assert "0 hold, 22 do not hold, 5 are undecided" in captured.out
    assert "Ctrl-C stops it" in " ".join(captured.err.split())
    found[0] = result_of("forza", "holds")
    assert run_command_line(["verify", "forza", f"--out={out}"]) == 0


def test_the_file_has_the_same_as_json_and_nothing_of_the_user(found, tmp_path, capsys):
    found.append(result_of("trend", end_reason="the car is too fast"))
    out = tmp_path / "found.md"
    assert run_command_line(["verify", "trend", f"--out={out}", "--json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    text = out.read_text(encoding="utf-8")
    written = json.loads(text.split("```json")[1].split("```")[0])
    assert written == printed
    assert written["end"] == "the car is too fast"
    assert {row["id"] for row in written["assumptions"]} == {a.id for a, _ in found[0].judgements}
    words = text.replace('"', " ").split()
    assert not {getpass.getuser(), socket.gethostname()} & set(words)
    assert str(tmp_path) not in text
    assert str(Path.home()) not in text


def test_a_folder_that_is_not_there_is_refused_before_the_drive(found, tmp_path, capsys):
    assert run_command_line(["verify", "forza", f"--out={tmp_path / 'none' / 'found.md'}"]) == 2
    assert "the folder does not exist" in capsys.readouterr().err


def test_ids_are_unique_and_begin_with_their_simulator():
    for sim in NAMES:
        ids = [a.id for a in load_part(find(sim).tools["verify"]).assumptions]
        assert len(set(ids)) == len(ids)
        assert all(name.startswith(f"{sim}-") for name in ids)
