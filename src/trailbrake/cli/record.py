"""`record`: what a simulator sends, while somebody else drives."""

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from trailbrake.cli.output import Json, print_json
from trailbrake.errors import UsageError, near
from trailbrake.sims import registry


def verb(sim: str) -> Callable[..., int]:
    """Return the verb with the flags of the recorder of `sim`."""
    able = registry.having("recorder")
    spec = registry.part(sim if sim in able else able[0], "spec") if able else None

    def record(
        port: int | None = None,
        output: Path | None = None,
        /,
        *,
        options: Any = None,
        sim: str = sim,
        live: bool = False,
        source: Annotated[Path | None, Parameter(name="--from")] = None,
        out: Path | None = None,
        seconds: float = 0.0,
        json: Json = False,
    ) -> int:
        if not live and source is None:
            raise UsageError("nothing to record", where="record", hint="--live listens to a game, --from reads a file")
        if live and source is not None:
            raise UsageError("either --live or --from", where="record")
        if sim not in able:
            raise UsageError("no recorder for this simulator", where="--sim", got=sim, hint=near(sim, able))
        if not 0.0 <= seconds < math.inf:
            raise UsageError("no number of seconds", where="--seconds", expected="0 or more", got=f"{seconds:g}")
        from trailbrake.run.record import record as run_record

        result = run_record(
            sim, options, port=port, output=output, source=source, out=out, seconds=seconds,
            say=lambda text: print(text, file=sys.stderr, flush=True),
        )  # fmt: skip
        if json:
            print_json(result)
        else:
            _print(result)
        if result["recording_error"]:
            print(f"trailbrake: {result['recording_error']}", file=sys.stderr)
        if result["link"]["received"] == 0:
            hint = f"; trailbrake doctor {sim} says why" if live and sim in registry.having("doctor") else ""
            print(f"trailbrake: nothing was recorded{hint}", file=sys.stderr)
            return 1
        return 0

    if spec is not None:
        record.__annotations__["options"] = Annotated[spec.RecordOptions | None, Parameter(name="*")]
    record.__doc__ = """Record a session that somebody else drives.

    With an output or a YAML file it is a table; without, a recording with a report, and every datagram as it came.

    Args:
        port: UDP port to listen on.
        output: the table's file.
        sim: whose wire.
        live: listen to the game, or to a `trailbrake serve`.
        source: read a recorded session of this simulator instead: a raw recording or a table.
        out: folder for the recording.
        seconds: of wall time to listen; 0 = until stopped.
        json: print one JSON object on stdout.
    """
    return record


def _print(result: dict[str, Any]) -> None:
    link = result["link"]
    print(
        f"{link['received']} samples in {link['datagrams']} datagrams; lost {link['lost']}, late {link['late']}, twice "
        f"{link['duplicates']}, rejected {link['rejected']}, of others {link['foreign']}, paused {link['paused']}"
    )
    for name in ("table", "raw", "recording", "report"):
        if result[name]:
            print(f"{name:<9} {result[name]}")
