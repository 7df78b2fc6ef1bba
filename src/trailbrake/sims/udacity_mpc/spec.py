"""Udacity's simulator, MPC build: names, rates, and what the wire carries.

Source: protocol page formula-trend, sections 1 and 9. Constants only; cheap to import.
"""

import math
from dataclasses import dataclass
from typing import Literal

NAME = "udacity_mpc"
TITLE = "Udacity self-driving car simulator, MPC project"

WORLD = "road"
DRIVER = "waypoint_follow"
STEP_S = 0.02  # s, the simulator's physics step
COMMAND_STEPS = 2  # steps that one command is worth in lockstep: about as far as real time goes between two frames
LOCK = math.radians(25.0)  # rad, wheel angle at full lock
PORT = 4567
WAYPOINTS = 6  # told at a time, from the one just behind the car on
WAYPOINT_GAP = 15.0  # m along our road from one to the next; the real ones lie at uneven distances
OWN_ROADS = True  # the real simulator's road is none of ours

SUPPLIES: frozenset[str] = frozenset(
    {"time", "sequence", "age", "phase", "x", "y", "yaw", "speed", "steer", "throttle", "line_ahead"}
)
ACCEPTS: frozenset[str] = frozenset({"steer", "throttle", "brake", "gear"})


@dataclass(slots=True)
class ServeOptions:
    """Options of `serve udacity_mpc`.

    Attributes:
        connect: the agent to call, HOST:PORT: the agent is the server.
        laps: laps until it ends; 0 = until stopped.
        pace: `real`: the world does not wait for the agent; `lockstep`: it goes two steps of 0.02 s per command.
        dialect: of Socket.IO, `auto` finds out; `bare` is the build for the browser, which has a dialect of its own.
        patience: seconds of wall time to wait for the agent's answer before hanging up.
    """

    connect: str = f"127.0.0.1:{PORT}"
    laps: int = 0
    pace: Literal["real", "lockstep"] = "real"
    dialect: Literal["auto", "legacy", "modern", "bare"] = "auto"
    patience: float = 30.0


@dataclass(slots=True)
class LiveOptions:
    """Options of `--sim udacity_mpc --live`.

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


def embedded(live: LiveOptions, cars: int) -> ServeOptions:
    """Return the options of a world that is there for one drive: it waits for each answer."""
    return ServeOptions(pace="lockstep")


def speed(options: ServeOptions) -> str:
    """Return the pace of `serve` unless asked otherwise: in lockstep, as fast as the agent answers."""
    return "max" if options.pace == "lockstep" else "real"
