"""`StateObserver`: the observations of a learner from the states that a simulator supplies."""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array, Rows
from trailbrake.cars.params import CarParams
from trailbrake.errors import UsageError
from trailbrake.observe.derived_features import derive_features, record_command, reset_features
from trailbrake.observe.features import Feature
from trailbrake.observe.felt_features import remember_step
from trailbrake.observe.observation_kernels import compute_rewards
from trailbrake.observe.task_spec import PlannedRoad, TaskSpec
from trailbrake.state import CarState, Controls
from trailbrake.tracks.road import Road, RoadPlan
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.units import RPM, G

MAX_OTHER_CARS = 63  # of one state that are observed


class StateObserver:
    """Observes one car through `CarState`, step by step; the observations are those of the environments.

    Args:
        task: what to observe, and its rewards and ends.
        road: the road that the car drives on.
        car: the car: its full lock, limiter and weight scale the observations.
        supplies: names of STATE_FIELDS that the states fill; None where that is not known.
        plan: a line and its speeds at the rows of the road, where the task needs one.

    Raises:
        UsageError: the task needs fields that the states do not have, a plan that is not given, or a range scanner,
            which needs walls.
    """

    def __init__(
        self,
        task: TaskSpec,
        road: Road,
        car: CarParams,
        supplies: frozenset[str] | None = None,
        plan: RoadPlan | None = None,
    ) -> None:
        if task.scans:
            names = ", ".join(scan.name for scan, _ in task.scans)
            raise UsageError("states hold no scans", where="observe", expected="parts without a scanner", got=names)
        missing = sorted(task.observation_needs - supplies) if supplies is not None else []
        if missing:
            raise UsageError("the simulator does not supply what is observed", where="observe", got=", ".join(missing))
        if task.needs_plan and plan is None:
            raise UsageError("this observation needs a plan of the road", where="observe", expected="a known car")
        self.task, self.road = task, road
        self._planned_road = PlannedRoad(road, plan)
        self._full_lock = car.steering.max_angle * car.steering.ratio
        self._limiter = car.engine.limiter_rpm * RPM
        self._quarter_weight = 0.25 * car.body.mass * G
        self._features: Array = np.zeros((Feature.COUNT, 1 + MAX_OTHER_CARS))
        self._own_car = np.zeros(1, np.int64)
        self._reward, self._end = np.zeros(1), np.zeros(1, np.int64)
        self.reset()

    def reset(self) -> None:
        """Start an episode: the next state is its first."""
        reset_features(self._features, self._own_car)
        self._road_row = -1
        self._time = math.nan

    def decode_action(self, action: NDArray[np.floating]) -> Controls:
        """Return the controls of an action (width,) and record them as the commanded controls until the next action.

        Raises:
            UsageError: a value that is NaN or out of its range, or the wrong number of values.
        """
        spec = self.task.action
        values = np.asarray(action, np.float64)
        if values.shape != (spec.width,) or not ((values >= spec.low) & (values <= spec.high)).all():
            expected = f"{spec.width} numbers, {spec.low} .. {spec.high}"
            raise UsageError("no such action", where="action", expected=expected, got=str(action))
        steer = spec.steer_gain * float(values[spec.steer])
        throttle, brake = (max(sign * float(values[index]), 0.0) for index, sign in (spec.throttle, spec.brake))
        record_command(self._features, 0, steer, throttle, brake)
        return Controls(steer=steer, throttle=throttle, brake=brake)

    def observe(self, state: CarState) -> Rows:
        """Return the observation (width,) of a new state."""
        features, road = self._features, self.road
        s, offset, self._road_row = road.locate(state.x, state.y, self._road_row)
        values = {
            Feature.X: state.x,
            Feature.Y: state.y,
            Feature.YAW: state.yaw,
            Feature.VELOCITY_X: state.velocity_x,
            Feature.VELOCITY_Y: state.velocity_y,
            Feature.YAW_RATE: state.yaw_rate,
            Feature.ACCELERATION_X: state.acceleration_x,
            Feature.ACCELERATION_Y: state.acceleration_y,
            Feature.STEER: state.steering_wheel_angle / self._full_lock,
            Feature.THROTTLE: state.throttle,
            Feature.BRAKE: state.brake,
            Feature.ENGINE: state.engine_speed / self._limiter,
            Feature.GEAR: math.nan if state.gear is None else state.gear,
            Feature.CONTACTS: state.contacts,
            Feature.S: s,
            Feature.OFFSET: offset,
            Feature.HEADING: state.yaw - road.value_at(s, RoadColumn.YAW),
            Feature.CURVATURE: road.value_at(s, RoadColumn.CURVATURE),
        }
        for row, value in values.items():
            features[row, 0] = value
        for i, wheel in enumerate(state.wheels):
            features[Feature.SLIP + i, 0] = wheel.combined_slip
            features[Feature.LOAD + i, 0] = wheel.load / self._quarter_weight
            features[Feature.ON_TRACK + i, 0] = wheel.on_track
        others = state.others[:MAX_OTHER_CARS]
        for car, other in enumerate(others, 1):
            cosine, sine = math.cos(other.yaw), math.sin(other.yaw)
            features[Feature.X, car], features[Feature.Y, car], features[Feature.YAW, car] = other.x, other.y, other.yaw
            features[Feature.VELOCITY_X, car] = cosine * other.velocity_x + sine * other.velocity_y
            features[Feature.VELOCITY_Y, car] = cosine * other.velocity_y - sine * other.velocity_x
        dt = state.time - self._time
        self._time = state.time
        dt = dt if dt > 0.0 else 0.0
        derive_features(features, road.kernel_table, dt, 0, 1)
        if self.task.tables.remembers:
            remember_step(features, dt, 0, 1)
        out = np.zeros((1, self.task.width), np.float32)
        self.task.write_observations(features, self._planned_road, out, 1 + len(others), 0, 1)
        observation: Rows = out[0]
        return observation

    def compute_reward(self, time_limit: float = math.inf) -> tuple[float, int]:
        """Return the reward of the newest state and its end, as `observation_kernels.compute_rewards` codes it.

        Args:
            time_limit: s since the first state, at which the episode is truncated.
        """
        tables = self.task.tables._replace(time_limit=time_limit)
        compute_rewards(self._features, tables, self._reward, self._end, 0, 1)
        return float(self._reward[0]), int(self._end[0])

    def feature_value(self, feature: Feature) -> float:
        """Return a feature of the newest state."""
        return float(self._features[feature, 0])
