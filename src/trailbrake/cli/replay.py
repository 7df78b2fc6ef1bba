"""`replay`: a recorded session as the game that sent it."""

import contextlib
import math
import sys
from dataclasses import asdict
from pathlib import Path

from trailbrake.cli.output import Json, print_json
from trailbrake.errors import UsageError
from trailbrake.sims import registry


def replay(file: Path, *, to: str, pace: str = "1", loops: int = 1, json: Json = False) -> int:
    """Send a recorded session by UDP, as the game did.

    Args:
        file: a raw recording or a table of a simulator that sends datagrams.
        to: the receiver, HOST:PORT.
        pace: 1 as it was recorded, 2 twice as fast, and so on; max: as fast as a receiver on this machine can follow.
        loops: how often; 0 = until stopped.
        json: print one JSON object on stdout.
    """
    from trailbrake.run.signals import on_stop
    from trailbrake.transport.udp import address

    if loops < 0:
        raise UsageError("no number of loops", where="--loops", expected="0 or more", got=str(loops))
    if not file.is_file():
        raise UsageError("no such file", where=str(file))
    sims = [sim for sim in registry.having("replay") if registry.part(sim, "replay").knows(file)]
    if not sims:
        raise UsageError(
            "no session of a simulator that sends datagrams", where=str(file),
            expected="a raw recording, or a table of packets",
        )  # fmt: skip
    module = registry.part(sims[0], "replay")
    target, factor = address(to, where="--to"), module.pace_of(pace)
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True

    total = module.Replayed()
    with on_stop(stop), contextlib.redirect_stdout(sys.stderr):
        for _ in range(loops) if loops else iter(int, 1):
            done = module.replay(file, target, factor, lambda: stopped)
            total.datagrams += done.datagrams
            total.bytes += done.bytes
            total.unsent += done.unsent
            total.recorded_s += done.recorded_s
            if stopped or not done.datagrams:
                break
    result = {"sim": sims[0], "to": to, "pace": factor if math.isfinite(factor) else "max", **asdict(total)}
    if json:
        print_json(result)
    else:
        print(f"{total.datagrams} datagrams of {total.recorded_s:.1f} s sent to {to}; not taken {total.unsent}")
    return 0
