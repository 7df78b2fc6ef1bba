"""The events of Udacity's MPC build as named tuples: JSON numbers both ways.

Source: protocol page formula-trend, section 9.
"""

from typing import Any, NamedTuple

from trailbrake.errors import WireError
from trailbrake.transport.json_values import (
    clamp_magnitude,
    parse_number,
    parse_numbers,
    require_number,
    require_object,
)

_LINE_KEYS = ("mpc_x", "mpc_y", "next_x", "next_y")


class UdacityMpcTelemetry(NamedTuple):
    """The simulator's telemetry. Lengths in m in its map, seen from above; angles in rad; speed in mph.

    `psi` counts counter-clockwise from its x axis, `steering_angle` is positive to the right. The real simulator has
    neither clock nor laps; our host adds `time` (s) and `lap` (from 1) under Formula Trend's names.
    """

    ptsx: tuple[float, ...]  # waypoints, from the one just behind the car on
    ptsy: tuple[float, ...]
    x: float
    y: float
    psi: float
    psi_unity: float  # the same heading clockwise from the y axis
    speed: float
    steering_angle: float
    throttle: float
    time: float | None = None
    lap: int | None = None


class UdacityMpcSteer(NamedTuple):
    """The agent's answer. Angle as a share of the lock, positive to the right; throttle -1..1: see `convert`.

    The lists are points (m, vehicle frame, x forward, y left) of two lines that the simulator draws: `mpc` green,
    `next` yellow. The simulator fails where one of them is missing.
    """

    steering_angle: float
    throttle: float
    mpc_x: tuple[float, ...] = ()
    mpc_y: tuple[float, ...] = ()
    next_x: tuple[float, ...] = ()
    next_y: tuple[float, ...] = ()


def encode_telemetry(message: UdacityMpcTelemetry) -> dict[str, Any]:
    """Return the event's data."""
    return {key: value for key, value in message._asdict().items() if value is not None}


def decode_telemetry(data: Any) -> UdacityMpcTelemetry | None:
    """Return the telemetry in an event's data; None for null or {}: a person drives. WireError where unreadable."""
    if data is None or data == {}:
        return None
    data = require_object(data, "telemetry")
    ptsx, ptsy = parse_numbers(data.get("ptsx"), "ptsx"), parse_numbers(data.get("ptsy"), "ptsy")
    if len(ptsx) != len(ptsy):
        raise WireError("not as many as ptsx", where="ptsy", expected=str(len(ptsx)), got=str(len(ptsy)))
    return UdacityMpcTelemetry(
        tuple(ptsx),
        tuple(ptsy),
        parse_number(data.get("x"), "x"),
        parse_number(data.get("y"), "y"),
        parse_number(data.get("psi"), "psi"),
        parse_number(data.get("psi_unity", 0.0), "psi_unity"),
        parse_number(data.get("speed"), "speed"),
        parse_number(data.get("steering_angle", 0.0), "steering_angle"),
        parse_number(data.get("throttle", 0.0), "throttle"),
        parse_number(data["time"], "time") if "time" in data else None,
        int(parse_number(data["lap"], "lap")) if "lap" in data else None,
    )


def encode_steer(message: UdacityMpcSteer) -> dict[str, Any]:
    """Return the event's data: JSON numbers; the simulator fails on text."""
    return message._asdict()


def decode_steer(data: Any) -> UdacityMpcSteer:
    """Return the command in an event's data, limited to what the simulator accepts. WireError if unreadable."""
    data = require_object(data, "steer")
    values = [clamp_magnitude(require_number(data.get(key), key), 1.0) for key in ("steering_angle", "throttle")]
    lines = [tuple(parse_numbers(data.get(key), key)) for key in _LINE_KEYS]
    for k in (0, 2):
        if len(lines[k]) != len(lines[k + 1]):
            raise WireError(
                f"not as many as {_LINE_KEYS[k]}", where=_LINE_KEYS[k + 1], expected=str(len(lines[k])),
                got=str(len(lines[k + 1])),
            )  # fmt: skip
    return UdacityMpcSteer(values[0], values[1], lines[0], lines[1], lines[2], lines[3])
