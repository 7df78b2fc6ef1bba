"""What the three-dimensional view draws: the road as strips of points, the ground around it, the car's measures."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.cars.params import CarParams
from trailbrake.tracks.kerbs import KERB_HEIGHT
from trailbrake.tracks.road import Road, RoadColumn

Array = NDArray[np.float64]

MAX_STATIONS = 3000  # along the road
MIN_SPACING = 2.0  # m between them
GROUND_CELLS = 96  # along each side of the ground's grid
GROUND_MARGIN = 250.0  # m around the road
GROUND_DROP = 0.7  # m that the ground is below the road beside it: cells are larger than the road's details
NEAR_STATIONS = 600  # at most, from which the ground's height is interpolated
STRIPS = ("wall_left", "kerb_left", "edge_left", "edge_right", "kerb_right", "wall_right")


def describe_scene(road: Road | None, line: Array | None, car: CarParams | None) -> dict[str, Any]:
    """Return the scene as JSON values: lengths in m, world frame.

    Args:
        road: the track; None where it is not known.
        line: (n, 2) x, y (m, world) of the planned line; None without one.
        car: the car's model, None where it is not known.

    Returns:
        "closed"; "strips": name -> flat list of x, y, z per station, from left to right across the road; "kerbs": flat
        list of the widths left and right; "ground": {x0, y0, cell, count, z}, z row by row; "line": flat x, y, z;
        "car": its measures. None for what is not known.
    """
    scene: dict[str, Any] = {"closed": False, "strips": None, "ground": None, "line": None, "car": _car_measures(car)}
    if road is None:
        return scene
    step = max(1, math.ceil(MIN_SPACING / road.spacing), math.ceil(len(road.table) / MAX_STATIONS))
    stations = road.stations()[::step]
    rows = road.table[::step]
    offsets = _strip_offsets(rows)
    strips = {name: road.points(stations, offset)[:, :3] for name, offset in offsets.items()}
    scene["closed"] = road.closed
    scene["strips"] = {name: _flatten(points) for name, points in strips.items()}
    scene["kerbs"] = _flatten(rows[:, [RoadColumn.KERB_LEFT, RoadColumn.KERB_RIGHT]])
    scene["kerb_height"] = KERB_HEIGHT
    scene["ground"] = _ground_grid(strips["wall_left"], strips["wall_right"], rows[:, RoadColumn.X : RoadColumn.Z + 1])
    if line is not None and len(line) > 1:
        spacing = float(np.hypot(*np.diff(line, axis=0).T).mean())
        places = line[:: max(1, math.ceil(MIN_SPACING / max(spacing, 0.01)), math.ceil(len(line) / MAX_STATIONS))]
        placed = road.locate_many(places)
        scene["line"] = _flatten(road.points(placed[:, 0], placed[:, 1])[:, :3])
    return scene


def _strip_offsets(rows: Array) -> dict[str, Array]:
    left, right = rows[:, RoadColumn.WIDTH_LEFT], rows[:, RoadColumn.WIDTH_RIGHT]
    return dict(zip(STRIPS, (
        left + np.maximum(rows[:, RoadColumn.RUNOFF_LEFT], rows[:, RoadColumn.KERB_LEFT]),
        left + rows[:, RoadColumn.KERB_LEFT],
        left,
        -right,
        -right - rows[:, RoadColumn.KERB_RIGHT],
        -right - np.maximum(rows[:, RoadColumn.RUNOFF_RIGHT], rows[:, RoadColumn.KERB_RIGHT]),
    ), strict=True))  # fmt: skip


def _ground_grid(left: Array, right: Array, centre: Array) -> dict[str, Any]:
    """Return heights around the road: those of the nearest stations, weighted by the fourth power of the distance."""
    low = np.minimum(left, right)[:, :2].min(axis=0) - GROUND_MARGIN
    high = np.maximum(left, right)[:, :2].max(axis=0) + GROUND_MARGIN
    cell = float((high - low).max()) / (GROUND_CELLS - 1)
    axis = np.arange(GROUND_CELLS) * cell
    near = centre[:: math.ceil(len(centre) / NEAR_STATIONS)]
    bottom = np.minimum(left[:, 2], right[:, 2])[:: math.ceil(len(centre) / NEAR_STATIONS)]
    heights = np.empty((GROUND_CELLS, GROUND_CELLS))
    for row, y in enumerate(low[1] + axis):
        squared = (low[0] + axis[:, None] - near[:, 0]) ** 2 + (y - near[:, 1]) ** 2
        weights = 1.0 / (squared + 25.0) ** 2
        mean = (weights * bottom).sum(axis=1) / weights.sum(axis=1)
        # Within two cells of the road the ground stays below the lowest of it: it must not pierce the asphalt.
        within = np.where(squared < (2.0 * cell + 15.0) ** 2, bottom, math.inf).min(axis=1)
        heights[row] = np.minimum(mean, within) - GROUND_DROP
    return {
        "x0": round(float(low[0]), 2), "y0": round(float(low[1]), 2), "cell": round(cell, 4), "count": GROUND_CELLS,
        "z": _flatten(heights),
    }  # fmt: skip


def _car_measures(car: CarParams | None) -> dict[str, float] | None:
    if car is None:
        return None
    body = car.body
    return {
        "length": body.length, "width": body.width, "wheelbase": body.wheelbase, "front": body.cg_to_front,
        "track_front": body.track_front, "track_rear": body.track_rear, "height": body.cg_height,
        "radius": car.tyre_front.radius, "lock": car.steering.max_angle,
    }  # fmt: skip


def _flatten(values: Array) -> list[float]:
    numbers: list[float] = np.round(np.ravel(values), 2).tolist()
    return numbers
