"""`AxleSlipMeter`: the slips of both axles by a state, for the drivers that judge by them how much grip they use."""

import math

from trailbrake.cars.params import CarParams
from trailbrake.planning.grip_use import AxleSlips
from trailbrake.state import CarState


class AxleSlipMeter:
    """Measures how much the axles slip. Slips along the wheels are 0 where their speeds are not known.

    Args:
        car: that is believed.

    Attributes:
        only_driven: the axle that alone is driven, 0 front, 1 rear; None where both are.
    """

    def __init__(self, car: CarParams) -> None:
        body, share = car.body, car.drive.front_share
        self._to_front, self._to_rear = body.cg_to_front, body.cg_to_rear
        self._radii = (car.tyre_front.radius, car.tyre_rear.radius)
        self.only_driven = 0 if share == 1.0 else 1 if share == 0.0 else None
        self._has_abs, tyres = car.brakes.abs, (car.tyre_front, car.tyre_rear)
        self._half_tracks = (0.5 * body.track_front, 0.5 * body.track_rear)
        self._peaks = [(tyre.peak_slip_ratio, tyre.peak_slip_angle) for tyre in tyres]

    def measure(self, state: CarState, steer: float, *, is_shifting: bool) -> AxleSlips:
        """Return the slips of a moment.

        Args:
            state: of the car.
            steer: rad, of the front wheels.
            is_shifting: whether a shift slips the driven wheels: of the only driven axle it says nothing then, and the
                other one shows the braking.
        """
        forward, wheels, ratios = max(state.velocity_x, 1.0), state.wheels, [0.0, 0.0]
        front = math.atan2(state.velocity_y + self._to_front * state.yaw_rate, forward)
        rear = math.atan2(state.velocity_y - self._to_rear * state.yaw_rate, forward)
        for axle in (0, 1):
            spin = 0.5 * (wheels[2 * axle].angular_velocity + wheels[2 * axle + 1].angular_velocity)
            if not (math.isnan(spin) or (is_shifting and axle == self.only_driven)):
                ratios[axle] = spin * self._radii[axle] / forward - 1.0
        return AxleSlips(steer - front, -rear, ratios[0], ratios[1])

    def measure_locking(self, state: CarState, slips: AxleSlips, *, is_shifting: bool) -> float:
        """Return the combined slip of the braked wheel that slips most, over that of the peak; 0 with ABS.

        Wheels whose speeds are not known do not count. `slips` and `is_shifting` are those of `measure`.
        """
        if self._has_abs:
            return 0.0
        most, hidden = 0.0, self.only_driven if is_shifting else None
        for number, wheel in enumerate(state.wheels):
            axle, side = number // 2, 1.0 - 2.0 * (number % 2)
            if axle == hidden:
                continue
            speed = max(state.velocity_x - state.yaw_rate * side * self._half_tracks[axle], 1.0)
            peak_ratio, peak_angle = self._peaks[axle]
            slip = (1.0 - wheel.angular_velocity * self._radii[axle] / speed) / peak_ratio
            if slip > 0.0:  # never for NaN
                most = max(most, math.hypot(slip, slips[axle] / peak_angle))
        return most
