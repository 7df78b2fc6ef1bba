"""`verify NAME`: some minutes with the real game, and a file of what was found, without personal data, for an issue."""

import json
import platform
import sys
import textwrap
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trailbrake.cli.output import print_json, print_notice
from trailbrake.errors import UsageError
from trailbrake.simulator import AnySimulator
from trailbrake.user_files import write_whole
from trailbrake.version import __version__

if TYPE_CHECKING:  # help imports this module: it must stay cheap
    from trailbrake.driving.verification import Verification
    from trailbrake.simulator_tools import VerifyTool

WIDTH = 80  # characters
_ORDER = ("does not hold", "holds", "undecided")


def print_verification(simulator: AnySimulator, tool: "VerifyTool", live: object, out: Path, *, json: bool) -> int:
    """Drive the live car, print what holds, and write the file; return 1 where something does not hold."""
    from trailbrake.driving.session.drive_setup import make_setup
    from trailbrake.driving.spec import DriveSpec, KeepSpec, LiveSite, list_changes
    from trailbrake.driving.verification import list_steps, verify_wire
    from trailbrake.system import steady_clock

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
