"""The car of the optimal control problem: numbers and symbolic laws, made from a car file.

The laws are functions of CasADi expressions, so that a study with another tyre or engine can be solved in the same
transcription. `vehicle_from_car` uses the tyre law of `cars/tyre.py`, written for symbols.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from trailbrake.arrays import Array
from trailbrake.cars.axle_forces import LoadParameters, load_parameters
from trailbrake.cars.ggv_envelope import full_throttle_force
from trailbrake.cars.params import CarParams, Differential, Tyre
from trailbrake.cars.tyre import MIN_LOAD_FACTOR
from trailbrake.cars.tyre_params import TyreLaw
from trailbrake.errors import UsageError
from trailbrake.planning.path_room import PathRoom

Expression = Any  # a CasADi SX expression, or a number

LAUNCH_SPEED = 6.0  # m/s, below it the drive limit is that at this speed: grip limits a launch
SPLINE_KNOTS = 24  # knots of the smooth drive limit
SLIP_FLOOR = 1e-6  # added to the squared slip, so that its direction is smooth at 0


def import_casadi() -> Any:
    """Return the module casadi, or raise UsageError with the line that installs it."""
    try:
        import casadi
    except ImportError:
        raise UsageError(
            "the minimum-time line needs CasADi, which is not installed", hint='pip install "trailbrake[limit]"'
        ) from None
    return casadi


@dataclass(frozen=True)
class AxleParameters:
    """An axle of the optimal control problem.

    Attributes:
        tyre: (slip ratio, tan slip angle, load in N, grip factor) -> (Fx, Fy, combined slip over that of the peak) of a
            tyre in its own axes; positive Fy to the left, for a negative slip angle.
        radius: m, of the wheels.
        coupling: "none" (undriven), "open", "lock" (limited slip) or "rigid".
        preload: N at the tread, constant difference that a limited slip differential carries.
        lock: share of the drive force by which it locks.
        viscous: N s/m at the tread, difference of the forces over the difference of the wheels' speeds.
        rolling: rolling resistance, drag over load.
    """

    tyre: Callable[[Expression, Expression, Expression, Expression], tuple[Expression, Expression, Expression]]
    radius: float
    coupling: str
    preload: float = 0.0
    lock: float = 0.0
    viscous: float = 0.0
    rolling: float = 0.0


@dataclass(frozen=True)
class VehicleModel:
    """A car of the optimal control problem.

    Attributes:
        name: of the car.
        body: mass, geometry and downforce.
        yaw_inertia: kg m^2.
        drag: N s^2/m^2, air drag over speed squared.
        front, rear: the axles.
        drive_front, brake_front: shares of the drive and the brake force on the front axle.
        drive_limits: functions of the driven wheels' speed at the tread (m/s): largest drive force, N.
        brake_limit: N, all brakes at full pedal.
        abs: whether the brakes let a wheel go that is at its peak.
        top_speed: m/s.
        max_steer: rad, of the front wheels.
        width: m, of the body.
        grip_guess: 1, friction for the first guess.
    """

    name: str
    body: LoadParameters
    yaw_inertia: float
    drag: float
    front: AxleParameters
    rear: AxleParameters
    drive_front: float
    brake_front: float
    drive_limits: tuple[Callable[[Expression], Expression], ...]
    brake_limit: float
    abs: bool
    top_speed: float
    max_steer: float
    width: float
    grip_guess: float

    def path_room(self, margin: float, kerbs: bool = False) -> PathRoom:
        """Return what the car needs beside its path with `margin` (m) to the edges, or to the ends of the kerbs."""
        half_track = 0.5 * min(self.body.track_front, self.body.track_rear)
        return PathRoom(0.5 * self.width, half_track, margin, kerbs)


def magic_formula_tyre(law: TyreLaw) -> Callable[..., tuple[Expression, Expression, Expression]]:
    """Return the law of `trailbrake.cars.tyre.combined_slip_force` for expressions, with a factor on friction."""
    ca = import_casadi()

    def value_at_load(value: float, slope: float, load: Expression) -> Expression:
        factor = 1.0 + slope * (load / law.nominal_load - 1.0)
        return value * ca.fmin(ca.fmax(factor, MIN_LOAD_FACTOR), 2.0 - MIN_LOAD_FACTOR)

    def tyre_force(
        slip_ratio: Expression, tan_slip_angle: Expression, load: Expression, grip: Expression
    ) -> tuple[Expression, Expression, Expression]:
        per_peak = value_at_load(1.0, -law.slip_load, load)
        sx = slip_ratio / law.peak_slip_ratio * per_peak
        sy = tan_slip_angle / law.tan_peak_slip_angle * per_peak
        slip = ca.sqrt(sx * sx + sy * sy + SLIP_FLOOR)
        x = law.b * slip
        share = ca.sin(law.c * ca.atan(x - law.e * (x - ca.atan(x)))) * load * grip / slip
        fx = value_at_load(law.mu_x, -law.mu_x_load, load) * share * sx
        fy = -value_at_load(law.mu_y, -law.mu_y_load, load) * share * sy
        return fx, fy, slip

    return tyre_force


@dataclass(frozen=True, eq=False)
class CubicCurve:
    """A smooth curve: a cubic between knots with continuous second derivative, as a polynomial and sum of |x - k|^3.

    Attributes:
        knots: (n,).
        weights: (n + 2,), of 1, x and the cubes; x is over the last knot.
    """

    knots: Array
    weights: Array

    @classmethod
    def fit(cls, x: Array, y: Array, count: int) -> "CubicCurve":
        """Return the curve with `count` knots closest to the points (x, y) (m,)."""
        knots = np.linspace(x[0], x[-1], count)
        scale = knots[-1]
        basis = np.column_stack([np.ones_like(x), x / scale, np.abs((x[:, None] - knots) / scale) ** 3])
        weights = np.linalg.lstsq(basis, y, rcond=1e-12)[0]
        return cls(knots, np.asarray(weights, np.float64))

    def __call__(self, x: Expression) -> Expression:
        """Return the curve at x, a number, an array or an expression."""
        scale = float(self.knots[-1])
        value = float(self.weights[0]) + float(self.weights[1]) / scale * x
        for knot, weight in zip(self.knots, self.weights[2:], strict=True):
            value = value + float(weight) * abs((x - float(knot)) / scale) ** 3
        return value


def _axle_from_car(tyre: Tyre, differential: Differential | None) -> AxleParameters:
    coupling, preload, lock = "none", 0.0, 0.0
    if differential is not None:
        coupling = "rigid" if differential.is_rigid else "lock" if differential.kind == "lsd" else "open"
        if coupling == "lock":
            preload, lock = differential.preload / tyre.radius, differential.lock_power
    return AxleParameters(
        tyre=magic_formula_tyre(tyre.tyre_law()),
        radius=tyre.radius,
        coupling=coupling,
        preload=preload,
        lock=lock,
        rolling=tyre.rolling_resistance,
    )


def vehicle_from_car(car: CarParams) -> VehicleModel:
    """Return the optimal control problem's model of a car file."""
    gear = car.gearbox.top_gear
    limiter = car.engine.limiter_rpm * np.pi / 30.0 / car.gearbox.overall_ratio(gear) * car.driven_radius
    speeds = np.linspace(LAUNCH_SPEED, 0.999 * limiter, 400)
    limit = CubicCurve.fit(speeds, full_throttle_force(car, speeds), SPLINE_KNOTS)
    tyres = (car.tyre_front, car.tyre_rear)
    return VehicleModel(
        name=car.name,
        body=load_parameters(car),
        yaw_inertia=car.body.yaw_inertia,
        drag=0.5 * car.aero.air_density * car.aero.drag_area,
        front=_axle_from_car(car.tyre_front, car.drive.differential_front),
        rear=_axle_from_car(car.tyre_rear, car.drive.differential_rear),
        drive_front=car.drive.front_share,
        brake_front=car.brakes.front_share,
        drive_limits=(limit,),
        brake_limit=car.full_brake_force,
        abs=car.brakes.abs,
        top_speed=float(0.99 * limiter),
        max_steer=car.steering.max_angle,
        width=car.body.width,
        grip_guess=min(tyre.mu_y for tyre in tyres),
    )
