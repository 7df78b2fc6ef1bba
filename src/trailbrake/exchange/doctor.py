"""Says why no such simulator drives with us: listens for a few seconds where a link would.

Source: protocol page formula-trend, section 1: the agent is the server, the simulator calls it.
"""

import ipaddress
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from time import monotonic, sleep
from typing import Any

from trailbrake.errors import TrailbrakeError
from trailbrake.exchange.link import EventLink
from trailbrake.findings import Finding
from trailbrake.state import Controls
from trailbrake.transport.udp import Address, address

_NAP = 0.01  # s between looks


def rest() -> float:
    """Let a little time pass and return the new time, s."""
    sleep(_NAP)
    return monotonic()


def examine(
    link: EventLink[Any],
    listen: str,
    seconds: float,
    start: str,
    *,
    by_hand: str,
    idle: Callable[[], float] = rest,
    environment: Mapping[str, str] = os.environ,
) -> Iterator[Finding]:
    """Yield what was found, as it is found.

    Args:
        link: not opened yet; without an `idle` of its own.
        listen: where it listens, HOST:PORT.
        seconds: how long to wait for a call and for pictures.
        start: how to make the simulator call, for the advice; {host} and {port} are filled in.
        by_hand: what to do where it is driven by hand.
        idle: lets a little time pass and returns the new time, s of any steady clock.
        environment: the process's environment variables.
    """
    host, port = address(listen, where="--listen")
    yield _display(environment)
    now = idle()
    try:
        link.open(now)
    except TrailbrakeError as error:
        yield Finding(
            "port", "problem", error.what,
            f"one agent at a time: stop the other one, or listen on another port where the simulator can be told one "
            f"(now {port})",
        )  # fmt: skip
        return
    yield Finding("port", "ok", f"{host}:{port} is free; the simulator calls it")
    try:
        until, frames, phase = now + seconds, 0, ""
        while now < until:
            now = idle()
            if link.fresh():
                state = link.read(now)
                frames, phase = frames + 1, state.phase.name.lower()
                link.write(Controls())  # one telemetry comes per command
        advice = f"{start.format(host=host, port=port)}; to see whether that is it: trailbrake serve {link.NAME} "
        yield from _heard(link, (host, port), frames, phase, seconds, f"{advice}--connect {listen}", by_hand)
    finally:
        link.close()


def _display(environment: Mapping[str, str]) -> Finding:
    if not sys.platform.startswith("linux") or environment.get("DISPLAY"):
        return Finding("display", "ok", "there is one for the simulator to draw on")
    return Finding(
        "display", "unknown", "no DISPLAY here: Unity needs one even with -batchmode",
        "on the simulator's machine: xvfb-run -a SIMULATOR -batchmode, and what else it needs",
    )  # fmt: skip


def _heard(
    link: EventLink[Any], there: Address, frames: int, phase: str, seconds: float, start: str, by_hand: str
) -> Iterator[Finding]:
    if not link.dialect:
        yield Finding("call", "problem", f"nobody called in {seconds:g} s", start)
        yield _firewall(*there)
        return
    yield Finding("call", "ok", f"a simulator called; it speaks the {link.dialect} dialect")
    if link.refused:
        yield Finding(
            "callers", "problem", f"{link.refused} more simulators called and were refused",
            "one simulator per agent: give the others a port of their own",
        )  # fmt: skip
    if not frames:
        yield Finding("telemetry", "problem", "it called and shows nothing", by_hand)
        return
    yield Finding("telemetry", "ok", f"{frames} telemetries in {seconds:g} s")
    if link.unreadable:
        yield Finding(
            "messages", "problem", f"{link.unreadable} messages could not be read", "another program may be calling"
        )
    if phase == "finished":
        yield Finding("race", "problem", "the race is over: it takes no commands", "restart the simulator's race")


def _firewall(host: str, port: int) -> Finding:
    if ipaddress.IPv4Address(host).is_loopback:
        return Finding("firewall", "ok", "none stands between programs of one machine")
    return Finding(
        "firewall", "unknown", "it cannot be seen from here whether a firewall holds the call back",
        f"let TCP port {port} in; Windows asks when a program listens for the first time, and remembers a no",
    )  # fmt: skip
