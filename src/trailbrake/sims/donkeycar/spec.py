"""The donkeycar simulator: names, rates, and what the wire carries.

Source: protocol page formula-trend, section 10. Constants only; cheap to import.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

NAME = "donkeycar"
TITLE = "Donkeycar simulator (sdsandbox, gym-donkeycar)"

WORLD = "road"
DRIVER = "lane_pid"
PERIOD = 0.05  # s: telemetry comes 20 times a second, asked or not
LOCK = math.radians(16.0)  # rad, wheel angle at full lock
PORT = 9091
STALE_S = 1.0  # s of wall time without a telemetry after which the simulator counts as gone
OWN_ROADS = True  # the real simulator's roads are none of ours

# yaw and what is behind it need a simulator that tells velocity, gyro and angles; the older ones do not.
SUPPLIES: frozenset[str] = frozenset(
    {"time", "sequence", "age", "phase", "x", "y", "z", "yaw", "pitch", "roll", "speed", "velocity_x", "velocity_y",
     "yaw_rate", "steer", "throttle", "lap", "lap_time", "best_lap_time", "driving_line", "contacts", "image"}
)  # fmt: skip
ACCEPTS: frozenset[str] = frozenset({"steer", "throttle", "brake", "gear", "restart"})

WIDTH, HEIGHT = 160, 120  # pixels of the camera
# Not told anywhere: estimates. Angles in degrees as Unity has them; the field of view is the vertical one.
FOV, ABOVE, FORWARD, PITCH = 75.0, 1.2, 1.0, 8.0


@dataclass(slots=True)
class ServeOptions:
    """Options of `serve donkeycar`.

    Attributes:
        listen: where clients call, HOST:PORT: the simulator is the server.
        laps: laps until it ends; 0 = until stopped.
        pace: `real`: the world does not wait for the client; `lockstep`: it goes one step per `control`.
    """

    listen: str = f"127.0.0.1:{PORT}"
    laps: int = 0
    pace: Literal["real", "lockstep"] = "real"


@dataclass(slots=True)
class LiveOptions:
    """Options of `--sim donkeycar --live`.

    Attributes:
        connect: where the simulator listens, HOST:PORT.
        wait: seconds to wait for it.
        scene: the scene to load where it shows its menu; left out: the first that it names.
        half_width: m from the line to the edge of the road, which the wire does not tell.
        name: of the car, shown above it.
    """

    connect: str = f"127.0.0.1:{PORT}"
    wait: float = 60.0
    scene: str = ""
    half_width: float = 4.0
    name: str = "trailbrake"


def period(options: ServeOptions) -> float:
    """Return how far one tick of the host goes, in s of simulator time."""
    return PERIOD


def cars(options: ServeOptions) -> int:
    """Return how many cars the host wants on the track."""
    return 1


def embedded(live: LiveOptions, cars: int) -> ServeOptions:
    """Return the options of a world that is there for one drive: it waits for each answer."""
    return ServeOptions(pace="lockstep")


def speed(options: ServeOptions) -> str:
    """Return the pace of `serve` unless asked otherwise: in lockstep, as fast as the client answers."""
    return "max" if options.pace == "lockstep" else "real"


def camera(
    width: int = WIDTH, height: int = HEIGHT, fov: float = FOV, right: float = 0.0, up: float = 0.0, ahead: float = 0.0,
    down: float = PITCH, aside: float = 0.0,
) -> dict[str, Any]:  # fmt: skip
    """Return the world's camera, fields of `world.camera.view.Camera`.

    Args:
        width: pixels.
        height: pixels.
        fov: vertical field of view, degrees.
        right: m from its usual place; so are up and ahead.
        up: see above.
        ahead: see above.
        down: degrees that it looks down.
        aside: degrees that it looks to the right.
    """
    horizontal = 2.0 * math.atan(width / max(height, 1) * math.tan(0.5 * math.radians(fov)))
    return {"width": width, "height": height, "fov": horizontal, "forward": FORWARD + ahead, "left": -right,
            "above": ABOVE + up, "pitch": math.radians(down), "yaw": -math.radians(aside)}  # fmt: skip
