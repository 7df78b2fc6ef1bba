"""The columns of a road's table. Kernels use the members as array indices."""

from enum import IntEnum


class RoadColumn(IntEnum):
    """Columns of `Road.table`. Lengths in m, angles in rad, world frame (right-handed, Z up).

    Arc length s is measured along the centreline seen from above, so curvature and yaw are exact in the
    ground plane and `GRADE` is the tangent of the climb angle.
    """

    X = 0  # m, centreline, world X
    Y = 1  # m, centreline, world Y
    Z = 2  # m, centreline, world Z
    YAW = 3  # rad, direction of travel, counter-clockwise from world X, unwrapped along the table
    CURVATURE = 4  # 1/m, dYAW/ds, positive turning left
    GRADE = 5  # dZ/ds, positive uphill
    BANK = 6  # rad, ISO 8855 roll of the surface: positive right side down, so a left bend is banked by negative values
    WIDTH_LEFT = 7  # m, centreline to the left road edge
    WIDTH_RIGHT = 8  # m, centreline to the right road edge
    RUNOFF_LEFT = 9  # m, left edge to the wall
    RUNOFF_RIGHT = 10  # m, right edge to the wall
    GRIP = 11  # friction factor of the road surface, 1 = dry asphalt
    TANGENT_X = 12  # cos(YAW), kept so that a lookup needs no trigonometry
    TANGENT_Y = 13  # sin(YAW)
    KERB_LEFT = 14  # m, width of the kerb beyond the left road edge, within the run-off; 0 = none
    KERB_RIGHT = 15  # m, beyond the right road edge
