"""An independent model beside the world: multi-body and drift single-track of commonroad-vehicle-models."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from trailbrake.world.row_layout import AxleRow, StateRow
from world_validation import bmw
from world_validation.case import Array
from world_validation.driving import Field

SECONDS = 5.0
STEP = 0.002  # s, of all three
Steer = Callable[[float], float]


@dataclass(frozen=True)
class Manoeuvre:
    """What is asked of both models.

    Attributes:
        name: of the manoeuvre.
        speed: m/s at the start.
        steer: road-wheel angle (rad) over time (s), positive to the left.
        push: acceleration (m/s^2) over time that the wheels' torques are worth, m r a in all.
    """

    name: str
    speed: float
    steer: Steer
    push: Steer = lambda t: 0.0


@dataclass(frozen=True, eq=False)
class Trace:
    """Over time (n,): speed m/s, yaw rate rad/s, slip angle of the centre of mass rad, lateral acceleration m/s^2."""

    time: Array
    speed: Array
    rate: Array
    slip: Array

    @property
    def aside(self) -> Array:
        """Lateral acceleration (n,), m/s^2: yaw rate times speed and the change of the slip angle."""
        change: Array = self.speed * (self.rate + np.gradient(self.slip, self.time))
        return change


def ours(theirs: Any, m: Manoeuvre) -> Trace:
    """Drive the world's car."""
    car = bmw.car(theirs)
    field = Field([car], [m.speed], dt=STEP / 8, substeps=8)
    mass, radius = theirs.m, float(field.param(AxleRow.RADIUS)[0])
    split = 0.5 * np.array([theirs.T_sb, theirs.T_sb, 1.0 - theirs.T_sb, 1.0 - theirs.T_sb])
    rear = np.array([0.0, 0.0, 0.5, 0.5])
    rows = []
    for k in range(round(SECONDS / STEP)):
        middle = (k + 0.5) * STEP
        torque = mass * radius * m.push(middle)
        field.steer(m.steer(middle))
        field.torques(rear * max(torque, 0.0), split * max(-torque, 0.0))
        field.step()
        vx, vy = float(field[StateRow.VX][0]), float(field[StateRow.VY][0])
        rows.append([(k + 1) * STEP, math.hypot(vx, vy), float(field[StateRow.YAW_RATE][0]), math.atan2(vy, vx)])
    return Trace(*np.array(rows).T)


def _march(derivative: Callable[[list[float], list[float]], list[float]], start: list[float], m: Manoeuvre) -> Array:
    """Integrate by the classical Runge-Kutta rule; return the states (n + 1, states)."""
    states = [np.array(start, np.float64)]
    x = states[0]
    for k in range(round(SECONDS / STEP)):
        t = k * STEP
        u = [(m.steer(t + STEP) - m.steer(t)) / STEP, m.push(t + 0.5 * STEP)]
        a = np.array(derivative(x.tolist(), u))
        b = np.array(derivative((x + 0.5 * STEP * a).tolist(), u))
        c = np.array(derivative((x + 0.5 * STEP * b).tolist(), u))
        d = np.array(derivative((x + STEP * c).tolist(), u))
        x = x + STEP / 6.0 * (a + 2.0 * b + 2.0 * c + d)
        states.append(x)
    return np.array(states)


def multi_body(theirs: Any, m: Manoeuvre) -> Trace:
    """Drive the multi-body model of 29 states."""
    from vehiclemodels.init_mb import init_mb
    from vehiclemodels.vehicle_dynamics_mb import vehicle_dynamics_mb

    start = init_mb([0.0, 0.0, m.steer(0.0), m.speed, 0.0, 0.0, 0.0], theirs)
    states = _march(lambda x, u: list(vehicle_dynamics_mb(x, u, theirs)), start, m)[1:]
    # Of the whole car's centre: their states have the sprung mass's own speed to the side, which swings with roll.
    vx, vy = (
        states[:, 3],
        (theirs.m_s * states[:, 10] + theirs.m_uf * states[:, 15] + theirs.m_ur * states[:, 20]) / theirs.m,
    )
    return Trace(STEP * np.arange(1, len(states) + 1), np.hypot(vx, vy), states[:, 5], np.arctan2(vy, vx))


def single_track(theirs: Any, m: Manoeuvre) -> Trace:
    """Drive the drift single-track model of 9 states."""
    from vehiclemodels.init_std import init_std
    from vehiclemodels.vehicle_dynamics_std import vehicle_dynamics_std

    start = init_std([0.0, 0.0, m.steer(0.0), m.speed, 0.0, 0.0, 0.0], theirs)
    states = _march(lambda x, u: list(vehicle_dynamics_std(x, u, theirs)), start, m)[1:]
    return Trace(STEP * np.arange(1, len(states) + 1), states[:, 3], states[:, 5], states[:, 6])


@cache
def parameters(as_published: bool = False) -> Any:
    """Return their parameters, read once."""
    return bmw.parameters(as_published=as_published)


def ramp(angle: float, rate: float = 0.3) -> Steer:
    """Return the steer that goes to `angle` (rad) at `rate` (rad/s) from 0.5 s on."""
    return lambda t: math.copysign(min(max(t - 0.5, 0.0) * rate, abs(angle)), angle)


def sine(angle: float, frequency: float, periods: float) -> Steer:
    """Return `periods` of a sine of `angle` (rad) and `frequency` (Hz) from 0.5 s on."""
    end = periods / frequency

    def steer(t: float) -> float:
        u = t - 0.5
        return angle * math.sin(2.0 * math.pi * frequency * u) if 0.0 < u < end else 0.0

    return steer


class Similarity:
    """Their model with our way to combine slips: one curve over the length of the normalised slip vector.

    Stands in for their `tire_model`; what it is called with and returns is theirs. The pure longitudinal "force"
    carries the load, which their combination is not told.
    """

    def __init__(self, theirs: Any) -> None:
        tyre = bmw.car(theirs).tyre_front
        self._mu = tyre.mu_x, tyre.mu_y
        self._peaks = tyre.peak_slip_ratio, math.tan(tyre.peak_slip_angle)
        self._curve = tyre.stiffness_factor, tyre.shape, tyre.curvature

    def formula_longitudinal(self, kappa: float, gamma: float, load: float, law: Any) -> float:
        """Return the load (N)."""
        return load

    def formula_lateral(self, alpha: float, gamma: float, load: float, law: Any) -> list[float]:
        """Return the load (N) and nothing of use."""
        return [load, 0.0]

    def formula_longitudinal_comb(self, kappa: float, alpha: float, load: float, law: Any) -> float:
        """Return the longitudinal force (N); kappa > 0 brakes."""
        return self._share(kappa, alpha, load) * self._mu[0] * -kappa / self._peaks[0]

    def formula_lateral_comb(
        self, kappa: float, alpha: float, gamma: float, friction: float, load: float, pure: float, law: Any
    ) -> float:
        """Return the lateral force (N)."""
        return self._share(kappa, alpha, load) * self._mu[1] * -math.tan(alpha) / self._peaks[1]

    def _share(self, kappa: float, alpha: float, load: float) -> float:
        slip = math.hypot(kappa / self._peaks[0], math.tan(alpha) / self._peaks[1])
        b, c, e = self._curve
        x = b * slip
        return load * math.sin(c * math.atan(x - e * (x - math.atan(x)))) / max(slip, 1e-12)


def multi_body_by_similarity(theirs: Any, m: Manoeuvre) -> Trace:
    """Drive the multi-body model with its tyres' slips combined as ours are: what is left is not the tyre's."""
    from vehiclemodels import vehicle_dynamics_mb as module

    own = module.tireModel
    module.tireModel = Similarity(theirs)
    try:
        return multi_body(theirs, m)
    finally:
        module.tireModel = own
