"""Gains that hold a car on its line: the linear-quadratic regulator of the car linearised along the line.

The car is linearised at each stage, its inner unknowns (slips, specific forces) eliminated by the implicit function
theorem. The Riccati recursion runs backwards over a fine grid of the road, for a closed road over two laps, until it is
periodic (Bittanti, Laub and Willems (eds.), The Riccati Equation, 1991, chapter 6).
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.optimal.interior_point import MeshSolution
from trailbrake.optimal.stage import BALANCES, SCALES, STATE_COUNT, UNKNOWN_COUNT, build_stage
from trailbrake.optimal.vehicle_model import AxleParameters, VehicleModel, import_casadi

Array = NDArray[np.float64]

INPUT_COUNT = 2  # steer and pedal
STATE_COSTS = np.array([1.0, 1.0, 1.0, 0.3, 0.3])  # per metre, of the squared scaled states
INPUT_COSTS = np.array([30.0, 30.0])  # per metre, of the squared scaled inputs: large, for a small feedback
GRID = 0.5  # m, longest step of the recursion
LAPS = 2
# A tyre is linearised at this share of its slip: at the peak it has no stiffness, and beyond it the sign of the gains
# would change.
SLIP_SHARE = 0.85
DAMPING = 1e-6  # of the inner unknowns' equations, which are singular where a tyre spins at its peak


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
