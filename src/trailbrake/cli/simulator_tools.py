"""The verbs that examine one simulator: `doctor`, `setup`, `sniff`, `probe`, `verify`, where it has such a tool.

`pad-check`: does what we command reach the game?
"""

import dataclasses
import json
import math
import platform
import sys
import textwrap
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from cyclopts import App, Parameter

from trailbrake.cli.flag_names import INSTALL, choose_simulators_with, command_name
from trailbrake.cli.output import JsonFlag, print_json, print_notice, print_table
from trailbrake.driving.options import PadCheckOptions
from trailbrake.errors import UsageError
from trailbrake.findings import OWN_COUNTS, WireField
from trailbrake.sims import registry
from trailbrake.simulator import AnySimulator, load_part
from trailbrake.user_files import check_result, write_whole
from trailbrake.version import __version__

if TYPE_CHECKING:  # help imports this module: it must stay cheap
    from trailbrake.driving.verification import Verification
    from trailbrake.simulator_tools import DoctorTool, ProbeTool, SetupTool, SniffTool, VerifyTool

WIDTH = 80  # characters
_ORDER = ("does not hold", "holds", "undecided")
_MARKS = {"ok": "ok", "problem": "PROBLEM", "unknown": "?"}
_STYLES = {"ok": "green", "problem": "bold red", "unknown": "yellow"}
_SNIFF_PERIOD = 0.1  # s between looks on a terminal
_HIGHLIGHT_LOOKS = 5  # looks for which a changed value stays highlighted
Command = Callable[..., int]
SecondsFlag = Annotated[float, Parameter(help="s to watch; 0 = until stopped, once without a terminal")]
OutFlag = Annotated[Path | None, Parameter(help="the findings; default trailbrake-verify-NAME.md in this folder")]


def print_verification(simulator: AnySimulator, tool: "VerifyTool", live: object, out: Path, *, json: bool) -> int:
    """Drive the live car, print what holds, and write the file; return 1 where something does not hold."""
    from trailbrake.driving.session.drive_setup import make_setup
    from trailbrake.driving.spec import DriveSpec, KeepSpec, LiveSite, list_changes
    from trailbrake.driving.verification import list_steps, verify_wire
    from trailbrake.system import steady_clock

    check_result(out, ".md")
    if not out.absolute().parent.is_dir():
        raise UsageError("the folder does not exist", where=f"--out {out}")
    seconds = sum(step.seconds for step in list_steps(tool))
    print_notice(
        f"The car will drive by itself for {seconds:.0f} s, at about {tool.pace:g} m/s.\n"
        + textwrap.fill(f"Put it on {tool.place}, and leave the wheel and the keys alone. Ctrl-C stops it.", WIDTH)
    )
    if sys.stdin.isatty():
        print("Enter starts it.", end="", file=sys.stderr, flush=True)
        sys.stdin.readline()
    site = LiveSite(sim=simulator.name, options=list_changes(live))
    setup = make_setup(simulator, DriveSpec(site=site, keep=KeepSpec(signals=tool.signals)), live)
    result = verify_wire(tool, setup, lambda car: steady_clock.now(), print_notice)
    content = describe_verification(simulator.name, result)
    write_whole(out, write_report(content, result).encode(), "the report")
    if json:
        print_json(content)
    else:
        print("\n".join(list_judgements(result)))
        print(f"\n{content['summary']}\nThe file {out} says so, without your name or paths:"
              "\nadd which game, version and car it was, and send it as an issue.")  # fmt: skip
    return int(result.count("does not hold") > 0)


def describe_verification(sim: str, result: "Verification") -> dict[str, Any]:
    """Return what was found as JSON values; nothing in it is about the user or the machine's names."""
    return {
        "version": 1,
        "trailbrake": __version__,
        "sim": sim,
        "system": platform.system(),
        "date": datetime.now(UTC).date().isoformat(),
        "summary": f"{result.count('holds')} hold, {result.count('does not hold')} do not hold, "
        f"{result.count('undecided')} are undecided",
        "end": result.end_reason,
        "assumptions": [
            {"id": assumption.id, "verdict": judgement.verdict, "found": judgement.found}
            for assumption, judgement in result.judgements
        ],
    }


def write_report(content: dict[str, Any], result: "Verification") -> str:
    """Return the text for an issue: what was found for people, and the same as JSON."""
    heading = f"# verify {content['sim']}: {content['summary']}"
    facts = f"trailbrake {content['trailbrake']}, {content['system']}, {content['date']}"
    listed = "\n".join(["```", *list_judgements(result), "```"])
    data = f"```json\n{json.dumps(content, indent=1)}\n```"
    parts = [heading, facts, "Game, version, car, track: (please fill in)", listed, data]
    return "\n\n".join(parts) + "\n"


def list_judgements(result: "Verification") -> list[str]:
    """Return lines of at most WIDTH characters, what does not hold first; no id is broken."""
    lines = [f"the drive ended early: {result.end_reason}"] if result.end_reason else []
    for wanted in _ORDER:
        for assumption, (verdict, found) in result.judgements:
            if verdict != wanted:
                continue
            is_measured = not isinstance(assumption.check, str)
            lines.append(f"{verdict:>13}  {assumption.id}" + (f"  {found}" if is_measured else ""))
            notes = [] if is_measured else [found]
            if verdict == "does not hold" and not isinstance(assumption.check, str):
                notes = [assumption.statement, f"measured: {assumption.check.text}", f"else: {assumption.symptom}"]
            for note in notes:
                lines += textwrap.wrap(note, WIDTH, initial_indent=" " * 15, subsequent_indent=" " * 17,
                                       break_long_words=False)  # fmt: skip
    return lines


def print_diagnosis(tool: "DoctorTool[Any]", options: object, *, json: bool) -> int:
    """Print the findings; 1 where there is a problem."""
    from rich.console import Console
    from rich.text import Text

    found = []
    console = Console(file=sys.stderr if json else sys.stdout, soft_wrap=True)
    for finding in tool.examine(options):
        found.append(finding)
        line = Text(f"{_MARKS[finding.verdict]:>8}  ", _STYLES[finding.verdict])
        line.append(f"{finding.name}: {finding.found}", "default")
        console.print(line)
        if finding.advice:
            console.print(Text(f"          {finding.advice}"))
    if json:
        print_json({"findings": [dataclasses.asdict(finding) for finding in found]})
    return int(any(finding.verdict == "problem" for finding in found))


def print_setup(tool: "SetupTool[Any]", options: object, *, json: bool) -> int:
    """Print what was done."""
    lines = []
    for line in tool.run(options):
        lines.append(line)
        print(line, file=sys.stderr if json else sys.stdout, flush=True)
    if json:
        print_json({"done": lines})
    return 0


def print_probe(tool: "ProbeTool[Any]", options: Any, *, json: bool) -> int:
    """Print what was measured."""
    result = tool.run(options, print_notice)
    if json:
        print_json(result)
    else:
        print_table("Measured", ["what", "value"], [[name, _format_value(value)] for name, value in result.items()])
    return 0


def _format_value(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def print_wire(
    simulator: AnySimulator, tool: "SniffTool[Any]", options: object, *, json: bool, seconds: float = 0.0
) -> int:
    """Show the live fields for `seconds`, 0 = until stopped; where the output is no terminal, once at the end.

    Returns 1 where nothing but our own counts was there to show.
    """
    if not 0.0 <= seconds < math.inf:
        raise UsageError("no number of seconds", where="--seconds", expected="0 or more", got=f"{seconds:g}")
    end = time.monotonic() + seconds
    with tool.watch(options) as look:
        if sys.stdout.isatty() and not json:
            return _check_wire_data(simulator, _show_live_wire(look, end if seconds else math.inf))
        fields = look()
        while time.monotonic() < end:
            time.sleep(min(_SNIFF_PERIOD, max(end - time.monotonic(), 0.0)))
            fields = look()
    if json:
        print_json({"fields": [dataclasses.asdict(field) for field in fields]})
    else:
        print_table(simulator.name, ["page", "field", "value", "unit"],
                    [[f.group, f.name, f.value, f.unit] for f in fields])  # fmt: skip
    return _check_wire_data(simulator, fields)


def _check_wire_data(simulator: AnySimulator, fields: list[WireField]) -> int:
    if any(field.group != OWN_COUNTS for field in fields):
        return 0
    print_notice(f"trailbrake: no data of {simulator.name} has come; trailbrake doctor {simulator.name} finds out why")
    return 1


def _show_live_wire(look: Callable[[], list[WireField]], end: float) -> list[WireField]:
    from rich.live import Live

    glow: dict[tuple[str, str], int] = {}
    last: dict[tuple[str, str], str] = {}
    fields: list[WireField] = []
    with Live(screen=True, auto_refresh=False) as screen:
        try:
            while time.monotonic() < end:
                fields = look()
                screen.update(layout_wire_fields(fields, last, glow), refresh=True)
                last = {(f.group, f.name): f.value for f in fields}
                time.sleep(_SNIFF_PERIOD)
        except KeyboardInterrupt:
            pass
    return fields


def layout_wire_fields(
    fields: list[WireField], last: dict[tuple[str, str], str], highlight: dict[tuple[str, str], int]
) -> Any:
    """Return the fields in columns, those that changed of late highlighted.

    Args:
        fields: what is there now.
        last: {(group, name): value} of the look before.
        highlight: {(group, name): looks for which it is still highlighted}; kept up to date here.
    """
    from rich.columns import Columns
    from rich.table import Table
    from rich.text import Text

    tables: dict[str, Table] = {}
    for field in fields:
        key = (field.group, field.name)
        changed = last.get(key, field.value) != field.value
        highlight[key] = _HIGHLIGHT_LOOKS if changed else max(highlight.get(key, 0) - 1, 0)
        if field.group not in tables:
            tables[field.group] = Table(title=field.group, box=None, title_justify="left", title_style="bold cyan")
            tables[field.group].show_header = False
        value = Text(field.value, "bold yellow" if highlight[key] else "")
        tables[field.group].add_row(Text(field.name, "dim"), value, Text(field.unit, "dim"))
    return Columns(tables.values(), padding=(0, 3))


class _ToolVerb(NamedTuple):
    """The verb of a tool: what it does, for help, and how it is run."""

    text: str
    run: Callable[[AnySimulator, Any, Any, bool], int]  # simulator, tool, options, json


_TOOL_VERBS = {
    "doctor": _ToolVerb(
        "Say why there is no data from a game, and what to do.",
        lambda simulator, tool, options, json: print_diagnosis(tool, options, json=json),
    ),
    "setup": _ToolVerb(
        "Make a game ready.", lambda simulator, tool, options, json: print_setup(tool, options, json=json)
    ),
    "sniff": _ToolVerb(
        "Show a live wire as named fields.",
        lambda simulator, tool, options, json: print_wire(simulator, tool, options, json=json),
    ),
    "probe": _ToolVerb(
        "Measure a live wire's timing.", lambda simulator, tool, options, json: print_probe(tool, options, json=json)
    ),
}


def _build_verify_command(simulator: AnySimulator, tool: "VerifyTool") -> Command:
    options = simulator.live_options

    def verify(*, live: Any = None, out: OutFlag = None, json: JsonFlag = False) -> int:
        out = out or Path(f"trailbrake-verify-{simulator.name}.md")
        return print_verification(simulator, tool, live or options(), out, json=json)

    verify.__annotations__["live"] = Annotated[options | None, Parameter(name="*")]
    verify.__doc__ = f"Find out whether {simulator.title} is as our code assumes. The car will move."
    return verify


def _build_command(verb: _ToolVerb, simulator: AnySimulator, tool: Any) -> Command:

    def run_tool(*, options: Any = None, json: JsonFlag = False) -> int:
        return verb.run(simulator, tool, options or tool.options(), json)

    def watch_wire(*, options: Any = None, seconds: SecondsFlag = 0.0, json: JsonFlag = False) -> int:
        return print_wire(simulator, tool, options or tool.options(), json=json, seconds=seconds)

    command: Command = watch_wire if verb is _TOOL_VERBS["sniff"] else run_tool
    # The flags come from the tool's own options; cyclopts reads them off the annotations.
    command.__annotations__["options"] = Annotated[tool.options | None, Parameter(name="*")]
    command.__doc__ = (tool.options.__doc__ or "").splitlines()[0]
    return command


def build_tool_apps(requested: str, name: str) -> list[App]:
    """Return one verb per kind of tool.

    Only the `requested` verb gets its sub-commands, one per simulator with that tool, or the one called `name` alone:
    they import the tools' modules.
    """
    apps = []
    for verb_name, verb in _TOOL_VERBS.items():
        app = App(name=verb_name, help=verb.text)
        for simulator in choose_simulators_with(verb_name, name) if requested in (verb_name, INSTALL) else ():
            given: Mapping[str, object] = simulator.tools
            app.command(
                _build_command(verb, simulator, load_part(given[verb_name])), name=command_name(simulator, name)
            )
        apps.append(app)
    verify = App(name="verify", help="Check with a live game, in some minutes, what our code assumes of it.")
    for simulator in choose_simulators_with("verify", name) if requested == "verify" else ():
        verify.command(
            _build_verify_command(simulator, load_part(simulator.tools["verify"])),
            name=command_name(simulator, name),
        )
    return [*apps, verify]


def pad_check(*, options: Annotated[PadCheckOptions | None, Parameter(name="*")] = None, json: JsonFlag = False) -> int:
    """Move the steer and the throttle of a simulator and compare what it says that it took. The car will move."""
    from trailbrake.driving.pad_check import check_pad

    options = options or PadCheckOptions()
    found = check_pad(registry.find(options.sim), options, print_notice)
    if json:
        print_json(
            {"ok": all(f.all_matched for f in found), "axes": [asdict(f) | {"ok": f.all_matched} for f in found]}
        )
    else:
        print_table(
            "Commands and what came back",
            ["axis", "commanded", "came back", "worst", "after", ""],
            [[f.axis, str(f.sent), str(f.matched), f"{f.worst:.4f}", f"{f.delay * 1e3:.0f} ms", f.verdict]
             for f in found],
        )  # fmt: skip
    return 0 if all(f.all_matched for f in found) else 1
