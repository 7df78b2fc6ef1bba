"""Formula Trend: its name, its lock, what the wire carries, and the options of its world.

Source: protocol page formula-trend, sections 1, 2 and 4. Constants only; cheap to import.
"""

import math
from dataclasses import dataclass
from typing import Literal

from trailbrake.event_sims.options import EventServeOptions

NAME, TITLE = "trend", "Trend Micro Formula Trend"
LOCK = math.radians(40.0)  # rad, wheel angle at full lock
MAX_DECELERATION = 2.0  # m/s^2 at full brake
IMAGE_SIZE = (240, 320)  # height and width of the camera's images, pixels
SUPPLIES = frozenset(
    {"time", "sequence", "age", "phase", "speed", "steer", "throttle", "brake", "lap", "lap_time", "best_lap_time",
     "image"}
)  # fmt: skip
ACCEPTS = frozenset({"steer", "throttle", "brake", "gear", "restart"})


@dataclass(slots=True)
class ServeOptions(EventServeOptions):
    """Options of `serve trend`.

    Attributes:
        connect: HOST:PORT to call: the agent is the server.
        laps: laps of a race; 0 = until stopped.
        pace: `lockstep`: each command advances the world by 0.02 or 0.04 s; `real`: it does not wait.
        dialect: of Socket.IO, `auto` detects it; `bare`: that of Udacity's builds for the browser.
        patience: s of wall time to wait for the agent's answer.
        look: paint: red, blue and green lanes (A), or white and red ones with chevrons (B).
        obstacles: parked cars on the road.
    """

    pace: Literal["real", "lockstep"] = "lockstep"
    look: Literal["A", "B"] = "B"
    obstacles: int = 0
