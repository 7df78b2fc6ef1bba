"""The ground under the cars: where they are on the road, how it lies and turns there, and what their wheels stand on.

`settle` moves the pose by what the substeps added up. `foot` finds the row of the road that is by a car, and works out
from it where the car is and what the road is like there. Where the hint of the last look leads nowhere (a start, the
ends of an open road, a place beyond the wall), `gather` does so by the whole search, which is slow and no vector code.
`lie` and `stand` turn that into the road's plane and the wheels' surfaces.
"""

import math

import numpy as np

from trailbrake.kernels import inline
from trailbrake.kernels.lanes import get, put
from trailbrake.kernels.maths import sincos, sincos_small, wrap
from trailbrake.tracks.frenet import BEYOND_WALL, LEAP, SETTLED, locate, near_foot
from trailbrake.tracks.surface import kerb_profile
from trailbrake.tracks.track import SURFACES
from trailbrake.units import G
from trailbrake.world.layout import Array, Axle, Param, State, Work
from trailbrake.world.strip import MIN_SHRINK, Strip

KERB_GRIP = SURFACES["kerb"].grip
KERB_SOFT = SURFACES["kerb"].rolling


@inline
def settle(block: Array, j: int, period: float) -> None:
    """Add to the pose what the substeps moved, keeping what the sum loses by rounding; likewise the wheels' ground."""
    cos, sin = get(block, State.COS_YAW, j), get(block, State.SIN_YAW, j)
    dx, dy = get(block, Work.DX, j), get(block, Work.DY, j)
    moved = dx * cos - dy * sin + get(block, State.X_LOW, j)
    old = get(block, State.X, j)
    new = old + moved
    put(block, State.X, j, new)
    put(block, State.X_LOW, j, moved - (new - old))
    moved = dx * sin + dy * cos + get(block, State.Y_LOW, j)
    old = get(block, State.Y, j)
    new = old + moved
    put(block, State.Y, j, new)
    put(block, State.Y_LOW, j, moved - (new - old))
    yaw = wrap(get(block, State.YAW, j) + get(block, Work.DYAW, j))
    sin, cos = sincos(yaw)
    put(block, State.YAW, j, yaw)
    put(block, State.COS_YAW, j, cos)
    put(block, State.SIN_YAW, j, sin)
    for i in range(4):
        put(block, State.BUMP + i, j, get(block, State.BUMP + i, j) + period * get(block, State.BUMP_RATE + i, j))
    put(block, Work.DX, j, 0.0)
    put(block, Work.DY, j, 0.0)
    put(block, Work.DYAW, j, 0.0)


@inline
def between(line: Array, column: int, u: float) -> float:
    """Return a column of a strip's line at the share `u` of the way to the next."""
    value: float = line[column] + u * line[column + 1]
    return value


@inline
def foot(block: Array, j: int, strip: Array, spacing: float, rows: float, closed: float) -> None:
    """Find the car on the road by the row of the last look and one a few rows on; FOUND is 0 where that is not sure.

    Args:
        block: with the pose as it is now.
        j: lane.
        strip: of the road.
        spacing: m between its rows.
        rows: how many it has.
        closed: 1 where row 0 comes after the last, else 0.
    """
    x, y, near = get(block, State.X, j), get(block, State.Y, j), get(block, State.ROW, j)
    known = near >= 0.0 and near < rows
    i = near if known else 0.0
    line = strip[int(i)]
    ahead = (x - line[Strip.X]) * line[Strip.TANGENT_X] + (y - line[Strip.Y]) * line[Strip.TANGENT_Y]
    # Beside a bend rows follow each other faster or slower than along the centreline: by the last look's measure.
    shrink = max(1.0 - get(block, State.CURVATURE, j) * get(block, State.OFFSET, j), MIN_SHRINK)
    leap = ahead / (spacing * shrink)
    known = known and leap > -LEAP and leap < LEAP
    i += np.floor(leap) if known else 0.0  # math.floor gives a float on a graphics card
    turn = rows * closed
    i += turn if i < 0.0 else 0.0
    i -= turn if i >= rows else 0.0
    known = known and i >= 0.0 and i < rows - 1.0 + closed
    i = i if known else 0.0
    line = strip[int(i)]
    tx, ty, qx, qy = (
        line[Strip.TANGENT_X],
        line[Strip.TANGENT_Y],
        line[Strip.NEXT_TANGENT_X],
        line[Strip.NEXT_TANGENT_Y],
    )
    ex, ey = line[Strip.TO_X], line[Strip.TO_Y]
    rx, ry = x - line[Strip.X], y - line[Strip.Y]
    here, there = rx * tx + ry * ty, (rx - ex) * qx + (ry - ey) * qy
    u, offset, step = near_foot(spacing, ex, ey, tx, ty, qx, qy, rx, ry, here, there)
    s = (i + u) * spacing
    length = spacing * (rows - 1.0 + closed)
    wall_left, wall_right = line[Strip.WALL_LEFT], line[Strip.WALL_RIGHT]
    inside = abs(offset) <= (wall_left if offset >= 0.0 else wall_right) + BEYOND_WALL
    sure = here >= 0.0 and there < 0.0 and step < SETTLED and u >= 0.0 and u <= 1.0 and inside and s < length
    put(block, Work.FOUND, j, 1.0 if known and sure else 0.0)
    put(block, State.ROW, j, i if known else near)
    sin, cos = sincos_small(between(line, Strip.BANK, u))
    tan_bank, per = sin / cos, 1.0 / spacing
    put(block, State.S, j, s)
    put(block, State.OFFSET, j, offset)
    put(block, State.CURVATURE, j, between(line, Strip.CURVATURE, u))
    put(block, Work.ROAD_YAW, j, between(line, Strip.YAW, u))
    put(block, Work.ROAD_Z, j, between(line, Strip.Z, u))
    put(block, Work.ROAD_GRADE, j, between(line, Strip.GRADE, u))
    put(block, Work.ROAD_GRADE_SLOPE, j, line[Strip.GRADE + 1] * per)
    put(block, Work.ROAD_BANK, j, tan_bank)
    put(block, Work.ROAD_BANK_SLOPE, j, line[Strip.BANK + 1] * per * (1.0 + tan_bank * tan_bank))
    put(block, Work.ROAD_GRIP, j, between(line, Strip.GRIP, u))
    put(block, Work.ROAD_LEFT, j, between(line, Strip.LEFT, u))
    put(block, Work.ROAD_LEFT_SLOPE, j, line[Strip.LEFT + 1] * per)
    put(block, Work.ROAD_RIGHT, j, between(line, Strip.RIGHT, u))
    put(block, Work.ROAD_RIGHT_SLOPE, j, line[Strip.RIGHT + 1] * per)
    put(block, Work.ROAD_KERB_LEFT, j, between(line, Strip.KERB_LEFT, u))
    put(block, Work.ROAD_KERB_RIGHT, j, between(line, Strip.KERB_RIGHT, u))
    put(block, Work.ROAD_WALL_LEFT, j, wall_left)
    put(block, Work.ROAD_WALL_RIGHT, j, wall_right)


@inline
def gather(block: Array, table: Array, strip: Array, spacing: float, closed: bool, j: int) -> None:
    """Find the car on the road and copy what the table says there."""
    s, offset, row = locate(table, spacing, closed, get(block, State.X, j), get(block, State.Y, j),
                            int(get(block, State.ROW, j)))  # fmt: skip
    per = 1.0 / spacing
    # The row at or before s, and how far on to the next; `row` itself may be the one after. Ends of an open road hold.
    place = s * per
    last = strip.shape[0] - (1 if closed else 2)
    i = min(max(int(place), 0), last)
    u = min(max(place - i, 0.0), 1.0)
    line = strip[i]
    curvature = line[Strip.CURVATURE] + u * line[Strip.CURVATURE + 1]
    grade, grade_slope = line[Strip.GRADE] + u * line[Strip.GRADE + 1], line[Strip.GRADE + 1] * per
    bank, bank_slope = line[Strip.BANK] + u * line[Strip.BANK + 1], line[Strip.BANK + 1] * per
    tan_bank = math.tan(bank) if bank != 0.0 else 0.0
    z = line[Strip.Z] + u * line[Strip.Z + 1]
    beyond = (place - i - u) * spacing
    if beyond != 0.0:  # the open road goes on straight
        curvature = grade_slope = bank_slope = 0.0
        z += beyond * grade
    put(block, State.S, j, s)
    put(block, State.OFFSET, j, offset)
    put(block, State.ROW, j, float(row))
    put(block, State.CURVATURE, j, curvature)
    put(block, Work.ROAD_YAW, j, line[Strip.YAW] + u * line[Strip.YAW + 1])
    put(block, Work.ROAD_Z, j, z)
    put(block, Work.ROAD_GRADE, j, grade)
    put(block, Work.ROAD_GRADE_SLOPE, j, grade_slope)
    put(block, Work.ROAD_BANK, j, tan_bank)
    put(block, Work.ROAD_BANK_SLOPE, j, bank_slope * (1.0 + tan_bank * tan_bank))
    put(block, Work.ROAD_GRIP, j, line[Strip.GRIP] + u * line[Strip.GRIP + 1])
    put(block, Work.ROAD_LEFT, j, line[Strip.LEFT] + u * line[Strip.LEFT + 1])
    put(block, Work.ROAD_LEFT_SLOPE, j, line[Strip.LEFT + 1] * per)
    put(block, Work.ROAD_RIGHT, j, line[Strip.RIGHT] + u * line[Strip.RIGHT + 1])
    put(block, Work.ROAD_RIGHT_SLOPE, j, line[Strip.RIGHT + 1] * per)
    put(block, Work.ROAD_KERB_LEFT, j, line[Strip.KERB_LEFT] + u * line[Strip.KERB_LEFT + 1])
    put(block, Work.ROAD_KERB_RIGHT, j, line[Strip.KERB_RIGHT] + u * line[Strip.KERB_RIGHT + 1])
    put(block, Work.ROAD_WALL_LEFT, j, line[Strip.WALL_LEFT])
    put(block, Work.ROAD_WALL_RIGHT, j, line[Strip.WALL_RIGHT])


@inline
def lie(block: Array, j: int) -> None:
    """Write how the road's plane lies under the car, how it turns as the car moves, and gravity in its axes.

    The surface at s, o is z(s) + o * tan(bank(s)). With t along the road and n to its left, the surface's normal is
    along (-climb, -tan(bank), 1) in (t, n, up); its rate of turn, from the road's own grade, bank and curvature,
    is the plane's roll and pitch rate (ISO 8855 signs).
    """
    offset, curvature = get(block, State.OFFSET, j), get(block, State.CURVATURE, j)
    tan_bank, bank_slope = get(block, Work.ROAD_BANK, j), get(block, Work.ROAD_BANK_SLOPE, j)
    grade_slope = get(block, Work.ROAD_GRADE_SLOPE, j)
    per_shrink = 1.0 / max(1.0 - curvature * offset, MIN_SHRINK)
    climb = (get(block, Work.ROAD_GRADE, j) + offset * bank_slope) * per_shrink
    heading = wrap(get(block, State.YAW, j) - get(block, Work.ROAD_YAW, j))
    st, ct = sincos(heading)
    slope_x, slope_y = climb * ct + tan_bank * st, tan_bank * ct - climb * st
    per_norm = 1.0 / math.sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
    per_cp = math.sqrt(1.0 + slope_x * slope_x)
    cp = 1.0 / per_cp
    sp = -slope_x * cp
    sr = slope_y * per_norm
    cr = math.sqrt(1.0 - sr * sr)
    vx, vy = get(block, State.VX, j), get(block, State.VY, j)
    forward, left = vx * cp + vy * sp * sr, vy * cr
    s_rate, offset_rate = (forward * ct - left * st) * per_shrink, forward * st + left * ct
    normal_t = tan_bank * curvature * s_rate - (grade_slope * s_rate * per_shrink + bank_slope * offset_rate)
    normal_n = -bank_slope * s_rate - climb * curvature * s_rate
    normal_x, normal_y = (normal_t * ct + normal_n * st) * per_norm, (normal_n * ct - normal_t * st) * per_norm
    pitch_rate, roll_rate = normal_x * cp, -(normal_x * sp * sr + normal_y * cr)
    put(block, State.HEADING, j, heading)
    put(block, Work.COS_HEADING, j, ct)
    put(block, Work.SIN_HEADING, j, st)
    put(block, State.Z, j, get(block, Work.ROAD_Z, j) + offset * tan_bank)
    put(block, State.ROAD_PITCH, j, sp)
    put(block, State.ROAD_ROLL, j, sr)
    put(block, State.ROAD_PITCH_RATE, j, pitch_rate)
    put(block, State.ROAD_ROLL_RATE, j, roll_rate)
    put(block, State.PULL_X, j, G * sp)
    put(block, State.PULL_Y, j, -G * cp * sr)
    put(block, State.PRESS, j, G * cp * cr + roll_rate * vy - pitch_rate * vx)
    put(block, State.FORWARD_X, j, cp)
    put(block, State.FORWARD_Y, j, sp * sr)
    put(block, State.LEFT_Y, j, cr)
    put(block, State.TURN, j, cr * per_cp)
    put(block, State.TURN_ROAD, j, pitch_rate * sr * per_cp)
    # How far the corners reach across the road, by `beside`, which curves away from a corner that is ahead or behind.
    length, width, centre = (
        get(block, Param.HALF_LENGTH, j),
        get(block, Param.HALF_WIDTH, j),
        get(block, Param.BOX_CENTRE, j),
    )
    along = length + abs(centre) + width
    reach = abs(st) * length + abs(ct) * width + 0.5 * abs(curvature) * along * along * per_shrink
    middle = offset + centre * st
    wall_left, wall_right = get(block, Work.ROAD_WALL_LEFT, j), get(block, Work.ROAD_WALL_RIGHT, j)
    put(block, Work.NEAR_WALL, j, 1.0 if middle + reach > wall_left or reach - middle > wall_right else 0.0)
    put(block, Work.PER_SHRINK, j, per_shrink)


@inline
def beside(block: Array, j: int, x: float, y: float) -> tuple[float, float, float]:
    """Return how far along the road (m of centreline) and how far left of the car, and of the centreline, a point is.

    The road is taken as the circle that it follows at the car: good to a centimetre within a car's length.

    Args:
        block: with `lie` done.
        j: lane.
        x: m ahead of the centre of mass.
        y: m left of it.
    """
    ct, st = get(block, Work.COS_HEADING, j), get(block, Work.SIN_HEADING, j)
    curvature, offset = get(block, State.CURVATURE, j), get(block, State.OFFSET, j)
    per_shrink = get(block, Work.PER_SHRINK, j)
    along = x * ct - y * st
    aside = x * st + y * ct - 0.5 * curvature * along * along * per_shrink
    return along * per_shrink, aside, offset + aside


@inline
def stand(
    block: Array, a: int, i: int, side: float, j: int, off_grip: float, off_soft: float, per_period: float
) -> None:
    """Write what wheel `i` stands on: grip, rolling resistance, and the height above the car's plane it moves to.

    The plane touches the road under the car; the road's own curves, its twist and kerbs lift wheels above it. The
    wheel's ground gets there over the substeps to come (`per_period` is one over their time; 0: at once).
    """
    x, y = get(block, Axle.X + a, j), side * get(block, Axle.HALF_TRACK + a, j)
    along, aside, offset = beside(block, j, x, y)
    left = get(block, Work.ROAD_LEFT, j) + along * get(block, Work.ROAD_LEFT_SLOPE, j)
    right = get(block, Work.ROAD_RIGHT, j) + along * get(block, Work.ROAD_RIGHT_SLOPE, j)
    kerb_left, kerb_right = get(block, Work.ROAD_KERB_LEFT, j), get(block, Work.ROAD_KERB_RIGHT, j)
    on_left = offset > 0.0
    across = abs(offset) - (left if on_left else right)
    kerb = kerb_left if on_left else kerb_right
    on_track, on_kerb = across <= 0.0, across < kerb
    grip = get(block, Work.ROAD_GRIP, j)
    grip = grip if on_track else grip * KERB_GRIP if on_kerb else off_grip
    soft = 0.0 if on_track else KERB_SOFT if on_kerb else off_soft
    put(block, State.ON_TRACK + i, j, 1.0 if on_track else 0.0)
    put(block, State.GRIP + i, j, grip)
    rolling = get(block, Axle.ROLLING + a, j) + soft
    put(block, State.SOFT + i, j, rolling * get(block, Axle.RADIUS + a, j))
    height = 0.5 * get(block, Work.ROAD_GRADE_SLOPE, j) * along * along
    height += get(block, Work.ROAD_BANK_SLOPE, j) * along * aside
    wide = max(kerb, 1e-3)
    raised = kerb_profile(get(block, State.S, j) + along, min(max(across, 0.0), wide), wide)
    height += raised if on_kerb and not on_track else 0.0
    now = get(block, State.BUMP + i, j)
    put(block, State.BUMP_RATE + i, j, (height - now) * per_period)
    put(block, State.BUMP + i, j, now if per_period > 0.0 else height)
