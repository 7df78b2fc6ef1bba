"""Says why no Formula Trend simulator drives with us. Listens for a few seconds where a link would.

Source: protocol page formula-trend, section 1: the agent is the server, the simulator calls it.
"""

import ipaddress
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from time import monotonic, sleep

from trailbrake.errors import TrailbrakeError
from trailbrake.findings import Finding
from trailbrake.sims.trend import spec
from trailbrake.sims.trend.link import Link
from trailbrake.state import Controls
from trailbrake.transport.udp import address

_NAP = 0.01  # s between looks


@dataclass(slots=True)
class Options:
    """Say why no Formula Trend simulator calls, and what to do.

    Attributes:
        listen: where the simulator is to call, HOST:PORT.
        seconds: how long to wait for it.
    """

    listen: str = f"127.0.0.1:{spec.PORT}"
    seconds: float = 5.0


def _rest() -> float:
    sleep(_NAP)
    return monotonic()


def examine(
    options: Options, idle: Callable[[], float] = _rest, environment: Mapping[str, str] = os.environ
) -> Iterator[Finding]:
    """Yield what was found, as it is found.

    Args:
        options: where to listen, and for how long.
        idle: lets a little time pass and returns the new time, s of any steady clock.
        environment: the process's environment variables.
    """
    host, port = address(options.listen, where="--listen")
    yield _display(environment)
    link = Link(spec.LiveOptions(listen=options.listen))
    now = idle()
    try:
        link.open(now)
    except TrailbrakeError as error:
        yield Finding(
            "port", "problem", error.what,
            f"one agent at a time: stop the other one, or listen on another port and start the simulator with --port "
            f"(now {port})",
        )  # fmt: skip
        return
    yield Finding("port", "ok", f"{host}:{port} is free; the simulator calls it")
    try:
        until, frames, phase = now + options.seconds, 0, ""
        while now < until:
            now = idle()
            if link.fresh():
                state = link.read(now)
                frames, phase = frames + 1, state.phase.name.lower()
                link.write(Controls())  # one telemetry comes per command
        yield from _heard(link, frames, phase, options, f"--ip {host} --port {port}")
    finally:
        link.close()


def _display(environment: Mapping[str, str]) -> Finding:
    if not sys.platform.startswith("linux") or environment.get("DISPLAY"):
        return Finding("display", "ok", "there is one for the simulator to draw on")
    return Finding(
        "display", "unknown", "no DISPLAY here: Unity needs one even with -batchmode",
        "on the simulator's machine: xvfb-run -a SIMULATOR -batchmode --ip HOST --port PORT",
    )  # fmt: skip


def _heard(link: Link, frames: int, phase: str, options: Options, flags: str) -> Iterator[Finding]:
    if not link.dialect:
        yield Finding(
            "call", "problem", f"nobody called in {options.seconds:g} s",
            f"start the simulator with {flags}; to see whether that is it: trailbrake serve trend --connect "
            f"{options.listen}",
        )  # fmt: skip
        host, port = address(options.listen, where="--listen")
        if ipaddress.IPv4Address(host).is_loopback:
            yield Finding("firewall", "ok", "none stands between programs of one machine")
        else:
            yield Finding(
                "firewall", "unknown", "it cannot be seen from here whether a firewall holds the call back",
                f"let TCP port {port} in; Windows asks when a program listens for the first time, and remembers a no",
            )  # fmt: skip
        return
    yield Finding("call", "ok", f"a simulator called; it speaks the {link.dialect} dialect of Socket.IO")
    if link.refused:
        yield Finding(
            "callers", "problem", f"{link.refused} more simulators called and were refused",
            "one simulator per agent: give the others a port of their own",
        )  # fmt: skip
    if not frames:
        yield Finding(
            "telemetry", "problem", "it called and shows nothing",
            "driven by hand (W or S held) it sends no pictures: choose autonomous driving and let go of the keys",
        )  # fmt: skip
        return
    yield Finding("telemetry", "ok", f"{frames} pictures in {options.seconds:g} s")
    if link.unreadable:
        yield Finding(
            "pictures", "problem", f"{link.unreadable} messages could not be read", "another program may be calling"
        )
    if phase == "finished":
        yield Finding("race", "problem", "the race is over: it takes no commands", "restart the simulator's race")
