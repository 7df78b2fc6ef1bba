"""Formula Trend: names, rates, and what the wire carries.

Source: protocol page formula-trend, sections 1, 2 and 4. Constants only; cheap to import.
"""

import math
from dataclasses import dataclass
from typing import Literal

NAME = "trend"
TITLE = "Trend Micro Formula Trend"

WORLD = "miniature"
DRIVER = "lane_sign"  # of those that drive by a camera, the quickest
STEP_S = 0.02  # s, the simulator's physics step
COMMAND_STEPS = 2  # steps that one command is worth in lockstep: about as far as real time goes between two frames
LOCK = math.radians(40.0)  # rad, wheel angle at full lock
PORT = 4567

SUPPLIES: frozenset[str] = frozenset(
    {"time", "sequence", "age", "phase", "speed", "steer", "throttle", "brake", "lap", "lap_time", "best_lap_time",
     "image"}
)  # fmt: skip
ACCEPTS: frozenset[str] = frozenset({"steer", "throttle", "brake", "gear", "restart"})

Look = Literal["A", "B"]


@dataclass(slots=True)
class ServeOptions:
    """Options of `serve trend`.

    Attributes:
        connect: the agent to call, HOST:PORT: the agent is the server.
        laps: laps of a race; 0 = until stopped.
        look: the track's paint: A = red, blue and green lanes; B = white and red ones with chevrons.
        obstacles: number of parked cars on the road.
        pace: `lockstep`: the world goes two steps of 0.02 s per command; `real`: it does not wait for the agent.
        dialect: of Socket.IO; `auto` finds out as the page says.
        patience: seconds of wall time to wait for the agent's answer before hanging up.
    """

    connect: str = f"127.0.0.1:{PORT}"
    laps: int = 0
    look: Look = "B"
    obstacles: int = 0
    pace: Literal["lockstep", "real"] = "lockstep"
    dialect: Literal["auto", "legacy", "modern"] = "auto"
    patience: float = 30.0


@dataclass(slots=True)
class LiveOptions:
    """Options of `--sim trend --live`.

    Attributes:
        listen: where to wait for the simulator, HOST:PORT.
        wait: seconds to wait for it.
    """

    listen: str = f"127.0.0.1:{PORT}"
    wait: float = 60.0


def period(options: ServeOptions) -> float:
    """Return how far one tick of the host goes, in s of simulator time."""
    return STEP_S * (COMMAND_STEPS if options.pace == "lockstep" else 1)


def cars(options: ServeOptions) -> int:
    """Return how many cars the host wants on the track."""
    return 1


def speed(options: ServeOptions) -> str:
    """Return the pace of `serve` unless asked otherwise: in lockstep, as fast as the agent answers."""
    return "max" if options.pace == "lockstep" else "real"
