"""Contact of a car's box with walls and with other cars' boxes, by impulses.

Impulse with Coulomb friction at a point of free bodies in the plane (Baraff, SIGGRAPH course notes on rigid body
simulation, 1997, section 8): j = -(1 + e) vn / sum (1/m + (r x n)^2 / Iz), friction at most MU * j against the
sliding. Cars lie flat: boxes, seen from above. Not vector code: few cars touch anything.
"""

import math

from trailbrake.kernels import inline, lane_jit
from trailbrake.kernels.lanes import LANES, get, put
from trailbrake.tracks.columns import Column
from trailbrake.tracks.frenet import span
from trailbrake.world.ground import beside
from trailbrake.world.layout import Array, Ints, Param, State, Work

RESTITUTION = 0.2  # of the normal speed comes back: tyre stacks and bodywork take the most of it (estimate)
REST_SPEED = 0.5  # m/s: slower touches do not bounce
MU = 0.35  # friction of bodywork (estimate)
EPISODE = 0.25  # s without touch that end a contact: scraping along is one contact
BLEND = 0.02  # m: where a face of either car explains an overlap equally well to this, the push is between both
APART = 0.5  # of the overlap of two cars that each of them is moved back by


@inline
def count(block: Array, j: int, depth: float, lost: float) -> None:
    """Count a contact where none was for EPISODE; keep its depth (m) and add the energy lost (J)."""
    if get(block, State.CONTACT_GAP, j) > EPISODE:
        put(block, State.CONTACTS, j, get(block, State.CONTACTS, j) + 1.0)
    put(block, State.CONTACT_GAP, j, 0.0)
    put(block, State.CONTACT_DEPTH, j, max(get(block, State.CONTACT_DEPTH, j), depth))
    put(block, State.DAMAGE, j, get(block, State.DAMAGE, j) + max(lost, 0.0))


@inline
def velocity(block: Array, j: int, rx: float, ry: float) -> tuple[float, float]:
    """Return the velocity (m/s, world) of a car's point at (rx, ry) (m, world axes) from its centre of mass."""
    cos, sin = get(block, State.COS_YAW, j), get(block, State.SIN_YAW, j)
    vx, vy = get(block, State.VX, j), get(block, State.VY, j)
    rate = get(block, State.YAW_RATE, j)
    return vx * cos - vy * sin - rate * ry, vx * sin + vy * cos + rate * rx


@inline
def kick(block: Array, j: int, per_yaw: float, rx: float, ry: float, jx: float, jy: float) -> None:
    """Change a car's velocities by the impulse (jx, jy) (N s, world axes) at the point (rx, ry).

    `per_yaw` is one over its yaw inertia (1/(kg m^2)).
    """
    cos, sin = get(block, State.COS_YAW, j), get(block, State.SIN_YAW, j)
    per_mass = get(block, State.INVERSE_MASS, j)
    put(block, State.VX, j, get(block, State.VX, j) + (jx * cos + jy * sin) * per_mass)
    put(block, State.VY, j, get(block, State.VY, j) + (jy * cos - jx * sin) * per_mass)
    put(block, State.YAW_RATE, j, get(block, State.YAW_RATE, j) + (rx * jy - ry * jx) * per_yaw)


@inline
def impulse(speed_n: float, speed_t: float, inverse_n: float, inverse_t: float) -> tuple[float, float]:
    """Return the impulse (N s) along normal and tangent that ends an approach.

    Args:
        speed_n: m/s, along the normal, negative closing.
        speed_t: m/s, along the tangent.
        inverse_n: 1/kg, what the bodies' velocities there change by, per impulse along the normal.
        inverse_t: 1/kg, along the tangent.
    """
    bounce = RESTITUTION if speed_n < -REST_SPEED else 0.0
    normal = -(1.0 + bounce) * speed_n / inverse_n
    return normal, min(max(-speed_t / inverse_t, -MU * normal), MU * normal)


@inline
def _hit_wall(block: Array, j: int, rx: float, ry: float, nx: float, ny: float) -> float:
    # At the corner (rx, ry) against a wall whose inward normal is (nx, ny), world axes. Returns the energy lost.
    px, py = velocity(block, j, rx, ry)
    normal = px * nx + py * ny
    if normal >= 0.0:
        return 0.0
    per_mass, per_yaw = get(block, State.INVERSE_MASS, j), get(block, Param.INVERSE_YAW, j)
    arm_n, arm_t = rx * ny - ry * nx, rx * nx + ry * ny  # the tangent is (-ny, nx)
    tangent = py * nx - px * ny
    jn, jt = impulse(normal, tangent, per_mass + arm_n * arm_n * per_yaw, per_mass + arm_t * arm_t * per_yaw)
    kick(block, j, per_yaw, rx, ry, jn * nx - jt * ny, jn * ny + jt * nx)
    after_x, after_y = velocity(block, j, rx, ry)
    # Work of an impulse: its mean velocity at the point, before and after.
    after_n, after_t = after_x * nx + after_y * ny, after_y * nx - after_x * ny
    return -0.5 * (jn * (normal + after_n) + jt * (tangent + after_t))


@inline
def walls(block: Array, table: Array, spacing: float, closed: bool, j: int) -> bool:
    """Keep the car inside the walls; return whether it was moved. A wall's direction is taken as the road's."""
    half_length, half_width = get(block, Param.HALF_LENGTH, j), get(block, Param.HALF_WIDTH, j)
    centre = get(block, Param.BOX_CENTRE, j)
    cos, sin = get(block, State.COS_YAW, j), get(block, State.SIN_YAW, j)
    deepest, out_x, out_y, lost = 0.0, 0.0, 0.0, 0.0
    for corner in range(4):
        bx = centre + (half_length if corner < 2 else -half_length)
        by = half_width if corner % 2 == 0 else -half_width
        rx, ry = bx * cos - by * sin, bx * sin + by * cos
        along, _, offset = beside(block, j, bx, by)
        if abs(offset) <= get(block, Work.ROAD_WALL_LEFT if offset > 0.0 else Work.ROAD_WALL_RIGHT, j):
            continue  # nearer than any wall around the car
        i, k, u = span(table, spacing, closed, get(block, State.S, j) + along)
        width = Column.WIDTH_LEFT if offset > 0.0 else Column.WIDTH_RIGHT
        runoff = Column.RUNOFF_LEFT if offset > 0.0 else Column.RUNOFF_RIGHT
        wall = (1.0 - u) * (table[i, width] + table[i, runoff]) + u * (table[k, width] + table[k, runoff])
        depth = abs(offset) - wall
        if depth <= 0.0:
            continue
        near = i if u < 0.5 else k  # the inward normal: across the road, taken from the nearer row
        inward = -1.0 if offset > 0.0 else 1.0
        nx, ny = -inward * table[near, Column.TANGENT_Y], inward * table[near, Column.TANGENT_X]
        lost += _hit_wall(block, j, rx, ry, nx, ny)
        if depth > deepest:
            deepest, out_x, out_y = depth, depth * nx, depth * ny
    if deepest <= 0.0:
        return False
    put(block, State.X, j, get(block, State.X, j) + out_x)
    put(block, State.Y, j, get(block, State.Y, j) + out_y)
    count(block, j, deepest, lost)
    return True


@inline
def _face(dx: float, dy: float, c: float, s: float, length: float, width: float) -> tuple[float, float, float]:
    # Least overlap along a box's own axes, and that axis towards (dx, dy), for both boxes' extents along them.
    along, aside = dx * c + dy * s, dy * c - dx * s
    over, beside = length - abs(along), width - abs(aside)
    if over < beside:
        return (over, c, s) if along > 0.0 else (over, -c, -s)
    return (beside, -s, c) if aside > 0.0 else (beside, s, -c)


@inline
def _overlap(
    ax: float, ay: float, ac: float, sa: float, al: float, aw: float, bx: float, by: float, bc: float, sb: float,
    bl: float, bw: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Return depth (m, negative apart) and normal (world, from b to a) of two boxes' least overlap, by separating axes.

    Each box: centre x, y; cos and sin of its yaw; half length, half width.
    """
    dx, dy = ax - bx, ay - by
    cos, sin = abs(ac * bc + sa * sb), abs(ac * sb - sa * bc)
    depth_a, ax_n, ay_n = _face(dx, dy, ac, sa, al + bl * cos + bw * sin, aw + bl * sin + bw * cos)
    if depth_a <= 0.0:
        return depth_a, ax_n, ay_n
    depth_b, bx_n, by_n = _face(dx, dy, bc, sb, bl + al * cos + aw * sin, bw + al * sin + aw * cos)
    if depth_b <= 0.0:
        return depth_b, bx_n, by_n
    share = min(max(0.5 + (depth_b - depth_a) * (0.5 / BLEND), 0.0), 1.0)  # or the car that comes first would decide
    nx, ny = share * ax_n + (1.0 - share) * bx_n, share * ay_n + (1.0 - share) * by_n
    length = math.sqrt(nx * nx + ny * ny)
    if length < 0.1:  # opposite faces: one of them
        return depth_a, ax_n, ay_n
    return min(depth_a, depth_b), nx / length, ny / length


@inline
def _support(x: float, y: float, c: float, s: float, l: float, w: float, nx: float, ny: float) -> tuple[float, float]:  # noqa: E741
    """Return the point of a box furthest along (nx, ny): a corner, or the middle of an edge that faces it squarely."""
    along, aside = nx * c + ny * s, ny * c - nx * s
    u = l if along > 0.2 else -l if along < -0.2 else 0.0
    v = w if aside > 0.2 else -w if aside < -0.2 else 0.0
    return x + u * c - v * s, y + u * s + v * c


@inline
def _param(params: Array, row: int, j: int) -> float:
    return get(params, row - Work.COUNT, j)


@inline
def _touch(p: Array, p_params: Array, i: int, q: Array, q_params: Array, j: int) -> None:
    # Cars i of block p and j of block q, near each other.
    ac, sa = get(p, State.COS_YAW, i), get(p, State.SIN_YAW, i)
    bc, sb = get(q, State.COS_YAW, j), get(q, State.SIN_YAW, j)
    x1, y1, x2, y2 = get(p, State.X, i), get(p, State.Y, i), get(q, State.X, j), get(q, State.Y, j)
    ahead_a, ahead_b = _param(p_params, Param.BOX_CENTRE, i), _param(q_params, Param.BOX_CENTRE, j)
    ax, ay, bx, by = x1 + ahead_a * ac, y1 + ahead_a * sa, x2 + ahead_b * bc, y2 + ahead_b * sb
    al, aw = _param(p_params, Param.HALF_LENGTH, i), _param(p_params, Param.HALF_WIDTH, i)
    bl, bw = _param(q_params, Param.HALF_LENGTH, j), _param(q_params, Param.HALF_WIDTH, j)
    depth, nx, ny = _overlap(ax, ay, ac, sa, al, aw, bx, by, bc, sb, bl, bw)
    if depth <= 0.0:
        return
    # The contact point: midway between both boxes' furthest points into each other.
    fx, fy = _support(ax, ay, ac, sa, al, aw, -nx, -ny)
    gx, gy = _support(bx, by, bc, sb, bl, bw, nx, ny)
    cx, cy = 0.5 * (fx + gx), 0.5 * (fy + gy)
    r1x, r1y, r2x, r2y = cx - x1, cy - y1, cx - x2, cy - y2
    ux, uy = velocity(p, i, r1x, r1y)
    wx, wy = velocity(q, j, r2x, r2y)
    normal = (ux - wx) * nx + (uy - wy) * ny
    lost = 0.0
    if normal < 0.0:
        tangent = (uy - wy) * nx - (ux - wx) * ny
        m = get(p, State.INVERSE_MASS, i) + get(q, State.INVERSE_MASS, j)
        k1, k2 = _param(p_params, Param.INVERSE_YAW, i), _param(q_params, Param.INVERSE_YAW, j)
        n1, n2 = r1x * ny - r1y * nx, r2x * ny - r2y * nx
        t1, t2 = r1x * nx + r1y * ny, r2x * nx + r2y * ny
        jn, jt = impulse(normal, tangent, m + n1 * n1 * k1 + n2 * n2 * k2, m + t1 * t1 * k1 + t2 * t2 * k2)
        jx, jy = jn * nx - jt * ny, jn * ny + jt * nx
        kick(p, i, k1, r1x, r1y, jx, jy)
        kick(q, j, k2, r2x, r2y, -jx, -jy)
        ux, uy = velocity(p, i, r1x, r1y)
        wx, wy = velocity(q, j, r2x, r2y)
        after_n, after_t = (ux - wx) * nx + (uy - wy) * ny, (uy - wy) * nx - (ux - wx) * ny
        lost = -0.5 * (jn * (normal + after_n) + jt * (tangent + after_t))
    put(p, State.X, i, x1 + APART * depth * nx)
    put(p, State.Y, i, y1 + APART * depth * ny)
    put(q, State.X, j, x2 - APART * depth * nx)
    put(q, State.Y, j, y2 - APART * depth * ny)
    count(p, i, depth, 0.5 * lost)
    count(q, j, depth, 0.5 * lost)


@lane_jit
def collide(cars: Array, params: Array, kinds: Ints, group: int, near: float, lo: int, hi: int) -> None:
    """Let the cars of each group of `group` consecutive cars push each other, for groups `lo`..`hi` - 1.

    After a look; the moved places are looked at in the next. Heights are not compared: no bridges. `cars`, `params`
    and `kinds` as in `integrate.advance`; no two cars further apart than `near` (m) touch.
    """
    for g in range(lo, hi):
        for a in range(g * group, (g + 1) * group):
            p, i = cars[a // LANES], a % LANES
            for b in range(a + 1, (g + 1) * group):
                q, j = cars[b // LANES], b % LANES
                dx = get(p, State.X, i) - get(q, State.X, j)
                dy = get(p, State.Y, i) - get(q, State.Y, j)
                if dx * dx + dy * dy < near * near:
                    _touch(p, params[kinds[a // LANES]], i, q, params[kinds[b // LANES]], j)
