"""The events of Udacity's first term as named tuples: text both ways.

Source: protocol page formula-trend, section 9. Numbers are read leniently, since .NET writes them in the user's locale.
"""

from typing import Any, NamedTuple

from trailbrake.transport.image_codec import decode_base64, encode_base64
from trailbrake.transport.json_values import clamp_magnitude, parse_number, require_object


class UdacityTelemetry(NamedTuple):
    """The simulator's telemetry. Angle in degrees, positive to the right; speed in mph; `image` a JPEG.

    The real simulator has neither clock nor laps; our host adds `time` (s) and `lap` (from 1) under Formula Trend's
    names.
    """

    steering_angle: float
    throttle: float
    speed: float
    image: bytes
    time: float | None = None
    lap: int | None = None


class UdacitySteer(NamedTuple):
    """The agent's answer. Angle as a share of the lock, positive to the right; throttle -1..1: see `convert`."""

    steering_angle: float
    throttle: float


def encode_telemetry(message: UdacityTelemetry) -> dict[str, str]:
    """Return the event's data."""
    data = {
        "steering_angle": f"{message.steering_angle:.4f}",
        "throttle": f"{message.throttle:.4f}",
        "speed": f"{message.speed:.4f}",
        "image": encode_base64(message.image),
    }
    if message.time is not None:
        data["time"] = f"{message.time:.3f}"
    if message.lap is not None:
        data["lap"] = str(message.lap)
    return data


def decode_telemetry(data: Any) -> UdacityTelemetry | None:
    """Return the telemetry in an event's data; None for null or {}: a person drives. WireError where unreadable."""
    if data is None or data == {}:
        return None
    data = require_object(data, "telemetry")
    return UdacityTelemetry(
        parse_number(data.get("steering_angle", 0.0), "steering_angle"),
        parse_number(data.get("throttle", 0.0), "throttle"),
        parse_number(data.get("speed"), "speed"),
        decode_base64(data.get("image"), "image"),
        parse_number(data["time"], "time") if "time" in data else None,
        int(parse_number(data["lap"], "lap")) if "lap" in data else None,
    )


def encode_steer(message: UdacitySteer) -> dict[str, str]:
    """Return the event's data: text; the simulator cannot read a JSON number and falls silent."""
    return {"steering_angle": repr(message.steering_angle), "throttle": repr(message.throttle)}


def decode_steer(data: Any) -> UdacitySteer:
    """Return the command in an event's data, limited to what the simulator accepts. WireError if unreadable."""
    data = require_object(data, "steer")
    return UdacitySteer(*(clamp_magnitude(parse_number(data.get(key), key), 1.0) for key in UdacitySteer._fields))
