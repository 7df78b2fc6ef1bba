import contextlib
import io
import json
import types
from dataclasses import dataclass

from rich.console import Console

from trailbrake.cli import per_sim
from trailbrake.findings import Field, Finding


def findings(options):
    yield Finding("port", "ok", "free")
    yield Finding("packets [per second]", "problem", "none came", "start the game")
    yield Finding("firewall", "unknown", "cannot be seen")


def a_doctor():
    return types.SimpleNamespace(examine=findings)


def test_a_doctor_prints_what_it_found_and_answers_no(capsys):
    assert per_sim.doctor(a_doctor(), None, False) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0].split() == ["ok", "port:", "free"]
    assert out[1].split() == ["PROBLEM", "packets", "[per", "second]:", "none", "came"]
    assert out[2].strip() == "start the game"
    assert out[3].split()[0] == "?"


def test_a_doctor_in_json(capsys):
    healthy = types.SimpleNamespace(examine=lambda options: [Finding("port", "ok", "free")])
    assert per_sim.doctor(healthy, None, True) == 0
    out = json.loads(capsys.readouterr().out)
    assert out == {"findings": [{"name": "port", "verdict": "ok", "found": "free", "advice": ""}]}


def test_setup_says_each_line_as_it_is_done(capsys):
    module = types.SimpleNamespace(run=lambda options: iter(["wrote a", "wrote b"]))
    assert per_sim.setup(module, None, False) == 0
    assert capsys.readouterr().out == "wrote a\nwrote b\n"
    per_sim.setup(module, None, True)
    assert json.loads(capsys.readouterr().out) == {"done": ["wrote a", "wrote b"]}


def test_probe_prints_its_figures(capsys):
    module = types.SimpleNamespace(run=lambda options, say, answer: say("measuring") or {"round trip us": 12.3456789})
    assert per_sim.probe(module, types.SimpleNamespace(driver=""), False) == 0
    captured = capsys.readouterr()
    assert "12.3457" in captured.out
    assert captured.err == "measuring\n"


def test_sniff_into_a_pipe_prints_once(capsys):
    @contextlib.contextmanager
    def watch(options):
        yield lambda: [Field("Car0", "speed", "12.5", "m/s")]

    module = types.SimpleNamespace(__name__="trailbrake.sims.other.sniff", watch=watch)
    assert per_sim.sniff(module, None, False) == 0
    assert "Car0" in capsys.readouterr().out
    per_sim.sniff(module, None, True)
    fields = json.loads(capsys.readouterr().out)["fields"]
    assert fields == [{"group": "Car0", "name": "speed", "value": "12.5", "unit": "m/s"}]


def rendered(view):
    console = Console(file=io.StringIO(), force_terminal=True, width=100, color_system="standard")
    console.print(view)
    return console.file.getvalue()


def test_changed_values_glow_for_a_while():
    yellow = "\x1b[1;33m"
    glow, last = {}, {}
    assert yellow not in rendered(per_sim.live_view([Field("a", "x", "1"), Field("b", "y", "7")], last, glow))
    view = rendered(per_sim.live_view([Field("a", "x", "2"), Field("b", "y", "7")], {("a", "x"): "1"}, glow))
    assert f"{yellow}2" in view
    assert f"{yellow}7" not in view
    shown = [yellow in rendered(per_sim.live_view([Field("a", "x", "2")], {("a", "x"): "2"}, glow)) for _ in range(8)]
    assert shown[0]
    assert not shown[-1]


def test_a_folder_with_the_module_has_the_verb(monkeypatch):
    @dataclass
    class Options:
        """Look at the game.

        Attributes:
            wait: seconds to wait.
        """

        wait: float = 1.0

    seen = []
    module = types.SimpleNamespace(Options=Options, examine=lambda options: seen.append(options) or [])
    monkeypatch.setattr(per_sim.registry, "having", lambda name: ["other"] if name == "doctor" else [])
    monkeypatch.setattr(per_sim.registry, "part", lambda sim, name: module)
    (app,) = per_sim.apps("doctor")
    app(["other", "--wait", "3"], exit_on_error=False, result_action="return_value")
    assert seen == [Options(3.0)]
