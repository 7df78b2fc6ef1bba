"""A person with a habit, for coach_habits.py: `person_driver.py` at another pace, a reaction late, with a fault.

The person likes some corners more than others. What the habit costs is known: the same seed drives without it.
"""

from collections import deque
from dataclasses import replace

import numpy as np
from msgspec.structs import replace as replace_fields
from person_driver import Driver as Person

from trailbrake.analysis.corners import Corner, find_line_corners
from trailbrake.analysis.reference_line import make_line
from trailbrake.control.vehicle.drivetrain import GearRequester, upshift_speeds
from trailbrake.drivers.line_follow import Driver as LineFollow
from trailbrake.planning.course import GRIP_MARGIN, Course, path_shapes
from trailbrake.planning.minimum_curvature import road_through
from trailbrake.planning.speed_profile import compute_profile
from trailbrake.state import CarState, Controls
from trailbrake.tracks.road import Road, RoadColumn
from trailbrake.world.car_scaling import scale_car

HABITS = ("none", "brakes early", "lifts", "late apex", "short-shifts", "slow hands", "inconsistent", "enters fast")
REACTION_S = 0.18  # by which the controls lag what is seen; the person looks as far ahead
LIKING = 0.01  # standard deviation of the grip used in a corner, that is the person's own: as a share
EARLY_M = 12.0  # by which a braking begins early
UNEVEN_M = 25.0  # most that a braking begins early, anew in each lap
LIFT_S = 0.7
LIFTED_FROM = 0.2  # throttle that is lifted from
LATE_M = 6.0  # by which the line of a corner comes late
SHORT_SHIFT = 0.8  # of the speeds of the upshifts
TOO_FAST = 1.04  # of the speed that the car holds, up to the middle of a corner
LATE_SHARE = 0.75  # of that corner, behind which the throttle of who was too fast opens
SLOW_HANDS_S = 0.1  # s of the low-pass filter on the steer
GRIP = int(RoadColumn.GRIP)


class AnticipatingRequester(GearRequester):
    """Gears by the speed that the car will have when the hand has reacted: no person waits for the limiter.

    Attributes:
        acceleration: m/s^2, present one.
    """

    acceleration = 0.0

    def choose(self, speed: float, gear: int, dt: float) -> int:
        """Return the forward gear to request, as `GearRequester.choose` does."""
        return super().choose(speed + REACTION_S * self.acceleration, gear, dt)


class Driver(Person):
    """A person with a habit.

    Args:
        seed: of the noise.
        pace: share of the speed in bends that the car allows.
        habit: index in HABITS.
        corner: number of the corner that has it, as in `trailbrake coach`.
    """

    def __init__(self, seed: float = 0.0, pace: float = 0.95, habit: float = 0.0, corner: float = 1.0) -> None:
        super().__init__(seed)
        self.pace, self.habit, self.corner = pace, HABITS[int(habit)], int(corner)

    def reset(self, course: Course) -> None:
        """Plan with the person's grip in each corner, and with the habit."""
        car = course.known_car()
        late = replace_fields(car, actuation=replace_fields(car.actuation, delay=car.actuation.delay + REACTION_S))
        own = Course(course.track, scale_car(late, grip=self.pace**2))
        corners, line = find_road_corners(course.track.road), own.line
        self.place = next((c for c in corners if c.number == self.corner), corners[0])
        if self.habit == "late apex":
            line = delay_line(course.track.road, line, self.place)
        own = Course(own.track, own.car, given_line=line)
        LineFollow.reset(self, own)
        self._rng = np.random.default_rng(int(self.seed))
        self.hand = self.throttle = self.brake = 0.0
        self.strength, self.early, self.braked = 1.0, 0.0, False
        liking = np.random.default_rng(int(self.seed) + 1000)
        self.shapes = path_shapes(line)
        centre = course.track.road.locate_many(line.table[:, :2])[:, 0]
        for corner in corners:
            inside = (centre >= corner.entry - 60.0) & (centre <= corner.exit + 20.0)
            self.shapes[inside, 4] *= 1.0 + LIKING * float(liking.standard_normal())
        if self.habit == "enters fast":
            middle = 0.5 * (self.place.entry + self.place.exit)
            early = (centre >= self.place.entry - 60.0) & (centre <= middle)
            self.shapes[early, 4] *= (TOO_FAST / self.pace) ** 2
        self.base = compute_profile(self.shapes, line.spacing, line.closed, own.envelope,
                                    start=-1.0 if line.closed else 0.0, margin=GRIP_MARGIN).speed  # fmt: skip
        self.entry, self.exit = (float(np.argmin(np.abs(centre - at))) for at in (self.place.entry, self.place.exit))
        self.shift_braking(EARLY_M if self.habit == "brakes early" else 0.0)
        early = SHORT_SHIFT if self.habit == "short-shifts" else 1.0
        self.gears = AnticipatingRequester([early * speed for speed in upshift_speeds(car)])
        self.queue: deque[tuple[float, Controls]] = deque()
        self.now, self.lifted, self.steer_held, self.last = 0.0, 0.0, 0.0, 0.0

    def shift_braking(self, early: float) -> None:
        """Plan the braking for the corner `early` m before the place where it is due."""
        speeds, line = self.base.copy(), self.line
        count, rows = len(speeds), round(early / line.spacing)
        inside = np.arange(int(self.entry), int(self.exit) + 1) % count
        slowest = int(inside[np.argmin(speeds[inside])])
        first = slowest
        while speeds[(first - 1) % count] > speeds[first % count] and slowest - first < count // 2:
            first -= 1
        for k in range(first - rows, slowest + 1):
            ahead = min(k + rows, slowest)
            speeds[k % count] = min(speeds[k % count], self.base[ahead % count])
        following = np.roll(speeds, -1)
        self.plan.speeds[:] = speeds
        self.plan.accelerations[:] = (following**2 - speeds**2) / (2.0 * line.spacing)

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls of a person for one state: those that the state of a reaction ago has asked for."""
        self.now += dt
        at = self.row * self.line.spacing / self.line.spacing
        if self.habit == "inconsistent" and self.last > self.exit >= 0.0 and at < self.last - 0.5 * len(self.base):
            self.shift_braking(UNEVEN_M * float(self._rng.random()))
        self.gears.acceleration = state.acceleration_x
        wanted = self.act_as_person(state, dt)
        if self.habit == "lifts":
            reached = self.entry <= at <= self.exit
            self.lifted = self.lifted + dt * (wanted.throttle > LIFTED_FROM) if reached else 0.0
            if 0.0 < self.lifted <= LIFT_S:
                wanted = replace(wanted, throttle=0.0)
        waits = self.entry <= at <= self.entry + LATE_SHARE * (self.exit - self.entry)
        if self.habit == "enters fast" and waits:
            wanted = replace(wanted, throttle=0.0)
        if self.habit == "slow hands":
            self.steer_held += min(dt / SLOW_HANDS_S, 1.0) * (wanted.steer - self.steer_held)
            wanted = replace(wanted, steer=self.steer_held)
        self.last = at
        self.queue.append((self.now + REACTION_S, wanted))
        while len(self.queue) > 1 and self.queue[1][0] <= self.now:
            self.queue.popleft()
        return self.queue[0][1]

    def act_as_person(self, state: CarState, dt: float) -> Controls:
        """Return what `person_driver.py` does."""
        return super().act(state, dt)


def find_road_corners(road: Road) -> list[Corner]:
    """Return the corners of a road, as `trailbrake coach` numbers them."""
    line = make_line(road.column(RoadColumn.X), road.column(RoadColumn.Y), road.closed)
    return find_line_corners(line) if line is not None else []


def delay_line(road: Road, line: Road, corner: Corner) -> Road:
    """Return a line that comes LATE_M later at one corner."""
    place = road.locate_many(line.table[:, :2])
    s, offset = place[:, 0], place[:, 1]
    order = np.argsort(s)
    middle, reach = 0.5 * (corner.entry + corner.exit), 0.5 * (corner.exit - corner.entry) + 60.0
    away = np.abs((s - middle + 0.5 * road.length) % road.length - 0.5 * road.length)
    share = np.clip(1.5 - 1.5 * away / reach, 0.0, 1.0)
    late = np.interp(s - LATE_M * share, s[order], offset[order], period=road.length)
    points = road.points(s, late)
    return road_through(road, points[:, 0], points[:, 1])
