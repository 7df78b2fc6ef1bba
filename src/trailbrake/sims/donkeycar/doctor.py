"""Says why no donkeycar simulator drives with us: calls it as a link would, and looks for a few seconds.

Source: protocol page formula-trend, section 10: the simulator is the server.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import monotonic, sleep

from trailbrake.findings import Finding
from trailbrake.sims.donkeycar import spec
from trailbrake.sims.donkeycar.link import Link

_NAP = 0.01  # s between looks


@dataclass(slots=True)
class Options:
    """Say why no donkeycar simulator answers, and what to do.

    Attributes:
        connect: where it listens, HOST:PORT.
        seconds: how long to look.
    """

    connect: str = f"127.0.0.1:{spec.PORT}"
    seconds: float = 5.0


def _rest() -> float:
    sleep(_NAP)
    return monotonic()


def examine(options: Options, idle: Callable[[], float] = _rest) -> Iterator[Finding]:
    """Yield what was found, as it is found. The car is not driven.

    Args:
        options: whom to call, and how long to look.
        idle: lets a little time pass and returns the new time, s of any steady clock.
    """
    link = Link(spec.LiveOptions(connect=options.connect))
    now = idle()
    link.open(now)
    answered, frames, line = False, 0, False
    pixels = None
    try:
        until = now + options.seconds
        while now < until:
            now = idle()
            state = link.read(now)
            answered = answered or link.is_connected
            if state.sequence >= frames:
                frames = state.sequence + 1
                line = line or state.driving_line == state.driving_line
                pixels = state.image.pixels if state.image is not None else None
                link.release()
    finally:
        link.close()
    if not answered:
        yield Finding(
            "server", "problem", f"nobody answers at {options.connect}",
            "start the simulator first: it listens on port 9091; to see whether that is it: trailbrake serve donkeycar",
        )  # fmt: skip
        return
    yield Finding("server", "ok", f"it answers at {options.connect}")
    if link.scenes:
        yield Finding("scenes", "ok", ", ".join(link.scenes))
    if not frames:
        yield Finding(
            "telemetry", "problem", "it answers and shows no car", "another client may be in it: one car a connection"
        )
        return
    yield Finding("telemetry", "ok", f"{frames} in {options.seconds:g} s")
    size = f"{pixels.shape[1]} x {pixels.shape[0]}" if pixels is not None else "none"
    yield Finding("pictures", "problem" if link.unreadable else "ok", f"{size}, {link.unreadable} unreadable",
                  "another program may be answering there" if link.unreadable else "")  # fmt: skip
    if not line:
        yield Finding("cte", "unknown", "this scene tells no distance to the line", "drivers by the camera need none")
