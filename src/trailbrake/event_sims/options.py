"""Rates and options that the event simulators share."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from trailbrake.errors import UsageError

STEP_S = 0.02  # s, the simulators' physics step
# Steps that one command advances in lockstep where one telemetry is in flight: about the real time between two camera
# frames. With several in flight a command comes that many frames late; each then advances a single step.
COMMAND_STEPS = 2
PORT = 4567
AGENT_ADDRESS = f"127.0.0.1:{PORT}"
WATCHED_AGENT = f"127.0.0.1:{PORT + 1}"  # where an agent listens whose simulator is watched


@dataclass(slots=True)
class EventServeOptions:
    """Options of `serve` for a simulator that calls its agent.

    Attributes:
        connect: HOST:PORT to call: the agent is the server.
        laps: laps until it ends; 0 = until stopped.
        pace: `real`: the world does not wait for the agent; `lockstep`: a command advances it by 0.02 or 0.04 s.
        dialect: of Socket.IO, `auto` detects it; `bare`: that of Udacity's builds for the browser.
        patience: s of wall time to wait for the agent's answer.
    """

    connect: str = AGENT_ADDRESS
    laps: int = 0
    pace: Literal["real", "lockstep"] = "real"
    dialect: Literal["auto", "legacy", "modern", "bare"] = "auto"
    patience: float = 30.0


@dataclass(slots=True)
class EventLiveOptions:
    """Options of `--live` for a simulator that calls its agent.

    Attributes:
        listen: where to wait for the simulator, HOST:PORT.
        wait: seconds to wait for it.
        origin: a web page that may be the simulator, as http://localhost:8000; programs need none.
        connect: HOST:PORT of an agent that drives: all is passed on to it, and the car is only watched.
    """

    listen: str = AGENT_ADDRESS
    wait: float = 60.0
    origin: str = ""
    connect: str = ""


@dataclass(slots=True)
class EventDoctorOptions:
    """Say why no simulator calls, and what to do.

    Attributes:
        listen: where the simulator is to call, HOST:PORT.
        seconds: how long to wait for it.
    """

    listen: str = AGENT_ADDRESS
    seconds: float = 5.0


class CallAdvice(NamedTuple):
    """The advice of `doctor` where no simulator calls."""

    simulator: str  # completes "Say why no ... calls"
    start: str  # how to make it call; {host} and {port} are filled in
    manual: str  # what to do while a person drives it


@dataclass(slots=True)
class EventRecordOptions:
    """Options of `record` for a simulator that calls its agent: the recorder stands between the two.

    Attributes:
        listen: where the simulator calls, HOST:PORT.
        connect: the agent's HOST:PORT: start it on another port than usual.
        verbose: print each event.
        origin: a web page that may be the simulator, as http://localhost:8000; programs need none.
    """

    listen: str = AGENT_ADDRESS
    connect: str = WATCHED_AGENT
    verbose: bool = False
    origin: str = ""


def check_half_width(half_width: float) -> None:
    """Raise UsageError where the option `half_width`, m, is no width of a road."""
    if not half_width > 0.0:
        raise UsageError("no width of a road", where="--half-width", expected="> 0 m", got=f"{half_width:g}")


def parse_origins(text: str) -> tuple[str, ...]:
    """Return the web pages in the option `origin`.

    Raises:
        UsageError: one of them is no origin of a page.
    """
    origins = tuple(part.strip().rstrip("/") for part in text.split(",") if part.strip())
    for origin in origins:
        scheme, _, host = origin.partition("://")
        if origin != "null" and (scheme not in ("http", "https") or not host or "/" in host):
            raise UsageError("no web page", where="--origin", expected="as http://localhost:8000", got=origin[:80])
    return origins


def host_period(options: EventServeOptions) -> float:
    """Return the simulator time of one step of the world, s."""
    return STEP_S


def serve_pace(options: EventServeOptions) -> Literal["real", "max"]:
    """Return the default speed of `serve`: in lockstep, as fast as the agent answers."""
    return "max" if options.pace == "lockstep" else "real"
