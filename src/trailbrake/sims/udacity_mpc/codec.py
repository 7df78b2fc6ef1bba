"""The events of Udacity's MPC build as named tuples: JSON numbers both ways.

Source: protocol page formula-trend, section 9.
"""

from typing import Any, NamedTuple

from trailbrake.errors import WireError
from trailbrake.transport.numbers import data_of, number, numbers, within

_LINES = ("mpc_x", "mpc_y", "next_x", "next_y")


class Telemetry(NamedTuple):
    """What the simulator tells. Lengths in m in its map, seen from above; angles in rad; speed in mph.

    `psi` counts counter-clockwise from its x axis, `steering_angle` is positive to the right. The real simulator has
    neither clock nor laps; our host tells `time` (s) and `lap` (from 1) under Formula Trend's names.
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


class Steer(NamedTuple):
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


def encode_telemetry(message: Telemetry) -> dict[str, Any]:
    """Return the event's data."""
    return {key: value for key, value in message._asdict().items() if value is not None}


def decode_telemetry(data: Any) -> Telemetry | None:
    """Return the telemetry in an event's data; None for null or {}: driven by hand. WireError where unreadable."""
    if data is None or data == {}:
        return None
    data = data_of(data, "telemetry")
    ptsx, ptsy = numbers(data.get("ptsx"), "ptsx"), numbers(data.get("ptsy"), "ptsy")
    if len(ptsx) != len(ptsy):
        raise WireError("not as many as ptsx", where="ptsy", expected=str(len(ptsx)), got=str(len(ptsy)))
    return Telemetry(
        tuple(ptsx),
        tuple(ptsy),
        number(data.get("x"), "x"),
        number(data.get("y"), "y"),
        number(data.get("psi"), "psi"),
        number(data.get("psi_unity", 0.0), "psi_unity"),
        number(data.get("speed"), "speed"),
        number(data.get("steering_angle", 0.0), "steering_angle"),
        number(data.get("throttle", 0.0), "throttle"),
        number(data["time"], "time") if "time" in data else None,
        int(number(data["lap"], "lap")) if "lap" in data else None,
    )


def encode_steer(message: Steer) -> dict[str, Any]:
    """Return the event's data: JSON numbers; the simulator fails on text."""
    return message._asdict()


def decode_steer(data: Any) -> Steer:
    """Return the command in an event's data, within what the simulator takes. WireError if unreadable."""
    data = data_of(data, "steer")
    values = []
    for key in ("steering_angle", "throttle"):
        if isinstance(data.get(key), str):
            raise WireError("text instead of a number", where=key, got=repr(data[key])[:40])
        values.append(within(number(data.get(key), key), 1.0))
    lines = [tuple(numbers(data.get(key), key)) for key in _LINES]
    for k in (0, 2):
        if len(lines[k]) != len(lines[k + 1]):
            raise WireError(
                f"not as many as {_LINES[k]}", where=_LINES[k + 1], expected=str(len(lines[k])),
                got=str(len(lines[k + 1])),
            )  # fmt: skip
    return Steer(values[0], values[1], lines[0], lines[1], lines[2], lines[3])
