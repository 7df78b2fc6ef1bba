"""Finds out why an event simulator does not drive with us: listens for a few seconds as a link does.

Source: protocol page formula-trend, section 1: the agent is the server, the simulator calls it.
"""

import ipaddress
import sys
from collections.abc import Iterator, Mapping
from time import monotonic, sleep
from typing import Any, NamedTuple

from trailbrake.errors import TrailbrakeError
from trailbrake.event_sims.link import EventLink
from trailbrake.event_sims.options import CallAdvice, EventDoctorOptions
from trailbrake.findings import Finding
from trailbrake.simulator_tools import Idle
from trailbrake.state import Controls, Phase
from trailbrake.transport.udp import Address, parse_address

_POLL_INTERVAL_S = 0.01


class Traffic(NamedTuple):
    """What arrived while the doctor listened."""

    telemetries: int
    phase: Phase  # of the newest telemetry


def sleep_briefly() -> float:
    """Sleep for `_POLL_INTERVAL_S`; return the time afterwards, s of a steady clock."""
    sleep(_POLL_INTERVAL_S)
    return monotonic()


def examine_link(
    link: EventLink[Any],
    options: EventDoctorOptions,
    advice: CallAdvice,
    *,
    idle: Idle | None,
    environment: Mapping[str, str],
) -> Iterator[Finding]:
    """Yield findings as they are made.

    Args:
        link: not open yet; without an `idle` of its own.
        options: where it listens, and how long to wait for a call and for telemetry.
        advice: how to make the simulator call and drive.
        idle: lets a little time pass and returns the new time, s of any steady clock; None: `sleep_briefly`.
        environment: the process's environment variables.
    """
    idle = idle or sleep_briefly
    host, port = parse_address(options.listen, where="--listen")
    yield _check_display(environment)
    now = idle()
    try:
        link.open(now)
    except TrailbrakeError as error:
        yield Finding(
            "port", "problem", error.what,
            f"one agent at a time: stop the other one, or listen on another port if the simulator lets you choose one "
            f"(now {port})",
        )  # fmt: skip
        return
    yield Finding("port", "ok", f"{host}:{port} is free; the simulator calls it")
    try:
        until, traffic = now + options.seconds, Traffic(0, Phase.LOST)
        while now < until:
            now = idle()
            is_new, state = link.has_new_sample(), link.read(now)
            if is_new:
                traffic = Traffic(traffic.telemetries + 1, state.phase)
                link.write(Controls())  # one telemetry comes per command
        yield from _report_traffic(link, (host, port), traffic, options, advice)
    finally:
        link.close()


def _check_display(environment: Mapping[str, str]) -> Finding:
    if not sys.platform.startswith("linux") or environment.get("DISPLAY"):
        return Finding("display", "ok", "there is one for the simulator to draw on")
    return Finding(
        "display", "unknown", "no DISPLAY here: Unity needs one even with -batchmode",
        "on the simulator's machine: xvfb-run -a SIMULATOR -batchmode, and what else it needs",
    )  # fmt: skip


def _report_traffic(
    link: EventLink[Any], address: Address, traffic: Traffic, options: EventDoctorOptions, advice: CallAdvice
) -> Iterator[Finding]:
    host, port = address
    if not link.dialect:
        yield Finding(
            "call", "problem", f"no simulator called in {options.seconds:g} s",
            f"{advice.start.format(host=host, port=port)}; to see whether that is it: trailbrake serve {link.NAME} "
            f"--connect {options.listen}",
        )  # fmt: skip
        yield _check_firewall(host, port)
        return
    yield Finding("call", "ok", f"a simulator called; it speaks the {link.dialect} dialect")
    if link.refused:
        yield Finding(
            "callers", "problem", f"{link.refused} more simulators called and were refused",
            "one simulator per agent: give the others a port of their own",
        )  # fmt: skip
    if not traffic.telemetries:
        yield Finding("telemetry", "problem", "it called and sends no telemetry", advice.manual)
        return
    yield Finding("telemetry", "ok", f"{traffic.telemetries} telemetries in {options.seconds:g} s")
    if link.unreadable:
        yield Finding(
            "messages", "problem", f"{link.unreadable} messages could not be read", "another program may be calling"
        )
    if traffic.phase is Phase.FINISHED:
        yield Finding("race", "problem", "the race is over: it takes no commands", "restart the simulator's race")


def _check_firewall(host: str, port: int) -> Finding:
    if ipaddress.IPv4Address(host).is_loopback:
        return Finding("firewall", "ok", "none stands between programs of one machine")
    return Finding(
        "firewall", "unknown", "a firewall that holds the call back cannot be seen from here",
        f"let TCP port {port} in; Windows asks when a program listens for the first time, and remembers a no",
    )  # fmt: skip
