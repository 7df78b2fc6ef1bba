"""The events of Formula Trend as named tuples: strings on the wire, numbers here.

Source: protocol page formula-trend, section 2. Numbers are read leniently: strings or numbers, a decimal comma as some
locales write it, a clock as h:mm:ss. An unreadable value is a WireError that names the key.
"""

from typing import Any, NamedTuple

from trailbrake.errors import WireError
from trailbrake.transport.image_codec import decode_base64, encode_base64
from trailbrake.transport.json_values import clamp_magnitude, parse_number, require_object

TELEMETRY, STEER, RESTART = "telemetry", "steer", "restart"
MAX_ANGLE_DEG = 40.0  # degrees, where the simulator stops the wheels
_CLOCK_UNITS_S = (1.0, 60.0, 3600.0)


class TrendTelemetry(NamedTuple):
    """The simulator's telemetry. Angle in degrees, positive to the right; speed m/s; time s; `image` a JPEG."""

    steering_angle: float
    throttle: float
    brakes: float
    speed: float
    time: float
    lap: int  # under way, from 1; 1 where the simulator sends none
    status: int  # 0 = running
    image: bytes


class TrendSteer(NamedTuple):
    """The agent's answer. Angle in degrees, positive to the right; throttle -1..1: below 0 brakes, then reverses."""

    steering_angle: float
    throttle: float


def parse_clock(value: Any, key: str) -> float:
    """Return a clock of the wire in s: a number, mm:ss or h:mm:ss."""
    if not isinstance(value, str) or ":" not in value:
        return parse_number(value, key)
    parts = value.split(":")[::-1]
    if len(parts) > len(_CLOCK_UNITS_S):
        raise WireError("not a time", where=key, expected="h:mm:ss", got=value[:40])
    return sum(parse_number(part, key) * unit for part, unit in zip(parts, _CLOCK_UNITS_S, strict=False))


def encode_telemetry(message: TrendTelemetry) -> dict[str, str]:
    """Return the event's data."""
    return {
        "steering_angle": f"{message.steering_angle:.4f}",
        "throttle": f"{message.throttle:.4f}",
        "brakes": f"{message.brakes:.4f}",
        "speed": f"{message.speed:.4f}",
        "time": f"{message.time:.3f}",
        "lap": str(message.lap),
        "status": str(message.status),
        "image": encode_base64(message.image),
    }


def decode_telemetry(data: Any) -> TrendTelemetry | None:
    """Return the telemetry in an event's data; None for null or {}: a person drives. WireError where unreadable."""
    if data is None or data == {}:
        return None
    data = require_object(data, TELEMETRY)
    picture = decode_base64(data.get("image", ""), "image")
    return TrendTelemetry(
        parse_number(data.get("steering_angle", 0.0), "steering_angle"),
        parse_number(data.get("throttle", 0.0), "throttle"),
        parse_number(data.get("brakes", 0.0), "brakes"),
        parse_number(data.get("speed"), "speed"),
        parse_clock(data.get("time", 0.0), "time"),
        int(parse_number(data.get("lap", 1), "lap")),
        int(parse_number(data.get("status", 0), "status")),
        picture,
    )


def encode_steer(message: TrendSteer) -> dict[str, str]:
    """Return the event's data. Strings: the simulator cannot read a JSON number and falls silent."""
    return {"steering_angle": repr(message.steering_angle), "throttle": repr(message.throttle)}


def decode_steer(data: Any) -> TrendSteer:
    """Return the command in an event's data, limited to what the simulator accepts. WireError if unreadable."""
    data = require_object(data, STEER)
    angle = parse_number(data.get("steering_angle"), "steering_angle")
    throttle = parse_number(data.get("throttle"), "throttle")
    return TrendSteer(clamp_magnitude(angle, MAX_ANGLE_DEG), clamp_magnitude(throttle, 1.0))
