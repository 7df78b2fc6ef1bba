"""`trailbrake VERB`: finds the verb, and turns every error of ours into one line and an exit code.

Exit codes: 0 done; 1 it ran and the answer is no; 2 wrong usage or a missing thing; 130 interrupted. Verbs are
imported when they are called, and each imports what it needs inside: help must stay fast.
"""

import io
import os
import re
import signal
import sys
from collections.abc import Sequence
from typing import Any

from cyclopts import (
    App,
    ArgumentCollection,
    CycloptsError,
    Group,
    MissingArgumentError,
    Parameter,
    UnusedCliTokensError,
)

from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.cli.flag_names import INSTALL, choose_short_flag, guess_flag, spell_out
from trailbrake.cli.output import print_json
from trailbrake.dashboard.options import WatchOptions
from trailbrake.errors import TrailbrakeError, UsageError, describe_os_error
from trailbrake.learning.options import LearnOptions
from trailbrake.sims import registry
from trailbrake.simulator import AnySimulator
from trailbrake.system.processes import exit_without_threads
from trailbrake.version import __version__

_HOME = re.compile(r"^(--[\w-]+=)?~(?=$|[/\\])")  # what no shell of Windows replaces, and bash not behind a flag
_DEFAULT_SIM: dict[str, str] = {"learn": LearnOptions.sim, "watch": WatchOptions.sim, "record": "forza"}

# The verbs as `--help` shows them.
_GROUPS = {
    "Drive": ("drive", "race"),
    "Look at drives": ("runs", "report", "steward", "compare", "coach", "replay", "watch", "export", "leaderboard"),
    "Games": ("setup", "doctor", "verify", "sniff", "probe", "serve", "sim", "record", "pad-check"),
    "Make faster": ("learn", "line", "reference", "tune", "train", "evaluate", "export-fmu"),
    "Lists": ("sims", "drivers", "tracks", "cars", "check", "bench"),
}


def build_command_line(simulator: AnySimulator, verb: str = "", name: str = "", tokens: Sequence[str] = ()) -> App:
    """Return the command line.

    Args:
        simulator: whose live flags `drive`, `learn`, `record` and `watch` have.
        verb: the verb that gets its sub-commands, one per simulator; the others do not need theirs.
        name: the simulator whose sub-command is needed; all of them where it is none.
        tokens: the command line: what it names is no default.
    """
    from trailbrake.cli import (
        bench,
        check,
        coach,
        compare,
        drive,
        evaluate,
        export,
        learn,
        line,
        listings,
        race,
        record,
        replay,
        runs,
        serve,
        simulator_tools,
        train,
    )
    from trailbrake.cli import simulator_control as sim_verb

    app = App(
        name="trailbrake",
        help="Write an AI driver once. Drive it in a racing game, or with no game at all.",
        version=__version__,
        version_flags=("--version", "-V"),
        default_parameter=Parameter(negative_iterable=(), short_alias=choose_short_flag),
        suppress_keyboard_interrupt=False,  # `run` says so
        config=_refuse_fractions,
    )
    verbs: tuple[Any, ...] = (
        drive.build_drive_command(simulator, tokens), serve.build_serve_app(verb, name),
        sim_verb.build_control_app(verb, name), record.build_record_command(simulator, requested=verb == "record"),
        replay.replay, export.report, race.steward, compare.compare, coach.coach, runs.runs, export.export,
        record.build_watch_command(simulator), learn.build_learn_app(simulator), line.line, line.reference, train.tune,
        evaluate.evaluate, race.race, race.leaderboard, train.build_train_app(), simulator_tools.pad_check,
        export.export_fmu, listings.sims, listings.drivers, listings.tracks, listings.cars, check.check,
        bench.build_bench_app(), *simulator_tools.build_tool_apps(verb, name),
    )  # fmt: skip
    for each in verbs:
        app.command(each)
    for title, names in _GROUPS.items():
        group = Group.create_ordered(title)
        for chosen in names:
            app[chosen].group = group
    app.register_install_completion_command(INSTALL)
    return app


def _refuse_fractions(app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Refuse a number with a fraction where a whole one is due: cyclopts would round it."""
    for argument in arguments:
        for token in argument.tokens if argument.hint in (int, int | None) else ():
            if re.search(r"\.\d*[1-9]", token.value):
                raise UsageError("no whole number", where=argument.name, got=token.value)


def _find_sim_flag(tokens: list[str]) -> str:
    """Return the value of --sim, before parsing: each simulator brings its own flags for its live doors."""
    for i, token in enumerate(map(spell_out, tokens)):
        if token.startswith("--sim="):
            return token[6:]
        if token == "--sim" and i + 1 < len(tokens):
            return tokens[i + 1]
    verb = tokens[0] if tokens else ""
    return _DEFAULT_SIM.get(verb, DriveFlags.sim)


def _expand_home(found: re.Match[str]) -> str:
    return (found[1] or "") + os.path.expanduser("~")


def run_command_line(tokens: list[str]) -> int:
    """Run one command line and return its exit code."""
    tokens = [_HOME.sub(_expand_home, token) for token in tokens]
    if tokens[:1] in (["help"], ["version"]):  # as other programs have it
        tokens = [*tokens[1:], f"--{tokens[0]}"]
    try:
        completes = tokens[:1] == ["__complete"]  # a shell asks what may stand at its cursor, behind these words
        words = tokens[1:] if completes else tokens
        verb, name = [*words, "", ""][:2]
        sim = _find_sim_flag(words)
        simulator = registry.find(DriveFlags.sim if completes and sim not in registry.simulator_names() else sim)
        app = build_command_line(simulator, verb, name, tokens)
        result: Any = app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
        return result if isinstance(result, int) else 0
    except TrailbrakeError as error:
        return _print_refusal(tokens, str(error), 2)
    except CycloptsError as error:
        return _print_refusal(tokens, _describe_usage(error), 2)
    except KeyboardInterrupt:
        return _print_refusal(tokens, "interrupted", 130)
    except BrokenPipeError:  # `trailbrake tracks | head` is no error
        sys.stderr.close()
        return 0
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # rich has caught it
            return 0
        raise
    except OSError as error:  # a full disk, mostly, or a file that may not be touched
        where = f"{error.filename}: " if error.filename is not None else _name_full_output()
        print(f"trailbrake: {where}{describe_os_error(error)}", file=sys.stderr)
        return 2  # and no object with --json: it may be stdout that is full


def _name_full_output() -> str:
    """Return the name of standard output, and leave it, where what waits for it cannot be written; else ""."""
    try:
        sys.stdout.flush()
    except OSError:
        sys.stdout = io.StringIO()  # else its end fails once more, with a traceback
        return "standard output: "
    return ""


def _describe_usage(error: CycloptsError) -> str:
    """Return what is wrong with a command line, and the page of help that says what is right."""
    chain = " ".join(error.command_chain or ())
    line = " ".join(str(error).split()).replace(", ...", " and others").rstrip(".")
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        word = error.unused_tokens[0]
        guess = guess_flag(word) or ("--help" if word == "help" else "")
        line = f'"{word}" stands without a flag' + (f"; did you mean {guess}?" if guess else "")
    if isinstance(error, MissingArgumentError) and error.argument is not None and error.argument.index is not None:
        line = f"{chain}: no {error.argument.name.lstrip('-').upper()} given"
    return f"{line}; see trailbrake {chain} --help".replace("  ", " ")


def _print_refusal(tokens: list[str], line: str, code: int) -> int:
    """Print on stderr, and with --json on stdout too, why there is no result; return the exit code."""
    print(f"trailbrake: {line}", file=sys.stderr)
    if "--json" in tokens:  # an object on stdout in any case
        print_json({"error": line})
    return code


def main() -> None:
    """The console script."""
    code = run_command_line(sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # what was to be done is done
    exit_without_threads(code)
