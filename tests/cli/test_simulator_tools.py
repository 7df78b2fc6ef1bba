import contextlib
import getpass
import io
import json
import socket
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from rich.console import Console

from trailbrake.cli import simulator_tools
from trailbrake.cli.main import run_command_line
from trailbrake.driving import verification
from trailbrake.driving.verification import Verification
from trailbrake.findings import OWN_COUNTS, Finding, WireField
from trailbrake.sims import registry
from trailbrake.sims.registry import find
from trailbrake.simulator import load_part
from trailbrake.simulator_tools import DoctorTool, ProbeTool, SetupTool, SniffTool
from trailbrake.wire_checks import Judgement


def findings(options):
    yield Finding("port", "ok", "free")
    yield Finding("packets [per second]", "problem", "none came", "start the game")
    yield Finding("firewall", "unknown", "cannot be seen")


def a_doctor():
    return DoctorTool(object, findings)


def test_a_doctor_prints_what_it_found_and_answers_no(capsys):
    assert simulator_tools.print_diagnosis(a_doctor(), None, json=False) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0].split() == ["ok", "port:", "free"]
    assert out[1].split() == ["PROBLEM", "packets", "[per", "second]:", "none", "came"]
    assert out[2].strip() == "start the game"
    assert out[3].split()[0] == "?"


def test_a_doctor_in_json(capsys):
    healthy = DoctorTool(object, lambda options: iter([Finding("port", "ok", "free")]))
    assert simulator_tools.print_diagnosis(healthy, None, json=True) == 0
    out = json.loads(capsys.readouterr().out)
    assert out == {"findings": [{"name": "port", "verdict": "ok", "found": "free", "advice": ""}]}


def test_setup_says_each_line_as_it_is_done(capsys):
    tool = SetupTool(object, lambda options: iter(["wrote a", "wrote b"]))
    assert simulator_tools.print_setup(tool, None, json=False) == 0
    assert capsys.readouterr().out == "wrote a\nwrote b\n"
    simulator_tools.print_setup(tool, None, json=True)
    assert json.loads(capsys.readouterr().out) == {"done": ["wrote a", "wrote b"]}


def test_probe_prints_its_figures(capsys):
    tool = ProbeTool(object, lambda options, say: say("measuring") or {"round trip us": 12.3456789})
    assert simulator_tools.print_probe(tool, None, json=False) == 0
    captured = capsys.readouterr()
    assert "12.3457" in captured.out
    assert captured.err == "measuring\n"


def test_sniff_into_a_pipe_prints_once(capsys):
    @contextlib.contextmanager
    def watch(options):
        yield lambda: [WireField("Car0", "speed", "12.5", "m/s")]

    tool = SniffTool(object, watch)
    assert simulator_tools.print_wire(find("beamng"), tool, None, json=False) == 0
    assert "Car0" in capsys.readouterr().out
    simulator_tools.print_wire(find("beamng"), tool, None, json=True)
    fields = json.loads(capsys.readouterr().out)["fields"]
    assert fields == [{"group": "Car0", "name": "speed", "value": "12.5", "unit": "m/s"}]


def test_sniff_without_data_fails_with_a_line(capsys):
    @contextlib.contextmanager
    def watch(options):
        yield lambda: [WireField(OWN_COUNTS, "datagrams", "0")]

    for as_json in (False, True):
        assert simulator_tools.print_wire(find("forza"), SniffTool(object, watch), None, json=as_json) == 1
        captured = capsys.readouterr()
        assert "datagrams" in captured.out
        assert captured.err == "trailbrake: no data of forza has come; trailbrake doctor forza finds out why\n"


def rendered(view):
    console = Console(file=io.StringIO(), force_terminal=True, width=100, color_system="standard")
    console.print(view)
    return console.file.getvalue()


def test_changed_values_glow_for_a_while():
    yellow = "\x1b[1;33m"
    glow, last = {}, {}
    assert yellow not in rendered(
        simulator_tools.layout_wire_fields([WireField("a", "x", "1"), WireField("b", "y", "7")], last, glow)
    )
    view = rendered(
        simulator_tools.layout_wire_fields(
            [WireField("a", "x", "2"), WireField("b", "y", "7")], {("a", "x"): "1"}, glow
        )
    )
    assert f"{yellow}2" in view
    assert f"{yellow}7" not in view
    shown = [
        yellow in rendered(simulator_tools.layout_wire_fields([WireField("a", "x", "2")], {("a", "x"): "2"}, glow))
        for _ in range(8)
    ]
    assert shown[0]
    assert not shown[-1]


def test_a_simulator_with_the_tool_has_the_verb(monkeypatch):
    @dataclass
    class Options:
        """Look at the game.

        Attributes:
            wait: seconds to wait.
        """

        wait: float = 1.0

    seen = []
    tool = DoctorTool(Options, lambda options: iter(seen.append(options) or ()))
    other = replace(find("trend"), name="other", tools={"doctor": tool})
    listing = registry.Listing([find("beamng"), other], [])
    monkeypatch.setattr(registry, "list_simulators", lambda: listing)
    app = {app.name[0]: app for app in simulator_tools.build_tool_apps("doctor", "")}["doctor"]
    app(["other", "--wait", "3"], exit_on_error=False, result_action="return_value")
    assert seen == [Options(3.0)]


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
    lines = simulator_tools.list_judgements(result)
    assert max(map(len, lines)) <= simulator_tools.WIDTH
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
