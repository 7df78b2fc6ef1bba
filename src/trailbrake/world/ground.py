"""The ground under the cars: where they are on the road, its plane and its rotation there, the ground at the wheels.

`integrate_pose` adds the motion of the substeps to the pose. `project_fast` projects a car on the road near its last
projection; where that fails, `project_search` searches the whole road. `compute_road_plane` and `compute_wheel_ground`
compute the plane of the road under the car and the surface under each wheel.
"""

import math

import numpy as np

from trailbrake.kernels import inline_jit
from trailbrake.kernels.lane_blocks import get, put
from trailbrake.kernels.maths import sincos, sincos_small, wrap_angle
from trailbrake.tracks.frenet import (
    MAX_HINT_ROWS,
    MAX_NEWTON_STEP,
    WALL_MARGIN,
    RowPair,
    project_to_road,
    project_to_segment,
)
from trailbrake.tracks.kerbs import kerb_profile
from trailbrake.tracks.track import SURFACES
from trailbrake.units import G
from trailbrake.world.kernel_arguments import RoadTables
from trailbrake.world.row_layout import Array, AxleRow, ParamRow, StateRow, WorkRow
from trailbrake.world.segment_table import MIN_SHRINK, SegmentColumn

KERB_GRIP = SURFACES["kerb"].grip
KERB_ROLLING = SURFACES["kerb"].rolling


@inline_jit
def integrate_pose(block: Array, lane: int, period: float) -> None:
    """Add the motion of the substeps to the pose (compensated summation), and move the ground at the wheels on."""
    cos, sin = get(block, StateRow.COS_YAW, lane), get(block, StateRow.SIN_YAW, lane)
    dx, dy = get(block, WorkRow.DX, lane), get(block, WorkRow.DY, lane)
    moved = dx * cos - dy * sin + get(block, StateRow.X_COMPENSATION, lane)
    old = get(block, StateRow.X, lane)
    new = old + moved
    put(block, StateRow.X, lane, new)
    put(block, StateRow.X_COMPENSATION, lane, moved - (new - old))
    moved = dx * sin + dy * cos + get(block, StateRow.Y_COMPENSATION, lane)
    old = get(block, StateRow.Y, lane)
    new = old + moved
    put(block, StateRow.Y, lane, new)
    put(block, StateRow.Y_COMPENSATION, lane, moved - (new - old))
    yaw = wrap_angle(get(block, StateRow.YAW, lane) + get(block, WorkRow.DYAW, lane))
    sin, cos = sincos(yaw)
    put(block, StateRow.YAW, lane, yaw)
    put(block, StateRow.COS_YAW, lane, cos)
    put(block, StateRow.SIN_YAW, lane, sin)
    for i in range(4):
        put(
            block,
            StateRow.GROUND_HEIGHT + i,
            lane,
            get(block, StateRow.GROUND_HEIGHT + i, lane) + period * get(block, StateRow.GROUND_HEIGHT_RATE + i, lane),
        )
    put(block, WorkRow.DX, lane, 0.0)
    put(block, WorkRow.DY, lane, 0.0)
    put(block, WorkRow.DYAW, lane, 0.0)


@inline_jit
def interpolate_column(line: Array, column: int, u: float) -> float:
    """Return a column of a segment at `u` (0..1) between its row and the next."""
    value: float = line[column] + u * line[column + 1]
    return value


@inline_jit
def store_road_profile(block: Array, lane: int, line: Array, u: float, per_spacing: float) -> None:
    """Write what the road is like between two rows, but for curvature, height, grade and bank.

    Args:
        block: work block, changed.
        lane: lane of the car.
        line: (SegmentColumn.COUNT,) of the segment table.
        u: 0..1, position between its row and the next.
        per_spacing: 1/m, one over the distance between rows.
    """
    put(block, WorkRow.ROAD_YAW, lane, interpolate_column(line, SegmentColumn.YAW, u))
    put(block, WorkRow.ROAD_GRIP, lane, interpolate_column(line, SegmentColumn.GRIP, u))
    put(block, WorkRow.ROAD_GRIP_RIGHT, lane, interpolate_column(line, SegmentColumn.GRIP_RIGHT, u))
    put(block, WorkRow.ROAD_WIDTH_LEFT, lane, interpolate_column(line, SegmentColumn.WIDTH_LEFT, u))
    put(block, WorkRow.ROAD_WIDTH_LEFT_SLOPE, lane, line[SegmentColumn.WIDTH_LEFT + 1] * per_spacing)
    put(block, WorkRow.ROAD_WIDTH_RIGHT, lane, interpolate_column(line, SegmentColumn.WIDTH_RIGHT, u))
    put(block, WorkRow.ROAD_WIDTH_RIGHT_SLOPE, lane, line[SegmentColumn.WIDTH_RIGHT + 1] * per_spacing)
    put(block, WorkRow.ROAD_KERB_LEFT, lane, interpolate_column(line, SegmentColumn.KERB_LEFT, u))
    put(block, WorkRow.ROAD_KERB_RIGHT, lane, interpolate_column(line, SegmentColumn.KERB_RIGHT, u))
    put(block, WorkRow.ROAD_WALL_LEFT, lane, line[SegmentColumn.WALL_LEFT])
    put(block, WorkRow.ROAD_WALL_RIGHT, lane, line[SegmentColumn.WALL_RIGHT])


@inline_jit
def project_fast(block: Array, lane: int, segments: Array, spacing: float, rows: float, closed: float) -> None:
    """Project the car on the road, starting from the row of the last projection; vector code.

    PROJECTION_VALID is 0 where the result is not certain: at a start, at the ends of an open road, beyond a wall.

    Args:
        block: work block with the present pose, changed.
        lane: lane of the car.
        segments: (rows, SegmentColumn.COUNT) the segment table of the road.
        spacing: m between its rows.
        rows: number of rows.
        closed: 1 where row 0 follows the last row, else 0.
    """
    x, y, hint = get(block, StateRow.X, lane), get(block, StateRow.Y, lane), get(block, StateRow.ROAD_ROW, lane)
    known = hint >= 0.0 and hint < rows
    i = hint if known else 0.0
    line = segments[int(i)]
    dx, dy = x - line[SegmentColumn.X], y - line[SegmentColumn.Y]
    ahead = dx * line[SegmentColumn.TANGENT_X] + dy * line[SegmentColumn.TANGENT_Y]
    # Beside a bend, rows follow each other faster or slower than along the centreline; curvature and offset of the
    # last projection tell by how much.
    shrink = max(1.0 - get(block, StateRow.CURVATURE, lane) * get(block, StateRow.OFFSET, lane), MIN_SHRINK)
    leap = ahead / (spacing * shrink)
    known = known and leap > -MAX_HINT_ROWS and leap < MAX_HINT_ROWS
    i += np.floor(leap) if known else 0.0  # math.floor gives a float on a graphics card
    turn = rows * closed
    i += turn if i < 0.0 else 0.0
    i -= turn if i >= rows else 0.0
    known = known and i >= 0.0 and i < rows - 1.0 + closed
    i = i if known else 0.0
    line = segments[int(i)]
    tx, ty = line[SegmentColumn.TANGENT_X], line[SegmentColumn.TANGENT_Y]
    qx, qy = line[SegmentColumn.NEXT_TANGENT_X], line[SegmentColumn.NEXT_TANGENT_Y]
    ex, ey = line[SegmentColumn.DELTA_X], line[SegmentColumn.DELTA_Y]
    rx, ry = x - line[SegmentColumn.X], y - line[SegmentColumn.Y]
    here, there = rx * tx + ry * ty, (rx - ex) * qx + (ry - ey) * qy
    u, offset, step = project_to_segment(RowPair(spacing, ex, ey, tx, ty, qx, qy), rx, ry, here, there)
    s = (i + u) * spacing
    length = spacing * (rows - 1.0 + closed)
    wall_left, wall_right = line[SegmentColumn.WALL_LEFT], line[SegmentColumn.WALL_RIGHT]
    inside = abs(offset) <= (wall_left if offset >= 0.0 else wall_right) + WALL_MARGIN
    valid = here >= 0.0 and there < 0.0 and step < MAX_NEWTON_STEP and u >= 0.0 and u <= 1.0 and inside and s < length
    put(block, WorkRow.PROJECTION_VALID, lane, 1.0 if known and valid else 0.0)
    put(block, StateRow.ROAD_ROW, lane, i if known else hint)
    sin, cos = sincos_small(interpolate_column(line, SegmentColumn.BANK, u))
    tan_bank, per = sin / cos, 1.0 / spacing
    put(block, StateRow.S, lane, s)
    put(block, StateRow.OFFSET, lane, offset)
    put(block, StateRow.CURVATURE, lane, interpolate_column(line, SegmentColumn.CURVATURE, u))
    put(block, WorkRow.ROAD_Z, lane, interpolate_column(line, SegmentColumn.Z, u))
    put(block, WorkRow.ROAD_GRADE, lane, interpolate_column(line, SegmentColumn.GRADE, u))
    put(block, WorkRow.ROAD_GRADE_SLOPE, lane, line[SegmentColumn.GRADE + 1] * per)
    put(block, WorkRow.ROAD_BANK, lane, tan_bank)
    put(block, WorkRow.ROAD_BANK_SLOPE, lane, line[SegmentColumn.BANK + 1] * per * (1.0 + tan_bank * tan_bank))
    store_road_profile(block, lane, line, u, per)


@inline_jit
def project_search(block: Array, road: RoadTables, lane: int) -> None:
    """Project the car on the road by a search over all rows; slow, and not vector code.

    Args:
        block: work block with the present pose, changed.
        road: the road.
        lane: lane of the car.
    """
    x, y, hint = get(block, StateRow.X, lane), get(block, StateRow.Y, lane), int(get(block, StateRow.ROAD_ROW, lane))
    s, offset, row = project_to_road(road.table, x, y, hint)
    spacing = road.table.spacing
    per = 1.0 / spacing
    # The row at or before s and the position between it and the next; `row` may be the next. Beyond an open end, u is
    # held at that end.
    place = s * per
    last = road.segments.shape[0] - (1 if road.table.closed else 2)
    i = min(max(int(place), 0), last)
    u = min(max(place - i, 0.0), 1.0)
    line = road.segments[i]
    curvature = interpolate_column(line, SegmentColumn.CURVATURE, u)
    grade, grade_slope = interpolate_column(line, SegmentColumn.GRADE, u), line[SegmentColumn.GRADE + 1] * per
    bank, bank_slope = interpolate_column(line, SegmentColumn.BANK, u), line[SegmentColumn.BANK + 1] * per
    tan_bank = math.tan(bank) if bank != 0.0 else 0.0
    z = interpolate_column(line, SegmentColumn.Z, u)
    beyond = (place - i - u) * spacing
    if beyond != 0.0:  # an open road continues straight
        curvature = grade_slope = bank_slope = 0.0
        z += beyond * grade
    put(block, StateRow.S, lane, s)
    put(block, StateRow.OFFSET, lane, offset)
    put(block, StateRow.ROAD_ROW, lane, float(row))
    put(block, StateRow.CURVATURE, lane, curvature)
    put(block, WorkRow.ROAD_Z, lane, z)
    put(block, WorkRow.ROAD_GRADE, lane, grade)
    put(block, WorkRow.ROAD_GRADE_SLOPE, lane, grade_slope)
    put(block, WorkRow.ROAD_BANK, lane, tan_bank)
    put(block, WorkRow.ROAD_BANK_SLOPE, lane, bank_slope * (1.0 + tan_bank * tan_bank))
    store_road_profile(block, lane, line, u, per)


@inline_jit
def compute_road_plane(block: Array, lane: int) -> None:
    """Write the plane of the road under the car, its rotation as the car moves, and gravity in its axes.

    The surface at s, o is z(s) + o * tan(bank(s)). With t along the road and n to its left, the surface's normal is
    along (-climb, -tan(bank), 1) in (t, n, up); its rate of turn, from the road's own grade, bank and curvature,
    is the plane's roll and pitch rate (ISO 8855 signs).
    """
    offset, curvature = get(block, StateRow.OFFSET, lane), get(block, StateRow.CURVATURE, lane)
    tan_bank, bank_slope = get(block, WorkRow.ROAD_BANK, lane), get(block, WorkRow.ROAD_BANK_SLOPE, lane)
    grade_slope = get(block, WorkRow.ROAD_GRADE_SLOPE, lane)
    per_shrink = 1.0 / max(1.0 - curvature * offset, MIN_SHRINK)
    climb = (get(block, WorkRow.ROAD_GRADE, lane) + offset * bank_slope) * per_shrink
    heading = wrap_angle(get(block, StateRow.YAW, lane) - get(block, WorkRow.ROAD_YAW, lane))
    st, ct = sincos(heading)
    slope_x, slope_y = climb * ct + tan_bank * st, tan_bank * ct - climb * st
    per_norm = 1.0 / math.sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
    per_cp = math.sqrt(1.0 + slope_x * slope_x)
    cp = 1.0 / per_cp
    sp = -slope_x * cp
    sr = slope_y * per_norm
    cr = math.sqrt(1.0 - sr * sr)
    vx, vy = get(block, StateRow.VX, lane), get(block, StateRow.VY, lane)
    forward, left = vx * cp + vy * sp * sr, vy * cr
    s_rate, offset_rate = (forward * ct - left * st) * per_shrink, forward * st + left * ct
    normal_t = tan_bank * curvature * s_rate - (grade_slope * s_rate * per_shrink + bank_slope * offset_rate)
    normal_n = -bank_slope * s_rate - climb * curvature * s_rate
    normal_x, normal_y = (normal_t * ct + normal_n * st) * per_norm, (normal_n * ct - normal_t * st) * per_norm
    pitch_rate, roll_rate = normal_x * cp, -(normal_x * sp * sr + normal_y * cr)
    put(block, StateRow.HEADING, lane, heading)
    put(block, WorkRow.COS_HEADING, lane, ct)
    put(block, WorkRow.SIN_HEADING, lane, st)
    put(block, StateRow.Z, lane, get(block, WorkRow.ROAD_Z, lane) + offset * tan_bank)
    put(block, StateRow.ROAD_PITCH, lane, sp)
    put(block, StateRow.ROAD_ROLL, lane, sr)
    put(block, StateRow.ROAD_PITCH_RATE, lane, pitch_rate)
    put(block, StateRow.ROAD_ROLL_RATE, lane, roll_rate)
    put(block, StateRow.GRAVITY_X, lane, G * sp)
    put(block, StateRow.GRAVITY_Y, lane, -G * cp * sr)
    put(block, StateRow.NORMAL_GRAVITY, lane, G * cp * cr + roll_rate * vy - pitch_rate * vx)
    put(block, StateRow.FORWARD_PER_VX, lane, cp)
    put(block, StateRow.FORWARD_PER_VY, lane, sp * sr)
    put(block, StateRow.LEFT_PER_VY, lane, cr)
    put(block, StateRow.YAW_RATE_FACTOR, lane, cr * per_cp)
    put(block, StateRow.ROAD_YAW_RATE, lane, pitch_rate * sr * per_cp)
    # How far the corners reach across the road, by `road_coordinates`: the road curves away from corners ahead and
    # behind.
    length, width, centre = (
        get(block, ParamRow.HALF_LENGTH, lane),
        get(block, ParamRow.HALF_WIDTH, lane),
        get(block, ParamRow.BOX_CENTRE, lane),
    )
    along = length + abs(centre) + width
    reach = abs(st) * length + abs(ct) * width + 0.5 * abs(curvature) * along * along * per_shrink
    middle = offset + centre * st
    wall_left, wall_right = get(block, WorkRow.ROAD_WALL_LEFT, lane), get(block, WorkRow.ROAD_WALL_RIGHT, lane)
    put(block, WorkRow.NEAR_WALL, lane, 1.0 if middle + reach > wall_left or reach - middle > wall_right else 0.0)
    put(block, WorkRow.S_PER_DISTANCE, lane, per_shrink)


@inline_jit
def road_coordinates(block: Array, lane: int, x: float, y: float) -> tuple[float, float, float]:
    """Return the position of a point of the car on the road.

    Returns m along the centreline from the car, m left of the car, and m left of the centreline.

    The road is the circle of its curvature at the car: within a centimetre over the length of a car.

    Args:
        block: work block after `compute_road_plane`.
        lane: lane of the car.
        x: m, of the point ahead of the centre of mass.
        y: m, of the point left of it.
    """
    ct, st = get(block, WorkRow.COS_HEADING, lane), get(block, WorkRow.SIN_HEADING, lane)
    curvature, offset = get(block, StateRow.CURVATURE, lane), get(block, StateRow.OFFSET, lane)
    per_shrink = get(block, WorkRow.S_PER_DISTANCE, lane)
    along = x * ct - y * st
    aside = x * st + y * ct - 0.5 * curvature * along * along * per_shrink
    return along * per_shrink, aside, offset + aside


@inline_jit
def compute_wheel_ground(
    block: Array, axle: int, wheel: int, side: float, lane: int, off_grip: float, off_rolling: float, per_period: float
) -> None:
    """Write the ground under a wheel: grip, rolling resistance, and its height above the road's plane.

    The plane touches the road under the car; vertical curvature, twist and kerbs raise the ground above it. The height
    under the wheel reaches the new value over the next substeps.

    Args:
        block: work block after `compute_road_plane`, changed.
        axle: 0 front, 1 rear.
        wheel: 0..3.
        side: 1 left, -1 right.
        lane: lane of the car.
        off_grip: friction factor beyond road and kerbs.
        off_rolling: additional rolling resistance there.
        per_period: 1/s, one over the time of the next substeps; 0: the height changes at once.
    """
    x, y = get(block, AxleRow.X + axle, lane), side * get(block, AxleRow.HALF_TRACK + axle, lane)
    along, aside, offset = road_coordinates(block, lane, x, y)
    left = get(block, WorkRow.ROAD_WIDTH_LEFT, lane) + along * get(block, WorkRow.ROAD_WIDTH_LEFT_SLOPE, lane)
    right = get(block, WorkRow.ROAD_WIDTH_RIGHT, lane) + along * get(block, WorkRow.ROAD_WIDTH_RIGHT_SLOPE, lane)
    kerb_left, kerb_right = get(block, WorkRow.ROAD_KERB_LEFT, lane), get(block, WorkRow.ROAD_KERB_RIGHT, lane)
    on_left = offset > 0.0
    across = abs(offset) - (left if on_left else right)
    kerb = kerb_left if on_left else kerb_right
    on_track, on_kerb = across <= 0.0, across < kerb
    grip_left, grip_right = get(block, WorkRow.ROAD_GRIP, lane), get(block, WorkRow.ROAD_GRIP_RIGHT, lane)
    grip = grip_left if on_left else grip_right
    grip = grip if on_track else grip * KERB_GRIP if on_kerb else off_grip
    rolling = 0.0 if on_track else KERB_ROLLING if on_kerb else off_rolling
    put(block, StateRow.ON_TRACK + wheel, lane, 1.0 if on_track else 0.0)
    put(block, StateRow.GRIP + wheel, lane, grip)
    rolling = get(block, AxleRow.ROLLING + axle, lane) + rolling
    put(block, StateRow.ROLLING_ARM + wheel, lane, rolling * get(block, AxleRow.RADIUS + axle, lane))
    height = 0.5 * get(block, WorkRow.ROAD_GRADE_SLOPE, lane) * along * along
    height += get(block, WorkRow.ROAD_BANK_SLOPE, lane) * along * aside
    wide = max(kerb, 1e-3)
    raised = kerb_profile(get(block, StateRow.S, lane) + along, min(max(across, 0.0), wide), wide)
    height += raised if on_kerb and not on_track else 0.0
    now = get(block, StateRow.GROUND_HEIGHT + wheel, lane)
    put(block, StateRow.GROUND_HEIGHT_RATE + wheel, lane, (height - now) * per_period)
    put(block, StateRow.GROUND_HEIGHT + wheel, lane, now if per_period > 0.0 else height)
