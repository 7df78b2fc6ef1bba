"""Follows a planned racing line near the limit of grip.

Steering: feed-forward of the angle for the curvature ahead, plus feedback on the lateral and heading error at a
look-ahead point. The heading error includes the sideslip of the bend, so that the car neither cuts in nor runs wide at
the limit (Kapania and Gerdes, "Design of a feedback-feedforward steering controller for accurate path tracking and
stability at the limits of handling", Vehicle System Dynamics 53:12, 2015). Angle and sideslip are not those of steady
cornering but include the pedals and the change of curvature (`planning/handling.py`).
Speed: the acceleration of the profile a little ahead, plus feedback on the speed error, limited to what the tyres have
beside the cornering; the car model turns it into pedals.
The profile is the course's. Where the car's file says that its grip is an estimate, or with the gain `learn`, the plan
begins with less grip; what the tyres give for their slip lowers it at once and everywhere, and what a lap leaves of
margin or of faults changes it at their place from lap to lap (`adaptive_plan.py`).
"""

import math
from copy import copy

from trailbrake.cars.ggv_envelope import running_resistance
from trailbrake.control.vehicle.drivetrain import DrivetrainInverse, GearRequester, LaunchClutch, upshift_speeds
from trailbrake.control.vehicle.slip_limit import HeldPedal, slip_limited_share, turn_in_share
from trailbrake.drivers.parts.adaptive_plan import AdaptivePlan, Deviation
from trailbrake.drivers.parts.axle_slip_meter import AxleSlipMeter
from trailbrake.drivers.parts.delay_compensation import DelayCompensation
from trailbrake.drivers.parts.road_return import OFF_ROAD_SPEED_SHARE, RoadReturn
from trailbrake.drivers.parts.tracking_plan import BRAKE_SHARE
from trailbrake.json_types import JsonObject
from trailbrake.kernels import bind_entry
from trailbrake.planning.course import Course
from trailbrake.planning.grip_use import AxleSlips
from trailbrake.planning.handling import LinePreview, car_attitude, preview_line
from trailbrake.planning.path_room import find_kerb_reach
from trailbrake.planning.speed_profile import PathShape, interpolate_speed, remaining_accelerations
from trailbrake.state import CarState, Controls
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.units import G, wrap_angle

STEER_GAIN = 0.06  # rad/m, road-wheel angle per metre of error at the look-ahead point
LOOK_AHEAD = 14.0  # m, where the lateral error is taken
YAW_DAMPING = 0.06  # s, rad per rad/s of yaw rate beyond the path's
STEER_LEAD = 0.07  # s, preview of the curvature: the lag of steering and tyres
PEAK_SLIP_SHARE = 1.0  # share of the peak slip angle up to which the front tyres are steered, ...
BRAKED_SLIP_SHARE = 0.7  # ... and that of a car too fast for the bend: the rest of the circle is for the brakes
SPEED_LEAD = 0.08  # s, preview of the profile
BRAKED_SPEED_SHARE = 0.99  # of the planned speed where it falls: these laws do not hold all that a plan may use there
SPEED_GAIN = 2.5  # 1/s, acceleration per m/s of speed error
REAR_SLIP_START = 0.7  # share of the rear's peak slip angle above which pedals are reduced, ...
REAR_SLIP_END = 1.05  # ... to 0 here: a rear axle beyond its grip makes the car spin
WIDE_LINE_GAIN = 2.0  # 1/s, m/s below the plan per metre outside the line in a bend
CREEP_SPEED = 5.0  # m/s, to which that slows at the most
START_GRIP = 0.93  # of the grip of the car's file: planned with until the tyres have shown more
MIN_LEARNING_SPEED = 8.0  # m/s, from which slips say something
FULL_PEDAL_ERROR = 1.5  # m/s below or above the profile from which all the grip is used


class Driver:
    """Drives `Course.line` at `Course.profile`, if wanted adapted to the grip that the car has. Needs a car model.

    Args:
        learn: 1: the plan is adapted while driving; 0: it is driven as it is; NaN: it is adapted where the car's file
            states an uncertainty of its grip.
        start_grip: the grip that learning begins with, as a share of that of the car's file; NaN: START_GRIP,
            and with such a file it rises lap by lap.

    Attributes:
        learns: whether the plan is adapted; known after `reset`.
    """

    NEEDS = frozenset({"x", "y", "yaw", "speed", "velocity_x", "velocity_y", "acceleration_y", "yaw_rate", "gear"})
    COURSE_NEEDS = frozenset({"track", "car"})
    USES = RoadReturn.USES - NEEDS | {"engine_speed", "wheels.angular_velocity", "acceleration_x", "steer"}
    OPTIONAL_COMMANDS = RoadReturn.COMMANDS

    def __init__(self, learn: float = math.nan, start_grip: float = math.nan) -> None:
        self.learn, self.start_grip = learn, start_grip
        self.learns = learn > 0.0

    def reset(self, course: Course) -> None:
        """Plan the line and the speeds, and precompute what the pedals need."""
        self.line, self.limits, self.handling = course.line, course.envelope, course.handling
        self.car = car = course.known_car()
        is_estimate = car.uncertainty is not None
        doubt = car.uncertainty
        self.kerb_reach = find_kerb_reach(course.line, 0.5 * min(car.body.track_front, car.body.track_rear))
        self.planned_along = doubt.planned_share * doubt.planned_along if doubt is not None else 1.0
        self.learns = self.learn > 0.0 or (math.isnan(self.learn) and is_estimate)
        chosen = START_GRIP if math.isnan(self.start_grip) else self.start_grip
        cautious = is_estimate and math.isnan(self.start_grip)
        self.plan = AdaptivePlan(course, chosen if self.learns else 1.0, cautious=cautious and self.learns)
        road = self.line.kernel_table
        self.preview_line = bind_entry(preview_line, road, 0.0)
        self.car_attitude = bind_entry(car_attitude, self.handling, road, 0.0, 0.0, 0.0)
        shape = PathShape(0.0, 0.0, 0.0, 0.0, 0.0)
        self.remaining_accelerations = bind_entry(remaining_accelerations, 0.0, shape, self.limits, 0.0)
        self.row, self.brakes_for_bend = -1, False
        self.road_return = RoadReturn(course, forward_gear=1)
        self.angle = 0.0
        self.held_brake = HeldPedal()
        self.delay, self.slip_meter = DelayCompensation(car), AxleSlipMeter(car)
        self.gears, self.launch = GearRequester(upshift_speeds(car)), LaunchClutch(car)
        self.masses = [car.effective_mass(gear) for gear in range(car.gearbox.top_gear + 1)]
        self.drag = running_resistance(car, self.limits.speeds)
        self.drivetrain = DrivetrainInverse(car)
        front, rear, share = car.tyre_front, car.tyre_rear, car.drive.front_share
        self.wheels = [  # m to the left, radius (m), slip ratio of peak grip, whether driven
            (side * 0.5 * track, tyre.radius, tyre.peak_slip_ratio, driven)
            for tyre, track, driven in (
                (front, car.body.track_front, share > 0.0),
                (rear, car.body.track_rear, share < 1.0),
            )
            for side in (1.0, -1.0)
        ]
        self.peaks = (car.tyre_front.peak_slip_angle, car.tyre_rear.peak_slip_angle)

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        line = self.line
        s, offset, self.row = line.locate(state.x, state.y, self.row)
        here = LinePreview(*self.preview_line(line.kernel_table, s))
        rescue = self.road_return.rescue(state, dt, wrap_angle(state.yaw - here.yaw))
        ahead = self.delay.predict_state(state, dt)
        if rescue is not None:
            self.delay.add_command(rescue.steer * self.car.full_steer_angle(state.speed))
            return rescue
        off = self._measure_deviation(state, s, offset, here)
        # The path that the car drives. Its measure is the lateral acceleration: speed times yaw rate overshoots while
        # the car swings from bend to bend.
        turning = math.copysign(state.acceleration_y, state.yaw_rate) / max(state.speed, 1.0) ** 2
        path = PathShape(turning, here.climb, here.climb_rate, here.bank, self.plan.road_grip(self.row))
        slips = self._measure_slips(state)
        if self.learns and state.speed > MIN_LEARNING_SPEED:
            use = self.plan.measure_use(state.speed, state.acceleration_x, slips, path)
            locking = self.slip_meter.measure_locking(state, slips, is_shifting=self.gears.is_shifting)
            self.plan.adapt(s, state.acceleration_x, dt, use, off, locking=locking)
        if self.delay.active:
            s, offset, _ = line.locate(ahead.x, ahead.y, self.row)
            here = LinePreview(*self.preview_line(line.kernel_table, s))
            off, slips = self._measure_deviation(ahead, s, offset, here), self._measure_slips(ahead)
        acceleration, grip = self._target_acceleration(ahead, s, off, path, slips)
        steer = self._compute_steer(ahead, (s, offset, acceleration), here, slips)
        self.delay.add_command(self.angle)
        throttle, brake = self._limit_wheel_slip(state, *self._compute_pedals(ahead, here, acceleration, grip), dt)
        gear = None if state.gear is None else self.gears.choose(state.speed, state.gear, dt)
        throttle, clutch = self.launch.hold(throttle, state, dt)
        return Controls(steer=steer, throttle=throttle, brake=brake, clutch=clutch, gear=gear)

    def rehearse(self, state: CarState, dt: float) -> Controls:
        """Return what `act` would return, and leave the driver as it is."""
        rehearsed = copy(self)
        rehearsed.road_return, rehearsed.learns = self.road_return.copy(), False
        rehearsed.held_brake = copy(self.held_brake)
        rehearsed.delay, rehearsed.gears, rehearsed.launch = self.delay.copy(), copy(self.gears), copy(self.launch)
        return rehearsed.act(state, dt)

    def export_memory(self) -> JsonObject:
        """Return what has been learned of the road and the car."""
        return self.plan.export_memory()

    def import_memory(self, content: JsonObject, where: str) -> None:
        """Take up what `export_memory` returned, after `reset`; DataError where it does not fit."""
        self.plan.import_memory(content, where)

    def _compute_steer(
        self, state: CarState, place: tuple[float, float, float], here: LinePreview, slips: AxleSlips
    ) -> float:
        """Return the steer; `place` is that along the line and left of it (m), and the target acceleration (m/s^2)."""
        car = self.car
        s, offset, acceleration = place
        speed = max(state.speed, 1.0)
        forward, sideslip, sideslip_rate = self.car_attitude(
            self.handling, self.plan.road, s + STEER_LEAD * speed, speed, acceleration
        )
        heading = wrap_angle(state.yaw - here.yaw)
        error = offset + LOOK_AHEAD * min(max(heading + sideslip, -1.0), 1.0)
        angle = forward - STEER_GAIN * error - YAW_DAMPING * (state.yaw_rate - (speed * here.curvature - sideslip_rate))
        if state.speed > 5.0:
            # The velocity angle at the front axle: beyond the peak slip from it, more steer only makes the tyres slide.
            flow = math.atan2(state.velocity_y + car.body.cg_to_front * state.yaw_rate, max(state.velocity_x, 1.0))
            too_fast = state.speed - self.plan.speed_at(s) > FULL_PEDAL_ERROR
            most = self.peaks[0] * (BRAKED_SLIP_SHARE if too_fast else PEAK_SLIP_SHARE)
            most *= turn_in_share(abs(slips.rear_angle) / self.peaks[1])
            angle = min(max(angle, flow - most), flow + most)
        lock = car.full_steer_angle(state.speed)
        self.angle = min(max(angle, -lock), lock)
        return self.angle / lock

    def _measure_deviation(self, state: CarState, s: float, offset: float, here: LinePreview) -> Deviation:
        wide = abs(offset) if here.curvature * offset < 0.0 else 0.0
        row, (left, right) = self.line.table[self.row], self.kerb_reach  # a line may lie on the kerbs
        off_road = bool(offset > row[RoadColumn.WIDTH_LEFT] + left[self.row]
                        or -offset > row[RoadColumn.WIDTH_RIGHT] + right[self.row])  # fmt: skip
        return Deviation(wide, state.speed - self.plan.speed_at(s), off_road)

    def _measure_slips(self, state: CarState) -> AxleSlips:
        steer = self.angle if math.isnan(state.steer) else state.steer * self.car.full_steer_angle(state.speed)
        return self.slip_meter.measure(state, steer, is_shifting=self.gears.is_shifting)

    def _target_acceleration(
        self, state: CarState, s: float, off: Deviation, path: PathShape, slips: AxleSlips
    ) -> tuple[float, float]:
        """Return the target acceleration (m/s^2), and the share of the rear grip to use."""
        speed = state.speed
        planned, wanted = self.plan.speed_at(s), self.plan.acceleration_at(s + SPEED_LEAD * speed)
        if wanted < 0.0:
            planned *= BRAKED_SPEED_SHARE
        target = max(planned - WIDE_LINE_GAIN * off.wide, min(planned, CREEP_SPEED))  # a car that stands stays wide
        if off.off_road:
            target *= OFF_ROAD_SPEED_SHARE  # the plan is for tarmac
        error = target - speed
        acceleration = wanted + SPEED_GAIN * error
        # The limits beside the present cornering. Too fast in a bend the envelope leaves nothing; braking all the same
        # makes the car run a little wide instead of a lot.
        shape = PathShape(*path[:4], self.plan.road.table.item(self.row, RoadColumn.GRIP))
        drive, brake = self.remaining_accelerations(speed, shape, self.limits, BRAKE_SHARE)
        grip = self._rear_grip_left(state, slips)
        # A car that is too fast for a plan which holds grip back brakes with all that was found of it.
        held_back = self.planned_along if error < -FULL_PEDAL_ERROR else 1.0
        most, least = drive * grip, -brake * grip / held_back
        # A car below the plan brakes later than that; once it brakes it holds its speed to come back to it: what it
        # gains by throttle has to be braked with grip that is not there.
        is_below = error > FULL_PEDAL_ERROR
        self.brakes_for_bend = wanted < 0.0 and (self.brakes_for_bend or not is_below)
        if is_below:
            return min(most, 0.0) if self.brakes_for_bend else most, grip
        return min(max(acceleration, least), most), grip

    def _compute_pedals(
        self, state: CarState, here: LinePreview, acceleration: float, grip: float
    ) -> tuple[float, float]:
        car, speed = self.car, state.speed
        gear = min(max(state.gear or 1, 1), len(self.masses) - 1)
        # The force that holds the speed. Part of a steered wheel's cornering force points backwards.
        scrub = car.body.mass * car.body.front_share * abs(speed * state.yaw_rate * self.angle)
        hold = car.body.mass * G * here.climb + interpolate_speed(self.drag, self.limits.speeds, speed) + scrub
        force = self.masses[gear] * acceleration + (hold if hold < 0.0 else hold * grip)
        return self.drivetrain.pedals_for_force(force, speed, gear, state.engine_speed)

    def _limit_wheel_slip(self, state: CarState, throttle: float, brake: float, dt: float) -> tuple[float, float]:
        """Return the pedals, reduced where a wheel spins or locks; unchanged where the wheel speeds are not known."""
        throttle_kept = brake_kept = 1.0
        for wheel, (half_track, radius, peak, driven) in zip(state.wheels, self.wheels, strict=True):
            speed = state.velocity_x - state.yaw_rate * half_track
            slide = wheel.angular_velocity * radius - speed
            if driven:
                throttle_kept = min(throttle_kept, slip_limited_share(slide, speed, peak))
            brake_kept = min(brake_kept, slip_limited_share(-slide, speed, peak))
        return throttle * throttle_kept, self.held_brake.limit_pedal(brake, brake_kept, dt)

    def _rear_grip_left(self, state: CarState, slips: AxleSlips) -> float:
        """Return the share of rear grip to use: 1 at small rear slip, falling to 0 where more would spin the car."""
        if state.speed < 5.0:
            return 1.0
        use = abs(slips.rear_angle) / self.peaks[1]
        return min(max((REAR_SLIP_END - use) / (REAR_SLIP_END - REAR_SLIP_START), 0.0), 1.0)
