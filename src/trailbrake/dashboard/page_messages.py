"""The messages between server and page: a JSON header once, then little-endian doubles.

Every binary message begins with one double, its kind. FRAME: the columns that the header names, in its order (state,
controls, health, derived, pace), then the columns of `other` for each other car. PATH: x, y, speed of each point driven
so far. CAMERA and DEBUG: an encoded image. HISTORY: the frames of the last half minute, without other cars. The page
answers every frame with `ANSWER_FORMAT`, so the server knows which frame it has reached, and sends its requests
(`frame_source`) as text.
"""

import json
import math
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from trailbrake.control.vehicle.manual_input import ManualInput
from trailbrake.dashboard.lap_follower import LapPace
from trailbrake.errors import WireError
from trailbrake.laps import LapRecord
from trailbrake.observe.path_curvature import PathBend
from trailbrake.state import CarState, Controls, DebugLine, OtherCar
from trailbrake.state.fields import Quantity, declared_quantities, quantity
from trailbrake.state.tables import CONTROL_COLUMNS, STATE_COLUMNS, controls_row, state_row
from trailbrake.tracks.road import Road, RoadColumn

FRAME, PATH, CAMERA, DEBUG, HISTORY = 0.0, 1.0, 2.0, 3.0, 4.0
# Which columns are charted until the viewer chooses others; of the state, or the command of the same name where the
# simulator does not supply it.
CHARTS = (("speed",), ("throttle", "brake"), ("steer",), ("gear",))
MAX_MAP_POINTS = 3000  # of each line on the map
ANSWER_FORMAT = struct.Struct("<7d")  # frame seen, wants to drive, steer, throttle, brake, handbrake, from keys
_KIND_FORMAT = struct.Struct("<d")


@dataclass(slots=True)
class ConnectionHealth:
    """The state of the connection, beside the car's state and controls."""

    frame: float = quantity("1", "number of this frame", default=0.0)
    sent: float = quantity("s", "when this frame was made, since 1970", default=0.0)
    silent: float = quantity("s", "since the newest sample arrived")
    loop_rate: float = quantity("1/s", "ticks of the drive loop")
    lap_clock: float = quantity("s", "time in the current lap")
    received: float = quantity("1", "samples read")
    lost: float = quantity("1", "samples that were sent and never seen")
    stale: float = quantity("1", "times the wire went silent")
    resyncs: float = quantity("1", "restarts at the other end")
    skipped: float = quantity("1", "frames that this page was too slow for", default=0.0)
    position: float = quantity("s", "place in the recording that is replayed, from its start")


OTHER_CAR_NAMES = tuple(OtherCar.__slots__)
_other_car_row = attrgetter(*OTHER_CAR_NAMES)
_health_row = attrgetter(*declared_quantities(ConnectionHealth))
_derived_row = attrgetter(*declared_quantities(PathBend))
_pace_row = attrgetter(*declared_quantities(LapPace))


def _describe_columns(columns: Iterable[tuple[str, Quantity]]) -> list[dict[str, Any]]:
    return [
        {"name": name, "unit": q.unit, "meaning": q.meaning, "lo": _finite_or_none(q.lo), "hi": _finite_or_none(q.hi)}
        for name, q in columns
    ]


def _finite_or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None


def build_header(about: dict[str, Any], road: Road | None, line: Road | None, by_hand: bool) -> dict[str, Any]:
    """Return what the page needs before the first frame.

    Args:
        about: sim, driver, car, track and more, as in a recording; its "signals" are shown behind the state.
        road: the track, None where it is not known.
        line: the planned line.
        by_hand: whether the driver is the person at the page.
    """
    return {
        "about": {k: v for k, v in about.items() if v is None or isinstance(v, str | int | float)},
        "state": _describe_columns((c.name, c.quantity) for c in STATE_COLUMNS)
        + [{"lo": None, "hi": None, **signal} for signal in about.get("signals", ())],
        "controls": _describe_columns((c.name, c.quantity) for c in CONTROL_COLUMNS),
        "health": _describe_columns(declared_quantities(ConnectionHealth).items()),
        "derived": _describe_columns(declared_quantities(PathBend).items()),
        "pace": _describe_columns(declared_quantities(LapPace).items()),
        "other": list(OTHER_CAR_NAMES),
        "strips": CHARTS,
        "by_hand": by_hand,
        "map": None if road is None else describe_edges(road.closed, *(edge[:, :2] for edge in road.edge_lines())),
        "line": None
        if line is None
        else thin_points(zip(line.column(RoadColumn.X), line.column(RoadColumn.Y), strict=True)),
    }


def describe_edges(closed: bool, left: Iterable[Any], right: Iterable[Any]) -> dict[str, Any]:
    """Return the edges of a road (points of x and y, m, world) as the map shows them."""
    return {"closed": closed, "left": thin_points(left), "right": thin_points(right)}


def thin_points(points: Iterable[Any]) -> dict[str, list[float]]:
    """Return points of x and y (m) as a line of the map: {"x": [...], "y": [...]}, MAX_MAP_POINTS at most."""
    all_points = list(points)
    thinned = all_points[:: max(1, math.ceil(len(all_points) / MAX_MAP_POINTS))]
    return {"x": [round(float(p[0]), 2) for p in thinned], "y": [round(float(p[1]), 2) for p in thinned]}


def car_values(state: CarState, controls: Controls) -> tuple[float, ...]:
    """Return the columns of state, signals and controls."""
    return (*state_row(state), *state.signals.values, *controls_row(controls))


def frame_row(car: Sequence[float], health: ConnectionHealth, bend: PathBend, pace: LapPace) -> list[float]:
    """Return one frame without other cars; `car` is what `car_values` returns."""
    return [*car, *_health_row(health), *_derived_row(bend), *_pace_row(pace)]


def encode_frame(row: Sequence[float], others: Iterable[OtherCar]) -> bytes:
    """Return the message of one frame, a row of `frame_row`."""
    numbers = [FRAME, *row]
    for other in others:
        numbers += _other_car_row(other)
    return struct.pack(f"<{len(numbers)}d", *numbers)


def encode_history(rows: bytes) -> bytes:
    """Return the message with the frames of the last half minute; `rows` are encoded doubles."""
    return _KIND_FORMAT.pack(HISTORY) + rows


def encode_path(points: bytes) -> bytes:
    """Return the message with the points driven so far; `points` are encoded doubles."""
    return _KIND_FORMAT.pack(PATH) + points


def encode_picture(kind: float, data: bytes) -> bytes:
    """Return the message with a picture: CAMERA or DEBUG."""
    return _KIND_FORMAT.pack(kind) + data


def encode_text(kind: str, value: Any) -> str:
    """Return a text message: an object whose one key is its kind."""
    return json.dumps({kind: value}, allow_nan=False)


def plan_lines(lines: Sequence[DebugLine]) -> list[list[float]]:
    """Return a driver's lines as the map shows them, from above: x, y, x, y (m) and the colour 0xRRGGBB of each."""
    return [
        [round(float(v), 2) for v in (line.start[0], line.start[1], line.end[0], line.end[1])] + [line.color]
        for line in lines
    ]


def lap_summary(record: LapRecord) -> dict[str, Any]:
    """Return a finished lap as the page takes it."""
    return {
        "number": record.number,
        "time_s": record.time_s,
        "valid": record.valid,
        "reason": record.invalid_reason,
        "sectors_s": list(record.sectors_s),
    }


def decode_answer(data: bytes) -> tuple[float, ManualInput | None]:
    """Return the newest frame that the page has, and its input; None where it does not drive.

    Raises:
        WireError: these bytes are no answer of the page.
    """
    if len(data) != ANSWER_FORMAT.size:
        raise WireError("no answer of a page", expected=f"{ANSWER_FORMAT.size} bytes", got=str(len(data)))
    seen, drives, steer, throttle, brake, handbrake, keys = numbers = ANSWER_FORMAT.unpack(data)
    if not all(map(math.isfinite, numbers)):
        raise WireError("no answer of a page", expected="finite numbers")
    if not drives:
        return seen, None
    return seen, ManualInput(
        min(max(steer, -1.0), 1.0), _clamp_share(throttle), _clamp_share(brake), _clamp_share(handbrake), keys != 0.0
    )  # fmt: skip


def _clamp_share(value: float) -> float:
    return min(max(value, 0.0), 1.0)
