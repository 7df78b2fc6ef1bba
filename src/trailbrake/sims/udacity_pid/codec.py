"""The events of Udacity's PID build as named tuples: text from the simulator, numbers from the agent.

Source: protocol page formula-trend, section 9. Numbers are read leniently, since .NET writes them in the user's locale.
"""

from typing import Any, NamedTuple

from trailbrake.transport.json_values import clamp_magnitude, parse_number, require_number, require_object

RESET = "reset"  # back to the start; the track is loaded again


class UdacityPidTelemetry(NamedTuple):
    """The simulator's telemetry. Angle in degrees, positive to the right; speed in mph.

    `cte` is the distance to the line in m, positive where the car is to the right of it. The real simulator has neither
    clock nor laps; our host adds `time` (s) and `lap` (from 1) under Formula Trend's names.
    """

    cte: float
    speed: float
    steering_angle: float
    throttle: float
    time: float | None = None
    lap: int | None = None


class UdacityPidSteer(NamedTuple):
    """The agent's answer. Angle as a share of the lock, positive to the right; throttle -1..1: see `convert`."""

    steering_angle: float
    throttle: float


def encode_telemetry(message: UdacityPidTelemetry, *, browser: bool = False) -> dict[str, str]:
    """Return the event's data. The build for the browser adds that no person drives the car."""
    data = {
        "steering_angle": f"{message.steering_angle:.4f}",
        "throttle": f"{message.throttle:.4f}",
        "speed": f"{message.speed:.4f}",
        "cte": f"{message.cte:.4f}",
    }
    if browser:
        data["process"] = "1"
    if message.time is not None:
        data["time"] = f"{message.time:.3f}"
    if message.lap is not None:
        data["lap"] = str(message.lap)
    return data


def decode_telemetry(data: Any) -> UdacityPidTelemetry | None:
    """Return the telemetry in an event's data; None for null, {} or process 0: a person drives. WireError otherwise."""
    if data is None or data == {}:
        return None
    data = require_object(data, "telemetry")
    if data.get("process") in ("0", 0):
        return None
    return UdacityPidTelemetry(
        parse_number(data.get("cte"), "cte"),
        parse_number(data.get("speed"), "speed"),
        parse_number(data.get("steering_angle", 0.0), "steering_angle"),
        parse_number(data.get("throttle", 0.0), "throttle"),
        parse_number(data["time"], "time") if "time" in data else None,
        int(parse_number(data["lap"], "lap")) if "lap" in data else None,
    )


def encode_steer(message: UdacityPidSteer) -> dict[str, float]:
    """Return the event's data: JSON numbers; the simulator fails on text."""
    return message._asdict()


def decode_steer(data: Any) -> UdacityPidSteer:
    """Return the command in an event's data, limited to what the simulator accepts. WireError if unreadable."""
    data = require_object(data, "steer")
    values = [clamp_magnitude(require_number(data.get(key), key), 1.0) for key in UdacityPidSteer._fields]
    return UdacityPidSteer(*values)
