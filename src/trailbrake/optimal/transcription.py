"""The nonlinear programme: trapezoidal collocation of the stage over a mesh, with exact sparse derivatives.

Each stage is evaluated once, by one mapped function. With the trapezoidal rule (Betts, Practical Methods for Optimal
Control, 2nd ed. 2010, chapter 4) a defect is linear in the slopes of its two stages, so the Hessian of the Lagrangian
is one block for each stage, and derivatives are assembled from mapped blocks without colouring a large graph.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.optimal.stage import BALANCES, SCALES, STATE_COUNT, UNKNOWN_COUNT, UNKNOWNS, StageExpressions
from trailbrake.optimal.vehicle_model import import_casadi

SMOOTHED = ("steer", "pedal")  # controls whose changes cost a little: without it they ring from stage to stage


@dataclass(frozen=True, eq=False)
class Mesh:
    """The places of the stages along a road.

    Attributes:
        s: (n,) m, rising from 0.
        steps: m between a stage and the next, (n,) for a closed road, where the last leads to the first; else (n - 1,).
        closed: whether the last stage is followed by the first.
        parameters: (7, n) `StageParameter`.
        left, right: (n,) m, largest and smallest offset of the centre of mass.
    """

    s: Array
    steps: Array
    closed: bool
    parameters: Array
    left: Array
    right: Array

    @property
    def halves(self) -> tuple[Array, Array]:
        """Half of the step before and after each stage (n,), m; 0 beyond open ends."""
        if self.closed:
            return 0.5 * np.roll(self.steps, 1), 0.5 * self.steps
        return 0.5 * np.append(0.0, self.steps), 0.5 * np.append(self.steps, 0.0)


@dataclass(frozen=True, eq=False)
class Programme:
    """A nonlinear programme in CasADi's terms.

    Attributes:
        problem: x, f, g of `casadi.nlpsol`.
        derivatives: the options grad_f, jac_g and hess_lag.
        equations: number of equations, before the limits in g.
        size: rows of g.
        stage_lagrangian: mapped function (W, P, multipliers by stage) -> gradient with respect to P, (7, n).
    """

    problem: dict[str, Any]
    derivatives: dict[str, Any]
    equations: int
    size: int
    time: Any
    grip_gradient: Any


def build_programme(stage: StageExpressions, mesh: Mesh, smoothing: float) -> Programme:
    """Return the programme of minimum time over a mesh, with a cost (s m) on the squared slopes of scaled controls.

    The rows of g: defects (STATE_COUNT for each interval), balances (BALANCES for each stage), limits.
    """
    ca: Any = import_casadi()
    blocks = _StageBlocks(ca, stage)
    n, intervals = len(mesh.s), len(mesh.steps)
    before, after = mesh.halves
    limits = blocks.limits
    defect_rows = STATE_COUNT * intervals
    equations = defect_rows + BALANCES * n
    size = equations + limits * n
    data = ca.DM(np.vstack([mesh.parameters, before, after]))

    x = ca.MX.sym("x", UNKNOWN_COUNT * n)
    w = ca.reshape(x, UNKNOWN_COUNT, n)
    slopes, pace, balances, limit_values = blocks.values.map(n)(w, data)
    state = w[:STATE_COUNT, :]
    following = ca.horzcat(state[:, 1:], state[:, :1]) if mesh.closed else state[:, 1:]
    after_slopes = ca.horzcat(slopes[:, 1:], slopes[:, :1]) if mesh.closed else slopes[:, 1:]
    step = ca.DM(0.5 * np.tile(mesh.steps, (STATE_COUNT, 1)))
    defects = following - state[:, :intervals] - step * (slopes[:, :intervals] + after_slopes)
    g = ca.vertcat(ca.vec(defects), ca.vec(balances), ca.vec(limit_values))
    quadratic = _smoothing_matrix(mesh, smoothing)
    sparse = _sparse(ca, x.numel(), quadratic)
    f = pace @ ca.DM(before + after) + 0.5 * ca.bilin(sparse, x, x)
    gradient = ca.vec(blocks.pace_gradient.map(n)(w, data)) + sparse @ x

    jacobian = _assemble_jacobian(ca, blocks, mesh, blocks.jacobian.map(n)(w, data))
    lam_f, lam_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", size)
    interval_lam = ca.reshape(lam_g[:defect_rows], STATE_COUNT, intervals)
    if mesh.closed:
        lam_after, lam_before = interval_lam, ca.horzcat(interval_lam[:, -1], interval_lam[:, :-1])
    else:
        zero = ca.DM.zeros(STATE_COUNT, 1)
        lam_after, lam_before = ca.horzcat(interval_lam, zero), ca.horzcat(zero, interval_lam)
    lam_balance = ca.reshape(lam_g[defect_rows:equations], BALANCES, n)
    lam_limit = ca.reshape(lam_g[equations:], limits, n)
    multipliers = ca.vertcat(lam_before, lam_after, lam_balance, lam_limit, ca.repmat(lam_f, 1, n))
    hessian = _assemble_hessian(blocks, n, quadratic, blocks.hessian.map(n)(w, data, multipliers), lam_f)
    none = ca.MX.sym("p", 0)
    return Programme(
        problem={"x": x, "f": f, "g": g},
        derivatives={
            "grad_f": ca.Function("nlp_grad_f", [x, none], [f, gradient], ["x", "p"], ["f", "grad_f_x"]),
            "jac_g": ca.Function("nlp_jac_g", [x, none], [g, jacobian], ["x", "p"], ["g", "jac_g_x"]),
            "hess_lag": ca.Function(
                "nlp_hess_l", [x, none, lam_f, lam_g], [hessian], ["x", "p", "lam_f", "lam_g"], ["triu_hess_gamma_x_x"]
            ),
        },
        equations=equations,
        size=size,
        time=ca.Function("time", [x], [pace @ ca.DM(before + after)]),
        grip_gradient=ca.Function(
            "grip_gradient", [x, lam_f, lam_g], [blocks.parameter_gradient.map(n)(w, data, multipliers)]
        ),
    )


class _StageBlocks:
    """The functions of one stage that are mapped over the mesh, and the places of their nonzeros."""

    def __init__(self, ca: Any, stage: StageExpressions) -> None:
        w, p = stage.w, stage.p
        halves = ca.SX.sym("halves", 2)  # m, of the steps before and after
        data = ca.vertcat(p, halves)
        self.limits = stage.limits.numel()
        self.values = ca.Function(
            "stage_values", [w, data], [stage.slopes, stage.pace, stage.balances, stage.limits], {"cse": True}
        )
        time = stage.pace * (halves[0] + halves[1])
        self.pace_gradient = ca.Function("pace_gradient", [w, data], [ca.gradient(time, w)], {"cse": True})
        unit = ca.SX.eye(STATE_COUNT)
        unit = ca.horzcat(unit, ca.SX(STATE_COUNT, UNKNOWN_COUNT - STATE_COUNT))
        slope = ca.jacobian(stage.slopes, w)
        parts = [
            -unit - halves[1] * slope,  # of the defect after this stage
            unit - halves[0] * slope,  # of the defect before it
            ca.jacobian(stage.balances, w),
            ca.jacobian(stage.limits, w),
        ]
        self.places = [part.sparsity().get_triplet() for part in parts]
        nonzeros = ca.vertcat(*[ca.vertcat(*part.nonzeros()) for part in parts])
        self.jacobian = ca.Function("stage_jacobian", [w, data], [nonzeros], {"cse": True})
        lam = ca.SX.sym("lam", 2 * STATE_COUNT + BALANCES + self.limits + 1)
        of_before, of_after, of_balance, of_limit, of_time = ca.vertsplit(
            lam, np.cumsum([0, STATE_COUNT, STATE_COUNT, BALANCES, self.limits, 1]).tolist()
        )
        lagrangian = (
            of_time * time
            - ca.dot(halves[0] * of_before + halves[1] * of_after, stage.slopes)
            + ca.dot(of_balance, stage.balances)
            + ca.dot(of_limit, stage.limits)
        )
        curvature = ca.triu(ca.hessian(lagrangian, w)[0])
        self.hessian_places = curvature.sparsity().get_triplet()
        self.hessian = ca.Function("stage_hessian", [w, data, lam], [ca.vertcat(*curvature.nonzeros())], {"cse": True})
        self.parameter_gradient = ca.Function(
            "stage_parameter_gradient", [w, data, lam], [ca.gradient(lagrangian, p)], {"cse": True}
        )


Triplets = tuple[NDArray[np.int64], NDArray[np.int64], Array]


def _sparse(ca: Any, size: int, triplets: Triplets) -> Any:
    """Return a square sparse DM; equal places are added up, which CasADi's own triplets do not do."""
    row, column, value = triplets
    places, index = np.unique(column * size + row, return_inverse=True)
    total = np.bincount(index, value)
    return ca.DM.triplet((places % size).tolist(), (places // size).tolist(), ca.DM(total), size, size)


def _smoothing_matrix(mesh: Mesh, weight: float) -> Triplets:
    """Return the symmetric matrix of the quadratic cost of control changes, as triplets whose equal places add up."""
    n, intervals = len(mesh.s), len(mesh.steps)
    k = np.arange(intervals)
    j = (k + 1) % n
    rows, columns, values = [], [], []
    for name in SMOOTHED:
        place = UNKNOWNS.index(name)
        value = 2.0 * weight / mesh.steps
        a, b = UNKNOWN_COUNT * k + place, UNKNOWN_COUNT * j + place
        rows += [a, b, a, b]
        columns += [a, b, b, a]
        values += [value, value, -value, -value]
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)


def _select(source: Any, rows: int, columns: int, row: Any, column: Any) -> Any:
    """Return a sparse MX whose nonzeros at (row, column) are those of `source`, in that order; places differ."""
    ca = import_casadi()
    column_order = np.lexsort((row, column))
    pattern = ca.Sparsity.triplet(rows, columns, row[column_order].tolist(), column[column_order].tolist())
    return ca.MX(pattern, ca.vec(source)[column_order.tolist()])


def _assemble_jacobian(ca: Any, blocks: _StageBlocks, mesh: Mesh, nonzeros: Any) -> Any:
    n, intervals = len(mesh.s), len(mesh.steps)
    defect_rows = STATE_COUNT * intervals
    k = np.arange(n)[:, None]
    starts = (
        STATE_COUNT * k,
        STATE_COUNT * ((k - 1) % n),
        defect_rows + BALANCES * k,
        defect_rows + BALANCES * n + blocks.limits * k,
    )
    rows = [start + np.asarray(place[0]) for start, place in zip(starts, blocks.places, strict=True)]
    columns = [UNKNOWN_COUNT * k + np.asarray(place[1]) for place in blocks.places]
    row, column = np.hstack(rows), np.hstack(columns)
    keep = np.ones(row.shape, bool)
    if not mesh.closed:
        counts = [len(place[0]) for place in blocks.places]
        keep[-1, : counts[0]] = False  # no defect after the last stage
        keep[0, counts[0] : counts[0] + counts[1]] = False  # and none before the first
    index = np.flatnonzero(keep.ravel())
    source = ca.vec(nonzeros)[index.tolist()]
    size = defect_rows + (BALANCES + blocks.limits) * n
    return _select(source, size, UNKNOWN_COUNT * n, row.ravel()[index], column.ravel()[index])


def _assemble_hessian(blocks: _StageBlocks, n: int, smoothing: Triplets, nonzeros: Any, lam_f: Any) -> Any:
    ca = import_casadi()
    k = UNKNOWN_COUNT * np.arange(n)[:, None]
    row, column = (k + np.asarray(place) for place in blocks.hessian_places)
    size = UNKNOWN_COUNT * n
    stages = _select(nonzeros, size, size, row.ravel(), column.ravel())
    upper = smoothing[0] <= smoothing[1]
    smooth = _sparse(ca, size, (smoothing[0][upper], smoothing[1][upper], smoothing[2][upper]))
    return stages + lam_f * smooth


def scale_unknowns(values: dict[str, Array]) -> Array:
    """Return the scaled unknowns (UNKNOWN_COUNT * n,), stage by stage, of columns (n,) in their units."""
    table: Array = np.stack([values[name] / scale for name, scale in zip(UNKNOWNS, SCALES, strict=True)], axis=1)
    return table.ravel()


def unscale_unknowns(x: Array) -> dict[str, Array]:
    """Return the columns (n,) in their units of scaled unknowns (UNKNOWN_COUNT * n,)."""
    table = np.asarray(x, np.float64).reshape(-1, UNKNOWN_COUNT) * SCALES
    return {name: table[:, i].copy() for i, name in enumerate(UNKNOWNS)}
