"""`trailbrake VERB`: finds the verb, and turns every error of ours into one line and an exit code.

Exit codes: 0 done; 1 it ran and the answer is no; 2 wrong usage or a missing thing; 130 interrupted. Verbs are
imported when they are called, and each imports what it needs inside: help must stay fast.
"""

import sys
from typing import Any

from cyclopts import App, CycloptsError, Parameter

from trailbrake import __version__
from trailbrake.cli.output import print_json
from trailbrake.dashboard.options import WatchOptions
from trailbrake.errors import TrailbrakeError
from trailbrake.run.options import DriveOptions, LearnOptions

_DEFAULT_SIM: dict[str, str] = {
    "learn": LearnOptions.sim,
    "watch": WatchOptions.sim,
    "record": "forza",
}


def command_line(sim: str, verb: str = "") -> App:
    """Return the command line, with the live flags of simulator `sim` and what is under `verb` alone."""
    from trailbrake.cli import (
        bench,
        drive,
        export,
        export_fmu,
        leaderboard,
        learn,
        lists,
        pad_check,
        per_sim,
        race,
        record,
        replay,
        report,
        serve,
        train,
        tune,
        watch,
    )
    from trailbrake.cli import sim as sim_verb

    app = App(
        name="trailbrake",
        help="Write an AI driver once. Drive it in a racing game, or with no game at all.",
        version=__version__,
        default_parameter=Parameter(negative_iterable=()),
        suppress_keyboard_interrupt=False,  # `run` says so
    )
    app.command(drive.verb(sim), name="drive")
    app.command(serve.app())
    app.command(sim_verb.app(verb))
    app.command(record.verb(sim), name="record")
    app.command(replay.replay)
    app.command(report.report)
    app.command(export.export)
    app.command(watch.verb(sim), name="watch")
    app.command(learn.verb(sim), name="learn")
    app.command(tune.tune)
    app.command(train.app())
    app.command(race.race)
    app.command(leaderboard.leaderboard)
    app.command(pad_check.pad_check)
    app.command(export_fmu.export_fmu)
    app.command(lists.sims)
    app.command(lists.drivers)
    app.command(lists.tracks)
    app.command(lists.cars)
    app.command(bench.app())
    for extra in per_sim.apps(verb):
        app.command(extra)
    return app


def _sim_in(tokens: list[str]) -> str:
    """Return the value of --sim, before parsing: each simulator brings its own flags for its live doors."""
    for i, token in enumerate(tokens):
        if token.startswith("--sim="):
            return token[6:]
        if token == "--sim" and i + 1 < len(tokens):
            return tokens[i + 1]
    verb = tokens[0] if tokens else ""
    return _DEFAULT_SIM.get(verb, DriveOptions.sim)


def run(tokens: list[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        app = command_line(_sim_in(tokens), tokens[0] if tokens else "")
        result: Any = app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
        return result if isinstance(result, int) else 0
    except TrailbrakeError as error:
        return _refuse(tokens, str(error), 2)
    except CycloptsError as error:
        return _refuse(tokens, f"{' '.join(str(error).split()).rstrip('.')}; see trailbrake --help", 2)
    except KeyboardInterrupt:
        return _refuse(tokens, "interrupted", 130)
    except BrokenPipeError:  # `trailbrake tracks | head` is no error
        sys.stderr.close()
        return 0
    except OSError as error:  # a full disk, mostly, or a file that may not be touched
        where = f"{error.filename}: " if error.filename is not None else ""
        print(f"trailbrake: {where}{error.strerror or error}", file=sys.stderr)
        return 2  # and no object with --json: it may be stdout that is full


def _refuse(tokens: list[str], line: str, code: int) -> int:
    """Say on stderr, and with --json on stdout too, why there is no answer; return the exit code."""
    print(f"trailbrake: {line}", file=sys.stderr)
    if "--json" in tokens:  # who asked for one object gets one
        print_json({"error": line})
    return code


def main() -> None:
    """The console script."""
    sys.exit(run(sys.argv[1:]))
