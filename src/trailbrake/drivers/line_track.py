"""Holds a planned line, speed and attitude at the limit of grip, by one compiled law that needs 20 us a tick.

The plan is the course's line and profile; where the line comes from `trailbrake line` or `trailbrake reference`, it is
that of the file. The law is `control/vehicle/line_tracking.py`. The first lap is planned with all the grip of the car's
file, or with a share of what a minimum-time line needs, and with a reserve until the car has braked hard. Lap by lap
the plan is raised where the tyres had margin left and lowered where the car ran wide or slid (`adaptive_plan.py`): the
margin is found for each track and car. What the feedback of the steering adds at a place becomes feed-forward
(`planning/steering_learning.py`). A car whose file is an estimate begins with less, and keeps margins; with one that
has been driven round (`verified_laps`) laps learn up to the peak, as those of a known car do.
"""

import math
from copy import copy

import numpy as np

from trailbrake.arrays import Array
from trailbrake.control.vehicle.drivetrain import GearRequester, LaunchClutch, upshift_speeds
from trailbrake.control.vehicle.line_tracking import (
    DEFAULT_GAINS,
    PlanColumn,
    TrackedMotion,
    TrackingAim,
    TrackingCommand,
    TrackingPlan,
    track_line,
    tracked_car,
)
from trailbrake.drivers.parts.adaptive_plan import BRAKING, AdaptivePlan, Deviation, GripUse
from trailbrake.drivers.parts.axle_slip_meter import AxleSlipMeter
from trailbrake.drivers.parts.delay_compensation import DelayCompensation
from trailbrake.drivers.parts.road_return import OFF_ROAD_SPEED_SHARE, RoadReturn
from trailbrake.drivers.parts.tracking_plan import build_tracking_plan, collect_sources, fill_rows
from trailbrake.json_types import JsonObject
from trailbrake.kernels import bind_entry
from trailbrake.planning.course import GRIP_MARGIN, Course, path_shapes
from trailbrake.planning.edge_learning import EdgeLearning, is_blow
from trailbrake.planning.grip_use import AxleSlips, find_needed_grip
from trailbrake.planning.lap_learning import (
    CAUTIOUS_LIMITS,
    FALLING_GRIP,
    PEAK_LIMITS,
    STATION,
    count_stations,
    read_plan_memory,
)
from trailbrake.planning.path_room import find_kerb_reach, keep_off_inner_kerbs
from trailbrake.planning.power_aids import PowerAids
from trailbrake.planning.speed_profile import PathShape
from trailbrake.planning.steering_learning import SteeringLearning, SteeringSample
from trailbrake.state import CarState, Controls
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.units import wrap_angle

START_GRIP = 1.0  # of the grip of the car's file: planned with until the tyres have shown less
FIRST_FACTOR = 1.0 / GRIP_MARGIN  # on the planned grip in the first lap: no margin: laps learn it
LINE_SHARE = 0.88  # of the grip that the speeds of a minimum-time line need, in the first lap, ...
MOST_FIRST_FACTOR = 1.25  # ... at least FIRST_FACTOR and at most this
CAREFUL_FACTOR = 0.95  # the same where the file is an estimate, or a locked wheel is released a delay too late
LATE_BRAKED_SLIP = 0.55  # `LearningLimits.braked_slip` then: from there a wheel locks where the road turns
VERIFIED_FACTOR = 1.0  # the same of an estimate with which laps have been driven that stayed on the road
GRIP_TOLERANCE = 1e-3  # share by which the friction of a line may differ from the road's, for rounding
MIN_LEARNING_SPEED = 8.0  # m/s, from which slips say something
LEARNING_PERIOD = 0.0095  # s, least time between two samples for learning, which takes longer than the law
WIDE_SHARE = 0.03  # of the planned speed, given up per metre outside the line in a bend
LEAST_WIDE = 0.1  # m outside the line, from which wheels beyond the edge are the fault of the speed, not of the line
CUT_ROOM = 0.2  # m between the edge and the wheels that stay on the road, below which a place is driven no faster
KERB_ROOM = 0.05  # m between the outer wheels and the end of the kerb, the same
LEAST_SHARE = 0.3  # of the planned speed
MOST_WIDE = 1.0  # m outside the line, from which a blow is the fault of the speed, not of the map
EDGE_ROOM = 3.0  # m between the middle of the car and the edge, from which a blow is that of another car
MOST_GAP = 0.1  # s between two samples that are compared
RETURN_GAIN = 3.0  # m that the aim is shifted, for each m that the wheels of a slow car are beside the road; ...
RETURN_SPEED = 15.0  # m/s, up to which: from there on in inverse proportion, for the same speed across the road
POOR_GRIP = 0.85  # of the road, below which the clutch of a lower gear may break driven rear wheels loose ...
SHIFT_SLIP = 0.4  # ... from this share of their peak slip angle on
AFTER_BLOW = 0.5  # s after a blow from outside, in which the tyres say nothing
MOST_SLOW = 0.1  # share of its speed that a car may be below the plan to teach how the plan is steered
FADING = 40.0  # m, over which learned steering ends where the grip has fallen
LEARNED_COLUMNS = [PlanColumn.LEARNED_STEER, PlanColumn.LEARNED_SIDESLIP]
ROWS_A_TICK = 8  # of the plan that are filled in anew: a car passes less than one in a tick


class Driver:
    """Holds `Course.line` at the limit of grip, with lap-to-lap learning. Needs a car model; made for lines of a file.

    Args:
        learn: 1: the plan is adapted while driving; 0: it is driven as it is.
        start_grip: the grip that learning begins with, as a share of that of the car's file.

    Attributes:
        learns: whether the plan is adapted.
        held_plan: what is held: the plan, or that of a driver on top of this one.
        is_disturbed: whether others decide what is driven: the grip is learned then, and nothing of a place.
    """

    NEEDS = frozenset({"x", "y", "yaw", "speed", "velocity_x", "velocity_y", "acceleration_y", "yaw_rate", "gear"})
    COURSE_NEEDS = frozenset({"track", "car"})
    USES = RoadReturn.USES - NEEDS | {"engine_speed", "wheels.angular_velocity", "acceleration_x", "steer", "contacts"}
    OPTIONAL_COMMANDS = RoadReturn.COMMANDS
    uses_kerbs = True
    follows_minimum_time_line = True

    def __init__(self, learn: float = 1.0, start_grip: float = START_GRIP) -> None:
        self.learns = learn > 0.0
        self.start_grip = start_grip if self.learns else 1.0

    def reset(self, course: Course) -> None:
        """Take the line and the speeds, and precompute what the law needs."""
        course = course.with_kerbs()
        car = course.known_car()
        doubt = car.uncertainty
        is_verified = doubt is not None and doubt.is_verified
        is_doubtful = doubt is not None and not is_verified
        body = car.body
        self.line = course.line
        self.kerb_reach = find_kerb_reach(self.line, 0.5 * min(body.track_front, body.track_rear))
        self.delay, self.slip_meter = DelayCompensation(car), AxleSlipMeter(car)
        first_factor: float | Array = FIRST_FACTOR if self.learns and not has_planned_grip(course) else 1.0
        limits = PEAK_LIMITS
        locks_late = self.delay.active and not car.brakes.abs
        if self.learns and (is_doubtful or locks_late):
            first_factor, limits = CAREFUL_FACTOR, CAUTIOUS_LIMITS
            if locks_late:
                limits = limits._replace(braked_slip=LATE_BRAKED_SLIP)
        elif self.learns and is_verified:  # drives before have found the grip to begin with; laps find the rest
            first_factor = VERIFIED_FACTOR
        elif self.learns and course.given_speeds is not None:
            first_factor = find_first_factors(course, course.given_speeds)
        cautious = is_doubtful and self.learns
        self.adaptive = AdaptivePlan(
            course,
            self.start_grip,
            first_factor=first_factor,
            cautious=cautious,
            limits=limits,
            tests_brakes=self.learns,
        )
        adaptive = self.adaptive
        self.sources = collect_sources(course, self.line, adaptive.road, adaptive.speeds, adaptive.accelerations)
        self.aids: PowerAids | None = None
        if car.hybrid is not None or car.aero.has_drs:
            self.aids = PowerAids(course, self.line, (adaptive.shapes, self.sources.shapes))
            adaptive.speeds[:], adaptive.accelerations[:] = self.aids.profile.speed, self.aids.profile.acceleration
        self.plan: TrackingPlan = build_tracking_plan(self.sources)
        self.kerb_offsets = keep_off_inner_kerbs(self.line, 0.5 * body.track_rear)
        self.steering = SteeringLearning(self.line.length, closed=self.line.closed)
        self.edges = EdgeLearning(self.line.length, closed=self.line.closed)
        self.is_fading = False
        self.yaw_rate, self.contacts, self.blow_age = math.nan, math.nan, math.inf
        self.car, self.law_gains = tracked_car(car), np.array(DEFAULT_GAINS)
        if locks_late:  # wheels that lock and turn by turns brake least: no harder than planned
            self.car = self.car._replace(urgent_braking=0.0)
        self.gears, self.launch = GearRequester(upshift_speeds(car)), LaunchClutch(car)
        self.full_steer_angle = car.full_steer_angle
        self.fill_rows = bind_entry(fill_rows, self.plan.table, self.sources, 0, ROWS_A_TICK)
        rest = TrackedMotion(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, (0.0, 0.0, 0.0, 0.0), 1)
        self.track_line = bind_entry(track_line, self.plan, self.car, rest, self.law_gains, TrackingAim(-1, 1.0, 0.0))
        self.road_return = RoadReturn(course, forward_gear=1)
        self.row, self.filled, self.angle, self.speed_share = -1, 0, 0.0, 1.0
        self.return_shift = 0.0
        self.held_plan, self.is_disturbed = self.plan, False
        self.unlearned_time = 0.0

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        heading = math.nan if self.row < 0 else wrap_angle(state.yaw - self.line.table.item(self.row, RoadColumn.YAW))
        rescue = self.road_return.rescue(state, dt, heading)
        ahead = self.delay.predict(state, dt)
        if rescue is not None:
            self.row = -1
            self.delay.add_command(rescue.steer * self.full_steer_angle(state.speed))
            return rescue
        wheels = state.wheels
        motion = TrackedMotion(
            *ahead,
            state.engine_speed,
            (
                wheels[0].angular_velocity,
                wheels[1].angular_velocity,
                wheels[2].angular_velocity,
                wheels[3].angular_velocity,
            ),
            1 if state.gear is None else state.gear,
        )
        command = TrackingCommand(
            *self.track_line(
                self.held_plan,
                self.car,
                motion,
                self.law_gains,
                TrackingAim(self.row, self.speed_share, self.return_shift),
            )
        )
        starts_lap, self.row = command.row < self.row, command.row
        deviation = self._measure_deviation(command)
        self.speed_share = max(1.0 - WIDE_SHARE * deviation.wide, LEAST_SHARE)
        self.return_shift = self._find_return_shift(command.offset, state.speed, off_road=deviation.off_road)
        if deviation.off_road:
            self.speed_share *= OFF_ROAD_SPEED_SHARE  # the plan is for tarmac
        if self.learns and state.speed > MIN_LEARNING_SPEED:
            self.unlearned_time += dt
            # A drive may end with the lap, which is to count.
            if self.unlearned_time >= LEARNING_PERIOD or starts_lap:
                self._learn(state, command, deviation)
            self._fill_changed_rows()
        self.angle = command.steer
        self.delay.add_command(command.steer)
        gear = (
            None
            if state.gear is None
            else self.gears.choose(state.speed, state.gear, dt, keeps_gear=self._slides_on_poor_ground(state))
        )
        throttle, clutch = self.launch.hold(command.throttle, state, dt)
        steer = command.steer / self.full_steer_angle(state.speed)
        controls = Controls(steer=steer, throttle=throttle, brake=command.brake, clutch=clutch, gear=gear)
        if self.aids is not None:
            controls.drs, controls.boost = self.aids.choose(self.row, throttle, command.brake, state.speed, dt)
        return controls

    def rehearse(self, state: CarState, dt: float) -> Controls:
        """Return what `act` would return, and leave the driver as it is."""
        rehearsed = copy(self)
        rehearsed.road_return, rehearsed.learns = self.road_return.copy(), False
        rehearsed.delay, rehearsed.gears, rehearsed.launch = self.delay.copy(), copy(self.gears), copy(self.launch)
        rehearsed.aids = copy(self.aids)
        return rehearsed.act(state, dt)

    def export_memory(self) -> JsonObject:
        """Return what has been learned of the road and the car."""
        content = self.adaptive.export_memory()
        if not self.line.closed:
            self.steering.finish_lap()
            self.edges.finish_lap()
        steer, sideslip = self.steering.corrections.round(5).tolist()
        return content | {"steer": steer, "sideslip": sideslip, "shifts": self.edges.shifts.round(3).tolist()}

    def import_memory(self, content: JsonObject, where: str) -> None:
        """Take up what `export_memory` returned, after `reset`; DataError where it does not fit."""
        memory = read_plan_memory(content, where)
        steering = SteeringLearning(self.line.length, closed=self.line.closed)
        if memory.steer or memory.sideslip:  # a file of before has neither
            steering.import_corrections(memory.steer, memory.sideslip, where)
        edges = EdgeLearning(self.line.length, closed=self.line.closed)
        if memory.shifts:
            edges.import_shifts(memory.shifts, where)
        self.adaptive.import_memory(content, where)
        self.steering, self.edges = steering, edges
        if memory.steer:
            self._put_corrections_into_plan()

    def _measure_deviation(self, command: TrackingCommand) -> Deviation:
        read, row, offset, half_track = self.line.table.item, self.row, command.offset, max(self.car.half_tracks)
        off_aim = offset - self.held_plan.table.item(row, PlanColumn.OFFSET)
        wide = abs(off_aim) if read(row, RoadColumn.CURVATURE) * off_aim < 0.0 else 0.0
        beyond_left = offset - read(row, RoadColumn.WIDTH_LEFT)
        beyond_right = -offset - read(row, RoadColumn.WIDTH_RIGHT)
        off_road = bool(beyond_left > self.kerb_reach[0][row] or beyond_right > self.kerb_reach[1][row])
        # Wheels of both sides may be beyond the edge by turn: inside of a bend the outer ones have to stay on the road.
        overrun = max(max(beyond_left, beyond_right) - self.car.half_tracks[1] + CUT_ROOM, 0.0)
        reach = half_track + KERB_ROOM
        over_left = beyond_left - read(row, RoadColumn.KERB_LEFT) + reach
        over_right = beyond_right - read(row, RoadColumn.KERB_RIGHT) + reach
        if wide > LEAST_WIDE:
            overrun = max(over_left if off_aim > 0.0 else over_right, overrun)
        on_verge = max(over_left, over_right) > KERB_ROOM
        return Deviation(wide, -command.speed_error, off_road, overrun, command.steer_cut, on_verge)

    def _slides_on_poor_ground(self, state: CarState) -> bool:
        """Return whether the clutch of a lower gear would take side force from driven rear wheels that lack it."""
        if not self.car.driven[1] or self.adaptive.road_grip(self.row) * self.adaptive.estimate.grip > POOR_GRIP:
            return False
        aside = state.velocity_y - self.car.to_rear * state.yaw_rate
        return abs(aside) > SHIFT_SLIP * self.car.peak_angles[1] * max(state.velocity_x, MIN_LEARNING_SPEED)

    def _find_return_shift(self, offset: float, speed: float, *, off_road: bool) -> float:
        """Return the shift (m, left) of the aim until the wheels are on the road: the line may follow its edge."""
        if not off_road and self.return_shift == 0.0:
            return 0.0
        read, half_track = self.line.table.item, max(self.car.half_tracks)
        beyond_left = max(offset + half_track - read(self.row, RoadColumn.WIDTH_LEFT), 0.0)
        beyond_right = max(half_track - offset - read(self.row, RoadColumn.WIDTH_RIGHT), 0.0)
        return RETURN_GAIN * min(RETURN_SPEED / max(speed, 1.0), 1.0) * (beyond_right - beyond_left)

    def _learn(self, state: CarState, command: TrackingCommand, deviation: Deviation) -> None:
        """Adapt the plan by a sample of the time since the last one."""
        dt, self.unlearned_time = self.unlearned_time, 0.0
        adaptive, row = self.adaptive, self.line.table[self.row]
        turning = math.copysign(state.acceleration_y, state.yaw_rate) / max(state.speed, 1.0) ** 2
        path = PathShape(
            turning, float(row[RoadColumn.GRADE]), 0.0, float(row[RoadColumn.BANK]), adaptive.road_grip(self.row)
        )
        slips = self._measure_slips(state)
        use = adaptive.measure_use(state.speed, state.acceleration_x, slips, path)
        hides_slip = self.gears.is_shifting and self.slip_meter.only_driven is not None
        if hides_slip and state.acceleration_x > BRAKING and adaptive.learning.laps:
            use = use._replace(slip=math.nan, friction=math.nan)
        if self._notice_blow(state, command, deviation, dt):
            use = GripUse(math.nan, math.nan, math.nan)
        elif self.is_fading != adaptive.has_fallen:
            self._fade_corrections(command.s, 0.0 if adaptive.has_fallen else 1.0)
        elif not (
            self.is_disturbed
            or deviation.off_road
            or self.is_fading
            or command.speed_error > MOST_SLOW * state.speed
            or command.steer_cut > 0.0  # no tyre gives what feedback wants: learned, it cuts the bend in a slower lap
        ):
            # The law reads the correction ahead of the car by its lead: so much earlier than what it answers to.
            self.steering.add_sample(
                command.s,
                SteeringSample(command.offset, command.steer_feedback, command.sideslip_error, adaptive.estimate.slip),
            )
        laps, grip = adaptive.learning.laps, adaptive.learning.lap_grip
        locking = self.slip_meter.measure_locking(state, slips, is_shifting=self.gears.is_shifting)
        if adaptive.adapt(
            command.s, state.acceleration_x, dt, use, deviation, locking=locking, is_disturbed=self.is_disturbed
        ):
            self.filled = 0
        if adaptive.learning.laps > laps:
            if adaptive.learning.lap_grip < grip - FALLING_GRIP:  # corrections of another grip would cut the bends
                self.steering = SteeringLearning(self.line.length, closed=self.line.closed)
            else:
                driven = self.steering.corrections
                self.steering.finish_lap()
                if self.line.closed:
                    trials = adaptive.learning.trials
                    self.steering.corrections = trials.judge_beside(driven, self.steering.corrections)
                self.steering.add_sideslip(adaptive.expect_sideslip(self.steering.places()))
            self.edges.finish_lap()
            self._put_corrections_into_plan()

    def _notice_blow(self, state: CarState, command: TrackingCommand, deviation: Deviation, dt: float) -> bool:
        """Return whether something other than the road moves the car; on its line it is an edge that the map misses."""
        turned, self.yaw_rate = state.yaw_rate - self.yaw_rate, state.yaw_rate
        struck, self.contacts = state.contacts > self.contacts, state.contacts
        self.blow_age += dt
        if struck or (dt < MOST_GAP and is_blow(turned, dt)):
            row = self.line.table[self.row]
            room_left = row[RoadColumn.WIDTH_LEFT] - command.offset
            room_right = row[RoadColumn.WIDTH_RIGHT] + command.offset
            is_on_line = not self.is_disturbed and self.blow_age > AFTER_BLOW and deviation.wide < MOST_WIDE
            if is_on_line and min(room_left, room_right) < EDGE_ROOM:
                self.edges.add_blow(command.s, to_left=bool(room_left < room_right))
            self.blow_age = 0.0
        return self.blow_age < AFTER_BLOW

    def _fill_changed_rows(self) -> None:
        """Fill in some of the rows ahead of the car that were planned anew."""
        adaptive = self.adaptive
        if self.filled < adaptive.planned_rows:
            first = (adaptive.planned_first + self.filled) % len(self.plan.table)
            self.fill_rows(self.plan.table, self.sources, first, ROWS_A_TICK)
            self.filled += ROWS_A_TICK

    def _put_corrections_into_plan(self) -> None:
        # With the first corrections: without them the car is wide of its line, and off the kerbs, by itself.
        table = self.plan.table
        table[:, PlanColumn.OFFSET] = self.kerb_offsets + self.edges.shifts_at(len(table), self.line.spacing)
        self.is_fading = False
        table[:, LEARNED_COLUMNS] = self.steering.corrections_at(len(table), self.line.spacing).T

    def _fade_corrections(self, s: float, share: float) -> None:
        # What the tyres of a dry road lack makes the car cut the bends of a wet one. Where the fall was none, a bend
        # without its corrections would be learned as if they had been steered, and they would grow lap by lap.
        table, ahead = self.plan.table, (self.line.stations() - s + FADING) % self.line.length - FADING
        changed = np.clip(ahead / FADING, 0.0, 1.0)[:, None]
        wanted = share * self.steering.corrections_at(len(table), self.line.spacing).T
        table[:, LEARNED_COLUMNS] += changed * (wanted - table[:, LEARNED_COLUMNS])
        self.is_fading = share < 1.0

    def _measure_slips(self, state: CarState) -> AxleSlips:
        steer = self.angle if math.isnan(state.steer) else state.steer * self.full_steer_angle(state.speed)
        return self.slip_meter.measure(state, steer, is_shifting=self.gears.is_shifting)


def find_first_factors(course: Course, speeds: Array) -> Array:
    """Return the factors (stations,) on the planned grip with which a first lap has a share of a line's `speeds`."""
    line = course.line
    needed = find_needed_grip(line, speeds, path_shapes(line), course.envelope) / GRIP_MARGIN
    stations = STATION * np.arange(count_stations(line.length))
    period = line.length if line.closed else None
    at_stations = np.interp(stations, line.stations(), needed, period=period)
    factors: Array = np.clip(LINE_SHARE * at_stations, FIRST_FACTOR, MOST_FIRST_FACTOR)
    return factors


def has_planned_grip(course: Course) -> bool:
    """Return whether the line of a course states the friction to plan with, as that of a reference lap does."""
    line, road = course.given_line, course.track.road
    if line is None:
        return False
    s = road.locate_many(line.table[:, : RoadColumn.Y + 1])[:, 0]
    of_road = road.column_at(s, RoadColumn.GRIP)
    return not np.allclose(line.column(RoadColumn.GRIP), of_road, rtol=GRIP_TOLERANCE)
