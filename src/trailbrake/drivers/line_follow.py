"""Follows a planned racing line near the limit of grip.

Steering: feed-forward of the angle that the curvature ahead takes, plus feedback on the lateral and heading error at a
look-ahead point, with the sideslip of the bend counted in, so that the car neither cuts in nor runs wide at the limit
(Kapania and Gerdes, "Design of a feedback-feedforward steering controller for accurate path tracking and stability at
the limits of handling", Vehicle System Dynamics 53:12, 2015). Angle and sideslip are those under the pedals of the
moment and for the change of curvature, not of steady cornering (`planning/handling.py`): a car that is braked from one
bend into the next lies quite another way.
Speed: the profile's own acceleration a little ahead, plus feedback on the speed error, turned into pedals by the
car model and cut to what the tyres have left beside the cornering.
"""

import math
from copy import copy

import numpy as np

from trailbrake.control.gears import upshift_speeds, wanted_gear
from trailbrake.control.pedals import Pedals
from trailbrake.control.recover import Recovery
from trailbrake.control.slip import kept
from trailbrake.planning.course import Course
from trailbrake.planning.envelope import resistance
from trailbrake.planning.handling import attitude
from trailbrake.planning.preview import preview
from trailbrake.planning.speed import demand, lookup, lookup2
from trailbrake.state import CarState, Controls
from trailbrake.tracks.columns import Column
from trailbrake.tracks.frenet import locate
from trailbrake.units import G, wrap_angle

Preview = tuple[float, float, float, float, float]  # as `preview` returns

STEER_GAIN = 0.06  # rad/m, road-wheel angle per metre of error at the look-ahead point
LOOK_AHEAD = 14.0  # m, where the lateral error is taken
DAMPING = 0.06  # rad per rad/s of yaw rate beyond the path's
STEER_LEAD = 0.07  # s, how far ahead the curvature is read: the steering's and the tyre's own lag
PEAK_SLIP = 1.0  # share of the peak slip angle beyond which more front steer only loses grip
SPEED_LEAD = 0.08  # s, how far ahead the profile is read
SPEED_GAIN = 2.5  # 1/s, acceleration per m/s of speed error
BRAKE_SHARE = 0.7  # share of lateral grip in use beyond which braking is not cut any further
REAR_SLIP_START = 0.7  # share of the rear's peak slip angle from which braking is eased, ...
REAR_SLIP_END = 1.05  # ... and at which it ends: a rear wheel asked for more than it has comes round
WIDE_GAIN = 2.0  # 1/s, m/s taken off the plan per metre that the car runs wide of the line in a bend
OFF_ROAD = 0.6  # of the plan, while the car is beside the road
FULL_PEDAL_ERROR = 1.5  # m/s below the profile at which a driver simply asks for all the tyres can take


class Driver:
    """Drives `Course.line` at `Course.profile`. Needs a car model."""

    NEEDS = frozenset({"x", "y", "yaw", "speed", "velocity_x", "velocity_y", "acceleration_y", "yaw_rate", "gear"})

    def reset(self, course: Course) -> None:
        """Plan the line and the speeds, and precompute what the pedals need."""
        self.line, self.limits, self.profile = course.line, course.envelope, course.profile
        self.handling = course.handling
        self.car = car = course.known_car()
        self.row = -1
        self.recovery = Recovery()
        self.angle = 0.0
        self.shifts = upshift_speeds(car)
        self.masses = [car.effective_mass(gear) for gear in range(car.gearbox.top_gear + 1)]
        self.drag = resistance(car, self.limits.speeds)
        self.pedals = Pedals(car)
        front, rear, share = car.tyre_front, car.tyre_rear, car.drive.front_share
        self.wheels = [  # m to the left, radius (m), slip ratio of peak grip, whether driven
            (side * 0.5 * track, tyre.radius, tyre.peak_slip_ratio, driven)
            for tyre, track, driven in (
                (front, car.body.track_front, share > 0.0),
                (rear, car.body.track_rear, share < 1.0),
            )
            for side in (1.0, -1.0)
        ]
        self.peak_slip = PEAK_SLIP * car.tyre_front.peak_slip_angle
        # Speeds and accelerations at the line's rows; one row more, so that interpolation needs no wrap.
        last = 0 if self.line.closed else -1
        self.speeds = np.append(self.profile.speed, self.profile.speed[last]).tolist()
        self.accelerations = np.append(self.profile.acceleration, self.profile.acceleration[last]).tolist()

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state."""
        line = self.line
        s, offset, self.row = locate(line.table, line.spacing, line.closed, state.x, state.y, self.row)
        here = preview(line.table, line.spacing, line.closed, s)
        rescue = self.recovery.answer(wrap_angle(state.yaw - here[0]), offset, state.speed, dt)
        if rescue is not None:
            steer, throttle, brake, rescue_gear = rescue
            return Controls(steer=steer, throttle=throttle, brake=brake, gear=rescue_gear)
        acceleration, grip = self._acceleration(state, s, offset, here)
        steer = self._steer(state, s, offset, here, acceleration)
        throttle, brake = self._eased(state, *self._pedals(state, here, acceleration, grip))
        gear = None if state.gear is None else wanted_gear(state.speed, state.gear, self.shifts)
        return Controls(steer=steer, throttle=throttle, brake=brake, gear=gear)

    def rehearse(self, state: CarState, dt: float) -> Controls:
        """Answer for nothing."""
        understudy = copy(self)
        understudy.recovery = copy(self.recovery)
        return understudy.act(state, dt)

    def _steer(self, state: CarState, s: float, offset: float, here: Preview, acceleration: float) -> float:
        line, car = self.line, self.car
        speed = max(state.speed, 1.0)
        forward, sideslip, sliding = attitude(
            self.handling, line.table, line.spacing, line.closed, s + STEER_LEAD * speed, speed, acceleration
        )
        heading = wrap_angle(state.yaw - here[0])
        error = offset + LOOK_AHEAD * min(max(heading + sideslip, -1.0), 1.0)
        angle = forward - STEER_GAIN * error - DAMPING * (state.yaw_rate - (speed * here[1] - sliding))
        if state.speed > 5.0:
            # The front tyres' velocity angle, which more steer than the peak slip away from would only slide.
            flow = math.atan2(state.velocity_y + car.body.cg_to_front * state.yaw_rate, max(state.velocity_x, 1.0))
            angle = min(max(angle, flow - self.peak_slip), flow + self.peak_slip)
        self.angle = min(max(angle, -car.steering.max_angle), car.steering.max_angle)
        return self.angle / car.steering.max_angle

    def _lateral_use(
        self, speed: float, curvature: float, climb: float, bend: float, bank: float
    ) -> tuple[float, float]:
        """Return (lateral acceleration asked of the tyres in m/s^2, share of their limit) on this piece of road."""
        limits, surface = self.limits, float(self.line.table[self.row, Column.GRIP])
        need, factor = demand(speed, curvature, climb, bend, bank, surface, limits.speeds, limits.load_factor)
        return need, abs(need) / (factor * lookup(limits.lateral, limits.speeds, speed))

    def _acceleration(self, state: CarState, s: float, offset: float, here: Preview) -> tuple[float, float]:
        """Return the acceleration (m/s^2) that is wanted of the car now, and the share of its rear grip to use."""
        limits, speed = self.limits, state.speed
        _, curvature, climb, bend, bank = here
        wide = abs(offset) if curvature * offset < 0.0 else 0.0  # m outside the line in a bend
        wanted = self._profile(self.speeds, s) - WIDE_GAIN * wide
        row = self.line.table[self.row]
        if offset > row[Column.WIDTH_LEFT] or -offset > row[Column.WIDTH_RIGHT]:
            wanted *= OFF_ROAD  # the plan is for tarmac
        error = wanted - speed
        acceleration = self._profile(self.accelerations, s + SPEED_LEAD * speed) + SPEED_GAIN * error
        # What the tyres have left beside the cornering that the car does now. Too fast in a bend there is nothing
        # left by the book; a driver brakes all the same, and runs a little wide instead of a lot.
        # By the acceleration, not by speed times yaw rate, which overshoots while the car swings from bend to bend.
        turning = math.copysign(state.acceleration_y, state.yaw_rate) / max(speed, 1.0) ** 2
        _, lateral = self._lateral_use(speed, turning, climb, bend, bank)
        grip = self._rear_grip_left(state)
        held = grip * float(row[Column.GRIP])
        most = lookup2(limits.drive, limits.speeds, speed, lateral) * held
        least = -lookup2(limits.brake, limits.speeds, speed, min(lateral, BRAKE_SHARE)) * held
        return most if error > FULL_PEDAL_ERROR else min(max(acceleration, least), most), grip

    def _pedals(self, state: CarState, here: Preview, acceleration: float, grip: float) -> tuple[float, float]:
        car, speed = self.car, state.speed
        gear = min(max(state.gear or 1, 1), len(self.masses) - 1)
        # What it takes to hold the speed. A steered wheel's cornering force points backwards in part.
        scrub = car.body.mass * car.body.front_share * abs(speed * state.yaw_rate * self.angle)
        hold = car.body.mass * G * here[2] + lookup(self.drag, self.limits.speeds, speed) + scrub
        force = self.masses[gear] * acceleration + (hold if hold < 0.0 else hold * grip)
        return self.pedals.throttle_and_brake(force, speed, gear, state.engine_speed)

    def _eased(self, state: CarState, throttle: float, brake: float) -> tuple[float, float]:
        """Return the pedals, eased where a wheel spins or locks. A wire that tells no spins leaves them as they are."""
        throttle_kept = brake_kept = 1.0
        for wheel, (half_track, radius, peak, driven) in zip(state.wheels, self.wheels, strict=True):
            speed = state.velocity_x - state.yaw_rate * half_track
            slide = wheel.angular_velocity * radius - speed
            if driven:
                throttle_kept = min(throttle_kept, kept(slide, speed, peak))
            brake_kept = min(brake_kept, kept(-slide, speed, peak))
        return throttle * throttle_kept, brake * brake_kept

    def _rear_grip_left(self, state: CarState) -> float:
        """Return 1 while the rear tyres hold, falling to 0 where braking on would let the rear come round."""
        if state.speed < 5.0:
            return 1.0
        car = self.car
        slip = math.atan2(state.velocity_y - car.body.cg_to_rear * state.yaw_rate, max(state.velocity_x, 1.0))
        use = abs(slip) / car.tyre_rear.peak_slip_angle
        return min(max((REAR_SLIP_END - use) / (REAR_SLIP_END - REAR_SLIP_START), 0.0), 1.0)

    def _profile(self, values: list[float], s: float) -> float:
        position = s / self.line.spacing
        count = len(values) - 1
        position = position % count if self.line.closed else min(max(position, 0.0), count - 1.0)
        i = int(position)
        return values[i] + (position - i) * (values[i + 1] - values[i])
