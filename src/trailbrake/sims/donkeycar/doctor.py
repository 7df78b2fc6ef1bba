"""Finds out why a donkeycar simulator does not drive with us: calls it as a link does, and listens for a few seconds.

Source: protocol page formula-trend, section 10: the simulator is the server.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any

from trailbrake.findings import Finding
from trailbrake.sims.donkeycar import spec
from trailbrake.sims.donkeycar.link import Link
from trailbrake.simulator_tools import DoctorTool, Idle

_POLL_INTERVAL_S = 0.01


@dataclass(slots=True)
class DoctorOptions:
    """Say why no donkeycar simulator answers, and what to do.

    Attributes:
        connect: where it listens, HOST:PORT.
        seconds: how long to look.
    """

    connect: str = f"127.0.0.1:{spec.PORT}"
    seconds: float = 5.0


@dataclass(slots=True)
class Observation:
    """What the simulator has sent."""

    answered: bool = False
    telemetries: int = 0
    has_line: bool = False  # the scene sends the distance to its line
    pixels: Any = None  # of the newest image


def _sleep_briefly() -> float:
    sleep(_POLL_INTERVAL_S)
    return monotonic()


def examine(options: DoctorOptions, idle: Idle = _sleep_briefly) -> Iterator[Finding]:
    """Yield findings as they are made. The car does not move.

    Args:
        options: which simulator to call, and how long to listen.
        idle: lets a little time pass and returns the new time, s of any steady clock.
    """
    link = Link(spec.LiveOptions(connect=options.connect))
    now = idle()
    link.open(now)
    seen = Observation()
    try:
        until = now + options.seconds
        while now < until:
            now = idle()
            _observe_simulator(link, now, seen)
    finally:
        link.close()
    yield from _report_observation(link, seen, options)


def _observe_simulator(link: Link, now: float, seen: Observation) -> None:
    state = link.read(now)
    seen.answered = seen.answered or link.is_connected
    if state.sequence >= seen.telemetries:
        seen.telemetries = state.sequence + 1
        seen.has_line = seen.has_line or not math.isnan(state.driving_line)
        seen.pixels = state.image.pixels if state.image is not None else None
        link.release()


def _report_observation(link: Link, seen: Observation, options: DoctorOptions) -> Iterator[Finding]:
    if not seen.answered:
        yield Finding(
            "server", "problem", f"no answer at {options.connect}",
            "start the simulator first: it listens on port 9091; to see whether that is it: trailbrake serve donkeycar",
        )  # fmt: skip
        return
    yield Finding("server", "ok", f"it answers at {options.connect}")
    if link.scenes:
        yield Finding("scenes", "ok", ", ".join(link.scenes))
    if not seen.telemetries:
        cause = "another client may be in it: one car a connection"
        if link.unreadable:
            cause = f"{link.unreadable} of its messages cannot be read: another program may be answering there"
        yield Finding("telemetry", "problem", "it answers and shows no car", cause)
        return
    yield Finding("telemetry", "ok", f"{seen.telemetries} in {options.seconds:g} s")
    size = f"{seen.pixels.shape[1]} x {seen.pixels.shape[0]}" if seen.pixels is not None else "none"
    yield Finding("pictures", "problem" if link.unreadable else "ok", f"{size}, {link.unreadable} unreadable",
                  "another program may be answering there" if link.unreadable else "")  # fmt: skip
    if not seen.has_line:
        yield Finding(
            "cte", "unknown", "this scene sends no distance to the line", "drivers by the camera do not need it"
        )


DOCTOR = DoctorTool(DoctorOptions, examine)
