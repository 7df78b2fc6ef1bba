"""The drivetrain as drivers use it: the gear with the most drive force, and the pedals for a force at the wheels.

Hysteresis keeps the gear from repeated shifts; the pedals follow from the car's engine and brake data.
"""

import math
from collections.abc import Sequence

from trailbrake.cars.params import CarParams
from trailbrake.state import CarState
from trailbrake.units import NORMAL_95, G

REV_MARGIN = 0.985  # share of the limiter at which the next gear is chosen even if this one pulls harder
HYSTERESIS = 0.93  # share of the up-shift speed at which the lower gear is chosen again
SHIFT_SLIP_TIME = 0.3  # s after a gear is reported, for which the driven wheels still slip by the shift
SHIFT_PATIENCE = 0.6  # s, for which a gear that was requested may take to be engaged: delay of the controls and shift
CLUTCH_SLIP = 1.02  # engine speed over that of the wheels in the gear, from which the clutch slips
LAUNCH_SHARE = 0.73  # of the torque that is wanted: a slipping clutch turns no engine, and the rear's load comes late
ROLLING_SHARE = 0.82  # the same of a car that rolls at ...
LAUNCH_SPEEDS = (4.0, 8.0)  # m/s, from which it grows, and at which it has grown
LAUNCH_TIME = 0.3  # s, over which the torque grows to all of the engine's: a sudden one tears the tyres off
MOST_BALANCE = 0.25  # throttle beside the brake: more is no engine's drag, but an error of the car's file


def upshift_speeds(car: CarParams) -> tuple[float, ...]:
    """Return, per gear but the last, the speed (m/s) above which the next gear is the better one.

    Above it the next gear stays the better one: a dip in a torque curve, measured or not, is no reason to shift early.
    """
    speeds = []
    for gear in range(1, car.gearbox.top_gear):
        per_rad = car.driven_radius / car.gearbox.overall_ratio(gear)
        longest = REV_MARGIN * car.engine.limiter_rpm * math.pi / 30.0 * per_rad
        steps = [longest * (0.4 + 0.6 * k / 60.0) for k in range(61)]
        kept = [k for k, v in enumerate(steps) if car.drive_force(v, gear + 1) <= car.drive_force(v, gear)]
        speeds.append(steps[min(kept[-1] + 1, len(steps) - 1)] if kept else steps[0])
    return tuple(speeds)


def choose_gear(speed: float, gear: int, shifts: Sequence[float]) -> int:
    """Return the forward gear for `speed` (m/s), at most one step from `gear`.

    Args:
        speed: m/s.
        gear: the present gear; 0 and below give first gear, one beyond the car's model gives the next lower one.
        shifts: as `upshift_speeds` returns.
    """
    if gear < 1:
        return 1
    if gear <= len(shifts) and speed > shifts[gear - 1]:
        return gear + 1
    if gear >= 2 and (gear > len(shifts) + 1 or speed < HYSTERESIS * shifts[gear - 2]):
        return gear - 1
    return gear


class GearRequester:
    """Gears for a car that answers late: what has been requested is not taken back before it has been engaged.

    While a shift is on its way the car reports the gear of before, and loses speed. Chosen from that gear alone, the
    next request is the gear of before; with a delay it arrives when the shift is over, and undoes it, again and again.

    Args:
        shifts: as `upshift_speeds` returns.
    """

    def __init__(self, shifts: Sequence[float]) -> None:
        self._shifts = shifts
        self._engaged = math.inf  # s since the gear that is requested has been reported
        self._requested, self._waited = 0, math.inf

    @property
    def is_shifting(self) -> bool:
        """Whether driven wheels slip by a shift: the clutch brakes or drives them, whatever the pedals say."""
        return self._engaged < SHIFT_SLIP_TIME

    def choose(self, speed: float, gear: int, dt: float, *, keeps_gear: bool = False) -> int:
        """Return the forward gear to request.

        Args:
            speed: m/s.
            gear: that is engaged.
            dt: s since the last call.
            keeps_gear: whether no lower gear is requested anew: its clutch would brake tyres that have no more to give.
        """
        self._waited = 0.0 if gear == self._requested else self._waited + dt
        self._engaged = self._engaged + dt if gear == self._requested else 0.0
        if self._waited > SHIFT_PATIENCE:  # refused, or another gear was put in
            self._requested, self._waited = gear, 0.0
        chosen = choose_gear(speed, self._requested, self._shifts)
        self._requested = max(chosen, self._requested) if keeps_gear else chosen
        return self._requested


class DrivetrainInverse:
    """The inverse of a car's drivetrain.

    Under braking the throttle balances the engine's drag: engine braking acts on the driven axle alone, and near the
    limit it makes the rear of a rear-driven car slide. The engine of a learned car may pull more and drag less than its
    file says: beside the brakes, the throttle is what the least drag takes of the most torque.
    """

    def __init__(self, car: CarParams) -> None:
        self._car = car
        doubt = min(NORMAL_95 * car.uncertainty.drive_force, 1.0) if car.uncertainty is not None else 0.0
        self._balance_share = (1.0 - doubt) / (1.0 + doubt)

    def engine_torques(self, engine_speed: float) -> tuple[float, float]:
        """Return (full-throttle torque, drag torque with the throttle shut), N m, >= 0, at `engine_speed` (rad/s)."""
        engine = self._car.engine
        rpm = max(engine_speed * 30.0 / math.pi, engine.idle_rpm)
        return max(engine.full_torque(rpm), 0.0), max(engine.drag_torque(rpm), 0.0)

    def pedals_for_force(
        self, force: float, speed: float, gear: int, engine_speed: float = math.nan
    ) -> tuple[float, float]:
        """Return (throttle, brake), 0..1, for a longitudinal `force` (N, at the wheels, positive drives).

        Args:
            force: N; limited to what engine and brakes can give.
            speed: m/s.
            gear: the engaged gear, 1 or higher.
            engine_speed: rad/s, measured; NaN where it is not known. With a slipping clutch or spinning wheels it is
                higher than `speed` and `gear` imply, and the torque is that at the higher speed.
        """
        rolling = self._car.engine_speed(speed, gear)
        full, drag = self.engine_torques(engine_speed if engine_speed > rolling else rolling)
        ratio = self._car.gearbox.overall_ratio(gear) * self._car.gearbox.efficiency / self._car.driven_radius
        torque = max(force, 0.0) / ratio
        throttle = min((torque + drag) / (full + drag), 1.0) if full + drag > 0.0 else 0.0
        if force <= 0.0:
            throttle = min(self._balance_share * throttle, MOST_BALANCE)
        return throttle, min(max(-force, 0.0) / self._car.full_brake_force, 1.0)


class LaunchClutch:
    """The clutch of a car that could spin its wheels at the start, and has no traction control.

    An automatic clutch closes by engine speed: it gives the wheels the spin of the engine as well, and they slide, most
    when the throttle is released. Held here, it carries no more than the throttle is to give.

    Args:
        car: with its gearbox.
    """

    def __init__(self, car: CarParams) -> None:
        share, box = car.drive.front_share, car.gearbox
        self._shares = 0.5 * share, 0.5 * (1.0 - share)
        self._ratio, self._carried = box.overall_ratio(1), box.clutch_torque
        self._engine = DrivetrainInverse(car)
        force = max(car.engine.torque) * self._ratio * box.efficiency / car.driven_radius
        self._is_needed = not car.brakes.tc and force > car.body.mass * G * max(car.tyre_front.mu_x, car.tyre_rear.mu_x)
        self._torque = 0.0  # N m, at the clutch

    def hold(self, throttle: float, state: CarState, dt: float) -> tuple[float, float]:
        """Return the throttle and the clutch pedal, 0..1; while the clutch does not slip, the throttle and 0."""
        wheels, engine_speed = state.wheels, state.engine_speed
        front, rear = self._shares
        turning = front * (wheels[0].angular_velocity + wheels[1].angular_velocity)
        turning += rear * (wheels[2].angular_velocity + wheels[3].angular_velocity)
        if not (self._is_needed and state.gear == 1 and engine_speed > CLUTCH_SLIP * turning * self._ratio):
            self._torque = 0.0
            return throttle, 0.0
        full, drag = self._engine.engine_torques(engine_speed)
        first, last = LAUNCH_SPEEDS
        rolling = min(max((state.speed - first) / (last - first), 0.0), 1.0)
        share = LAUNCH_SHARE + rolling * (ROLLING_SHARE - LAUNCH_SHARE)
        wanted = share * max(throttle * (full + drag) - drag, 0.0)
        self._torque = torque = min(wanted, self._torque + full / LAUNCH_TIME * dt)
        return (torque + drag) / (full + drag), max(1.0 - torque / self._carried, 0.0)
