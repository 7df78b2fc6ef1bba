"""Drives a small camera car between walls: remembers, looks for the opening, steers clear, and backs out when stuck.

Pure maths: free ground in, wheel angle and pedal out. Frame: the middle of the rear axle, x forward, y left, m.

The car at its speed limit turns as tightly as it likes, so that the shortest way is the quickest: straight at the
deepest point that a car as wide as this one could reach, which is how a string pulled tight runs round the corners.
"""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.control.clearway import free_arc, free_straight, near_walls, nearest_by_bearing
from trailbrake.control.minicar import HALF_WIDTH, LOCK, NOSE, STUCK_SPEED, WHEELBASE, Command
from trailbrake.control.opening import ANY, Wish, bearing_of
from trailbrake.control.surroundings import Memory, carried, moved
from trailbrake.control.turnabout import Turnabout

Array = NDArray[np.float64]

CLEARANCE = 0.06  # m kept to both sides of a planned way
CLOSE = 0.025  # m kept to both sides of the arc that is driven now
SIGHT = 4.5  # m: farther feet are less than three pixels below the horizon, too coarse to aim by
KEPT_WAY, KEPT_REACH = 1.2, 2.5  # m: how long and how far around points are remembered
AIM = (0.45, 0.5, 1.1)  # share of the free depth that is aimed at, and its bounds, m
AHEAD = 0.9  # m of arc that must be free
BEARINGS = np.radians(np.arange(-100.0, 100.5, 1.0))  # of remembered points
WAYS = np.radians(np.arange(-40.0, 40.5, 0.5))  # that are weighed
ARCS = np.tan(np.radians(np.arange(-36.0, 36.5, 1.5))) / WHEELBASE

# Half of what the camera sees; m that a way beyond it counts as free.
VIEW, UNSEEN = math.radians(28.0), 0.9
GOAL = 1.5  # m: the end of a way as deep is where the road goes on

# In a tight bend the camera looks past its inner wall. The outer one is in sight, and the road is as wide as ever.
BRANCH, ROAD = 0.78, 1.56  # m: three lanes behind a fork, six elsewhere (protocol page formula-trend, sections 5 and 6)
WIDER = 0.17  # m that a branch may look wider than it is; the road may look narrower by twice that
FAR = 2.5  # m ahead within which the width is measured, along ways a few degrees apart: one runs along the road
_RULERS = np.arange(0, len(WAYS), 8)[3:-3]
_TO_LEFT, _TO_RIGHT = np.tan(VIEW - WAYS[_RULERS]), np.tan(VIEW + WAYS[_RULERS])
HIDDEN = 0.06  # m kept to where a wall may hide
LOOKS = np.array([0.15, 0.4, 0.65, 0.9])  # m of arc at which that is looked at

STUCK_TIME = 0.6  # s
BACK_WAY, BACK_TIME = 0.35, 2.0  # m, s: how far a stuck car backs out, and how long it tries


class Roamer:
    """See the module.

    Attributes:
        backed: how often it has backed out.
        turned_round: how often it has turned round.
        depth: m that the way taken was free at the last step.
    """

    def __init__(self) -> None:
        self._memory = Memory(KEPT_WAY, KEPT_REACH)
        self._bearing = 0.0
        self._still = 0.0  # s for which the car has not moved though it should
        self._back_way = self._back_time = 0.0
        self._backing = False
        self._back_angle = 0.0
        self._width = ROAD
        self._goal = np.array([[SIGHT, 0.0]])  # where the road goes on
        self._turnabout: Turnabout | None = None
        self.backed = self.turned_round = 0
        self.depth = SIGHT

    @property
    def turns_round(self) -> bool:
        """Whether it is turning round now."""
        return self._turnabout is not None

    def turn_round(self) -> None:
        """Turn round from the next step on, unless it does so already."""
        if self._turnabout is None:
            self._turnabout, self._backing = Turnabout(), False
            self._goal, self._width = np.array([[SIGHT, 0.0]]), ROAD
            self.turned_round += 1

    def step(self, feet: Array, speed: float, wheel_angle: float, dt: float, wish: Wish = ANY) -> Command:
        """Return what to do.

        Args:
            feet: (n, 2) forward and left of the camera, m: where what must not be touched meets the ground.
            speed: m/s, without a sign, as such wires show it.
            wheel_angle: rad, positive to the left, as it is now.
            dt: s since the last step.
            wish: which way to take where there are several.
        """
        backs = self._backing or (self._turnabout is not None and self._turnabout.backs)
        rolled = -speed * dt if backs else speed * dt
        self._memory.roll(rolled, wheel_angle, WHEELBASE)
        self._goal = carried(self._goal, rolled, wheel_angle, WHEELBASE)
        seen = feet[feet[:, 0] < SIGHT] + (NOSE, 0.0)
        self._memory.see(seen)
        points = nearest_by_bearing(np.concatenate([self._memory.points, seen]), BEARINGS)
        if self._turnabout is not None:
            turned = moved(rolled, wheel_angle, WHEELBASE)[2]
            command = self._turnabout.step(points, speed, turned, dt)
            if command is not None:
                return command
            self._turnabout, self._bearing, self._still = None, 0.0, 0.0
        if self._backing:
            return self._back(points, speed, dt)
        self._still = self._still + dt if speed < STUCK_SPEED else 0.0
        if self._still > STUCK_TIME:
            self._begin_to_back(points)
            return self._back(points, speed, 0.0)
        depths = free_straight(points, WAYS, HALF_WIDTH + CLEARANCE, SIGHT)
        depths = np.where(np.abs(WAYS) > VIEW, np.minimum(depths, UNSEEN), depths)
        inside = np.abs(WAYS) <= VIEW
        ends = float(depths[inside].max()) <= UNSEEN  # nothing but wall in sight
        if ends and not wish.leads_on:  # the road goes on where it was taken to go on
            self._bearing = bearing_of(WAYS, depths, math.atan2(self._goal[0, 1], self._goal[0, 0]))
        elif ends or not wish.side:
            self._bearing = bearing_of(WAYS, depths, self._bearing, wish)
        else:  # a sign means no way that is out of sight
            self._bearing = bearing_of(WAYS[inside], depths[inside], self._bearing, wish)
        self.depth = float(np.interp(self._bearing, WAYS, depths))
        if self.depth > GOAL:
            self._goal = self.depth * np.array([[math.cos(self._bearing), math.sin(self._bearing)]])
        self._measure(points, depths)
        share, nearest, farthest = AIM
        aim = min(max(share * self.depth, nearest), farthest)
        return Command(self._clear_of(points, 2.0 * math.sin(self._bearing) / aim), 1.0, False)

    def _clear_of(self, points: Array, curvature: float) -> float:
        """Return the wheel angle for the arc nearest to `curvature` that is free far enough, else the freest."""
        free = free_arc(points, ARCS, HALF_WIDTH + CLOSE, NOSE, AHEAD)
        free = np.minimum(free, near_walls(points, ARCS, LOOKS, self._width - HALF_WIDTH - HIDDEN))
        enough = free >= min(AHEAD, float(free.max()))
        misses = np.where(enough, np.abs(ARCS - curvature), np.inf)
        chosen = float(ARCS[misses.argmin()])
        step = np.interp(curvature, ARCS, np.arange(len(ARCS)))
        low, high = math.floor(step), math.ceil(step)
        if enough[low] and enough[high]:
            chosen = min(max(curvature, float(ARCS[0])), float(ARCS[-1]))
        return math.atan(WHEELBASE * chosen)

    def _measure(self, points: Array, depths: Array) -> None:
        """Note how wide the road is: by the walls beside the car, and by what is free along ways of these `depths`."""
        beside = points[(points[:, 0] > -0.1) & (points[:, 0] < NOSE), 1]
        gap = beside[beside > 0.0].min(initial=np.inf) - beside[beside < 0.0].max(initial=-np.inf)
        if gap < BRANCH + WIDER:
            self._width = BRANCH
            return
        ahead = np.minimum(depths[_RULERS], FAR)
        c, s = np.cos(WAYS[_RULERS])[:, None], np.sin(WAYS[_RULERS])[:, None]
        along, across = points[:, 0] * c + points[:, 1] * s, points[:, 1] * c - points[:, 0] * s
        across = np.where((along > 0.0) & (along < ahead[:, None]), across, np.nan)
        # As wide as can be seen where no wall is.
        left = np.where(across > 0.0, across, np.inf).min(axis=1, initial=np.inf)
        right = np.where(across < 0.0, -across, np.inf).min(axis=1, initial=np.inf)
        left, right = np.fmin(left, (ahead - NOSE) * _TO_LEFT), np.fmin(right, (ahead - NOSE) * _TO_RIGHT)
        if float((left + right).max()) > ROAD - 2.0 * WIDER:
            self._width = ROAD

    def _begin_to_back(self, points: Array) -> None:
        self._backing = True
        self.backed += 1
        self._still = self._back_way = self._back_time = 0.0
        # The nose swings towards the side that is freer, when the wheels point away from it.
        left, right = (points[:, 1] > 0.02), (points[:, 1] < -0.02)
        near = np.hypot(points[:, 0] - NOSE, points[:, 1]) < 0.6
        freer_left = int((left & near).sum()) < int((right & near).sum())
        self._back_angle = -0.8 * LOCK if freer_left else 0.8 * LOCK

    def _back(self, points: Array, speed: float, dt: float) -> Command:
        self._back_way += speed * dt
        self._back_time += dt
        if self._back_way > BACK_WAY or self._back_time > BACK_TIME:
            self._backing = False
            self._bearing = 0.0
        return Command(self._back_angle, -1.0, True)
