"""`replay`: a recording on the live page, or a recorded session as the game that sent it."""

import contextlib
import math
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from trailbrake.cli.output import JsonFlag, print_json, print_notice
from trailbrake.cli.simulator_choice import find_session_simulator
from trailbrake.dashboard.options import ReplayPageOptions
from trailbrake.errors import UsageError
from trailbrake.simulator import load_part


def replay(
    file: Path,
    *,
    page: Annotated[ReplayPageOptions | None, Parameter(name="*")] = None,
    to: str = "",
    pace: str = "1",
    loops: int = 1,
    rate: float = 0.0,
    json: JsonFlag = False,
) -> int:
    """Show a recording on the live page (--watch), or send a recorded session by UDP, as the game did (--to).

    Args:
        file: a recording (.mcap) to watch; a raw recording or a table of a simulator to send.
        page: the live page.
        to: the receiver, HOST:PORT.
        pace: 1 as it was recorded, 2 twice as fast, and so on; max: as fast as a receiver on this machine can follow.
        loops: how often; 0 = until stopped.
        rate: rows per second of a table without a column of time; 0 = 60.
        json: print one JSON object on stdout.
    """
    from trailbrake.system.signals import handle_stop_signals
    from trailbrake.transport.udp import parse_address

    page = page or ReplayPageOptions()
    if bool(to) == page.watch:
        raise UsageError("one of --watch and --to", where="replay", expected="--watch, or --to HOST:PORT")
    if page.watch:
        return _watch_recording(file, page, json)
    if loops < 0:
        raise UsageError("no number of loops", where="--loops", expected="0 or more", got=str(loops))
    if not file.is_file():
        raise UsageError("no such file", where=str(file))
    simulator = find_session_simulator(file)
    if simulator is None or simulator.replay is None:
        raise UsageError(
            "no session of a simulator that sends datagrams", where=str(file),
            expected="a raw recording, or a table of packets",
        )  # fmt: skip
    tool = load_part(simulator.replay)
    target, factor = parse_address(to, where="--to"), tool.parse_pace(pace)
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True

    from trailbrake.simulator_tools import ReplayResult

    total = ReplayResult()
    with handle_stop_signals(stop), contextlib.redirect_stdout(sys.stderr):
        for _ in range(loops) if loops else iter(int, 1):
            done = tool.replay(file, target, factor, lambda: stopped, rate)
            if done.note and not total.note:
                print(f"trailbrake: {done.note}", file=sys.stderr)
            total.note = done.note
            total.datagrams += done.datagrams
            total.bytes += done.bytes
            total.unsent += done.unsent
            total.recorded_s += done.recorded_s
            if stopped or not done.datagrams:
                break
    result = {"sim": simulator.name, "to": to, "pace": factor if math.isfinite(factor) else "max", **asdict(total)}
    if json:
        print_json(result)
    else:
        print(f"{total.datagrams} datagrams of {total.recorded_s:.1f} s sent to {to}; not taken {total.unsent}")
    return 0


def _watch_recording(file: Path, page: ReplayPageOptions, json: bool) -> int:
    from trailbrake.dashboard.replay_session import replay_on_page

    result = replay_on_page(file, page, print_notice)
    if json:
        print_json(result)
    return 0
