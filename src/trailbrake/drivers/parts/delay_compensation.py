"""`DelayCompensation`: gives a driver the motion that its car will have when the controls act which are sent now."""

import math
from copy import copy

import numpy as np

from trailbrake.cars.axle_forces import planning_car
from trailbrake.cars.params import CarParams
from trailbrake.kernels import bind_entry
from trailbrake.planning.motion_prediction import (
    KeptMotion,
    PendingSteer,
    PlaneMotion,
    Steering,
    SteerResponse,
    advance_steer,
    predict_motion,
)
from trailbrake.state import CarState

RING = 256  # commands: the longest delay of a car file, 0.5 s, at 500 samples/s
LEAST_DELAY = 0.002  # s, below which nothing is predicted


class DelayCompensation:
    """Predicts the motion of a car over the delay of its controls. It remembers the steering that was sent.

    Args:
        car: that is believed.

    Attributes:
        active: whether the car has a delay that is worth it.
    """

    def __init__(self, car: CarParams) -> None:
        self.active = car.actuation.delay >= LEAST_DELAY
        self._response = SteerResponse(car.actuation.delay, car.steering.max_rate, car.body.yaw_inertia)
        self._car = planning_car(car)
        self._radii = (car.tyre_front.radius, car.tyre_rear.radius)
        self._pending = PendingSteer(np.full(RING, -math.inf), np.zeros(RING))
        self._newest, self._now, self._steer = 0, 0.0, 0.0
        if not self.active:
            return  # its kernels are seconds of a first start
        rest = PlaneMotion(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        kept, steering = KeptMotion(0.0, 0.0, 0.0, 0.0), Steering(0.0, 0.0, 0, self._pending)
        self._predict = bind_entry(predict_motion, rest, kept, steering, self._response, self._car)
        self._advance = bind_entry(advance_steer, steering, 0.0, self._response)

    def predict(self, state: CarState, dt: float) -> PlaneMotion:
        """Return the motion when a control acts that is sent now.

        Args:
            state: newest of the car.
            dt: s since the last call.
        """
        motion = PlaneMotion(state.x, state.y, state.yaw, state.velocity_x, state.velocity_y, state.yaw_rate)
        if not self.active:
            return motion
        self._now += dt
        before = Steering(self._steer, self._now, self._newest, self._pending)
        self._steer = self._advance(before, dt, self._response)
        kept = KeptMotion(
            0.0 if math.isnan(state.acceleration_x) else state.acceleration_x,
            0.0 if math.isnan(state.acceleration_y) else state.acceleration_y,
            *self._slip_ratios(state),
        )
        steering = Steering(self._steer, self._now, self._newest, self._pending)
        return PlaneMotion(*self._predict(motion, kept, steering, self._response, self._car))

    def predict_state(self, state: CarState, dt: float) -> CarState:
        """Return the state with the motion that `predict` returns; the state itself if this is not active."""
        if not self.active:
            return state
        ahead, motion = copy(state), self.predict(state, dt)
        ahead.x, ahead.y, ahead.yaw = motion.x, motion.y, motion.yaw
        ahead.velocity_x, ahead.velocity_y, ahead.yaw_rate = motion.forward, motion.aside, motion.yaw_rate
        ahead.speed = math.hypot(motion.forward, motion.aside)
        return ahead

    def copy(self) -> "DelayCompensation":
        """Return one with the same memory, which goes its own way."""
        twin = copy(self)
        twin._pending = PendingSteer(self._pending.times.copy(), self._pending.angles.copy())
        return twin

    def add_command(self, angle: float) -> None:
        """Remember the angle of the road wheels (rad) that is sent with the state of the last prediction."""
        if self.active:
            self._newest = (self._newest + 1) % RING
            self._pending.times[self._newest], self._pending.angles[self._newest] = self._now, angle

    def _slip_ratios(self, state: CarState) -> tuple[float, float]:
        forward, wheels, ratios = max(state.velocity_x, 5.0), state.wheels, [0.0, 0.0]
        for axle in (0, 1):
            spin = 0.5 * (wheels[2 * axle].angular_velocity + wheels[2 * axle + 1].angular_velocity)
            if not math.isnan(spin):
                ratios[axle] = spin * self._radii[axle] / forward - 1.0
        return ratios[0], ratios[1]
