"""How far the middle of a car may go to either side: inside the edges, or with the outer wheels on a kerb.

A lap counts while two wheels are on the road (`laps`), and a kerb is nearly as good as the road (`tracks/kerbs`).
Beside an edge with a kerb, the car's side may therefore go as far as the kerb reaches, and the inner wheels as far as
the edge. Grass and walls are worth no time: beside an edge without a kerb the whole car stays on the road. Maps of
roads that a drive has learned state no kerbs.
"""

import math
from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array
from trailbrake.planning.path_margins import EDGE_MARGIN
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn

KERB_SHYNESS = 0.2  # m, that a car keeps outside of a line whose inner wheels are on a kerb: it shakes them
KERB_SMOOTHING = 12.0  # m along the line, standard deviation

INNER_ROOM = 0.5  # m that the plan leaves, besides the margin, between the inner wheels and the edge
INNER_MARGIN = 0.1  # m between the inner wheels and the edge below which a car counts as leaving the road
KERB_END = 0.2  # m of a kerb's width on which its middle does not count as beside the road
WALL_ROOM = 0.8  # m between the car's side and a wall behind the edge; at one on the edge EDGE_MARGIN is kept

LEFT_SIDE = (RoadColumn.WIDTH_LEFT, RoadColumn.KERB_LEFT, RoadColumn.RUNOFF_LEFT)
RIGHT_SIDE = (RoadColumn.WIDTH_RIGHT, RoadColumn.KERB_RIGHT, RoadColumn.RUNOFF_RIGHT)


class PathRoom(NamedTuple):
    """What a car needs beside its path.

    Attributes:
        half_width: m, of the body.
        half_track: m, of the narrower axle: the inner wheels are so far from the middle.
        margin: m between the car's side and the edge, or the end of the kerb.
        kerbs: whether the outer wheels may use the kerbs.
    """

    half_width: float
    half_track: float
    margin: float
    kerbs: bool = False


def make_inside_room(car_width: float) -> PathRoom:
    """Return the room of a car of this width (m) that stays on the road with EDGE_MARGIN."""
    return PathRoom(0.5 * car_width, 0.5 * car_width, EDGE_MARGIN)


def find_path_bounds(road: Road, s: Array, room: PathRoom) -> tuple[Array, Array]:
    """Return the smallest and the largest offset (n,) m, left of the centreline, of the middle of a car at s (n,) m.

    Where a road is narrower than the car with its margins, the smallest is above the largest.
    """
    left, right = (
        find_side_reach(road.column_at(s, width), road.column_at(s, kerb), road.column_at(s, runoff), room)
        for width, kerb, runoff in (LEFT_SIDE, RIGHT_SIDE)
    )
    return -right, left


def find_kerb_reach(line: Road, half_track: float) -> tuple[Array, Array]:
    """Return how far (n,) m beyond the left and the right edge the middle of a car on a line may be, row by row.

    Beyond that fewer than two wheels are on the road, or wheels are on the ground behind the kerb. Without a kerb it
    is 0. The inner wheels are `half_track` (m) from the middle.
    """
    most = max(half_track - INNER_MARGIN, 0.0)
    left, right = (np.clip(line.column(column) - KERB_END, 0.0, most)
                   for column in (RoadColumn.KERB_LEFT, RoadColumn.KERB_RIGHT))  # fmt: skip
    return left, right


def find_side_reach(width: Array, kerb: Array, runoff: Array, room: PathRoom) -> Array:
    """Return how far (n,) m from the centreline, or from a line, the middle may go, for the columns of one side."""
    inside = width - room.half_width
    if not room.kerbs:
        return inside - room.margin
    reach = width + np.minimum(kerb - room.half_width, room.half_track - INNER_ROOM) - room.margin
    wall = inside + runoff - WALL_ROOM
    kept: Array = np.minimum(reach, np.maximum(wall, inside - EDGE_MARGIN))
    return kept


def keep_off_inner_kerbs(line: Road, half_track: float) -> Array:
    """Return the offsets (n,) m, positive left, of a car that keeps off the kerbs at the inside of bends a little."""
    curvature = line.column(RoadColumn.CURVATURE)
    width = np.where(curvature > 0.0, line.column(RoadColumn.WIDTH_LEFT), line.column(RoadColumn.WIDTH_RIGHT))
    kerb = np.where(curvature > 0.0, line.column(RoadColumn.KERB_LEFT), line.column(RoadColumn.KERB_RIGHT))
    over = np.where(kerb > 0.0, np.clip(half_track - width, 0.0, KERB_SHYNESS), 0.0)
    reach = math.ceil(3.0 * KERB_SMOOTHING / line.spacing)
    places = line.spacing * np.arange(-reach, reach + 1)
    weights = np.exp(-0.5 * (places / KERB_SMOOTHING) ** 2)
    signed = np.pad(-np.sign(curvature) * over, reach, mode="wrap" if line.closed else "edge")
    # The largest near each place to each side, less the farther it is: a kerb of some metres counts as a whole, and
    # from one side to the other there is no step.
    windows = np.lib.stride_tricks.sliding_window_view(signed, len(weights)) * weights
    offsets: Array = np.maximum(windows, 0.0).max(axis=1) + np.minimum(windows, 0.0).min(axis=1)
    return offsets
