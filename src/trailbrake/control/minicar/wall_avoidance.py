"""Drives a small camera car between walls: steers for the opening, avoids walls, and reverses when it is stuck.

Input: free ground; output: wheel angle and pedal. Frame: the middle of the rear axle, x forward, y left, m.

At its speed limit the car can follow any bend, so the shortest way is the quickest: straight at the deepest point that
a car of this width can reach, as a tight string would run round the corners.

Points that it has seen recently are moved along by dead reckoning: a camera sees some 60 degrees ahead: a wall beside
the car leaves the picture while the car can still touch it. Points are kept for a metre or two, over which the errors
of wheel angle and speed stay small.

Turns a small camera car round on the road, in as many moves as the walls require.

It drives forward on full lock to one side until a wall is near, back on full lock to the other side, which continues
the turn, and forward again. It drives slowly: at top speed the wheels would reach their lock half a metre too late.
Frame: the middle of the rear axle, x forward, y left, m.
"""

import math

import numpy as np

from trailbrake.arrays import Array
from trailbrake.control.minicar.free_space import (
    ANY_BRANCH,
    HALF_WIDTH,
    LOCK,
    NOSE,
    STUCK_SPEED,
    WHEELBASE,
    BranchChoice,
    MinicarCommand,
    arc_free_distances,
    choose_bearing,
    distances_near_walls,
    nearest_by_bearing,
    straight_free_distances,
)

CLEARANCE = 0.06  # m to both sides of a planned way
ARC_CLEARANCE = 0.025  # m to both sides of the arc that is driven now
MAX_SIGHT = 4.5  # m: farther wall feet are less than three pixels below the horizon, too coarse
MEMORY_DISTANCE, MEMORY_RADIUS = 1.2, 2.5  # m: how long, and within which radius, points are kept
AIM_LIMITS = (0.45, 0.5, 1.1)  # share of the free depth to aim at, and its bounds, m
REQUIRED_ARC = 0.9  # m of arc that must be free
BEARINGS = np.radians(np.arange(-100.0, 100.5, 1.0))  # rad, bins of remembered points
CANDIDATE_BEARINGS = np.radians(np.arange(-40.0, 40.5, 0.5))  # rad
CANDIDATE_CURVATURES = np.tan(np.radians(np.arange(-36.0, 36.5, 1.5))) / WHEELBASE

# Half of the field of view, rad; m, depth assumed outside of it.
HALF_FIELD_OF_VIEW, UNSEEN_DEPTH = math.radians(28.0), 0.9
MIN_GOAL_DEPTH = 1.5  # m: the end of a way at least as deep is where the road continues

# In a tight bend the camera looks past its inner wall. The outer one is in sight, and the road is as wide as ever.
BRANCH_WIDTH, ROAD_WIDTH = (
    0.78,
    1.56,
)  # m: three lanes after a fork, six elsewhere (protocol page formula-trend, sections 5 and 6)
WIDTH_TOLERANCE = 0.17  # m, tolerance of a branch's width; twice that of the road's
MAX_MEASURED_DISTANCE = 2.5  # m ahead within which the width is measured, along bearings of which one is along the road
_WIDTH_BEARINGS = np.arange(0, len(CANDIDATE_BEARINGS), 8)[3:-3]
_TAN_TO_LEFT_EDGE, _TAN_TO_RIGHT_EDGE = (
    np.tan(HALF_FIELD_OF_VIEW - CANDIDATE_BEARINGS[_WIDTH_BEARINGS]),
    np.tan(HALF_FIELD_OF_VIEW + CANDIDATE_BEARINGS[_WIDTH_BEARINGS]),
)
HIDDEN_WALL_CLEARANCE = 0.06  # m to a place where a wall may be hidden
CHECKED_ARC_DISTANCES = np.array([0.15, 0.4, 0.65, 0.9])  # m of arc at which that is checked

STUCK_TIME = 0.6  # s
MAX_REVERSE_DISTANCE, MAX_REVERSE_TIME = 0.35, 2.0  # m, s: limits of one reversing manoeuvre

REQUIRED_TURN = math.radians(165.0)  # after this turn the road ahead is in sight
MAX_SPEED = 0.45  # m/s
DRIVE_PEDAL = 0.6  # of full throttle, below that speed
BRAKE_SPEED_FACTOR = 1.1  # times the speed, above which it brakes
MIN_FREE_ARC = 0.07  # m of free arc at which it changes direction
MAX_BACK_DISTANCE = 0.3  # m of one move backwards: there is no camera to the rear
CONTACT_TIME = 0.4  # s at standstill after which it is in contact with something
SIDE_CHECK_DISTANCE = 0.6  # m ahead: walls within it decide which side has more room


class ThreePointTurn:
    """One turn by 180 degrees.

    Attributes:
        reversing: whether it drives backwards.
    """

    def __init__(self) -> None:
        self._direction = 0.0  # 1: to the left, -1: to the right, 0: not decided
        self._turned = self._distance = self._stationary_time = 0.0
        self.reversing = False

    def step(self, points: Array, speed: float, turned: float, dt: float) -> MinicarCommand | None:
        """Return the command, None when the turn is complete.

        Args:
            points: (n, 2) known points that must not be touched.
            speed: m/s, without a sign.
            turned: rad by which the car has turned since the last step.
            dt: s since then.
        """
        if self._direction == 0.0:
            self._direction = 1.0 if _free_side_distance(points, 1.0) >= _free_side_distance(points, -1.0) else -1.0
        self._turned += turned * self._direction
        if self._turned > REQUIRED_TURN:
            return None
        self._distance += speed * dt
        self._stationary_time = self._stationary_time + dt if speed < STUCK_SPEED else 0.0
        if self._stationary_time > CONTACT_TIME or self._is_move_done(points):
            self.reversing, self._distance, self._stationary_time = not self.reversing, 0.0, 0.0
        wheel = -self._direction * LOCK if self.reversing else self._direction * LOCK
        pedal = DRIVE_PEDAL if speed < MAX_SPEED else 0.0
        if self.reversing:
            return MinicarCommand(wheel, -pedal, True)
        return MinicarCommand(wheel, -1.0 if speed > BRAKE_SPEED_FACTOR * MAX_SPEED else pedal, False)

    def _is_move_done(self, points: Array) -> bool:
        """Return whether this move is complete."""
        if self.reversing:
            return self._distance > MAX_BACK_DISTANCE
        curvature = np.array([self._direction * math.tan(LOCK) / WHEELBASE])
        return float(arc_free_distances(points, curvature, HALF_WIDTH, NOSE, 1.0)[0]) < MIN_FREE_ARC


def _free_side_distance(points: Array, side: float) -> float:
    """Return the lateral distance (m) of the nearest point on a side."""
    across = points[(points[:, 0] > -0.1) & (points[:, 0] < NOSE + SIDE_CHECK_DISTANCE), 1] * side
    return float(across[across > 0.0].min(initial=np.inf))


def dead_reckon(distance: float, wheel_angle: float, wheelbase: float) -> tuple[float, float, float]:
    """Return the step (forward, left, turned; m and rad) of a car's rear axle that rolls `distance` m.

    Kinematic bicycle model: it follows a circle of radius wheelbase / tan(wheel angle).
    """
    turned = distance * math.tan(wheel_angle) / wheelbase
    if abs(turned) < 1e-9:
        return distance, 0.0, turned
    radius = distance / turned
    return radius * math.sin(turned), radius * (1.0 - math.cos(turned)), turned


def carry_points(points: Array, distance: float, wheel_angle: float, wheelbase: float) -> Array:
    """Return points (n, 2) in the car's frame after it has rolled `distance` m, backwards where negative."""
    forward, left, turned = dead_reckon(distance, wheel_angle, wheelbase)
    c, s = math.cos(turned), math.sin(turned)
    after: Array = (points - (forward, left)) @ np.array([[c, -s], [s, c]])
    return after


class PointMemory:
    """The remembered points around the car.

    Args:
        way: m that the car rolls until a point is removed.
        reach: m from the car beyond which points are not kept: distant ones are uncertain, and will be seen again.
    """

    def __init__(self, max_age_distance: float, max_radius: float) -> None:
        self._max_age_distance, self._max_radius = max_age_distance, max_radius
        self._points = np.empty((0, 2))
        self._seen_at = np.empty(0)  # odometer when seen
        self._odometer = 0.0

    def advance(self, distance: float, wheel_angle: float, wheelbase: float) -> None:
        """Move the points while the car rolls `distance` m, backwards where negative."""
        self._odometer += abs(distance)
        kept = self._odometer - self._seen_at <= self._max_age_distance
        self._points = carry_points(self._points[kept], distance, wheel_angle, wheelbase)
        self._seen_at = self._seen_at[kept]

    def add_points(self, points: Array) -> None:
        """Add points (n, 2) of the present picture."""
        near = np.hypot(points[:, 0], points[:, 1]) <= self._max_radius
        self._points = np.concatenate([self._points, points[near]])
        self._seen_at = np.concatenate([self._seen_at, np.full(int(near.sum()), self._odometer)])

    @property
    def points(self) -> Array:
        """All points, (n, 2), m."""
        return self._points

    def clear(self) -> None:
        """Remove all points."""
        self._points, self._seen_at = np.empty((0, 2)), np.empty(0)


class WallAvoider:
    """The driver of a camera car between walls, without lanes and signs.

    Attributes:
        reverse_count: how often it has reversed.
        turn_count: how often it has turned round.
        depth: m, free distance along the bearing of the last step.
    """

    def __init__(self) -> None:
        self._memory = PointMemory(MEMORY_DISTANCE, MEMORY_RADIUS)
        self._bearing = 0.0
        self._stationary_time = 0.0  # s without motion although it drives
        self._reverse_distance = self._reverse_time = 0.0
        self._reversing = False
        self._reverse_wheel_angle = 0.0
        self._road_width = ROAD_WIDTH
        self._goal = np.array([[MAX_SIGHT, 0.0]])  # where the road continues
        self._three_point_turn: ThreePointTurn | None = None
        self.reverse_count = self.turn_count = 0
        self.depth = MAX_SIGHT

    @property
    def is_turning_round(self) -> bool:
        """Whether it is turning round."""
        return self._three_point_turn is not None

    def start_turning_round(self) -> None:
        """Turn round from the next step on, unless a turn is under way."""
        if self._three_point_turn is None:
            self._three_point_turn, self._reversing = ThreePointTurn(), False
            self._goal, self._road_width = np.array([[MAX_SIGHT, 0.0]]), ROAD_WIDTH
            self.turn_count += 1

    def step(
        self, wall_feet: Array, speed: float, wheel_angle: float, dt: float, choice: BranchChoice = ANY_BRANCH
    ) -> MinicarCommand:
        """Return the command for one step.

        Args:
            wall_feet: (n, 2) forward and left of the camera, m: where walls and obstacles meet the ground.
            speed: m/s, >= 0.
            wheel_angle: rad, the present one, positive to the left.
            dt: s since the last step.
            choice: which branch to take where there are several.
        """
        backs = self._reversing or (self._three_point_turn is not None and self._three_point_turn.reversing)
        rolled = -speed * dt if backs else speed * dt
        self._memory.advance(rolled, wheel_angle, WHEELBASE)
        self._goal = carry_points(self._goal, rolled, wheel_angle, WHEELBASE)
        seen = wall_feet[wall_feet[:, 0] < MAX_SIGHT] + (NOSE, 0.0)
        self._memory.add_points(seen)
        points = nearest_by_bearing(np.concatenate([self._memory.points, seen]), BEARINGS)
        if self._three_point_turn is not None:
            turned = dead_reckon(rolled, wheel_angle, WHEELBASE)[2]
            command = self._three_point_turn.step(points, speed, turned, dt)
            if command is not None:
                return command
            self._three_point_turn, self._bearing, self._stationary_time = None, 0.0, 0.0
        if self._reversing:
            return self._reverse_out(points, speed, dt)
        self._stationary_time = self._stationary_time + dt if speed < STUCK_SPEED else 0.0
        if self._stationary_time > STUCK_TIME:
            self._start_reversing(points)
            return self._reverse_out(points, speed, 0.0)
        depths = straight_free_distances(points, CANDIDATE_BEARINGS, HALF_WIDTH + CLEARANCE, MAX_SIGHT)
        depths = np.where(np.abs(CANDIDATE_BEARINGS) > HALF_FIELD_OF_VIEW, np.minimum(depths, UNSEEN_DEPTH), depths)
        inside = np.abs(CANDIDATE_BEARINGS) <= HALF_FIELD_OF_VIEW
        ends = float(depths[inside].max()) <= UNSEEN_DEPTH  # only wall in sight
        if ends and not choice.required:  # the road continues where it did before
            self._bearing = choose_bearing(CANDIDATE_BEARINGS, depths, math.atan2(self._goal[0, 1], self._goal[0, 0]))
        elif ends or not choice.side:
            self._bearing = choose_bearing(CANDIDATE_BEARINGS, depths, self._bearing, choice)
        else:  # a sign never means a branch that is out of sight
            self._bearing = choose_bearing(CANDIDATE_BEARINGS[inside], depths[inside], self._bearing, choice)
        self.depth = float(np.interp(self._bearing, CANDIDATE_BEARINGS, depths))
        if self.depth > MIN_GOAL_DEPTH:
            self._goal = self.depth * np.array([[math.cos(self._bearing), math.sin(self._bearing)]])
        self._measure_road_width(points, depths)
        share, nearest, farthest = AIM_LIMITS
        aim = min(max(share * self.depth, nearest), farthest)
        return MinicarCommand(self._choose_wheel_angle(points, 2.0 * math.sin(self._bearing) / aim), 1.0, False)

    def _choose_wheel_angle(self, points: Array, curvature: float) -> float:
        """Return the wheel angle for the free arc nearest to `curvature`, else for the freest arc."""
        free = arc_free_distances(points, CANDIDATE_CURVATURES, HALF_WIDTH + ARC_CLEARANCE, NOSE, REQUIRED_ARC)
        free = np.minimum(
            free,
            distances_near_walls(
                points,
                CANDIDATE_CURVATURES,
                CHECKED_ARC_DISTANCES,
                self._road_width - HALF_WIDTH - HIDDEN_WALL_CLEARANCE,
            ),
        )
        enough = free >= min(REQUIRED_ARC, float(free.max()))
        misses = np.where(enough, np.abs(CANDIDATE_CURVATURES - curvature), np.inf)
        chosen = float(CANDIDATE_CURVATURES[misses.argmin()])
        step = np.interp(curvature, CANDIDATE_CURVATURES, np.arange(len(CANDIDATE_CURVATURES)))
        low, high = math.floor(step), math.ceil(step)
        if enough[low] and enough[high]:
            chosen = min(max(curvature, float(CANDIDATE_CURVATURES[0])), float(CANDIDATE_CURVATURES[-1]))
        return math.atan(WHEELBASE * chosen)

    def _measure_road_width(self, points: Array, depths: Array) -> None:
        """Update the road's width by the walls beside the car and the free space along bearings of these `depths`."""
        beside = points[(points[:, 0] > -0.1) & (points[:, 0] < NOSE), 1]
        gap = beside[beside > 0.0].min(initial=np.inf) - beside[beside < 0.0].max(initial=-np.inf)
        if gap < BRANCH_WIDTH + WIDTH_TOLERANCE:
            self._road_width = BRANCH_WIDTH
            return
        ahead = np.minimum(depths[_WIDTH_BEARINGS], MAX_MEASURED_DISTANCE)
        c, s = (
            np.cos(CANDIDATE_BEARINGS[_WIDTH_BEARINGS])[:, None],
            np.sin(CANDIDATE_BEARINGS[_WIDTH_BEARINGS])[:, None],
        )
        along, across = points[:, 0] * c + points[:, 1] * s, points[:, 1] * c - points[:, 0] * s
        across = np.where((along > 0.0) & (along < ahead[:, None]), across, np.nan)
        # Where there is no wall, as wide as the view.
        left = np.where(across > 0.0, across, np.inf).min(axis=1, initial=np.inf)
        right = np.where(across < 0.0, -across, np.inf).min(axis=1, initial=np.inf)
        left, right = (
            np.fmin(left, (ahead - NOSE) * _TAN_TO_LEFT_EDGE),
            np.fmin(right, (ahead - NOSE) * _TAN_TO_RIGHT_EDGE),
        )
        if float((left + right).max()) > ROAD_WIDTH - 2.0 * WIDTH_TOLERANCE:
            self._road_width = ROAD_WIDTH

    def _start_reversing(self, points: Array) -> None:
        self._reversing = True
        self.reverse_count += 1
        self._stationary_time = self._reverse_distance = self._reverse_time = 0.0
        # With the wheels turned away from the freer side, the nose swings towards it.
        left, right = (points[:, 1] > 0.02), (points[:, 1] < -0.02)
        near = np.hypot(points[:, 0] - NOSE, points[:, 1]) < 0.6
        freer_left = int((left & near).sum()) < int((right & near).sum())
        self._reverse_wheel_angle = -0.8 * LOCK if freer_left else 0.8 * LOCK

    def _reverse_out(self, points: Array, speed: float, dt: float) -> MinicarCommand:
        self._reverse_distance += speed * dt
        self._reverse_time += dt
        if self._reverse_distance > MAX_REVERSE_DISTANCE or self._reverse_time > MAX_REVERSE_TIME:
            self._reversing = False
            self._bearing = 0.0
        return MinicarCommand(self._reverse_wheel_angle, -1.0, True)
