"""A last resort in a slide, under any driver: the front wheels turn in less, and driven rear wheels get less throttle.

It acts on the slip angle of the rear axle alone, beyond that of the tyres' peak: throttle and steering are those of the
driver before. Countersteering stays free, and is made up for where the driver does not.
"""

import math
from copy import copy

from trailbrake.cars.params import CarParams
from trailbrake.control.vehicle.slip_limit import SPIN_START, turn_in_share
from trailbrake.state import CarState, Controls

MIN_SPEED = 5.0  # m/s, below which a slip angle says nothing


class StabilityControl:
    """Limits what a driver returns, for a car that is known.

    Args:
        car: that is believed.

    Attributes:
        slides: in which it acted.
    """

    NEEDS = frozenset({"speed", "velocity_x", "velocity_y", "yaw_rate"})

    def __init__(self, car: CarParams) -> None:
        self._to_front, self._to_rear = car.body.cg_to_front, car.body.cg_to_rear
        self._front_peak, self._rear_peak = car.tyre_front.peak_slip_angle, car.tyre_rear.peak_slip_angle
        self._drives_rear = car.drive.front_share < 1.0
        self._full_steer_angle = car.full_steer_angle
        self.slides, self._acts = 0, False

    def limit_controls(self, state: CarState, controls: Controls) -> Controls:
        """Return the controls to send; the driver's own where the rear axle holds, or its slip is not known.

        Args:
            state: of the car.
            controls: of the driver.
        """
        forward = max(state.velocity_x, 1.0)
        slip = math.atan2(state.velocity_y - self._to_rear * state.yaw_rate, forward) / self._rear_peak
        if not (abs(slip) > SPIN_START and state.speed > MIN_SPEED):  # also for NaN
            self._acts = False
            return controls
        share, side = turn_in_share(abs(slip)), math.copysign(1.0, slip)
        flow = math.atan2(state.velocity_y + self._to_front * state.yaw_rate, forward)
        lock = self._full_steer_angle(state.speed)
        least = (flow * side - self._front_peak * share) / lock  # of the share of full lock to the side of the slide
        limited = copy(controls)
        limited.steer = side * min(max(controls.steer * side, least), 1.0)
        if self._drives_rear:
            limited.throttle = controls.throttle * share
        self.slides += not self._acts and limited != controls
        self._acts = self._acts or limited != controls
        return limited
