"""Says why no Formula Trend simulator drives with us; see `exchange.doctor`."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from trailbrake.exchange import doctor
from trailbrake.findings import Finding
from trailbrake.sims.trend import spec
from trailbrake.sims.trend.link import Link


@dataclass(slots=True)
class Options:
    """Say why no Formula Trend simulator calls, and what to do.

    Attributes:
        listen: where the simulator is to call, HOST:PORT.
        seconds: how long to wait for it.
    """

    listen: str = f"127.0.0.1:{spec.PORT}"
    seconds: float = 5.0


def examine(
    options: Options, idle: Callable[[], float] = doctor.rest, environment: Mapping[str, str] = os.environ
) -> Iterator[Finding]:
    """Yield what was found; the arguments are those of `exchange.doctor.examine`."""
    return doctor.examine(
        Link(spec.LiveOptions(listen=options.listen)), options.listen, options.seconds,
        "start the simulator with --ip {host} --port {port}",
        by_hand="driven by hand (W or S held) it sends no pictures: choose autonomous driving and let go of the keys",
        idle=idle, environment=environment,
    )  # fmt: skip
