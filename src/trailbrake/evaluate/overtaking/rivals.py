"""`RivalDriver`: the cars that a judged driver meets: a pace, a line of their own, and a habit.

Pace: the plan of the speeds uses a share of the envelope (by grip), or an engine with a share of the power (by power),
so that the planned lap takes a given time. Nothing is learned: each lap is as the one before.
"""

import math
import random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.cars.ggv_envelope import Envelope, running_resistance
from trailbrake.drivers import lane_switch
from trailbrake.drivers.lane_switch import Seen
from trailbrake.drivers.parts.tracking_plan import fill_rows
from trailbrake.evaluate.overtaking.scenes import Habit, Means
from trailbrake.planning.course import GRIP_MARGIN, Course, path_shapes
from trailbrake.planning.speed_profile import SpeedProfile, compute_profile
from trailbrake.state import CarState, Controls
from trailbrake.tracks.road_columns import RoadColumn

LEAST_SHARE, MOST_SHARE = 0.3, 1.2  # of grip or power
SEARCH_STEPS = 24  # of the bisection
EARLY_BRAKING = 0.6  # share of the braking limit of a rival that brakes early
OWN_OFFSET = 0.5  # m, of the rival's line from the planned one, at most
ERRATIC_OFFSET, ERRATIC_SPEED = 1.2, 0.05  # m, and share of the speed
ERRATIC_PERIODS = (7.0, 11.0)  # s
DEFENCE_DISTANCE, DEFENCE_SHIFT = 25.0, 2.2  # m behind, from which it defends, and m to the side
YIELD_DISTANCE, YIELD_SHIFT, YIELD_SPEED = 25.0, 2.5, 0.85  # m behind, m to the side, share of the speed
BEND_AHEAD = 150  # m, within which the next bend is


class RivalPlan(NamedTuple):
    """How a rival drives.

    Attributes:
        habit: what it does.
        means: by what it is slower.
        lap_s: s, its lap alone.
        seed: of its line.
    """

    habit: Habit
    means: Means
    lap_s: float
    seed: int


def plan_rival_speeds(course: Course, plan: RivalPlan) -> SpeedProfile:
    """Return the speeds of a rival along the line of `course`: the share of grip or power that gives its lap time."""
    line, shapes, low, high = course.line, path_shapes(course.line), LEAST_SHARE, MOST_SHARE

    def compute(share: float) -> SpeedProfile:
        by_grip = plan.means == "grip"
        margin, used = (share * GRIP_MARGIN, course.envelope) if by_grip else (GRIP_MARGIN, _weaken(course, share))
        if plan.habit == "braking_early":
            used = used._replace(brake=EARLY_BRAKING * used.brake)
        return compute_profile(shapes, line.spacing, line.closed, used, start=-1.0, margin=margin)

    for _ in range(SEARCH_STEPS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if compute(middle).lap_time > plan.lap_s else (low, middle)
    return compute(high)


def _weaken(course: Course, share: float) -> Envelope:
    """Return the envelope of the car with a share of what its engine accelerates with; drag stays as it is."""
    limits, car = course.envelope, course.known_car()
    drag = (running_resistance(car, limits.speeds) / car.body.mass)[:, None]
    pull = share * (limits.pull + drag) - drag
    return limits._replace(pull=pull, drive=np.minimum(limits.traction, pull))


class RivalDriver(lane_switch.Driver):
    """Drives the planned line, a little to the side, at its pace, with its habit. It does not avoid others.

    Args:
        plan: how it drives.
    """

    def __init__(self, plan: RivalPlan) -> None:
        super().__init__(learn=0.0)
        self.rival = plan

    def reset(self, course: Course) -> None:
        """Plan the speeds, along a line that keeps off the kerbs."""
        course = Course(course.track, course.car, given_line=course.line)
        super().reset(course)
        self.profile = plan_rival_speeds(course, self.rival)
        self.adaptive.speeds[:], self.adaptive.accelerations[:] = self.profile.speed, self.profile.acceleration
        fill_rows(self.plan.table, self.sources, 0, len(self.plan.table))
        draw, turn = random.Random(self.rival.seed), 2.0 * math.pi * self.line.stations() / self.line.length
        waves = [(draw.uniform(-0.5, 0.5), count, draw.uniform(0.0, 2.0 * math.pi)) for count in (2, 5)]
        self.own_offsets = OWN_OFFSET * np.sum(
            [size * np.sin(count * turn + phase) for size, count, phase in waves], axis=0
        )
        self.phases = [draw.uniform(0.0, 2.0 * math.pi) for _ in ERRATIC_PERIODS]
        self.clock, self.pace = 0.0, 1.0
        self._put_corrections_into_plan()

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        if self.rival.habit == "spun":
            return Controls(brake=1.0)
        self.clock += dt
        controls = super().act(state, dt)
        self.speed_share = min(self.speed_share, self.pace)
        return controls

    def choose_shift(self, seen: NDArray[np.float64], speed: float, dt: float) -> float:
        """Return the wanted distance (m) left of the line, and set the pace."""
        if self.rival.habit == "erratic":
            waves = [math.sin(2.0 * math.pi * self.clock / period + phase)
                     for period, phase in zip(ERRATIC_PERIODS, self.phases, strict=True)]  # fmt: skip
            self.pace = 1.0 - ERRATIC_SPEED * abs(waves[1])
            return ERRATIC_OFFSET * waves[0]
        behind = -seen[:, Seen.AHEAD]
        if self.rival.habit == "blue_flag":
            is_lapped = bool(((behind > -10.0) & (behind < YIELD_DISTANCE)).any())
            self.pace = YIELD_SPEED if is_lapped else 1.0
            return self._move_away(YIELD_SHIFT) if is_lapped else 0.0
        if self.rival.habit == "defending":
            attacked = ((behind > 0.0) & (behind < DEFENCE_DISTANCE)).any()
            if attacked and self.wanted_shift == 0.0:
                return DEFENCE_SHIFT * self._next_bend()
            return self.wanted_shift if (behind[behind > 0.0] < 2.0 * DEFENCE_DISTANCE).any() else 0.0
        return 0.0

    def _follow_limit(self, speed: float, offset: float, seen: list[tuple[float, float, float]]) -> float:
        return super()._follow_limit(speed, offset, seen) if self.rival.habit == "train" else math.inf

    def _move_away(self, shift: float) -> float:
        if self.wanted_shift != 0.0:
            return self.wanted_shift
        row = max(self.row, 0)
        return shift if self.left_room[row] > self.right_room[row] else -shift

    def _next_bend(self) -> float:
        """Return 1.0 where the next bend turns left, else -1.0: the side of its inside."""
        rows = np.arange(max(self.row, 0), max(self.row, 0) + BEND_AHEAD) % len(self.line.table)
        curvature = self.line.column(RoadColumn.CURVATURE)[rows]
        return 1.0 if curvature[np.argmax(np.abs(curvature))] > 0.0 else -1.0
