"""What goes between server and page: a JSON header once, then little-endian doubles.

Every binary message begins with one double, its kind. FRAME: the columns that the header names, in its order, then
the columns of `other` for each other car. PATH: x, y, speed of each point driven so far. CAMERA and DEBUG: a picture's
bytes, as they are. The page answers every frame with `ANSWER`: so a server knows how far a page has got, and who is
there.
"""

import json
import math
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from trailbrake.control.hands import Wish
from trailbrake.errors import WireError
from trailbrake.laps import LapRecord
from trailbrake.state import CarState, Controls, OtherCar
from trailbrake.state.fields import Quantity, of, quantity
from trailbrake.state.tables import CONTROL_COLUMNS, STATE_COLUMNS, controls_row, state_row
from trailbrake.tracks.road import Column, Road

FRAME, PATH, CAMERA, DEBUG = 0.0, 1.0, 2.0, 3.0
# Which columns are charted until the viewer chooses others; of the state, or the command of the same name where the
# simulator does not tell.
STRIPS = (("speed",), ("throttle", "brake"), ("steer",), ("gear",))
MAP_POINTS = 3000  # of each line on the map
ANSWER = struct.Struct("<7d")  # frame seen, wants to drive, steer, throttle, brake, handbrake, from keys
_KIND = struct.Struct("<d")


@dataclass(slots=True)
class Health:
    """What the page is told of the connection, beside state and controls."""

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


OTHER_NAMES = tuple(OtherCar.__slots__)


def _described(columns: Iterable[tuple[str, Quantity]]) -> list[dict[str, Any]]:
    return [
        {"name": name, "unit": q.unit, "meaning": q.meaning, "lo": _finite(q.lo), "hi": _finite(q.hi)}
        for name, q in columns
    ]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def header(about: dict[str, Any], road: Road | None, line: Road | None, by_hand: bool) -> dict[str, Any]:
    """Return what the page must know before the first frame.

    Args:
        about: what a recording says about itself.
        road: the track, None where it is not known.
        line: the planned line.
        by_hand: whether the driver is the person at the page.
    """
    return {
        "about": {k: v for k, v in about.items() if v is None or isinstance(v, str | int | float)},
        "state": _described((c.name, c.quantity) for c in STATE_COLUMNS),
        "controls": _described((c.name, c.quantity) for c in CONTROL_COLUMNS),
        "health": _described(of(Health).items()),
        "other": list(OTHER_NAMES),
        "strips": STRIPS,
        "by_hand": by_hand,
        "map": None if road is None else {"closed": road.closed, **_edges(road)},
        "line": None if line is None else _points(zip(line.column(Column.X), line.column(Column.Y), strict=True)),
    }


def _edges(road: Road) -> dict[str, Any]:
    left, right = road.edges()
    return {"left": _points(left[:, :2]), "right": _points(right[:, :2])}


def _points(points: Iterable[Any]) -> dict[str, list[float]]:
    all_points = list(points)
    thinned = all_points[:: max(1, math.ceil(len(all_points) / MAP_POINTS))]
    return {"x": [round(float(p[0]), 2) for p in thinned], "y": [round(float(p[1]), 2) for p in thinned]}


def frame(state: CarState, controls: Controls, health: Health, others: Sequence[OtherCar]) -> bytes:
    """Return one frame."""
    row = [FRAME, *state_row(state), *controls_row(controls), *(getattr(health, n) for n in of(Health))]
    for other in others:
        row += [getattr(other, name) for name in OTHER_NAMES]
    return struct.pack(f"<{len(row)}d", *row)


def path(points: bytes) -> bytes:
    """Return the message with the points driven so far; `points` are doubles already."""
    return _KIND.pack(PATH) + points


def picture(kind: float, data: bytes) -> bytes:
    """Return the message with a picture: CAMERA or DEBUG."""
    return _KIND.pack(kind) + data


def text(kind: str, value: Any) -> str:
    """Return a text message: one key, what it is."""
    return json.dumps({kind: value}, allow_nan=False)


def lap(record: LapRecord) -> dict[str, Any]:
    """Return a finished lap as the page takes it."""
    return {
        "number": record.number,
        "time_s": record.time_s,
        "valid": record.valid,
        "reason": record.invalid_reason,
        "sectors_s": list(record.sectors_s),
    }


def answer(data: bytes) -> tuple[float, Wish | None]:
    """Return (the newest frame that the page has, what it asks for; None: it does not drive).

    Raises:
        WireError: these bytes are no answer of our page.
    """
    if len(data) != ANSWER.size:
        raise WireError("no answer of a page", expected=f"{ANSWER.size} bytes", got=str(len(data)))
    seen, drives, steer, throttle, brake, handbrake, keys = numbers = ANSWER.unpack(data)
    if not all(map(math.isfinite, numbers)):
        raise WireError("no answer of a page", expected="finite numbers")
    if not drives:
        return seen, None
    return seen, Wish(
        min(max(steer, -1.0), 1.0), _share(throttle), _share(brake), _share(handbrake), keys != 0.0
    )  # fmt: skip


def _share(value: float) -> float:
    return min(max(value, 0.0), 1.0)
