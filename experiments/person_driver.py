"""A driver that drives like a person with 90 % of a car's grip: for learned_recordings.py.

`line_follow`, which believes that the car has less grip than it has, with what a person adds: a hand that is never
quite where it should be, feet that move more slowly, and another point of braking in each bend.
"""

import math
from dataclasses import replace

import numpy as np

from trailbrake.drivers.line_follow import Driver as LineFollow
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.world.car_scaling import scale_car

SHARE = 0.9  # of the grip
HAND, HAND_S = 0.01, 0.25  # standard deviation of the steer's error, and s over which it changes
FOOT_S = 0.12  # s of the low-pass filter on the pedals
BRAKE_SPREAD = 0.15  # of the brake pedal, from one braking to the next
EARLY_SPREAD = 0.04  # of the speed before a braking, that the person believes to be greater


class Driver(LineFollow):
    """`line_follow` by a person."""

    def __init__(self, seed: float = 0.0) -> None:
        super().__init__(learn=0.0)
        self.seed = seed

    def reset(self, course: Course) -> None:
        """Plan with less grip."""
        super().reset(Course(course.track, scale_car(course.known_car(), grip=SHARE), on_kerbs=course.on_kerbs))
        self._rng = np.random.default_rng(int(self.seed))
        self.hand = self.throttle = self.brake = 0.0
        self.strength, self.early, self.braked = 1.0, 0.0, False

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls of a person for one state."""
        wanted = super().act(replace(state, speed=state.speed * (1.0 + self.early)), dt)
        share = min(dt / HAND_S, 1.0)
        self.hand += -share * self.hand + HAND * math.sqrt(2.0 * share) * float(self._rng.standard_normal())
        if (wanted.brake > 0.0) != self.braked:
            self.braked = wanted.brake > 0.0
            self.strength = 1.0 - BRAKE_SPREAD * float(self._rng.random())
            self.early = EARLY_SPREAD * float(self._rng.random())
        foot = min(dt / FOOT_S, 1.0)
        self.throttle += foot * (wanted.throttle - self.throttle)
        self.brake += foot * (self.strength * wanted.brake - self.brake)
        steer = min(max(wanted.steer + self.hand, -1.0), 1.0)
        return replace(wanted, steer=steer, throttle=self.throttle, brake=self.brake)
