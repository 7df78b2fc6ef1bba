"""Contact of a car's box with walls and with other cars' boxes, by impulses.

Impulse with Coulomb friction at a point of free bodies in the plane (Baraff, SIGGRAPH course notes on rigid body
simulation, 1997, section 8): j = -(1 + e) vn / sum (1/m + (r x n)^2 / Iz), friction at most MU * j against the
sliding. Contacts are planar: boxes seen from above, heights are not compared. Scalar code, since few cars collide.
"""

import math
from typing import NamedTuple

from trailbrake.car_contacts import EPISODE_GAP
from trailbrake.kernels import inline_jit, lane_jit
from trailbrake.kernels.lane_blocks import LANES, get, put
from trailbrake.tracks.frenet import bracket_rows
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.world.ground import road_coordinates
from trailbrake.world.kernel_arguments import CarBlocks, RoadTables
from trailbrake.world.row_layout import Array, ParamRow, StateRow, WorkRow

RESTITUTION = 0.2  # share of the normal speed after an impact: tyre stacks and bodywork absorb most of it (estimate)
REST_SPEED = 0.5  # m/s: slower impacts do not bounce
MU = 0.35  # friction of bodywork (estimate)
BLEND_DEPTH = 0.02  # m: where faces of both cars explain an overlap equally well within this, the normal is their mean
SEPARATION_SHARE = 0.5  # share of the overlap by which each of two cars is moved back


class PlaneVector(NamedTuple):
    """A vector in the plane, world axes."""

    x: float
    y: float


class Box(NamedTuple):
    """The contact box of a car: centre x, y (m, world), cosine and sine of its yaw, half length and half width (m)."""

    x: float
    y: float
    cos: float
    sin: float
    length: float
    width: float


class CarLane(NamedTuple):
    """One car: its block of state, of parameters (from WorkRow.COUNT on), its lane in both, its place in its group."""

    block: Array
    params: Array
    lane: int
    place: int


@inline_jit
def age_contact(block: Array, lane: int, period: float) -> None:
    """Advance the time since the last contact by `period` (s), and clear what the last outer step found."""
    put(block, StateRow.CONTACT_DEPTH, lane, 0.0)
    put(block, StateRow.CONTACT_CAR, lane, 0.0)
    put(block, StateRow.TIME_SINCE_CONTACT, lane, min(get(block, StateRow.TIME_SINCE_CONTACT, lane) + period, 1e6))


@inline_jit
def record_contact(block: Array, lane: int, depth: float, lost: float) -> None:
    """Count a contact if EPISODE_GAP has passed since the last; keep its depth (m) and add the energy lost (J)."""
    if get(block, StateRow.TIME_SINCE_CONTACT, lane) > EPISODE_GAP:
        put(block, StateRow.CONTACTS, lane, get(block, StateRow.CONTACTS, lane) + 1.0)
    put(block, StateRow.TIME_SINCE_CONTACT, lane, 0.0)
    put(block, StateRow.CONTACT_DEPTH, lane, max(get(block, StateRow.CONTACT_DEPTH, lane), depth))
    put(block, StateRow.DAMAGE, lane, get(block, StateRow.DAMAGE, lane) + max(lost, 0.0))


@inline_jit
def record_touch(block: Array, lane: int, other: int, speed: float, impulse: float) -> None:
    """Keep the hardest touch of another car: its place in the group, the closing speed (m/s) and the impulse (N s)."""
    if get(block, StateRow.CONTACT_CAR, lane) > 0.0 and get(block, StateRow.CONTACT_IMPULSE, lane) >= impulse:
        return
    put(block, StateRow.CONTACT_CAR, lane, other + 1.0)
    put(block, StateRow.CONTACT_SPEED, lane, speed)
    put(block, StateRow.CONTACT_IMPULSE, lane, impulse)


@inline_jit
def point_velocity(block: Array, lane: int, arm: PlaneVector) -> PlaneVector:
    """Return the velocity (m/s, world) of the car's point at `arm` (m, world axes) from its centre of mass."""
    cos, sin = get(block, StateRow.COS_YAW, lane), get(block, StateRow.SIN_YAW, lane)
    vx, vy = get(block, StateRow.VX, lane), get(block, StateRow.VY, lane)
    rate = get(block, StateRow.YAW_RATE, lane)
    return PlaneVector(vx * cos - vy * sin - rate * arm.y, vx * sin + vy * cos + rate * arm.x)


@inline_jit
def apply_impulse(block: Array, lane: int, inverse_yaw: float, arm: PlaneVector, impulse: PlaneVector) -> None:
    """Change a car's velocities by an impulse.

    Args:
        block: of the car, changed.
        lane: of the car.
        inverse_yaw: 1/(kg m^2), one over its yaw inertia.
        arm: m, point of the impulse from the centre of mass, world axes.
        impulse: N s, world axes.
    """
    cos, sin = get(block, StateRow.COS_YAW, lane), get(block, StateRow.SIN_YAW, lane)
    per_mass = get(block, StateRow.INVERSE_MASS, lane)
    jx, jy = impulse.x, impulse.y
    put(block, StateRow.VX, lane, get(block, StateRow.VX, lane) + (jx * cos + jy * sin) * per_mass)
    put(block, StateRow.VY, lane, get(block, StateRow.VY, lane) + (jy * cos - jx * sin) * per_mass)
    put(block, StateRow.YAW_RATE, lane, get(block, StateRow.YAW_RATE, lane) + (arm.x * jy - arm.y * jx) * inverse_yaw)


@inline_jit
def contact_impulse(speed_n: float, speed_t: float, inverse_n: float, inverse_t: float) -> tuple[float, float]:
    """Return the impulse (N s) along normal and tangent that ends an approach.

    Args:
        speed_n: m/s, relative velocity along the normal, negative closing.
        speed_t: m/s, along the tangent.
        inverse_n: 1/kg, change of that velocity per impulse along the normal.
        inverse_t: 1/kg, along the tangent.
    """
    bounce = RESTITUTION if speed_n < -REST_SPEED else 0.0
    normal = -(1.0 + bounce) * speed_n / inverse_n
    return normal, min(max(-speed_t / inverse_t, -MU * normal), MU * normal)


@inline_jit
def _resolve_wall_corner(block: Array, lane: int, arm: PlaneVector, normal: PlaneVector) -> float:
    """Apply the impulse of a wall on a corner of the car; return the energy lost (J).

    Args:
        block: of the car, changed.
        lane: of the car.
        arm: m, the corner from the centre of mass, world axes.
        normal: unit vector from the wall to the road, world axes.
    """
    rx, ry, nx, ny = arm.x, arm.y, normal.x, normal.y
    before = point_velocity(block, lane, arm)
    speed_n = before.x * nx + before.y * ny
    if speed_n >= 0.0:
        return 0.0
    per_mass, per_yaw = get(block, StateRow.INVERSE_MASS, lane), get(block, ParamRow.INVERSE_YAW, lane)
    arm_n, arm_t = rx * ny - ry * nx, rx * nx + ry * ny  # the tangent is (-ny, nx)
    speed_t = before.y * nx - before.x * ny
    jn, jt = contact_impulse(speed_n, speed_t, per_mass + arm_n * arm_n * per_yaw, per_mass + arm_t * arm_t * per_yaw)
    apply_impulse(block, lane, per_yaw, arm, PlaneVector(jn * nx - jt * ny, jn * ny + jt * nx))
    after = point_velocity(block, lane, arm)
    # Work of an impulse: its mean velocity at the point, before and after.
    after_n, after_t = after.x * nx + after.y * ny, after.y * nx - after.x * ny
    return -0.5 * (jn * (speed_n + after_n) + jt * (speed_t + after_t))


@inline_jit
def collide_with_walls(block: Array, road: RoadTables, lane: int) -> bool:
    """Keep a car inside the walls; return whether it was moved. The direction of a wall is that of the road beside it.

    Args:
        block: work block after the outer step, changed.
        road: the road.
        lane: of the car.
    """
    table = road.table.table
    half_length, half_width = get(block, ParamRow.HALF_LENGTH, lane), get(block, ParamRow.HALF_WIDTH, lane)
    centre = get(block, ParamRow.BOX_CENTRE, lane)
    cos, sin = get(block, StateRow.COS_YAW, lane), get(block, StateRow.SIN_YAW, lane)
    deepest, out_x, out_y, lost = 0.0, 0.0, 0.0, 0.0
    for corner in range(4):
        bx = centre + (half_length if corner < 2 else -half_length)
        by = half_width if corner % 2 == 0 else -half_width
        rx, ry = bx * cos - by * sin, bx * sin + by * cos
        along, _, offset = road_coordinates(block, lane, bx, by)
        # A value, not a row, is selected: a row known at compile time is a register of a graphics card.
        wall_left, wall_right = get(block, WorkRow.ROAD_WALL_LEFT, lane), get(block, WorkRow.ROAD_WALL_RIGHT, lane)
        if abs(offset) <= (wall_left if offset > 0.0 else wall_right):
            continue  # closer than any wall around the car
        i, k, u = bracket_rows(road.table, get(block, StateRow.S, lane) + along)
        width = RoadColumn.WIDTH_LEFT if offset > 0.0 else RoadColumn.WIDTH_RIGHT
        runoff = RoadColumn.RUNOFF_LEFT if offset > 0.0 else RoadColumn.RUNOFF_RIGHT
        wall = (1.0 - u) * (table[i, width] + table[i, runoff]) + u * (table[k, width] + table[k, runoff])
        depth = abs(offset) - wall
        if depth <= 0.0:
            continue
        near = i if u < 0.5 else k  # the normal is perpendicular to the tangent of the nearer row
        inward = -1.0 if offset > 0.0 else 1.0
        nx, ny = -inward * table[near, RoadColumn.TANGENT_Y], inward * table[near, RoadColumn.TANGENT_X]
        lost += _resolve_wall_corner(block, lane, PlaneVector(rx, ry), PlaneVector(nx, ny))
        if depth > deepest:
            deepest, out_x, out_y = depth, depth * nx, depth * ny
    if deepest <= 0.0:
        return False
    put(block, StateRow.X, lane, get(block, StateRow.X, lane) + out_x)
    put(block, StateRow.Y, lane, get(block, StateRow.Y, lane) + out_y)
    record_contact(block, lane, deepest, lost)
    return True


@inline_jit
def _face_overlap(
    between: PlaneVector, cos: float, sin: float, length: float, width: float
) -> tuple[float, float, float]:
    """Return the least overlap (m) of two boxes along the axes of one of them, and the unit vector of that axis.

    Args:
        between: m, from the centre of the other box to that of this one; the axis returned points along it.
        cos: of the yaw of the box whose axes are used.
        sin: of the same.
        length: m, sum of both boxes' half extents along its x axis.
        width: m, the same along its y axis.
    """
    along, aside = between.x * cos + between.y * sin, between.y * cos - between.x * sin
    over, beside = length - abs(along), width - abs(aside)
    if over < beside:
        return (over, cos, sin) if along > 0.0 else (over, -cos, -sin)
    return (beside, -sin, cos) if aside > 0.0 else (beside, sin, -cos)


@inline_jit
def _box_overlap(a: Box, b: Box) -> tuple[float, PlaneVector]:
    """Return depth (m, negative apart) and normal (world, from b to a) of two boxes' overlap, by separating axes."""
    between = PlaneVector(a.x - b.x, a.y - b.y)
    cos, sin = abs(a.cos * b.cos + a.sin * b.sin), abs(a.cos * b.sin - a.sin * b.cos)
    depth_a, ax, ay = _face_overlap(
        between, a.cos, a.sin, a.length + b.length * cos + b.width * sin, a.width + b.length * sin + b.width * cos
    )
    if depth_a <= 0.0:
        return depth_a, PlaneVector(ax, ay)
    depth_b, bx, by = _face_overlap(
        between, b.cos, b.sin, b.length + a.length * cos + a.width * sin, b.width + a.length * sin + a.width * cos
    )
    if depth_b <= 0.0:
        return depth_b, PlaneVector(bx, by)
    # A blend, so that the result does not depend on the order of the cars.
    share = min(max(0.5 + (depth_b - depth_a) * (0.5 / BLEND_DEPTH), 0.0), 1.0)
    nx, ny = share * ax + (1.0 - share) * bx, share * ay + (1.0 - share) * by
    length = math.sqrt(nx * nx + ny * ny)
    if length < 0.1:  # opposite faces: one of them
        return depth_a, PlaneVector(ax, ay)
    return min(depth_a, depth_b), PlaneVector(nx / length, ny / length)


@inline_jit
def _support_point(box: Box, nx: float, ny: float) -> PlaneVector:
    """Return the point of a box furthest along (nx, ny): a corner, or the middle of an edge that faces it squarely."""
    along, aside = nx * box.cos + ny * box.sin, ny * box.cos - nx * box.sin
    u = box.length if along > 0.2 else -box.length if along < -0.2 else 0.0
    v = box.width if aside > 0.2 else -box.width if aside < -0.2 else 0.0
    return PlaneVector(box.x + u * box.cos - v * box.sin, box.y + u * box.sin + v * box.cos)


@inline_jit
def _read_param(car: CarLane, row: int) -> float:
    return get(car.params, row - WorkRow.COUNT, car.lane)


@inline_jit
def _contact_box(car: CarLane) -> Box:
    cos, sin = get(car.block, StateRow.COS_YAW, car.lane), get(car.block, StateRow.SIN_YAW, car.lane)
    ahead = _read_param(car, ParamRow.BOX_CENTRE)
    x, y = get(car.block, StateRow.X, car.lane), get(car.block, StateRow.Y, car.lane)
    length, width = _read_param(car, ParamRow.HALF_LENGTH), _read_param(car, ParamRow.HALF_WIDTH)
    return Box(x + ahead * cos, y + ahead * sin, cos, sin, length, width)


@inline_jit
def _collide_pair(first: CarLane, second: CarLane) -> None:
    """Push two cars apart if their boxes overlap, with an impulse if they approach each other."""
    p, i, q, j = first.block, first.lane, second.block, second.lane
    a, b = _contact_box(first), _contact_box(second)
    depth, normal = _box_overlap(a, b)
    if depth <= 0.0:
        return
    nx, ny = normal.x, normal.y
    # The contact point: midway between the points of both boxes that are furthest inside the other.
    f, g = _support_point(a, -nx, -ny), _support_point(b, nx, ny)
    cx, cy = 0.5 * (f.x + g.x), 0.5 * (f.y + g.y)
    x1, y1, x2, y2 = get(p, StateRow.X, i), get(p, StateRow.Y, i), get(q, StateRow.X, j), get(q, StateRow.Y, j)
    arm1, arm2 = PlaneVector(cx - x1, cy - y1), PlaneVector(cx - x2, cy - y2)
    u, w = point_velocity(p, i, arm1), point_velocity(q, j, arm2)
    speed_n = (u.x - w.x) * nx + (u.y - w.y) * ny
    lost = impulse = 0.0
    if speed_n < 0.0:
        speed_t = (u.y - w.y) * nx - (u.x - w.x) * ny
        m = get(p, StateRow.INVERSE_MASS, i) + get(q, StateRow.INVERSE_MASS, j)
        k1, k2 = _read_param(first, ParamRow.INVERSE_YAW), _read_param(second, ParamRow.INVERSE_YAW)
        n1, n2 = arm1.x * ny - arm1.y * nx, arm2.x * ny - arm2.y * nx
        t1, t2 = arm1.x * nx + arm1.y * ny, arm2.x * nx + arm2.y * ny
        jn, jt = contact_impulse(speed_n, speed_t, m + n1 * n1 * k1 + n2 * n2 * k2, m + t1 * t1 * k1 + t2 * t2 * k2)
        jx, jy = jn * nx - jt * ny, jn * ny + jt * nx
        impulse = math.sqrt(jn * jn + jt * jt)
        apply_impulse(p, i, k1, arm1, PlaneVector(jx, jy))
        apply_impulse(q, j, k2, arm2, PlaneVector(-jx, -jy))
        u, w = point_velocity(p, i, arm1), point_velocity(q, j, arm2)
        after_n, after_t = (u.x - w.x) * nx + (u.y - w.y) * ny, (u.y - w.y) * nx - (u.x - w.x) * ny
        lost = -0.5 * (jn * (speed_n + after_n) + jt * (speed_t + after_t))
    put(p, StateRow.X, i, x1 + SEPARATION_SHARE * depth * nx)
    put(p, StateRow.Y, i, y1 + SEPARATION_SHARE * depth * ny)
    put(q, StateRow.X, j, x2 - SEPARATION_SHARE * depth * nx)
    put(q, StateRow.Y, j, y2 - SEPARATION_SHARE * depth * ny)
    record_contact(p, i, depth, 0.5 * lost)
    record_contact(q, j, depth, 0.5 * lost)
    record_touch(p, i, second.place, max(-speed_n, 0.0), impulse)
    record_touch(q, j, first.place, max(-speed_n, 0.0), impulse)


@lane_jit
def collide_cars(blocks: CarBlocks, group_size: int, lo: int, hi: int) -> None:
    """Collide the cars of each group with each other, after the outer step; heights are not compared (no bridges).

    The next outer step projects the moved positions on the road.

    Args:
        blocks: all cars, changed.
        group_size: number of consecutive cars in a group.
        lo: first group.
        hi: one past the last group.
    """
    cars, reach2 = blocks.cars, blocks.contact_range * blocks.contact_range
    for g in range(lo, hi):
        begin = g * group_size
        for a in range(begin, begin + group_size):
            p, i = cars[a // LANES], a % LANES
            for b in range(a + 1, begin + group_size):
                q, j = cars[b // LANES], b % LANES
                dx = get(p, StateRow.X, i) - get(q, StateRow.X, j)
                dy = get(p, StateRow.Y, i) - get(q, StateRow.Y, j)
                if dx * dx + dy * dy < reach2:
                    first = CarLane(p, blocks.params[blocks.kinds[a // LANES]], i, a - begin)
                    _collide_pair(first, CarLane(q, blocks.params[blocks.kinds[b // LANES]], j, b - begin))
