"""The events of Udacity's first term as named tuples: text both ways.

Source: protocol page formula-trend, section 9. Numbers are read leniently, since .NET writes them in the user's locale.
"""

from typing import Any, NamedTuple

from trailbrake.transport.numbers import data_of, number, within
from trailbrake.transport.picture import from_base64, to_base64


class Telemetry(NamedTuple):
    """What the simulator tells. Angle in degrees, positive to the right; speed in mph; `image` a JPEG.

    The real simulator has neither clock nor laps; our host tells `time` (s) and `lap` (from 1) under Formula Trend's
    names.
    """

    steering_angle: float
    throttle: float
    speed: float
    image: bytes
    time: float | None = None
    lap: int | None = None


class Steer(NamedTuple):
    """The agent's answer. Angle as a share of the lock, positive to the right; throttle -1..1: see `convert`."""

    steering_angle: float
    throttle: float


def encode_telemetry(message: Telemetry) -> dict[str, str]:
    """Return the event's data."""
    data = {
        "steering_angle": f"{message.steering_angle:.4f}",
        "throttle": f"{message.throttle:.4f}",
        "speed": f"{message.speed:.4f}",
        "image": to_base64(message.image),
    }
    if message.time is not None:
        data["time"] = f"{message.time:.3f}"
    if message.lap is not None:
        data["lap"] = str(message.lap)
    return data


def decode_telemetry(data: Any) -> Telemetry | None:
    """Return the telemetry in an event's data; None for null or {}: driven by hand. WireError where unreadable."""
    if data is None or data == {}:
        return None
    data = data_of(data, "telemetry")
    return Telemetry(
        number(data.get("steering_angle", 0.0), "steering_angle"),
        number(data.get("throttle", 0.0), "throttle"),
        number(data.get("speed"), "speed"),
        from_base64(data.get("image"), "image"),
        number(data["time"], "time") if "time" in data else None,
        int(number(data["lap"], "lap")) if "lap" in data else None,
    )


def encode_steer(message: Steer) -> dict[str, str]:
    """Return the event's data: text; the simulator makes nothing of a JSON number and falls silent."""
    return {"steering_angle": repr(message.steering_angle), "throttle": repr(message.throttle)}


def decode_steer(data: Any) -> Steer:
    """Return the command in an event's data, within what the simulator takes. WireError if unreadable."""
    data = data_of(data, "steer")
    return Steer(*(within(number(data.get(key), key), 1.0) for key in Steer._fields))
