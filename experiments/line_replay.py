"""Replay of optimal controls in a plant: the stage's equations, integrated over the whole road in steps below 1 ms.

A line of the collocation fulfils the equations of motion on average between its stages. The replay integrates the same
car on the road's own curvature, by the classical Runge-Kutta method, with the controls linear between the stages. A car
at the limit of its tyres is unstable, so a linear feedback on the five states holds it on the line: the gains of
`compute_gains`. The result says how much the feedback added, how far the car was off the line, and
how far beyond their peaks its tyres were.

Gains that hold a car on its line: the linear-quadratic regulator of the car linearised along the line.

The car is linearised at each stage, its inner unknowns (slips, specific forces) eliminated by the implicit function
theorem. The Riccati recursion runs backwards over a fine grid of the road, for a closed road over two laps, until it is
periodic (Bittanti, Laub and Willems (eds.), The Riccati Equation, 1991, chapter 6).

And the minimum-curvature line under the same model, to compare with.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from trailbrake.arrays import Array
from trailbrake.optimal.interior_point import LEVELS, MeshSolution, solve_mesh
from trailbrake.optimal.mesh import guess_motion, mesh_road
from trailbrake.optimal.minimum_time import START_WEIGHTS, find_start_offsets
from trailbrake.optimal.stage import BALANCES, SCALES, STATE_COUNT, UNKNOWN_COUNT, UNKNOWNS, StageParameter, build_stage
from trailbrake.optimal.transcription import Mesh, scale_unknowns
from trailbrake.optimal.vehicle_model import AxleParameters, VehicleModel, import_casadi
from trailbrake.planning.path_room import PathRoom
from trailbrake.tracks.road import Road, RoadColumn
from trailbrake.units import G

INPUT_COUNT = 2  # steer and pedal
STATE_COSTS = np.array([1.0, 1.0, 1.0, 0.3, 0.3])  # per metre, of the squared scaled states
INPUT_COSTS = np.array([30.0, 30.0])  # per metre, of the squared scaled inputs: large, for a small feedback
GRID = 0.5  # m, longest step of the recursion
LAPS = 2
# A tyre is linearised at this share of its slip: at the peak it has no stiffness, and beyond it the sign of the gains
# would change.
SLIP_SHARE = 0.85
DAMPING = 1e-6  # of the inner unknowns' equations, which are singular where a tyre spins at its peak

MAX_STEP_S = 1e-3  # s, longest step of the plant
INNER = slice(STATE_COUNT + INPUT_COUNT, UNKNOWN_COUNT)  # slips and specific forces: they follow from the balances
NEWTON_STEPS = 1  # for the inner unknowns in each evaluation, from those of the one before
WHEELS = 4
# A wheel slips at most so much more than on the line, scaled (0.005): an ideal slip control. Without it, and without
# inertia, a wheel at the peak of its tyre spins up or locks at the next rounding error.
SLIP_ROOM = 0.1
CHUNK = 4000  # steps of the plant in one call
LOST = 3.0  # m off the line: the car is lost
OFFSET_SCALE = float(SCALES[UNKNOWNS.index("offset")])
INPUT_SCALES = SCALES[STATE_COUNT : STATE_COUNT + INPUT_COUNT]


def compute_gains(car: VehicleModel, solution: MeshSolution) -> Array:
    """Return the gains (n, INPUT_COUNT, STATE_COUNT) at the stages: scaled inputs for scaled states off the line."""
    slopes, effects = linearise_stages(car, solution)
    mesh = solution.mesh
    n, intervals = len(mesh.s), len(mesh.steps)
    gains = np.zeros((n, INPUT_COUNT, STATE_COUNT))
    cost = np.diag(STATE_COSTS)
    value = 10.0 * cost
    unit = np.eye(STATE_COUNT)
    for k in range((LAPS if mesh.closed else 1) * intervals - 1, -1, -1):
        i, j = k % intervals, (k % intervals + 1) % n
        parts = max(int(np.ceil(mesh.steps[i] / GRID)), 1)
        h = mesh.steps[i] / parts
        for part in range(parts - 1, -1, -1):
            share = (part + 0.5) / parts
            slope = (1.0 - share) * slopes[i] + share * slopes[j]
            effect = (1.0 - share) * effects[i] + share * effects[j]
            left = np.linalg.inv(unit - 0.5 * h * slope)
            advance, control = left @ (unit + 0.5 * h * slope), h * left @ effect
            weighted = control.T @ value
            gain = -np.linalg.solve(np.diag(INPUT_COSTS) * h + weighted @ control, weighted @ advance)
            closed = advance + control @ gain
            value = cost * h + gain.T @ (np.diag(INPUT_COSTS) * h) @ gain + closed.T @ value @ closed
            value = 0.5 * (value + value.T)
        gains[i] = gain
    if not mesh.closed:
        gains[-1] = gains[-2]
    return gains


def linearise_stages(car: VehicleModel, solution: MeshSolution) -> tuple[Array, Array]:
    """Return d(slopes)/d(states) (n, 5, 5) and d(slopes)/d(inputs) (n, 5, 2) of a solution, per metre, scaled."""
    ca: Any = import_casadi()
    soft = replace(car, front=_soften_axle(car.front), rear=_soften_axle(car.rear))
    stage = build_stage(soft, solution.level.rounding)
    inner = UNKNOWN_COUNT - STATE_COUNT - INPUT_COUNT
    assert inner == BALANCES
    outer = STATE_COUNT + INPUT_COUNT
    rows = ca.vertcat(stage.slopes, stage.balances)
    derivative = ca.Function("derivative", [stage.w, stage.p], [ca.densify(ca.jacobian(rows, stage.w))], {"cse": True})
    mesh = solution.mesh
    table = solution.x.reshape(-1, UNKNOWN_COUNT).T
    n = len(mesh.s)
    blocks = np.asarray(derivative.map(n)(table, mesh.parameters)).reshape(len(SCALES) - 2, n, UNKNOWN_COUNT)
    blocks = blocks.transpose(1, 0, 2)
    of_slopes, of_balances = blocks[:, :STATE_COUNT], blocks[:, STATE_COUNT:]
    square, others = of_balances[:, :, outer:], of_balances[:, :, :outer]
    normal = square.transpose(0, 2, 1) @ square + DAMPING * np.eye(inner)
    response = -np.linalg.solve(normal, square.transpose(0, 2, 1) @ others)
    total = of_slopes[:, :, :outer] + of_slopes[:, :, outer:] @ response
    return total[:, :, :STATE_COUNT], total[:, :, STATE_COUNT:]


def _soften_axle(axle: AxleParameters) -> AxleParameters:
    """Return an axle whose tyres slip less than they do."""

    def tyre(slip: Any, tan_angle: Any, load: Any, grip: Any) -> Any:
        return axle.tyre(SLIP_SHARE * slip, SLIP_SHARE * tan_angle, load, grip)

    return replace(axle, tyre=tyre)


@dataclass(frozen=True)
class Replay:
    """What the plant did with the controls of a line.

    Attributes:
        completed: whether the car reached the end of the road, never more than `LOST` off the line.
        time: s, of the distance in the plant.
        distance: m of road that were driven.
        steps: of the plant.
        offset_error: m, largest distance off the line.
        room: m, least room to the bounds of the offset; negative where the car left them.
        steer_correction: rad, rms and largest of the feedback.
        pedal_correction: rms and largest of the feedback, over the car's weight.
        use: mean of the largest and largest combined slip of the tyres, over that of the peak.
    """

    completed: bool
    time: float
    distance: float
    steps: int
    offset_error: float
    room: float
    steer_correction: tuple[float, float]
    pedal_correction: tuple[float, float]
    use: tuple[float, float]


def replay_solution(road: Road, car: VehicleModel, solution: MeshSolution) -> Replay:
    """Return what the plant does with the controls of a solution, from its first stage over the whole road."""
    ca = import_casadi()
    table = solution.x.reshape(-1, UNKNOWN_COUNT)
    rows = _reference_rows(ca, road, car, solution)
    plant = _build_plant(ca, car, solution)
    state = np.concatenate([table[0, :STATE_COUNT], table[0, INNER], [0.0]])
    logs: list[Array] = []
    runner = plant.mapaccum("replay", CHUNK)
    for start in range(0, len(rows.table), CHUNK):
        part = rows.table[start : start + CHUNK].T
        run = runner if part.shape[1] == CHUNK else plant.mapaccum("rest", part.shape[1])
        states, log = (np.asarray(value) for value in run(state, part))
        logs.append(np.vstack([states[-1], log]))
        state = states[:, -1]
        if not np.all(np.isfinite(states)) or np.abs(log[0]).max() > LOST:
            break
    return _summarise(np.hstack(logs), rows, solution.mesh)


class _ReferenceRows(NamedTuple):
    """The steps of the plant.

    Attributes:
        s: (n,) m, before each step.
        table: (n, m) what a step takes: its length, the road, the line's states and inputs, the gains.
    """

    s: Array
    table: Array


def _reference_rows(ca: Any, road: Road, car: VehicleModel, solution: MeshSolution) -> _ReferenceRows:
    """Return the steps of the plant: at least so many in each interval that none is longer than MAX_STEP_S."""
    mesh, table = solution.mesh, solution.x.reshape(-1, UNKNOWN_COUNT)
    stage = build_stage(car, solution.level.rounding)
    motion = ca.Function("motion", [stage.w, stage.p], [stage.slopes, stage.pace])
    slopes, pace = (np.asarray(value) for value in motion.map(len(mesh.s))(table.T, mesh.parameters))
    gains = compute_gains(car, solution).reshape(len(mesh.s), -1)
    k = np.arange(len(mesh.steps))
    j = (k + 1) % len(mesh.s)
    slowest = np.maximum(pace.ravel()[k], pace.ravel()[j])
    counts = np.ceil(mesh.steps * slowest / (0.9 * MAX_STEP_S)).astype(int)
    interval = np.repeat(k, counts)
    start = np.concatenate([[0], np.cumsum(counts)[:-1]])
    part = (np.arange(len(interval)) - start[interval]) / counts[interval]
    after, h = j[interval], mesh.steps[interval]
    t = part[:, None]
    state, slope = table[:, :STATE_COUNT], slopes.T
    states = (
        (1.0 + 2.0 * t) * (1.0 - t) ** 2 * state[interval]
        + t * t * (3.0 - 2.0 * t) * state[after]
        + h[:, None] * (t * (1.0 - t) ** 2 * slope[interval] - t * t * (1.0 - t) * slope[after])
    )
    held = np.hstack([table[:, STATE_COUNT : STATE_COUNT + INPUT_COUNT + WHEELS], gains])
    linear = (1.0 - t) * held[interval] + t * held[after]
    s = mesh.s[interval] + part * h
    ds = h / counts[interval]
    places = s + 0.5 * ds
    bend = road.column_at(places, RoadColumn.CURVATURE)
    others = np.stack([np.interp(places, *_wrap(mesh, row)) for row in mesh.parameters])
    others[StageParameter.CURVATURE] = bend
    return _ReferenceRows(s, np.hstack([ds[:, None], others.T, states, linear]))


def _wrap(mesh: Mesh, values: Array) -> tuple[Array, Array]:
    """Return places and values with the first one repeated at the end of a closed road."""
    if not mesh.closed:
        return mesh.s, values
    return np.append(mesh.s, mesh.s[-1] + mesh.steps[-1]), np.append(values, values[0])


def _build_plant(ca: Any, car: VehicleModel, solution: MeshSolution) -> Any:
    """Return the function of one step: (states, inner unknowns, time) and a row -> the same after it, and the log."""
    stage = build_stage(car, solution.level.rounding)
    inner, inputs, states = stage.w[INNER], stage.w[STATE_COUNT : INNER.start], stage.w[:STATE_COUNT]
    sensitivity = ca.jacobian(stage.balances, inner)
    normal = sensitivity.T @ sensitivity + DAMPING * ca.SX.eye(inner.numel())
    better = inner - ca.solve(normal, sensitivity.T @ stage.balances)
    arguments = [states, inner, inputs, stage.p]
    bound = ca.SX.sym("bound", WHEELS)
    slips = ca.fmin(ca.fmax(better[:WHEELS], -bound), bound)
    solve = ca.Function("inner", [*arguments, bound], [ca.vertcat(slips, better[WHEELS:])], {"cse": True})
    use = ca.mmax(ca.vertcat(*[stage.outputs[f"use_{name}"] for name in ("fl", "fr", "rl", "rr")]))
    weight = car.body.mass * G
    drive = stage.outputs["drive_force"] / weight
    strongest = drive - ca.mmax(stage.limits[4:])
    motion = ca.Function("motion", arguments, [stage.slopes, stage.pace, use, strongest], {"cse": True})

    start = ca.SX.sym("start", STATE_COUNT + inner.numel() + 1)
    x, z, time = ca.vertsplit(start, [0, STATE_COUNT, STATE_COUNT + inner.numel(), start.numel()])
    widths = [1, len(StageParameter), STATE_COUNT, INPUT_COUNT, WHEELS, INPUT_COUNT * STATE_COUNT]
    row = ca.SX.sym("row", sum(widths))
    ds, p, line, held, slips, gains = ca.vertsplit(row, np.cumsum([0, *widths]).tolist())
    bounds = ca.fabs(slips) + SLIP_ROOM
    # Controls of this step: those of the line and the feedback, as far as engine, brakes and rack go.
    error = x - line
    wanted = held + ca.reshape(gains, STATE_COUNT, INPUT_COUNT).T @ error
    _, _, use_before, cap = motion(x, z, held, p)
    rounding = solution.level.rounding.pedal
    highest = cap - rounding**2 / (4.0 * cap)
    steer = ca.fmin(ca.fmax(wanted[0], -car.max_steer / INPUT_SCALES[0]), car.max_steer / INPUT_SCALES[0])
    pedal = ca.fmax(ca.fmin(wanted[1], highest), -car.brake_limit / weight)
    u = ca.vertcat(steer, pedal)

    def advance(at: Any, inside: Any) -> tuple[Any, Any, Any]:
        for _ in range(NEWTON_STEPS):
            inside = solve(at, inside, u, p, bounds)
        slope, pace, _, _ = motion(at, inside, u, p)
        return slope, pace, inside

    k1, t1, z = advance(x, z)
    k2, t2, z = advance(x + 0.5 * ds * k1, z)
    k3, t3, z = advance(x + 0.5 * ds * k2, z)
    k4, t4, z = advance(x + ds * k3, z)
    after = x + ds / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    spent = ds / 6.0 * (t1 + 2.0 * t2 + 2.0 * t3 + t4)
    log = ca.vertcat(
        OFFSET_SCALE * error[0], OFFSET_SCALE * x[0], INPUT_SCALES[0] * (steer - held[0]), pedal - held[1], use_before
    )
    return ca.Function("plant", [start, row], [ca.vertcat(after, z, time + spent), log], {"cse": True})


def _summarise(log: Array, rows: _ReferenceRows, mesh: Mesh) -> Replay:
    """Return the result of a replay from its log, (6, n): time, error, offset, steer, pedal, use."""
    lost = ~np.all(np.isfinite(log), axis=0) | (np.abs(log[1]) > LOST)
    driven = int(np.argmax(lost)) if lost.any() else log.shape[1]
    time, error, offset, steer, pedal, use = log[:, :driven]
    s = rows.s[:driven]
    left, right = (np.interp(s, *_wrap(mesh, bound)) for bound in (mesh.left, mesh.right))

    def rms(values: Array) -> float:
        return float(np.sqrt(np.mean(values * values)))

    return Replay(
        completed=driven == len(rows.s),
        time=float(time[-1]),
        distance=float(s[-1] + rows.table[driven - 1, 0]),
        steps=driven,
        offset_error=float(np.abs(error).max()),
        room=float(np.minimum(left - offset, offset - right).min()),
        steer_correction=(rms(steer), float(np.abs(steer).max())),
        pedal_correction=(rms(pedal), float(np.abs(pedal).max())),
        use=(float(use.mean()), float(use.max())),
    )


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
