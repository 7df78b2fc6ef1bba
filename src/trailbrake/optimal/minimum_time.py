"""The minimum-time line of a road and a car: coarse to fine, from one or several starts, with what it is worth."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array
from trailbrake.errors import DataError
from trailbrake.optimal.interior_point import LEVELS, Level, MeshSolution, solve_mesh
from trailbrake.optimal.mesh import guess_motion, mesh_road
from trailbrake.optimal.options import STEP
from trailbrake.optimal.stage import SCALES, UNKNOWN_COUNT, UNKNOWNS, StageParameter, build_stage
from trailbrake.optimal.transcription import Mesh, scale_unknowns, unscale_unknowns
from trailbrake.optimal.vehicle_model import VehicleModel, import_casadi
from trailbrake.planning.minimum_curvature import plan_racing_line
from trailbrake.planning.path_margins import EDGE_MARGIN
from trailbrake.planning.path_room import PathRoom
from trailbrake.tracks.road import Road
from trailbrake.units import G

MIN_STEP, MAX_STEP = 1.0, 15.0
MIN_PACE_SPEED = 5.0  # m/s, below which intervals get no shorter
RETRY_BARRIER = 1e-2  # of a level that did not converge
GUESS_ROOM = 0.05  # m between the first guess and the bounds
# Starts, as length weights of the minimum-curvature line (1/m^2), from the usual one to the shortest; None: the centre.
START_WEIGHTS: tuple[float | None, ...] = (0.0, 1e-3, None)


@dataclass(frozen=True, eq=False)
class MinimumTimeLine:
    """A minimum-time line, its controls and its worth.

    Attributes:
        columns: name to (n,) in SI units, one value for each stage; docs/minimum-time.md lists them.
        time: s, of a flying lap, or of an open road from its start.
        closed: whether the last stage is followed by the first.
        step: m between stages, along the road.
        iterations: of IPOPT on each level.
        status: of IPOPT on the finest mesh.
        start: number of the start that it came from.
        solution: of the finest mesh.
    """

    columns: dict[str, Array]
    time: float
    closed: bool
    step: float
    iterations: tuple[int, ...]
    status: str
    start: int
    solution: MeshSolution = field(repr=False)


def plan_minimum_time(
    road: Road,
    car: VehicleModel,
    *,
    step: float = STEP,
    margin: float = EDGE_MARGIN,
    kerbs: bool = False,
    starts: int = 1,
    levels: Sequence[Level] = LEVELS,
    log: int = 0,
) -> MinimumTimeLine:
    """Return the minimum-time line of a road.

    Args:
        road: the road, closed or open; an open one is driven from `interior_point.START_SPEED`.
        car: the car.
        step: m between stages.
        margin: m between the car's side and the edge.
        kerbs: whether the margin counts from the ends of kerbs, where the road has any.
        starts: how many starts to try on the coarse mesh, 1 to 3; the quickest is refined.
        levels: from coarse to fine.
        log: print level of IPOPT.

    Raises:
        DataError: no start converges.
    """
    room = car.path_room(margin, kerbs)
    first_mesh = mesh_road(road, step * levels[0].coarseness, room)
    failures: list[str] = []
    waiting = list(enumerate(START_WEIGHTS))
    coarse: list[tuple[float, int, MeshSolution]] = []
    while waiting or coarse:
        while waiting and len(coarse) < starts:
            number, weight = waiting.pop(0)
            motion = guess_motion(car, first_mesh, find_start_offsets(road, first_mesh, room, weight))
            solution = solve_mesh(car, first_mesh, levels[0], scale_unknowns(motion), log)
            if solution.converged:
                coarse.append((solution.time, number, solution))
            else:
                failures.append(_describe_failure(number, solution))
        starts = 1  # from here on, one start after another until one can be refined
        coarse.sort(key=lambda entry: entry[0])
        while coarse:
            _, number, first = coarse.pop(0)
            chain = _refine_solution(road, car, first, _Refinement(step, room, levels[1:], log))
            if chain[-1].converged:
                return MinimumTimeLine(
                    columns=compute_columns(road, car, chain[-1]),
                    time=chain[-1].time,
                    closed=road.closed,
                    step=road.length / len(chain[-1].mesh.steps),
                    iterations=tuple(solution.iterations for solution in chain),
                    status=chain[-1].status,
                    start=number,
                    solution=chain[-1],
                )
            failures.append(_describe_failure(number, chain[-1]))
    raise DataError(
        "no minimum-time line was found",
        where=car.name,
        expected="a start that converges",
        got="; ".join(failures),
        hint="try --starts 3 or another --step; the minimum-curvature line stays",
    )


class _Refinement(NamedTuple):
    """How a coarse solution is refined: step (m) of the finest mesh, room beside the path, levels, print level."""

    step: float
    room: PathRoom
    levels: Sequence[Level]
    log: int


def _refine_solution(road: Road, car: VehicleModel, first: MeshSolution, plan: _Refinement) -> list[MeshSolution]:
    """Return the solutions from the coarse one to the finest, or to the first that does not converge.

    A level that does not converge from nearby is solved again with a large barrier, which lets go of its bounds.
    """
    chain = [first]
    for level in plan.levels:
        mesh = mesh_road(road, plan.step * level.coarseness, plan.room, _find_pace(chain[-1]))
        x = _refine_unknowns(chain[-1].x, chain[-1].mesh, mesh, road.length)
        solution = solve_mesh(car, mesh, level, x, plan.log)
        if not solution.converged:
            solution = solve_mesh(car, mesh, level._replace(barrier=RETRY_BARRIER, push=RETRY_BARRIER), x, plan.log)
        chain.append(solution)
        if not solution.converged:
            break
    return chain


def _describe_failure(number: int, solution: MeshSolution) -> str:
    return (
        f"start {number + 1}, steps of {solution.mesh.steps.mean():.1f} m: {solution.status} after "
        f"{solution.iterations} iterations"
    )


def find_start_offsets(road: Road, mesh: Mesh, room: PathRoom, weight: float | None) -> Array:
    """Return the offsets (n,) m of a start at the stages: of a minimum-curvature line, or 0 where `weight` is None."""
    if weight is None:
        offset = np.zeros(len(mesh.s))
    else:
        line = plan_racing_line(road, room, weight)
        place = road.locate_many(line.table[:, :2])
        period = road.length if road.closed else None
        order = np.argsort(place[:, 0], kind="stable")
        offset = np.interp(mesh.s, place[order, 0], place[order, 1], period=period)
    return np.clip(offset, mesh.right + GUESS_ROOM, mesh.left - GUESS_ROOM)


def _find_pace(solution: MeshSolution) -> tuple[Array, Array]:
    """Return s (n,) m and dt/ds (n,) s/m of a solution."""
    speed = unscale_unknowns(solution.x)["speed"]
    return solution.mesh.s, 1.0 / np.maximum(speed, MIN_PACE_SPEED)


def _refine_unknowns(x: Array, old: Mesh, new: Mesh, length: float) -> Array:
    """Return scaled unknowns on a finer mesh, linear between the stages of the old one."""
    period = length if old.closed else None
    values = unscale_unknowns(x)
    return scale_unknowns({name: np.interp(new.s, old.s, column, period=period) for name, column in values.items()})


def compute_columns(road: Road, car: VehicleModel, solution: MeshSolution) -> dict[str, Array]:
    """Return the columns of a line from a solution: place, motion, controls, loads and worth."""
    ca = import_casadi()
    mesh, value = solution.mesh, unscale_unknowns(solution.x)
    stage = build_stage(car, solution.level.rounding)
    outputs = ca.Function("outputs", [stage.w, stage.p], [stage.pace, *stage.outputs.values()])
    table = solution.x.reshape(-1, UNKNOWN_COUNT).T
    pace, *rest = (np.asarray(row).ravel() for row in outputs.map(len(mesh.s))(table, mesh.parameters))
    places = road.points(mesh.s, value["offset"])
    before, after = mesh.halves
    course = value["heading"] + np.arctan2(value["side_speed"], value["speed"])
    following = np.roll(pace, -1)
    spent = 0.5 * (pace + following)[: len(mesh.steps)] * mesh.steps
    share = before + after
    bounds = solution.bound_multipliers.reshape(-1, UNKNOWN_COUNT)[:, UNKNOWNS.index("offset")]
    bounds = bounds / SCALES[UNKNOWNS.index("offset")] / share
    grip = np.asarray(solution.programme.grip_gradient(solution.x, 1.0, solution.multipliers))[StageParameter.GRIP]
    stretch = np.hypot(value["speed"], value["side_speed"]) * pace  # m of path per m of road
    return {
        "s_m": mesh.s,
        "offset_m": value["offset"],
        "x_m": places[:, 0],
        "y_m": places[:, 1],
        "z_m": places[:, 2],
        "heading_rad": places[:, 3] + course,
        "curvature_1pm": (mesh.parameters[StageParameter.CURVATURE] + _slope(mesh, course)) / stretch,
        "time_s": np.concatenate([[0.0], np.cumsum(spent)])[: len(mesh.s)],
        "speed_mps": np.hypot(value["speed"], value["side_speed"]),
        "sideslip_rad": np.arctan2(value["side_speed"], value["speed"]),
        "yaw_rate_rps": value["yaw_rate"],
        "accel_x_mps2": G * value["accel_x"],
        "accel_y_mps2": G * value["accel_y"],
        "steer_rad": value["steer"],
        **{
            name + ("_n" if "use" not in name else ""): column for name, column in zip(stage.outputs, rest, strict=True)
        },
        "worth_left_spm2": np.maximum(bounds, 0.0),
        "worth_right_spm2": np.maximum(-bounds, 0.0),
        "worth_grip_spm": -grip / share,
    }


def _slope(mesh: Mesh, values: Array) -> Array:
    """Return d(values)/ds (n,), central."""
    if not mesh.closed:
        slope: Array = np.gradient(values, mesh.s)
        return slope
    return (np.roll(values, -1) - np.roll(values, 1)) / (mesh.steps + np.roll(mesh.steps, 1))
