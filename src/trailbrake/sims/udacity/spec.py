"""Udacity's simulator, term 1: names, rates, and what the wire carries.

Source: protocol page formula-trend, sections 1 and 9. Constants only; cheap to import.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

from trailbrake.units import MPH

NAME = "udacity"
TITLE = "Udacity self-driving car simulator, term 1 (behavioural cloning)"

WORLD = "road"
DRIVER = "road_sight"
STEP_S = 0.02  # s, the simulator's physics step
COMMAND_STEPS = 2  # steps that one command is worth in lockstep: about as far as real time goes between two frames
LOCK = math.radians(25.0)  # rad, wheel angle at full lock
PORT = 4567
TOP_SPEED = 30.0 * MPH  # m/s
WIDTH, HEIGHT = 320, 160  # pixels, as recordings have it
VERTICAL_FOV = math.radians(60.0)

SUPPLIES: frozenset[str] = frozenset(
    {"time", "sequence", "age", "phase", "speed", "steer", "throttle", "image"}
)  # fmt: skip
ACCEPTS: frozenset[str] = frozenset({"steer", "throttle", "brake", "gear"})


@dataclass(slots=True)
class ServeOptions:
    """Options of `serve udacity`.

    Attributes:
        connect: the agent to call, HOST:PORT: the agent is the server.
        laps: laps until it ends; 0 = until stopped.
        pace: `real`: the world does not wait for the agent; `lockstep`: it goes two steps of 0.02 s per command.
        dialect: of Socket.IO, `auto` finds out.
        patience: seconds of wall time to wait for the agent's answer before hanging up.
    """

    connect: str = f"127.0.0.1:{PORT}"
    laps: int = 0
    pace: Literal["real", "lockstep"] = "real"
    dialect: Literal["auto", "legacy", "modern"] = "auto"
    patience: float = 30.0


@dataclass(slots=True)
class LiveOptions:
    """Options of `--sim udacity --live`.

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


def camera() -> dict[str, Any]:
    """Return the world's camera, fields of `world.camera.view.Camera`."""
    fov = 2.0 * math.atan(WIDTH / HEIGHT * math.tan(0.5 * VERTICAL_FOV))
    # Behind the windscreen, at a driver's eye: our estimate.
    return {"width": WIDTH, "height": HEIGHT, "fov": fov, "forward": 0.5, "above": 1.4}
