"""Where along a line an open rear wing and an electric motor help, and what they add to the engine's pull.

A joule that the motor gives makes the car faster up to the next bend that it brakes for. What that saves is most behind
slow bends and before long straights; a lap's energy goes to where a joule saves most, all of the motor's power at a
time (the optimum of Limebeer, Perantoni and Rao, "Optimal control of Formula One car energy recovery systems",
International Journal of Control 87:10, 2014, is such a switching one). Where the tyres limit the car, it saves nothing.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.cars.drivetrain import Hybrid
from trailbrake.cars.ggv_envelope import Envelope, motor_force, wing_relief
from trailbrake.kernels import jit
from trailbrake.planning.course import GRIP_MARGIN, Course, path_shapes
from trailbrake.planning.speed_profile import (
    ProfileSettings,
    SpeedProfile,
    compute_profile,
    interpolate_speed,
    interpolate_speed_share,
    lateral_demand,
    reachable_speed,
    shape_between,
)
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn

ROUNDS = 4  # of speeds and of where the motor gives: one decides the other
WING_SHARE = 0.3  # of the lateral limit, up to which a car does without the downforce of its wing
SPEED_STEP = 0.1  # m/s, of a derivative
FREE_SHARE = 1.0 - 1e-9  # of the speed that the drive reaches, from which nothing else limits it
FULL_THROTTLE = 0.99  # from which wing and motor help: below it the tyres or the plan limit the car
Rows = NDArray[np.bool_]


class AidPlan(NamedTuple):
    """A plan of wing and motor along the rows of a line.

    Attributes:
        wing: (n,) where it is open.
        motor: (n,) 1, share of the motor's power.
        relief, most: (n,) m/s^2, what the wing adds, and what all of the motor's power would.
        worth: (n,) s/J, what a joule of the motor saves there.
        cost: (n,) J, of a row at all of its power.
        profile: the speeds.
    """

    wing: Rows
    motor: Array
    relief: Array
    most: Array
    worth: Array
    cost: Array
    profile: SpeedProfile


def find_wing_rows(course: Course, line: Road) -> Rows:
    """Return which rows (n,) of a line are in zones of the track, for a car that has such a wing."""
    zones = course.track.drs_zones if course.known_car().aero.has_drs else ()
    places = course.track.road.locate_many(line.table[:, [RoadColumn.X, RoadColumn.Y]])[:, 0].tolist()
    return np.array([any(zone.contains(s) for zone in zones) for s in places])


def choose_rows(worth: Array, cost: Array, energy: float) -> Array:
    """Return the share (n,) of its power that the motor gives: 1 where a joule saves most, up to `energy` (J)."""
    order = np.argsort(-worth, kind="stable")
    spent = np.cumsum(np.where(worth > 0.0, cost, np.inf)[order])
    motor = np.zeros(len(worth))
    motor[order[spent <= energy]] = 1.0
    return motor


def plan_aids(course: Course, line: Road, energy: float, *, is_constant: bool = False) -> AidPlan:
    """Return the plan of a lap (flying; of an open line from rest) for which the motor has `energy` (J).

    Args:
        course: with a known car.
        line: the path.
        energy: J, of a lap.
        is_constant: whether the motor gives the same power wherever the engine limits the car, for comparison.
    """
    car, limits, rows = course.known_car(), course.envelope, path_shapes(line)
    in_zone, mass = find_wing_rows(course, line), car.body.mass
    motor: Array = np.zeros(len(rows))
    power = 0.0 if car.hybrid is None else car.hybrid.power
    start = -1.0 if line.closed else 0.0
    profile = compute_profile(rows, line.spacing, line.closed, limits, start=start, margin=GRIP_MARGIN)
    for _ in range(ROUNDS):
        speed = np.maximum(profile.speed, 1.0)
        wing = in_zone & (profile.grip < WING_SHARE)
        relief, most = wing * wing_relief(car, speed) / mass, motor_force(car, speed) / mass
        cost = power * line.spacing / speed
        gain, room = np.zeros(len(rows)), np.zeros(len(rows))
        fill_gains(rows, ProfileSettings(line.spacing, line.closed, start, GRIP_MARGIN), limits, speed, (gain, room))
        worth = np.where(room >= most + relief, 2.0 * most * line.spacing * gain, 0.0) / np.maximum(cost, 1e-9)
        if is_constant:
            helped = worth > 0.0
            motor = np.where(helped, min(energy / max(float(cost[helped].sum()), 1e-9), 1.0), 0.0)
        else:
            motor = choose_rows(worth, cost, energy)
        rows[:, -1] = relief + motor * most
        profile = compute_profile(rows, line.spacing, line.closed, limits, start=start, margin=GRIP_MARGIN)
    return AidPlan(wing, motor, relief, most, worth, cost, profile)


@jit
def fill_gains(rows: Array, settings: ProfileSettings, limits: Envelope, v: Array, out: tuple[Array, Array]) -> None:
    """Fill in what more speed is worth along a line, and what the tyres leave over the engine's pull.

    Args:
        rows: (n, 6) the `PathShape` of each row, with what pushes now.
        settings: of the profile.
        limits: of the car.
        v: (n,) m/s, of the profile.
        out: (n,) s^3/m^2, time that more squared speed at the next row saves up to where something other than the
            drive limits the car; and (n,) m/s^2, by which the tyres allow more than the engine pulls.
    """
    gain, room = out
    spacing, closed, _, margin = settings
    n, after = rows.shape[0], 0.0
    for k in range(2 * n if closed else n - 1):
        i = (n - 1 - k) % n if closed else n - 2 - k
        j = (i + 1) % n
        shape = shape_between(rows, i, j)
        reached = reachable_speed(v[i], shape, spacing, limits, margin)
        need, factor = lateral_demand(v[i], shape, limits)
        share = abs(need) / (factor * interpolate_speed(limits.lateral, limits.speeds, v[i])) / margin
        traction = interpolate_speed_share(limits.traction, limits.speeds, v[i], share) * factor * margin
        room[i] = traction - interpolate_speed_share(limits.pull, limits.speeds, v[i], share)
        # `after`: what more squared speed at row j saves; nothing where row j cannot be reached any faster.
        after = after if v[j] >= FREE_SHARE * reached else 0.0
        gain[i] = after
        faster = reachable_speed(v[i] + SPEED_STEP, shape, spacing, limits, margin)
        kept = (faster**2 - reached**2) / ((v[i] + SPEED_STEP) ** 2 - v[i] ** 2)
        after = spacing / (2.0 * v[i] ** 3) + kept * after


class PowerAids:
    """Uses wing and motor along a line, and counts the energy that a car without gauges has left.

    Each lap gets what the store holds at its begin, up to what the car's file allows; what it recovers is for the next.

    Args:
        course: with a known car.
        line: the path.
        shapes: tables of `PathShape` rows (n, 6), into which what pushes in this lap is written.

    Attributes:
        profile: speeds of the first lap.
    """

    def __init__(self, course: Course, line: Road, shapes: Sequence[Array]) -> None:
        car = course.known_car()
        self._hybrid: Hybrid | None = car.hybrid
        self._brake_force = car.driven_brake_force
        self._charge = 0.0 if self._hybrid is None else self._hybrid.capacity * self._hybrid.start
        self._shapes, self._row = shapes, 0
        self._plan = plan = plan_aids(course, line, self._find_energy())
        self.profile = plan.profile
        self._begin_lap(plan.motor)

    def _find_energy(self) -> float:
        return 0.0 if self._hybrid is None else min(self._charge, self._hybrid.deployed_per_lap)

    def _begin_lap(self, motor: Array) -> None:
        self._motor, self._recovered = motor, 0.0
        for table in self._shapes:
            table[:, -1] = self._plan.relief + motor * self._plan.most

    def choose(self, row: int, throttle: float, brake: float, speed: float, dt: float) -> tuple[float, float]:
        """Return how far the wing is open and the motor's share of its power; count what dt (s) takes and gives.

        Args:
            row: of the line.
            throttle: 0..1, that goes with it.
            brake: 0..1, the same.
            speed: m/s, of the car.
            dt: s.
        """
        if row < self._row - len(self._motor) // 2:
            self._begin_lap(choose_rows(self._plan.worth, self._plan.cost, self._find_energy()))
        self._row, most = row, self._hybrid
        is_full = throttle >= FULL_THROTTLE
        boost = self._motor.item(row) if is_full and self._charge > 0.0 else 0.0
        if most is not None:
            gained = min(brake * self._brake_force * speed, most.recharge) * dt
            gained = min(gained, most.recovered_per_lap - self._recovered)
            self._recovered += gained
            self._charge = min(self._charge + gained - boost * most.power * dt, most.capacity)
        return float(is_full and self._plan.wing.item(row)), boost
