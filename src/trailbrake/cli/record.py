"""`record`: what a simulator sends, while another program or a person drives.

`watch`: the live page of a simulator's car while another program or a person drives.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from trailbrake.cli.output import JsonFlag, answer, format_camera, print_json, print_notice
from trailbrake.dashboard.options import WatchOptions
from trailbrake.errors import UsageError, suggest_names
from trailbrake.sims import registry
from trailbrake.simulator import AnySimulator


def build_record_command(simulator: AnySimulator, *, requested: bool) -> Callable[..., int]:
    """Return the verb; where it is `requested`, with the flags of the recorder of `simulator`, or of another one."""
    able = [simulator]
    if "recorder" not in simulator.tools and requested:
        able = [other for other in registry.list_simulators().simulators if "recorder" in other.tools]

    def record(
        port: int | None = None,
        output: Path | None = None,
        /,
        *,
        options: Any = None,
        sim: str = simulator.name,
        live: bool = False,
        source: Annotated[Path | None, Parameter(name="--from")] = None,
        out: Path | None = None,
        seconds: float = 0.0,
        camera: str = "",
        json: JsonFlag = False,
    ) -> int:
        if not live and source is None:
            raise UsageError("nothing to record", where="record", hint="--live listens to a game, --from reads a file")
        if live and source is not None:
            raise UsageError("either --live or --from", where="record")
        if "recorder" not in simulator.tools:
            raise UsageError("no recorder for this simulator", where="--sim", got=sim,
                             hint=suggest_names(sim, [other.name for other in able]))  # fmt: skip
        if not 0.0 <= seconds < math.inf:
            raise UsageError("no number of seconds", where="--seconds", expected="0 or more", got=f"{seconds:g}")
        from trailbrake.driving.session_recording import record_session

        result = record_session(
            simulator, options, port=port, output=output, source=source, out=out, seconds=seconds, camera=camera,
            say=print_notice,
        )  # fmt: skip
        answer(result, _print_result, json=json)
        if result["recording_error"]:
            print_notice(f"trailbrake: {result['recording_error']}")
        if result["link"]["received"] == 0:
            hint = f"; trailbrake doctor {sim} says why" if live and "doctor" in simulator.tools else ""
            print_notice(f"trailbrake: nothing was recorded{hint}")
            return 1
        return 0

    tool = able[0].load_recorder() if requested else None
    if tool is not None:
        record.__annotations__["options"] = Annotated[tool.options | None, Parameter(name="*")]
    record.__doc__ = """Record a session that another program or a person drives.

    With an output or a YAML file it is a table; without, a recording with a report, and every datagram as it came.

    Args:
        port: UDP port.
        output: the table's file.
        sim: whose wire.
        live: listen to the game, or to a `trailbrake serve`.
        source: read a recorded session of this simulator: a raw recording or a table.
        out: folder for the recording.
        seconds: s of wall time; 0 = until stopped.
        camera: window:TITLE records the game's window too, as `drive --camera`.
        json: print one JSON object on stdout.
    """
    return record


def _print_result(result: dict[str, Any]) -> None:
    link = result["link"]
    if "datagrams" not in link:  # no stream of datagrams
        print(f"{link['received']} samples; lost {link['lost']}")
    else:
        print(
            f"{link['received']} samples in {link['datagrams']} datagrams; lost {link['lost']}, late {link['late']}, "
            f"twice {link['duplicates']}, rejected {link['rejected']}, of others {link['foreign']}, paused "
            f"{link['paused']}"
        )
    if result.get("camera"):
        print(f"camera    {format_camera(result['camera'])}")
    for name in ("table", "raw", "recording", "report"):
        if result[name]:
            print(f"{name:<9} {result[name]}")


def build_watch_command(simulator: AnySimulator) -> Callable[..., None]:
    """Return the verb with the live flags of `simulator`."""

    def watch(*, options: Any = None, live_doors: Any = None, json: JsonFlag = False) -> None:
        from trailbrake.cli.terminal_progress import TerminalProgress
        from trailbrake.dashboard.watch_session import watch_simulator

        options = options or WatchOptions()
        with TerminalProgress(simulator.title, wanted=not json) as show:
            result = watch_simulator(simulator, options, live_doors, show)
        if json:
            print_json(result)

    watch.__annotations__["options"] = Annotated[WatchOptions | None, Parameter(name="*")]
    watch.__annotations__["live_doors"] = Annotated[simulator.live_options | None, Parameter(name="*")]
    watch.__doc__ = "Show in a browser what the car of a live simulator does, without driving it."
    return watch
