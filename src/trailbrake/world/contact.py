"""Walls: the corners of a car's box against the ends of the run-off, by impulses.

Impulse with Coulomb friction at a point of a free body in the plane (Baraff, SIGGRAPH course notes on rigid body
simulation, 1997, section 8): j = -(1 + e) vn / (1/m + (r x n)^2 / Iz), friction at most MU * j against the sliding.
"""

import math

from trailbrake.kernels import jit
from trailbrake.tracks.columns import Column
from trailbrake.tracks.frenet import span
from trailbrake.world.dynamics import beside
from trailbrake.world.layout import Array, Param, State

RESTITUTION = 0.2  # of the normal speed comes back: tyre stacks and rails take the most of it (estimate)
REST_SPEED = 0.5  # m/s: slower touches do not bounce
MU = 0.35  # friction of bodywork on a wall (estimate)
EPISODE = 0.25  # s without touch that end a contact: scraping along is one contact


@jit
def _push(state: Array, params: Array, rx: float, ry: float, nx: float, ny: float) -> None:
    # Impulse at the corner (rx, ry) from the centre of mass against a wall whose inward normal is (nx, ny), world.
    cy = math.cos(state[State.YAW])
    sy = math.sin(state[State.YAW])
    vx = state[State.VX] * cy - state[State.VY] * sy
    vy = state[State.VX] * sy + state[State.VY] * cy
    rate = state[State.YAW_RATE]
    px = vx - rate * ry
    py = vy + rate * rx
    normal = px * nx + py * ny
    if normal >= 0.0:
        return
    inverse_mass = 1.0 / params[Param.MASS]
    inverse_inertia = 1.0 / params[Param.YAW_INERTIA]
    arm_n = rx * ny - ry * nx
    arm_t = rx * nx + ry * ny  # the tangent is (-ny, nx)
    bounce = RESTITUTION if normal < -REST_SPEED else 0.0
    jn = -(1.0 + bounce) * normal / (inverse_mass + arm_n * arm_n * inverse_inertia)
    jt = -(py * nx - px * ny) / (inverse_mass + arm_t * arm_t * inverse_inertia)
    jt = min(max(jt, -MU * jn), MU * jn)
    jx = jn * nx - jt * ny
    jy = jn * ny + jt * nx
    vx += jx * inverse_mass
    vy += jy * inverse_mass
    state[State.YAW_RATE] = rate + (rx * jy - ry * jx) * inverse_inertia
    state[State.VX] = vx * cy + vy * sy
    state[State.VY] = vy * cy - vx * sy


@jit
def walls(state: Array, params: Array, table: Array, spacing: float, closed: bool, dt: float) -> bool:
    """Keep the car inside the walls; count a contact where none was for EPISODE. Return whether it was moved.

    Needs what `ground` writes of the present pose. A wall's direction is taken as the road's.
    """
    state[State.CONTACT_DEPTH] = 0.0
    state[State.CONTACT_GAP] = min(state[State.CONTACT_GAP] + dt, 1e6)
    half_length = params[Param.HALF_LENGTH]
    half_width = params[Param.HALF_WIDTH]
    centre = params[Param.BOX_CENTRE]
    i, j, u = span(table, spacing, closed, state[State.S])
    side = Column.WIDTH_LEFT if state[State.OFFSET] > 0.0 else Column.WIDTH_RIGHT
    beyond = Column.RUNOFF_LEFT if state[State.OFFSET] > 0.0 else Column.RUNOFF_RIGHT
    nearest = min(table[i, side] + table[i, beyond], table[j, side] + table[j, beyond])
    if abs(state[State.OFFSET]) + 1.5 * (half_length + abs(centre) + half_width) < nearest:
        return False
    cy = math.cos(state[State.YAW])
    sy = math.sin(state[State.YAW])
    deepest = 0.0
    out_x = 0.0
    out_y = 0.0
    for corner in range(4):
        bx = centre + (half_length if corner < 2 else -half_length)
        by = half_width if corner % 2 == 0 else -half_width
        rx = bx * cy - by * sy
        ry = bx * sy + by * cy
        along, offset = beside(state, bx, by)
        i, j, u = span(table, spacing, closed, state[State.S] + along)
        width = Column.WIDTH_LEFT if offset > 0.0 else Column.WIDTH_RIGHT
        runoff = Column.RUNOFF_LEFT if offset > 0.0 else Column.RUNOFF_RIGHT
        wall = (1.0 - u) * (table[i, width] + table[i, runoff]) + u * (table[j, width] + table[j, runoff])
        depth = abs(offset) - wall
        if depth <= 0.0:
            continue
        # The inward normal: across the road, taken from the nearer row.
        near = i if u < 0.5 else j
        inward = -1.0 if offset > 0.0 else 1.0
        nx = -inward * table[near, Column.TANGENT_Y]
        ny = inward * table[near, Column.TANGENT_X]
        _push(state, params, rx, ry, nx, ny)
        if depth > deepest:
            deepest = depth
            out_x = depth * nx
            out_y = depth * ny
    if deepest <= 0.0:
        return False
    state[State.X] += out_x
    state[State.Y] += out_y
    if state[State.CONTACT_GAP] > EPISODE:
        state[State.CONTACTS] += 1.0
    state[State.CONTACT_GAP] = 0.0
    state[State.CONTACT_DEPTH] = deepest
    return True
