"""A test drive in a car without a description, for `trailbrake learn car`.

Along a mapped road, in this order: a slow weave near full lock (geometry of the car, speed of its steering); then laps
whose lateral acceleration rises from stage to stage, with pulls, coasting, part throttle and braking of many strengths
between the bends, and short steps of the steering on straights. The steering learns the car as it goes
(`control/vehicle/steer_adaptation.py`). Stages rise until an axle slides or the car runs wide; then they fall by one.
"""

import math

import numpy as np

from trailbrake.control.vehicle.pedal_programme import PedalProgramme
from trailbrake.control.vehicle.steer_adaptation import SteerAdaptation
from trailbrake.drivers.parts.road_return import RoadReturn
from trailbrake.planning.course import Course
from trailbrake.planning.minimum_curvature import plan_racing_line
from trailbrake.planning.path_room import make_inside_room
from trailbrake.state import CarState, Controls
from trailbrake.tracks.road import Road, RoadColumn
from trailbrake.units import wrap_angle

USUAL_WIDTH = 2.2  # m, of a car, a margin included
LINE_WEIGHT = 1e-3  # 1/m^2, of the line: see `planning/minimum_curvature.py`
FIRST_GUESS = 6.0  # m, steer per curvature
STAGES = (3.0, 4.5, 6.5, 9.0, 12.0, 15.5, 20.0)  # m/s^2 of lateral acceleration
PULL_SHARE = 3.0  # of it, with which the car accelerates at most: more has left a narrow road before it was learned
BRAKING_SHARE = 0.55  # of it, that the speed limit plans to brake with
MAX_BRAKING = 6.0  # m/s^2
WEAVE_S, WEAVE_SPEED, WEAVE_PERIOD_S = 22.0, 4.5, 2.4
WEAVE_YAW_RATE, WEAVE_STEER = 0.55, 0.85  # rad/s, and share of full lock at most
LOOK_AHEAD_S, LOOK_AHEAD = 0.75, (5.0, 40.0)  # s and m
STEP_EVERY_S, STEP_S, STEP_SIDE = 6.0, 0.22, 2.2  # s, s and m/s^2
STRAIGHT_SIDE = 0.8  # m/s^2: what counts as straight
SLIDING_SLIP = 0.13  # rad at the rear
UNDERSTEER = 1.8  # steer over what the linear car would take
FULL_STEER = 0.98  # share of the lock from which more steer turns no car further
UNDERSTEER_THROTTLE = 0.15  # at most then: driven front wheels would pull the car off the road
WIDE = 0.85  # share of the half road
OFF_SPEED = 5.0  # m/s, beside the road
MOST_OFFS = 4


class Driver:
    """Drives a programme from which `trailbrake learn car` learns the car: gentle first, then up to its limits.

    Args:
        seconds: length of the test drive.
        stage: m that are driven at one lateral acceleration; less on a short circuit, or an open road, driven once.
        most: m/s^2, most lateral acceleration.
        effort: share of all accelerations: less for a car that has left the road in a drive before.

    Attributes:
        finished: whether the drive is over, because of what `ended` says.
        broke_off: whether that is before the programme was over.
    """

    NEEDS = frozenset({"x", "y", "yaw", "speed", "velocity_x", "velocity_y", "yaw_rate"})
    COURSE_NEEDS = frozenset({"track"})
    USES = RoadReturn.USES - NEEDS
    OPTIONAL_COMMANDS = RoadReturn.COMMANDS

    def __init__(self, seconds: float = 240.0, stage: float = 800.0, most: float = 20.0, effort: float = 1.0) -> None:
        self.seconds, self.stage_length, self.most, self.effort = seconds, stage, most, effort

    def reset(self, course: Course) -> None:
        """Plan a line and the speeds of all stages along it."""
        self.line = plan_racing_line(course.track.road, make_inside_room(USUAL_WIDTH), LINE_WEIGHT)
        self.stages = [self.effort * side for side in STAGES if side <= self.most] or [self.effort * self.most]
        self.limits = [_speed_limits(self.line, side) for side in self.stages]
        self.row = -1
        self.steering, self.pedals_of = SteerAdaptation(FIRST_GUESS), PedalProgramme()
        self.road_return = RoadReturn(course)
        self.time = self.driven = self.stage_start = 0.0
        self.stage, self.ceiling, self.offs = 0, len(self.stages) - 1, 0
        lap = self.line.length  # an open road is driven once, in all stages
        self.stage_way = min(self.stage_length, lap if self.line.closed else lap / len(self.stages))
        self.steer = self.sliding = 0.0
        self.off = self.wide = self.understeers = False
        self.step_at = 0.0
        self.ratios = [math.nan, math.nan]  # spin over speed of the axles, rolling freely
        self.finished, self.broke_off, self.ended = False, False, ""

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        self.time, self.driven = self.time + dt, self.driven + state.speed * dt
        line = self.line
        s, offset, self.row = line.locate(state.x, state.y, self.row)
        heading = wrap_angle(state.yaw - line.value_at(s, RoadColumn.YAW))
        self._judge(state, s, offset, dt)
        if self.finished:
            return Controls(steer=self.steer, brake=0.5)
        rescue = self.road_return.rescue(state, dt, heading)
        if rescue is not None:
            return rescue
        speed = max(state.speed, 1.0)
        if not self.off:  # loose ground turns a car less
            self.steering.learn(self.steer, speed, state.yaw_rate, dt)
        curvature = self._pursue(state, s, speed)
        weaving = self.time < WEAVE_S
        steer = self.steering.steer_for(curvature, speed) + self._excite(state, speed, curvature, weaving=weaving)
        self.steer = min(max(steer, -1.0), 1.0)
        if weaving or self.off:
            target = WEAVE_SPEED if weaving else OFF_SPEED
            demand = 0.5 * (target - state.speed)
            throttle, brake = (min(max(demand, 0.0), 0.5), min(max(-0.5 * demand - 0.1, 0.0), 0.7))
        else:
            limit, most_side = float(self.limits[self.stage][self.row]), self.stages[self.stage]
            bending = abs(state.speed * state.yaw_rate) / most_side
            self.pedals_of.most_acceleration = PULL_SHARE * most_side
            self.pedals_of.most_throttle = UNDERSTEER_THROTTLE if self.understeers else 1.0
            throttle, brake = self.pedals_of.pedals(state.speed, limit, bending, self._slips(state), dt)
        return Controls(steer=self.steer, throttle=throttle, brake=brake)

    def _pursue(self, state: CarState, s: float, speed: float) -> float:
        """Return the curvature (1/m) of the arc to a point of the line ahead (Coulter, CMU-RI-TR-92-01, 1992)."""
        ahead = min(max(LOOK_AHEAD_S * speed, LOOK_AHEAD[0]), LOOK_AHEAD[1])
        end = s + ahead
        if not self.line.closed:
            end = min(end, self.line.length - 0.1)
        x, y, _ = self.line.point(end)
        dx, dy = x - state.x, y - state.y
        away = max(math.hypot(dx, dy), 1.0)
        angle = wrap_angle(math.atan2(dy, dx) - state.yaw)
        return 2.0 * math.sin(min(max(angle, -1.2), 1.2)) / away

    def _excite(self, state: CarState, speed: float, curvature: float, *, weaving: bool) -> float:
        """Return steer to add: a weave, a square one in its second half, or a step to both sides on a straight."""
        if weaving:
            if state.speed < 0.6 * WEAVE_SPEED:
                return 0.0
            wave = math.sin(2.0 * math.pi * self.time / WEAVE_PERIOD_S)
            if self.time > 0.6 * WEAVE_S:
                wave = math.copysign(0.7, wave)
            return min(self.steering.steer_for(WEAVE_YAW_RATE / speed, speed), WEAVE_STEER) * wave
        straight = abs(curvature) * speed * speed < STRAIGHT_SIDE and not self.off
        if self.time - self.step_at > STEP_EVERY_S and straight and speed > 8.0:
            self.step_at = self.time
        phase = (self.time - self.step_at) / STEP_S
        side = 1.0 if phase < 1.0 else -1.0 if phase < 3.0 else 1.0 if phase < 4.0 else 0.0
        return self.steering.steer_for(STEP_SIDE * side / speed**2, speed) if straight else 0.0

    def _judge(self, state: CarState, s: float, offset: float, dt: float) -> None:
        """Raise the stage, lower it where the car slides or runs wide, and end the drive when it is over."""
        row = self.line.table[self.row]
        half = float(row[RoadColumn.WIDTH_LEFT] if offset > 0.0 else row[RoadColumn.WIDTH_RIGHT])
        off = abs(offset) > half
        if off and not self.off:
            self.offs += 1
        wide = abs(offset) > WIDE * half and self.time > WEAVE_S
        ran_wide = wide and not self.wide  # one stage each time, not one each sample
        self.off, self.wide = off, wide
        speed = max(state.velocity_x, 5.0)
        rear = abs(state.velocity_y - 1.4 * state.yaw_rate) / speed
        lazy = False
        side = abs(state.speed * state.yaw_rate)
        if side > 3.0:
            linear = abs(self.steering.steer_for(state.yaw_rate / speed, speed))
            lazy = abs(self.steer) > UNDERSTEER * linear + 0.02
        self.understeers = lazy or abs(self.steer) > FULL_STEER  # the latter with what was learned of the steering
        self.sliding = self.sliding + dt if (rear > SLIDING_SLIP or lazy) and state.speed > 6.0 else 0.0
        if (self.sliding > 0.25 or ran_wide) and self.stage > 0:
            self.stage = self.ceiling = self.stage - 1 if ran_wide else self.stage
            self.sliding, self.stage_start = 0.0, self.driven
        elif self.driven - self.stage_start > self.stage_way and self.stage < self.ceiling and self.time > WEAVE_S:
            self.stage, self.stage_start = self.stage + 1, self.driven
        ends = not self.line.closed and s > self.line.length - 60.0
        for over, why, broke_off in (
            (self.time > self.seconds, "the programme is over", False),
            (ends, "the road ends", False),
            (self.offs > MOST_OFFS, "the car left the road too often", True),
        ):
            if over and not self.finished:
                self.finished, self.ended, self.broke_off = True, why, broke_off

    def _slips(self, state: CarState) -> tuple[float, float]:
        """Return the slip ratios of front and rear axle, against wheel speeds of quiet driving; 0 if not known."""
        slips = []
        for axle in (0, 1):
            spin = 0.5 * (state.wheels[2 * axle].angular_velocity + state.wheels[2 * axle + 1].angular_velocity)
            if not math.isfinite(spin) or state.velocity_x < 3.0:
                slips.append(0.0)
                continue
            ratio, known = spin / state.velocity_x, self.ratios[axle]
            if not math.isfinite(known):
                self.ratios[axle] = known = ratio
            if abs(ratio / known - 1.0) < 0.02:
                self.ratios[axle] = known + 0.01 * (ratio - known)
            slips.append(ratio / known - 1.0)
        return slips[0], slips[1]


def _speed_limits(line: Road, side: float) -> np.ndarray:
    """Return the speeds (m/s) at a line's rows with `side` m/s^2 in bends, and braking for them."""
    table, spacing = line.table, line.spacing
    curvature = np.maximum(np.abs(table[:, RoadColumn.CURVATURE]), 1e-4)
    speed = np.sqrt(side / curvature)
    brake = min(BRAKING_SHARE * side, MAX_BRAKING)
    count = len(speed)
    for k in range((2 if line.closed else 1) * count - 2, -1, -1):
        after = speed[(k + 1) % count]
        speed[k % count] = min(speed[k % count], math.sqrt(after**2 + 2.0 * brake * spacing))
    return speed
