"""Cars of the world driven by hand on roads of known shape: the common ground of the validation cases."""

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace
from numpy.typing import ArrayLike

from trailbrake.cars.params import CarParams, Suspension, Tyre
from trailbrake.tracks.road import Road
from trailbrake.tracks.track import Track
from trailbrake.world.batch import Batch
from trailbrake.world.row_layout import AxleRow, ControlRow, ParamRow, StateRow
from world_validation.case import Array

DT = 0.001  # s, a substep
SUBSTEPS = 3  # to a call, as the world does it at 333 Hz


def pad(length: float = 20000.0, half_width: float = 5000.0) -> Track:
    """Return a level straight, so wide that circles fit on it."""
    s = np.arange(int(length / 10.0) + 1) * 10.0
    road = Road.from_columns(10.0, False, s, 0.0 * s, 0.0 * s, 0.0 * s, width_left=half_width, width_right=half_width)
    return Track("pad", "", (road,))


def hill(height: float, wave: float, waves: int) -> Track:
    """Return a straight over `waves` hills of `height` (m), one every `wave` (m)."""
    s = np.arange(int(waves * wave) + 1) * 1.0
    turn = 2.0 * np.pi / wave
    z, grade = 0.5 * height * (1.0 - np.cos(turn * s)), 0.5 * height * turn * np.sin(turn * s)
    road = Road.from_columns(1.0, False, s, 0.0 * s, 0.0 * s, 0.0 * s, z=z, grade=grade, width_left=20.0,
                             width_right=20.0)  # fmt: skip
    return Track("hill", "", (road,))


def plain(car: CarParams, *, aero: bool = False) -> CarParams:
    """Return `car` without what the textbook's formulas leave out.

    Without camber and toe, with parallel steering that follows at once, without rolling resistance, and without
    `aero` without the air.
    """
    links = {
        key: replace(getattr(car, key), camber=0.0, camber_gain=0.0, toe=0.0)
        for key in ("suspension_front", "suspension_rear")
    }
    tyres = {
        key: replace(getattr(car, key), rolling_resistance=0.0, camber_thrust=0.0, camber_loss=0.0)
        for key in ("tyre_front", "tyre_rear")
    }
    air = car.aero if aero else replace(car.aero, drag_area=0.0, lift_area_front=0.0, lift_area_rear=0.0)
    steering = replace(car.steering, max_rate=1000.0, ackermann=0.0)
    return replace(car, steering=steering, aero=air, **links, **tyres)


def with_tyres(car: CarParams, **values: float) -> CarParams:
    """Return `car` with `values` set for the tyres of both axles."""
    return replace(car, tyre_front=replace(car.tyre_front, **values), tyre_rear=replace(car.tyre_rear, **values))


def with_links(car: CarParams, **values: float) -> CarParams:
    """Return `car` with `values` set for the suspension of both axles."""
    front, rear = replace(car.suspension_front, **values), replace(car.suspension_rear, **values)
    return replace(car, suspension_front=front, suspension_rear=rear)


class Field:
    """Cars side by side, out of each other's way.

    Args:
        cars: one or n of them.
        speeds: (n,) m/s, rolling, in neutral.
        track: where; the pad by default.
        x: m along it, for all.
        dt: s, length of a substep.
        substeps: of a call.
    """

    def __init__(
        self,
        cars: Sequence[CarParams],
        speeds: ArrayLike,
        track: Track | None = None,
        x: float = 5000.0,
        dt: float = DT,
        substeps: int = SUBSTEPS,
    ) -> None:
        self.speeds = np.atleast_1d(np.asarray(speeds, np.float64))
        self.n = len(self.speeds)
        self.batch = Batch(track or pad(), cars, self.n)
        self.batch.place_cars(np.arange(self.n), x, 0.0, 0.0, self.speeds)
        self.dt, self.substeps, self.period = dt, substeps, dt * substeps
        self.time = 0.0
        self._error = np.zeros(self.n)
        self.gear(0)

    def __getitem__(self, row: int) -> Array:
        """Return a quantity of all cars, (n,)."""
        return self.batch.get_row(int(row))

    def four(self, row: int) -> Array:
        """Return a quantity of all wheels, (4, n)."""
        return self.batch.get_row(int(row), 4)

    def put(self, row: int, values: ArrayLike) -> None:
        """Set a quantity of all cars."""
        self.batch.set_row(int(row), values)

    def param(self, row: int) -> Array:
        """Return a parameter of all cars, (n,)."""
        return self.batch.get_param(int(row))

    def gear(self, gear: int) -> None:
        """Put all cars in `gear` at once, the engine at the speed that belongs to it."""
        self.put(ControlRow.GEAR, gear)
        self.put(StateRow.GEAR, gear)
        self.put(StateRow.NEXT_GEAR, gear)
        ratio = self.param(ParamRow.RATIOS + 1 + gear)
        self.put(StateRow.RATIO, ratio)
        if gear:
            front, rear = self.param(ParamRow.DRIVE_FRONT), self.param(ParamRow.DRIVE_REAR)
            radius = front * self.param(AxleRow.RADIUS) + rear * self.param(AxleRow.RADIUS + 1)
            self.put(StateRow.ENGINE_SPEED, self.speeds / radius * ratio)

    def steer(self, angle: ArrayLike) -> None:
        """Ask for a road-wheel angle (rad)."""
        self.put(ControlRow.STEER, np.asarray(angle) / self.param(ParamRow.STEER_MAX))

    def torques(self, drive: ArrayLike, brake: ArrayLike) -> None:
        """Give the wheels torques (N m) from outside, four numbers or (4, n) each."""
        drive, brake = np.asarray(drive, np.float64), np.asarray(brake, np.float64)
        for i in range(4):
            self.put(ControlRow.DRIVE_TORQUE + i, drive[i])
            self.put(ControlRow.BRAKE_TORQUE + i, brake[i])

    def step(self) -> None:
        """Advance by one call."""
        self.batch.step(self.dt, self.substeps)
        self.time += self.period

    def hold_speed(self, force: ArrayLike = 0.0) -> None:
        """Give the rear wheels, alike, the torque that keeps the speed: `force` (N) and what the error asks for."""
        error = self.speeds - self[StateRow.VX]
        self._error += error * self.period
        mass = self.param(ParamRow.MASS)
        torque = 0.5 * self.param(AxleRow.RADIUS + 1) * (force + mass * (2.0 * error + 1.0 * self._error))
        self.torques(np.stack([0.0 * torque, 0.0 * torque, torque, torque]), np.zeros((4, self.n)))

    def hold(self, seconds: float, force: ArrayLike = 0.0) -> None:
        """Drive on for `seconds` at constant speed and steer."""
        for _ in range(round(seconds / self.period)):
            self.hold_speed(force)
            self.step()


def cornering_stiffness(tyre: Tyre, load: float) -> float:
    """Return dFy / d(slip angle) (N/rad) of one tyre at `load` (N), by the law that the car file's values stand for.

    B C mu(Fz) Fz over the peak slip at that load, with B from the condition that the curve peaks at slip 1.
    """
    over = load / tyre.nominal_load - 1.0
    friction = tyre.mu_y * (1.0 - tyre.mu_y_load * over)
    peak = np.tan(tyre.peak_slip_angle) / (1.0 - tyre.slip_load * over)
    return float(tyre.stiffness_factor * tyre.shape * friction * load / peak)


def roll_rates(links: Suspension, tyre: Tyre, track: float) -> tuple[float, float]:
    """Return the roll stiffness (N m/rad) of an axle's springs and bar, and of its tyres."""
    lever = 0.5 * track * track
    return (links.spring_rate + 2.0 * links.anti_roll_rate) * lever, tyre.vertical_stiffness * lever
