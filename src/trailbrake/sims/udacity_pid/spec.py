"""Udacity's simulator, PID build: its name, its car, what the wire carries, and the options of `--live`.

Source: protocol page formula-trend, sections 1 and 9. Constants only; cheap to import.
"""

import math
from dataclasses import dataclass

from trailbrake.event_sims.options import EventLiveOptions

NAME, TITLE = "udacity_pid", "Udacity self-driving car simulator, PID project"
LOCK = math.radians(25.0)  # rad, wheel angle at full lock
BROWSER_STEER_BIAS = math.radians(1.0)  # share of the lock that the browser build adds to every steer
SUPPLIES = frozenset({"time", "sequence", "age", "phase", "speed", "steer", "throttle", "driving_line"})
ACCEPTS = frozenset({"steer", "throttle", "brake", "gear", "restart"})


@dataclass(slots=True)
class LiveOptions(EventLiveOptions):
    """Options of `--sim udacity_pid --live`.

    Attributes:
        listen: where to wait for the simulator, HOST:PORT.
        wait: seconds to wait for it.
        origin: a web page that may be the simulator, as http://localhost:8000; programs need none.
        connect: HOST:PORT of an agent that drives: all is passed on to it, and the car is only watched.
        half_width: m from the line to the road's edge, which the wire does not carry.
    """

    half_width: float = 4.0
