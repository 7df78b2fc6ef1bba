"""`replay`: a recording on the live page, as a page in a file, or as the simulator of a driver; a session by UDP."""

import contextlib
import math
import sys
import threading
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from trailbrake.cli.output import JsonFlag, open_page, print_json, print_notice
from trailbrake.cli.runs import find_recording
from trailbrake.dashboard.options import ReplayPageOptions
from trailbrake.driving.options import OpenLoopOptions
from trailbrake.errors import UsageError
from trailbrake.simulator import load_part


@dataclass(frozen=True)
class SessionOptions:
    """A session of datagrams to send.

    Attributes:
        to: the receiver, HOST:PORT.
        pace: 1 as recorded, 2 twice as fast, ...; max: as fast as a local receiver can follow.
        loops: how often; 0 = until stopped.
        rate: rows a second of a table without a column of time; 0 = 60.
    """

    to: str = ""
    pace: str = "1"
    loops: int = 1
    rate: float = 0.0


def replay(
    file: str,
    *,
    page: Annotated[ReplayPageOptions | None, Parameter(name="*")] = None,
    session: Annotated[SessionOptions | None, Parameter(name="*")] = None,
    open_loop: Annotated[OpenLoopOptions | None, Parameter(name="*")] = None,
    json: JsonFlag = False,
) -> int:
    """Replay what was recorded.

    A session of a simulator that sends datagrams goes to a receiver as the game sent it (--to). A recording is shown
    on the live page (--watch), or written as a page that plays it: scrub, speed, loop, its laps together. With
    --driver a recording is the simulator of a driver: it answers every recorded state, the car stays the recorded one,
    and `trailbrake compare` shows where the answers differ.

    Args:
        file: a raw recording or table of a simulator that sends datagrams; or an .mcap file, or a run by its id,
            `last`, `best`.
        page: the live page.
        session: where datagrams go.
        open_loop: who answers a recording.
        json: print one JSON object on stdout.
    """
    path = find_recording(file)
    page, session, open_loop = page or ReplayPageOptions(), session or SessionOptions(), open_loop or OpenLoopOptions()
    to, driver, out = session.to, open_loop.driver, open_loop.out
    if page.watch:
        if to or driver or out is not None:
            raise UsageError("one of --watch, --to and --driver", where="replay", expected="--watch alone")
        return _watch_recording(path, page, json)
    if replace(page, open=False) != ReplayPageOptions():
        raise UsageError("flags of the live page without it", where="replay", hint="add --watch, or leave them out")
    if path.suffix == ".mcap":
        if to:
            raise UsageError("a recording holds no datagrams", where="--to", hint="leave --to out")
        if driver:
            return _replay_open_loop(path, open_loop, json)
        return _write_player(path, out, page.open, json)
    if driver or out is not None:
        raise UsageError("only a recording can be driven by or shown", where=str(path), expected="an .mcap file")
    if not to:
        raise UsageError("datagrams need a receiver", where="--to", expected="HOST:PORT")
    return _send_session(path, session, json)


def _watch_recording(file: Path, page: ReplayPageOptions, json: bool) -> int:
    from trailbrake.dashboard.watch_session import replay_on_page

    result = replay_on_page(file, page, print_notice)
    if json:
        print_json(result)
    return 0


def _write_player(path: Path, out: Path | None, open: bool, json: bool) -> int:
    from trailbrake.analysis.report import write_report

    page = write_report(path, out)
    open_page(page, open)
    if json:
        print_json({"recording": str(path), "page": str(page)})
    else:
        print(page)
    return 0


def _replay_open_loop(path: Path, options: OpenLoopOptions, json: bool) -> int:
    from trailbrake.driving.open_loop import replay_open_loop
    from trailbrake.record.recording_reader import Recording

    with contextlib.redirect_stdout(sys.stderr):
        done = replay_open_loop(Recording.open(path), options)
    if json:
        print_json({"recording": str(path), **asdict(done), "path": str(done.path)})
    else:
        print(f"{done.rows} answers; difference to what was driven, root mean square: steer {done.steer_rms:.4f},"
              f" throttle {done.throttle_rms:.4f}, brake {done.brake_rms:.4f}")  # fmt: skip
        print(done.path)
    if done.ended:
        print_notice(f"trailbrake: {done.ended}")
    return 1 if done.ended else 0


def _send_session(file: Path, session: SessionOptions, json: bool) -> int:
    from trailbrake.driving.drive_files import find_session_simulator
    from trailbrake.simulator_tools import ReplayResult
    from trailbrake.system.signals import handle_stop_signals
    from trailbrake.transport.udp import parse_address

    to, loops = session.to, session.loops
    if loops < 0:
        raise UsageError("no number of loops", where="--loops", expected="0 or more", got=str(loops))
    if not file.is_file():
        raise UsageError("no such file", where=str(file))
    simulator = find_session_simulator(file)
    if simulator is None:
        raise UsageError(
            "no session of a simulator that sends datagrams", where=str(file),
            expected="a raw recording, or a table of packets",
        )  # fmt: skip
    tool = load_part(simulator.tools["replay"])
    target, factor = parse_address(to, where="--to"), tool.parse_pace(session.pace)
    stop, total = threading.Event(), ReplayResult()
    with handle_stop_signals(stop.set), contextlib.redirect_stdout(sys.stderr):
        for _ in range(loops) if loops else iter(int, 1):
            done = tool.replay(file, target, factor, stop.is_set, session.rate)
            if done.note and not total.note:
                print(f"trailbrake: {done.note}", file=sys.stderr)
            total.note = done.note
            total.datagrams += done.datagrams
            total.bytes += done.bytes
            total.unsent += done.unsent
            total.recorded_s += done.recorded_s
            if stop.is_set() or not done.datagrams:
                break
    result = {"sim": simulator.name, "to": to, "pace": factor if math.isfinite(factor) else "max", **asdict(total)}
    if json:
        print_json(result)
    else:
        print(f"{total.datagrams} datagrams of {total.recorded_s:.1f} s sent to {to}; not taken {total.unsent}")
    return 0
