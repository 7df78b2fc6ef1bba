"""The donkeycar simulator: its name, rates, camera, what the wire carries, and its options.

Source: protocol page formula-trend, section 10. Cheap to import.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

NAME, TITLE = "donkeycar", "Donkeycar simulator (sdsandbox, gym-donkeycar)"
PERIOD = 0.05  # s: the simulator sends telemetry 20 times a second, whether or not a client answers
LOCK = math.radians(16.0)  # rad, wheel angle at full lock
PORT = 9091
STALE_AFTER_S = 1.0  # s of wall time without a telemetry after which the simulator counts as gone

# The scenes of the simulator, by the names under which clients load them (gym-donkeycar, envs/donkey_env.py).
SCENES = (
    "generated_road", "warehouse", "sparkfun_avc", "generated_track", "mountain_track", "roboracingleague_1",
    "waveshare", "mini_monaco", "warren", "thunderhill", "circuit_launch",
)  # fmt: skip
PROTOCOL_VERSION = 2

# yaw and the fields after it need a simulator that sends velocity, gyro and angles; older ones do not.
SUPPLIES = frozenset(
    {"time", "sequence", "age", "phase", "x", "y", "z", "yaw", "pitch", "roll", "speed", "velocity_x", "velocity_y",
     "yaw_rate", "steer", "throttle", "lap", "lap_time", "best_lap_time", "driving_line", "contacts", "image"}
)  # fmt: skip
ACCEPTS = frozenset({"steer", "throttle", "brake", "gear", "restart"})

WIDTH, HEIGHT = 160, 120  # pixels of the camera
# Documented nowhere: estimates. Angles in degrees as Unity has them; the field of view is the vertical one.
FOV, ABOVE, FORWARD, PITCH = 75.0, 1.2, 1.0, 8.0


@dataclass(slots=True)
class ServeOptions:
    """Options of `serve donkeycar`.

    Attributes:
        listen: HOST:PORT where clients call: the simulator is the server.
        laps: laps until it ends; 0 = until stopped.
        pace: `real`: the world does not wait for the client; `lockstep`: it advances one step per `control`.
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
        scene: to load where it shows its menu; default: the first of its list.
        half_width: m from the line to the road's edge, which the wire does not carry.
        name: of the car, shown above it.
    """

    connect: str = f"127.0.0.1:{PORT}"
    wait: float = 60.0
    scene: str = ""
    half_width: float = 4.0
    name: str = "trailbrake"


@dataclass(frozen=True, slots=True)
class CameraPlace:
    """A camera as a client of Unity describes it.

    Attributes:
        width: pixels.
        height: pixels.
        fov: vertical field of view, degrees.
        right: m to the right of the default place.
        up: m above the default place.
        ahead: m ahead of the default place.
        down: degrees that it looks down.
        aside: degrees that it looks to the right.
    """

    width: int = WIDTH
    height: int = HEIGHT
    fov: float = FOV
    right: float = 0.0
    up: float = 0.0
    ahead: float = 0.0
    down: float = PITCH
    aside: float = 0.0


def pinhole_camera(place: CameraPlace) -> dict[str, Any]:
    """Return the camera as fields of `world.pinhole_camera.PinholeCamera`."""
    horizontal = 2.0 * math.atan(place.width / max(place.height, 1) * math.tan(0.5 * math.radians(place.fov)))
    return {"width": place.width, "height": place.height, "fov": horizontal, "forward": FORWARD + place.ahead,
            "left": -place.right, "above": ABOVE + place.up, "pitch": math.radians(place.down),
            "yaw": -math.radians(place.aside)}  # fmt: skip
