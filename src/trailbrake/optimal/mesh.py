"""Meshes of stages along a road."""

import numpy as np
from numpy.typing import NDArray

from trailbrake.optimal.transcription import Mesh
from trailbrake.tracks.road import Road, RoadColumn

Array = NDArray[np.float64]

MIN_ROOM = 0.1  # m between the smallest and the largest offset where a road is narrower than the margins


def mesh_road(road: Road, step: float, keep: float) -> Mesh:
    """Return the mesh of a road with equal steps of about `step` m; the car's middle stays `keep` m off the edges."""
    count = max(round(road.length / step), 12)
    s: Array = np.arange(count + (not road.closed), dtype=np.float64) * float(road.length / count)
    half = 0.5 * road.length / count
    # The curvature is the mean about a stage, so that the mesh turns by as much as the road.
    start: Array = s - half if road.closed else np.maximum(s - half, 0.0)
    end: Array = s + half if road.closed else np.minimum(s + half, road.length)
    bend = _mean_slope(road, road.column(RoadColumn.YAW), start, end, _turn(road))
    grade = road.column_at(s, RoadColumn.GRADE)
    climb_rate = _mean_slope(road, road.column(RoadColumn.GRADE), start, end, 0.0)
    parameters = np.stack(
        [bend, grade, climb_rate, road.column_at(s, RoadColumn.BANK), road.column_at(s, RoadColumn.GRIP)]
    )
    left = road.column_at(s, RoadColumn.WIDTH_LEFT) - keep
    right = keep - road.column_at(s, RoadColumn.WIDTH_RIGHT)
    middle = 0.5 * (left + right)
    steps = np.full(count, road.length / count)
    return Mesh(
        s=s,
        steps=steps,
        closed=road.closed,
        parameters=parameters,
        left=np.maximum(left, middle + 0.5 * MIN_ROOM),
        right=np.minimum(right, middle - 0.5 * MIN_ROOM),
    )


def _turn(road: Road) -> float:
    """Return the change of the yaw (rad) over a lap; 0 for an open road."""
    if not road.closed:
        return 0.0
    yaw = road.column(RoadColumn.YAW)
    step = road.spacing * 0.5 * (road.table[-1, RoadColumn.CURVATURE] + road.table[0, RoadColumn.CURVATURE])
    return float(2.0 * np.pi * np.round((yaw[-1] + step - yaw[0]) / (2.0 * np.pi)))


def _mean_slope(road: Road, values: Array, start: Array, end: Array, lap: float) -> Array:
    """Return the mean slope of a column between `start` and `end` (n,) m; `lap` is the column's change over a lap."""
    rows = road.stations()
    if road.closed:
        length = road.length
        rows = np.concatenate([rows - length, rows, rows + length])
        values = np.concatenate([values - lap, values, values + lap])
    slope: Array = (np.interp(end, rows, values) - np.interp(start, rows, values)) / (end - start)
    return slope
