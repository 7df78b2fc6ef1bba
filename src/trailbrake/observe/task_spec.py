"""`TaskSpec`: the parts, rewards and ends of a learning task, compiled into what kernels run."""

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from trailbrake.arrays import Array, Rows
from trailbrake.errors import UsageError
from trailbrake.observe.actions import ActionSpec, find_action
from trailbrake.observe.features import REMEMBERED, REPEATS, Feature
from trailbrake.observe.observation_kernels import (
    CURVATURE_TERM,
    NearestCars,
    TaskTables,
    write_features,
    write_nearest_cars,
)
from trailbrake.observe.parts import (
    MAX_SCALED,
    CurvaturePart,
    EdgesPart,
    FeaturePart,
    LinePart,
    NearestCarsPart,
    Part,
    PlanPart,
    ScanPart,
    find_part,
)
from trailbrake.observe.plan_preview import PlanPreview, write_line_preview, write_plan_preview
from trailbrake.observe.rewards import PAST_END, End, Reward, find_end, find_reward
from trailbrake.observe.road_preview import EdgesPreview, write_edges
from trailbrake.state.car_state import WHEEL_NAMES
from trailbrake.tracks.road import Road, RoadPlan

Item = TypeVar("Item")


class PlannedRoad(NamedTuple):
    """A road and, where an observation needs it, the plan of a line and its speeds."""

    road: Road
    plan: RoadPlan | None = None


class TaskSpec:
    """A learning task: what the learner observes, what it is rewarded for, what ends an episode, and its actions.

    Args:
        parts: names or parts; the observation is their numbers in this order.
        rewards: names or rewards; the reward of a step is their sum.
        ends: names or ends; the first whose limit is exceeded ends the episode. PAST_END is always added.
        action: name or kind of the action.

    Attributes:
        parts: the parts.
        slices: the places of each part in an observation.
        width: how many numbers an observation has.
        rewards: the rewards.
        ends: the ends, PAST_END last.
        action: the kind of action.
        scans: the range scanners and the places of their ranges; `write_observations` leaves these to the caller.
        tables: the task as kernels take it, without a time limit.
        low, high: (width,) float32 bounds of an observation.

    Raises:
        UsageError: an unknown name, or nothing to observe.
    """

    def __init__(
        self, parts: Sequence[str | Part], rewards: Sequence[str | Reward] = (), ends: Sequence[str | End] = (),
        action: str | ActionSpec = "steer_pedal",
    ) -> None:  # fmt: skip
        self.parts = tuple(find_part(name) for name in _check_sequence(parts, "observe"))
        self.rewards = tuple(find_reward(name) for name in _check_sequence(rewards, "rewards"))
        self.ends = (*(find_end(name) for name in _check_sequence(ends, "ends")), PAST_END)
        self.action = find_action(action)
        codes: list[tuple[int, int]] = []
        values: list[tuple[float, float]] = []
        slices: list[slice] = []
        self.scans: list[tuple[ScanPart, slice]] = []
        self._edges: list[tuple[EdgesPart, int, Array]] = []
        self._nearest_cars: list[tuple[NearestCarsPart, int]] = []
        self._plan_parts: list[tuple[PlanPart, int]] = []
        place = 0
        for part in self.parts:
            columns = slice(place, place + part.width)
            slices.append(columns)
            if isinstance(part, FeaturePart):
                for i, (row, scale) in enumerate(part.feature_rows):
                    codes.append((row, place + i))
                    values.append((1.0 / scale, 0.0))
            elif isinstance(part, CurvaturePart):
                for i, ahead in enumerate(part.ahead):
                    codes.append((CURVATURE_TERM, place + i))
                    values.append((1.0 / part.scale, float(ahead)))
            elif isinstance(part, EdgesPart):
                self._edges.append((part, place, np.array(part.ahead, np.float64)))
            elif isinstance(part, NearestCarsPart):
                self._nearest_cars.append((part, place))
            elif isinstance(part, PlanPart):
                self._plan_parts.append((part, place))
            else:
                self.scans.append((part, columns))
            place += part.width
        if place == 0:
            raise UsageError("nothing to observe", where="observe", expected="at least one part")
        self.width, self.slices, feature_count = place, tuple(slices), len(codes)
        codes += [(int(r.feature), 0) for r in self.rewards] + [(int(e.feature), 0) for e in self.ends]
        values += [(r.weight, 0.0) for r in self.rewards] + [(e.limit, e.reward) for e in self.ends]
        self.tables = TaskTables(
            np.array(codes, np.int64).reshape(-1, 2), np.array(values, np.float64).reshape(-1, 2), feature_count,
            len(self.rewards), math.inf, any(
                isinstance(part, FeaturePart) and REMEMBERED & set(part.features) for part in self.parts),
        )  # fmt: skip
        low, high = np.full(place, -MAX_SCALED, np.float32), np.full(place, MAX_SCALED, np.float32)
        for _, columns in self.scans:
            low[columns], high[columns] = 0.0, 1.0
        self.low, self.high = low, high

    @property
    def observation_needs(self) -> frozenset[str]:
        """Names of the STATE_FIELDS that observations need."""
        return frozenset().union(*(part.needs for part in self.parts))

    @property
    def number_names(self) -> tuple[str, ...]:
        """A name for each number of an observation: its part with its feature, or with its place in the part."""
        names: list[str] = []
        for part in self.parts:
            if isinstance(part, FeaturePart):
                names += [f"{part.name}.{_feature_name(row)}" for row, _ in part.feature_rows]
            else:
                names += [f"{part.name}[{i}]" for i in range(part.width)]
        return tuple(names)

    @property
    def has_only_features(self) -> bool:
        """Whether `write_features` alone writes whole observations."""
        return not (self.scans or self._edges or self._nearest_cars or self._plan_parts)

    @property
    def needs_plan(self) -> bool:
        """Whether observations need a `RoadPlan`."""
        return bool(self._plan_parts)

    def write_observations(
        self, features: Array, road: PlannedRoad, out: Rows, group_size: int, lo: int, hi: int
    ) -> None:
        """Write the observations of the cars `lo`..`hi` - 1, without scans.

        Args:
            features: (Feature.COUNT, n or more), all rows up to date.
            road: the road, with its plan where `needs_plan`.
            out: (n, width) float32 written.
            group_size: number of consecutive cars that share a world.
            lo: first car.
            hi: last car + 1.
        """
        write_features(features, self.tables, road.road.kernel_table, out, lo, hi)
        self.write_other_parts(features, road, out, group_size, lo, hi)

    def write_other_parts(
        self, features: Array, road: PlannedRoad, out: Rows, group_size: int, lo: int, hi: int
    ) -> None:
        """Write the parts that `write_features` does not write, without scans; arguments as `write_observations`."""
        table = road.road.kernel_table
        for edges, place, ahead in self._edges:
            preview = EdgesPreview(table, ahead, float(edges.scale), place, MAX_SCALED)
            write_edges(features, preview, out, lo, hi)
        for part, place in self._nearest_cars:
            nearest = NearestCars(group_size, part.count, float(part.reach), place)
            write_nearest_cars(features, nearest, out, lo, hi)
        for plan_part, place in self._plan_parts:
            if road.plan is None:
                raise UsageError("this observation needs a plan of the road", where="observe", expected="a known car")
            times = np.array(plan_part.ahead, np.float64)
            ahead_of_cars = PlanPreview(table, road.plan, times, place, MAX_SCALED)
            write = write_line_preview if isinstance(plan_part, LinePart) else write_plan_preview
            write(features, ahead_of_cars, out, lo, hi)


def _check_sequence(names: Sequence[Item], where: str) -> Sequence[Item]:
    if isinstance(names, str):
        raise UsageError("one name instead of several", where=where, expected=f"({names!r},)", got=repr(names))
    return names


def _feature_name(row: int) -> str:
    feature = max(member for member in Feature if member <= row)
    name, count, place = feature.name.lower(), REPEATS.get(feature, 1), row - feature
    return name if count == 1 else f"{name}_{WHEEL_NAMES[place] if count == len(WHEEL_NAMES) else place + 1}"
