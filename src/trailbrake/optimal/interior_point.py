"""One mesh of the minimum-time problem, solved by IPOPT with MUMPS from CasADi's wheel."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from trailbrake.arrays import Array
from trailbrake.optimal.stage import COARSE, FINE, Rounding, build_stage
from trailbrake.optimal.transcription import Mesh, Programme, build_programme, scale_unknowns
from trailbrake.optimal.vehicle_model import VehicleModel, import_casadi
from trailbrake.units import G

MAX_ITERATIONS = 250
MIN_SPEED = 2.0  # m/s: the road's arc length is no measure of time at rest
START_SPEED = 5.0  # m/s, first speed on an open road, which a car that starts at rest has after a few metres
LARGEST = {"heading": 1.2, "side_speed": 15.0, "yaw_rate": 4.0, "accel_x": 8.0, "accel_y": 8.0}
LARGEST_SLIP = 0.3


class Level(NamedTuple):
    """One level of a solution from coarse to fine.

    Attributes:
        coarseness: steps over those of the finest mesh.
        smoothing: s m, cost of the squared slopes of the scaled controls.
        rounding: of the model's corners.
        barrier: first barrier parameter of the interior point method.
        tolerance: of IPOPT.
        push: how far the start is moved off its bounds, in scaled units: little where it is nearly the solution.
    """

    coarseness: float
    smoothing: float
    rounding: Rounding
    barrier: float
    tolerance: float
    push: float


LEVELS = (
    Level(3.0, 0.05, COARSE, 0.01, 1e-3, 1e-2),
    Level(1.6, 0.01, FINE, 1e-4, 1e-4, 1e-4),
    Level(1.0, 0.005, FINE, 1e-5, 1e-5, 1e-5),
)


@dataclass(frozen=True, eq=False)
class MeshSolution:
    """What IPOPT returns on one mesh.

    Attributes:
        mesh: the mesh.
        level: settings.
        x: scaled unknowns.
        bound_multipliers: of the unknowns' bounds.
        multipliers: of the rows of g.
        time: s.
        iterations: of IPOPT.
        status: of IPOPT.
        converged: whether that is a solution.
        programme: that was solved.
    """

    mesh: Mesh
    level: Level
    x: Array
    bound_multipliers: Array
    multipliers: Array
    time: float
    iterations: int
    status: str
    converged: bool
    programme: Programme


def bound_unknowns(car: VehicleModel, mesh: Mesh) -> tuple[Array, Array]:
    """Return the smallest and the largest scaled unknowns on a mesh."""
    n = len(mesh.s)
    high: dict[str, Any] = {name: np.full(n, value) for name, value in LARGEST.items()}
    high |= {f"slip_{name}": np.full(n, LARGEST_SLIP) for name in ("fl", "fr", "rl", "rr")}
    high["steer"] = np.full(n, car.max_steer)
    low = {name: -value for name, value in high.items()}
    low["pedal"], high["pedal"] = np.full(n, -car.brake_limit / (car.body.mass * G)), np.full(n, 8.0)
    low["speed"], high["speed"] = np.full(n, MIN_SPEED), np.full(n, car.top_speed)
    low["offset"], high["offset"] = mesh.right, mesh.left
    if not mesh.closed:
        high["speed"][0] = START_SPEED
    return scale_unknowns(low), scale_unknowns(high)


def solve_mesh(car: VehicleModel, mesh: Mesh, level: Level, start: Array, log: int = 0) -> MeshSolution:
    """Return the solution of IPOPT on a mesh; `converged` says whether it is one.

    Args:
        car: the car.
        mesh: the mesh.
        level: settings.
        start: scaled unknowns to start from.
        log: print level of IPOPT.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed meanwhile.
    """
    ca = import_casadi()
    programme = build_programme(build_stage(car, level.rounding), mesh, level.smoothing)
    settings = {
        "print_level": log,
        "sb": "yes",
        "max_iter": MAX_ITERATIONS,
        "tol": level.tolerance,
        "acceptable_tol": 10.0 * level.tolerance,
        "acceptable_iter": 5,
        "mu_init": level.barrier,
        "mu_strategy": "monotone",
        "nlp_scaling_method": "none",
        "linear_solver": "mumps",
        "mumps_scaling": 0,  # the unknowns are scaled
        "mumps_permuting_scaling": 0,
    }
    settings |= dict.fromkeys(("bound_push", "bound_frac", "slack_bound_push", "slack_bound_frac"), level.push)
    options = {"print_time": False, "ipopt": settings, **programme.derivatives}
    solver = ca.nlpsol("minimum_time", "ipopt", programme.problem, options)
    low, high = bound_unknowns(car, mesh)
    least = np.zeros(programme.size)
    least[programme.equations :] = -np.inf
    result = solver(x0=start, lbx=low, ubx=high, lbg=least, ubg=0.0)
    statistics = solver.stats()
    if statistics["return_status"] in ("NonIpopt_Exception_Thrown", "User_Requested_Stop"):
        raise KeyboardInterrupt  # CasADi catches it in IPOPT; nothing else that it evaluates here raises
    x = np.asarray(result["x"]).ravel()
    return MeshSolution(
        mesh=mesh,
        level=level,
        x=x,
        bound_multipliers=np.asarray(result["lam_x"]).ravel(),
        multipliers=np.asarray(result["lam_g"]).ravel(),
        time=float(programme.time(x)),
        iterations=int(statistics["iter_count"]),
        status=str(statistics["return_status"]),
        converged=bool(statistics["success"]),
        programme=programme,
    )
