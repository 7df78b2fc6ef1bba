"""The minimum-curvature line under the model of the optimal control problem: what it costs to follow it."""

from dataclasses import replace

import numpy as np

from trailbrake.optimal.guess import guess_motion
from trailbrake.optimal.interior_point import LEVELS, MeshSolution, solve_mesh
from trailbrake.optimal.mesh import mesh_road
from trailbrake.optimal.minimum_time import START_WEIGHTS, find_start_offsets
from trailbrake.optimal.transcription import scale_unknowns
from trailbrake.optimal.vehicle_model import VehicleModel
from trailbrake.planning.path_room import PathRoom
from trailbrake.tracks.road import Road

TUBE = 0.1  # m to either side of the line: an offset that is given exactly leaves a programme without an inside
TUBE_SMOOTHING = 0.02  # s m, of the coarse solution


def solve_curvature_line(road: Road, car: VehicleModel, step: float, room: PathRoom) -> MeshSolution:
    """Return the quickest motion of a car that stays within `TUBE` of the minimum-curvature line.

    Args:
        road: the road.
        car: the car.
        step: m between stages.
        room: that the car needs beside its path.
    """
    mesh = mesh_road(road, step, room)
    offset = find_start_offsets(road, mesh, room, START_WEIGHTS[0])
    tube = replace(mesh, left=np.minimum(offset + TUBE, mesh.left), right=np.maximum(offset - TUBE, mesh.right))
    coarse, finest = LEVELS[0]._replace(smoothing=TUBE_SMOOTHING), LEVELS[-1]._replace(barrier=LEVELS[1].barrier)
    first = solve_mesh(car, tube, coarse, scale_unknowns(guess_motion(car, tube, offset)))
    return solve_mesh(car, tube, finest, first.x)
