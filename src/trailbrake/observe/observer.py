"""`Observer`: the observations of a learner from the states that a simulator's wire tells."""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.cars.params import CarParams
from trailbrake.errors import UsageError
from trailbrake.observe.columns import Seen
from trailbrake.observe.derive import ask, begin, derive
from trailbrake.observe.fill import judge
from trailbrake.observe.program import Program
from trailbrake.state import CarState, Controls
from trailbrake.tracks.columns import Column
from trailbrake.tracks.frenet import at, locate
from trailbrake.tracks.road import Road
from trailbrake.units import RPM, G

Array = NDArray[np.float64]
Rows = NDArray[np.float32]

MOST_OTHERS = 63


class Observer:
    """Sees one car through `CarState`, step by step, as the environments see theirs.

    Args:
        program: what to observe, and what to judge by.
        road: the road that is driven.
        car: the car that is driven: full lock, limiter and weight.
        supplies: names of STATE_FIELDS that the states fill; None where that is not known.

    Raises:
        UsageError: the program needs what the states do not tell, or a scanner, which has walls to look at.
    """

    def __init__(self, program: Program, road: Road, car: CarParams, supplies: frozenset[str] | None = None) -> None:
        if program.scans:
            names = ", ".join(scan.name for scan, _ in program.scans)
            raise UsageError("states hold no scans", where="observe", expected="parts without a scanner", got=names)
        missing = sorted(program.needs - supplies) if supplies is not None else []
        if missing:
            raise UsageError("the simulator does not supply what is observed", where="observe", got=", ".join(missing))
        self.program, self.road = program, road
        self._lock = car.steering.max_angle * car.steering.ratio
        self._limiter = car.engine.limiter_rpm * RPM
        self._quarter = 0.25 * car.body.mass * G
        self._seen: Array = np.zeros((Seen.COUNT, 1 + MOST_OTHERS))
        self._first = np.zeros(1, np.int64)
        self._reward, self._ended = np.zeros(1), np.zeros(1, np.int64)
        self.reset()

    def reset(self) -> None:
        """Begin anew: the next state is the first."""
        begin(self._seen, self._first)
        self._row = -1
        self._time = math.nan

    def controls(self, action: NDArray[np.floating]) -> Controls:
        """Return what an action (width,) means; it also counts as what was asked for until the next one.

        Raises:
            UsageError: a value that is no number or outside its range, or the wrong number of them.
        """
        how = self.program.action
        values = np.asarray(action, np.float64)
        if values.shape != (how.width,) or not ((values >= how.low) & (values <= how.high)).all():
            expected = f"{how.width} numbers, {how.low} .. {how.high}"
            raise UsageError("no such action", where="action", expected=expected, got=str(action))
        steer = float(values[how.steer])
        throttle, brake = (max(sign * float(values[index]), 0.0) for index, sign in (how.throttle, how.brake))
        ask(self._seen, 0, steer, throttle, brake)
        return Controls(steer=steer, throttle=throttle, brake=brake)

    def observe(self, state: CarState) -> Rows:
        """Return the observation (width,) of a new state."""
        seen, road = self._seen, self.road
        s, offset, self._row = locate(road.table, road.spacing, road.closed, state.x, state.y, self._row)
        yaw = at(road.table, road.spacing, road.closed, s, Column.YAW)
        curvature = at(road.table, road.spacing, road.closed, s, Column.CURVATURE)
        wheels = state.wheels
        seen[: Seen.SIN_HEADING, 0] = (
            state.x, state.y, state.yaw, state.velocity_x, state.velocity_y, state.yaw_rate, state.acceleration_x,
            state.acceleration_y, state.steering_wheel_angle / self._lock, state.throttle, state.brake,
            state.engine_speed / self._limiter, math.nan if state.gear is None else state.gear,
            *(wheel.combined_slip for wheel in wheels), *(wheel.load / self._quarter for wheel in wheels),
            *(wheel.on_track for wheel in wheels), state.contacts, s, offset, state.yaw - yaw, curvature,
        )  # fmt: skip
        near = state.others[:MOST_OTHERS]
        for k, other in enumerate(near, 1):
            c, sn = math.cos(other.yaw), math.sin(other.yaw)
            vx, vy = other.velocity_x, other.velocity_y
            seen[: Seen.VELOCITY_Y + 1, k] = (other.x, other.y, other.yaw, c * vx + sn * vy, c * vy - sn * vx)
        dt = state.time - self._time
        self._time = state.time
        derive(seen, road.table, road.spacing, road.closed, dt if dt > 0.0 else 0.0, 0, 1)
        out = np.zeros((1, self.program.width), np.float32)
        self.program.write(seen, road, out, 1 + len(near), 0, 1)
        row: Rows = out[0]
        return row

    def judge(self, limit: float = math.inf) -> tuple[float, int]:
        """Return the reward of the newest state and why it ends the episode: see `fill.judge`.

        Args:
            limit: s since the first state at which an episode is cut off.
        """
        program = self.program
        judge(self._seen, program.codes, program.values, program.terms, len(program.rewards), limit, self._reward,
              self._ended, 0, 1)  # fmt: skip
        return float(self._reward[0]), int(self._ended[0])

    def value(self, row: Seen) -> float:
        """Return the newest value of a row of `Seen`."""
        return float(self._seen[row, 0])
