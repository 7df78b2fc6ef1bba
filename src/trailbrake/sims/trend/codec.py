"""The events of Formula Trend as named tuples: strings on the wire, numbers here.

Source: protocol page formula-trend, section 2. Numbers are read leniently: strings or numbers, a decimal comma as some
locales write it, a clock as h:mm:ss. What cannot be read is a WireError that names the key.
"""

from typing import Any, NamedTuple

from trailbrake.errors import WireError
from trailbrake.transport.numbers import data_of, number, within
from trailbrake.transport.picture import from_base64, to_base64

TELEMETRY, STEER, RESTART = "telemetry", "steer", "restart"
MAX_ANGLE = 40.0  # degrees, where the simulator stops the wheels
_CLOCK = (1.0, 60.0, 3600.0)


class Telemetry(NamedTuple):
    """What the simulator tells. Angle in degrees, positive to the right; speed m/s; time s; `image` a JPEG."""

    steering_angle: float
    throttle: float
    brakes: float
    speed: float
    time: float
    lap: int  # under way, from 1; 1 where the simulator does not say
    status: int  # 0 = running
    image: bytes


class Steer(NamedTuple):
    """The agent's answer. Angle in degrees, positive to the right; throttle -1..1: below 0 brakes, then reverses."""

    steering_angle: float
    throttle: float


def seconds(value: Any, key: str) -> float:
    """Return a clock of the wire in s: a number, mm:ss or h:mm:ss."""
    if not isinstance(value, str) or ":" not in value:
        return number(value, key)
    parts = value.split(":")[::-1]
    if len(parts) > len(_CLOCK):
        raise WireError("not a time", where=key, expected="h:mm:ss", got=value[:40])
    return sum(number(part, key) * unit for part, unit in zip(parts, _CLOCK, strict=False))


def encode_telemetry(message: Telemetry) -> dict[str, str]:
    """Return the event's data."""
    return {
        "steering_angle": f"{message.steering_angle:.4f}",
        "throttle": f"{message.throttle:.4f}",
        "brakes": f"{message.brakes:.4f}",
        "speed": f"{message.speed:.4f}",
        "time": f"{message.time:.3f}",
        "lap": str(message.lap),
        "status": str(message.status),
        "image": to_base64(message.image),
    }


def decode_telemetry(data: Any) -> Telemetry | None:
    """Return the telemetry in an event's data; None for null or {}: driven by hand. WireError where unreadable."""
    if data is None or data == {}:
        return None
    data = data_of(data, TELEMETRY)
    picture = from_base64(data.get("image", ""), "image")
    return Telemetry(
        number(data.get("steering_angle", 0.0), "steering_angle"),
        number(data.get("throttle", 0.0), "throttle"),
        number(data.get("brakes", 0.0), "brakes"),
        number(data.get("speed"), "speed"),
        seconds(data.get("time", 0.0), "time"),
        int(number(data.get("lap", 1), "lap")),
        int(number(data.get("status", 0), "status")),
        picture,
    )


def encode_steer(message: Steer) -> dict[str, str]:
    """Return the event's data. Strings: the simulator's reader makes nothing of a JSON number and falls silent."""
    return {"steering_angle": repr(message.steering_angle), "throttle": repr(message.throttle)}


def decode_steer(data: Any) -> Steer:
    """Return the command in an event's data, within what the simulator takes. WireError if unreadable."""
    data = data_of(data, STEER)
    angle = number(data.get("steering_angle"), "steering_angle")
    throttle = number(data.get("throttle"), "throttle")
    return Steer(within(angle, MAX_ANGLE), within(throttle, 1.0))
