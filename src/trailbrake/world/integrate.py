"""One entry kernel: `advance` a range of cars by a number of substeps. Everything else is called from here."""

import math

from trailbrake.kernels import jit
from trailbrake.world.contact import walls
from trailbrake.world.dynamics import body, ground
from trailbrake.world.layout import Array, Control, Param, State
from trailbrake.world.powertrain import brake, drive, shift
from trailbrake.world.tyres import forces, loads


@jit
def _substep(state: Array, params: Array, controls: Array, dt: float, goal: float) -> None:
    # One car's columns; `goal` is the road-wheel angle asked for, rad.
    steer = state[State.STEER]
    most = params[Param.STEER_RATE] * dt
    steer += min(max(goal - steer, -most), most)
    state[State.STEER] = steer
    sin_steer = math.sin(steer)
    cos_steer = math.cos(steer)
    shift(state, params, controls, dt)
    loads(state, params)
    forces(state, params, dt, sin_steer, cos_steer)
    body(state, params, dt, sin_steer, cos_steer)
    drive(state, params, dt)
    brake(state, params, dt)


@jit
def advance(
    states: Array,
    all_params: Array,
    all_controls: Array,
    table: Array,
    spacing: float,
    closed: bool,
    off_grip: float,
    off_soft: float,
    dt: float,
    substeps: int,
    lo: int,
    hi: int,
) -> None:
    """Advance cars `lo`..`hi` - 1 by `substeps` steps of `dt` (s) under constant controls, then look at the ground.

    Args:
        states: (State.COUNT, cars).
        all_params: (Param.COUNT, cars).
        all_controls: (Control.COUNT, cars); values out of range are clamped, NaN counts as 0.
        table: the road's table, with
        spacing: m between its rows, and
        closed: whether row n is row 0.
        off_grip: friction factor beyond the road's edge.
        off_soft: extra rolling resistance there.
        dt: s.
        substeps: 0 only finds the ground and the loads, after a car was put somewhere.
        lo: first car.
        hi: one past the last car. Ranges are independent of each other: the work may be split over threads.
    """
    for c in range(lo, hi):
        state = states[:, c]
        params = all_params[:, c]
        controls = all_controls[:, c]
        if substeps > 0:
            for k in range(Control.GEAR):
                least = -1.0 if k == Control.STEER else 0.0
                wish = controls[k]
                state[State.APPLIED + k] = min(max(wish, least), 1.0) if wish == wish else 0.0
            goal = state[State.APPLIED] * params[Param.STEER_MAX]
            for _ in range(substeps):
                _substep(state, params, controls, dt, goal)
        ground(state, params, table, spacing, closed, off_grip, off_soft)
        if walls(state, params, table, spacing, closed, dt * substeps):
            ground(state, params, table, spacing, closed, off_grip, off_soft)
        loads(state, params)
