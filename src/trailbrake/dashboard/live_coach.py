"""`LiveCoach`: a person's lap under way against the target laps, by place. No clock, no input or output.

`LocatedTarget`: the target laps along the road that is driven: times at a place, the next braking point, the next hint.
The page counts down and beeps: `pages/assets/live/coach.js`.
"""

import math
from typing import Any

import numpy as np

from trailbrake.arrays import Array
from trailbrake.coaching.target_laps import STEP, TargetLaps, join_best_sections
from trailbrake.dashboard.coach_choice import CoachChoice
from trailbrake.dashboard.lap_follower import GHOST_INDEX, LapFollower, LapPace, LapPath, find_corner_spans
from trailbrake.laps import MOVING_SPEED, LapRecord
from trailbrake.planning.spline import resample_path
from trailbrake.state import CarState, OtherCar
from trailbrake.tracks.road import Road

BATTLE_S, BATTLE_M = 1.0, 15.0  # at this speed, and at least, within which another car is near
OTHER_ROAD_M, OTHER_ROAD_S = 40.0, 15.0  # from the road, and for how long driven, from which it is another one
LEAST_STEP = 0.5  # m between the points of a path that becomes a road
GHOST_HEIGHT = 0.5  # m of a centre of mass above the road
LIMIT_NUMBER = 100_000  # of the limit lap's ghost: no lap has it


class LocatedTarget:
    """Target laps along a road.

    Args:
        road: that is driven.
        target: None: the best sections of this session alone.

    Attributes:
        places: (n,) m along the road, rising.
        times: (n,) s at these places, by lap: "best", "ideal", "limit".
        borders: indices of places between which the sections are.
        paths: laps that a ghost can drive, "best" and "limit".
    """

    def __init__(self, road: Road, target: TargetLaps | None) -> None:
        self._length = road.length if road.closed else math.inf
        self.times: dict[str, Array] = {}
        self.paths: dict[str, LapPath] = {}
        self._apexes: Array = np.empty(0)
        self._brakes: dict[str, Array] = {}
        if target is None:
            self.places = np.linspace(0.0, road.length, max(int(road.length / STEP), 2) + 1)
            marks = [0.0, *(span.end for span in find_corner_spans(road)), road.length]
        else:
            self.places = _locate_line(road, np.column_stack([target.x, target.y]))
            self.times = {name: np.array(times) for name, times in target.times.items()}
            along = [corner.end for corner in target.corners]
            marks = [self.places[0], *np.interp(along, target.s, self.places), self.places[-1]]
            self._apexes = np.interp([corner.apex for corner in target.corners], target.s, self.places)
            for name in self.times:
                points = [corner.brakes[name] for corner in target.corners if name in corner.brakes]
                self._brakes[name] = np.interp(points, target.s, self.places)
            line = np.column_stack([target.x, target.y])
            self.paths["best"] = self._make_path(road, 0, "best", line)
            if "limit" in self.times:
                self.paths["limit"] = self._make_path(road, LIMIT_NUMBER, "limit", np.array(target.limit_path))
        last = len(self.places) - 1
        self.borders: list[int] = np.unique(np.searchsorted(self.places, marks).clip(0, last)).tolist()

    def _make_path(self, road: Road, number: int, name: str, points: Array) -> LapPath:
        clock, n = self.times[name], len(self.places)
        steps = np.gradient(points, axis=0)
        places = road.locate_many(points)
        heights = road.points(places[:, 0], places[:, 1])[:, 2] + GHOST_HEIGHT
        speed = np.hypot(*steps.T) / np.maximum(np.gradient(clock), 1e-3)
        yaw = np.arctan2(steps[:, 1], steps[:, 0])
        columns = (clock, self.places, points[:, 0], points[:, 1], heights, yaw, speed, np.full(n, math.nan))
        return LapPath.from_samples(number, float(clock[-1]), np.column_stack(columns))

    def time_lap(self, lap: LapPath) -> Array:
        """Return the times (n,) of a whole lap at the places, s."""
        clock, distance = lap.samples[:, 0], lap.samples[:, 1]
        inside = (distance > self.places[0]) & (distance < self.places[-1])
        times: Array = np.interp(self.places, [self.places[0], *distance[inside], self.places[-1]],
                                 [0.0, *clock[inside], lap.time_s])  # fmt: skip
        return times

    def measure_pace(self, pace: LapPace, clock: float, speed: float) -> LapPace:
        """Return a pace with what is known at its distance.

        Args:
            pace: of the lap under way.
            clock: s since its start.
            speed: m/s.
        """
        at = pace.lap_distance
        behind = {name: clock - float(np.interp(at, self.places, times, math.nan, math.nan))
                  for name, times in self.times.items()}  # fmt: skip
        ahead = self._apexes + np.where(self._apexes > at, 0.0, self._length)
        return LapPace(
            at, pace.delta, behind.get("ideal", math.nan), behind.get("limit", math.nan),
            self._find_braking("best", at, speed), self._find_braking("limit", at, speed),
            float(np.argmin(ahead)) if len(ahead) and np.isfinite(at + ahead.min()) else math.nan,
        )  # fmt: skip

    def _find_braking(self, name: str, at: float, speed: float) -> float:
        """Return the s until the next braking point of a lap at this speed; NaN without one, and at rest."""
        points = self._brakes.get(name, np.empty(0))
        if not len(points) or not speed > MOVING_SPEED or not math.isfinite(at):
            return math.nan
        way = float((points + np.where(points > at, 0.0, self._length) - at).min())
        return way / speed if math.isfinite(way) else math.nan


def _locate_line(road: Road, points: Array) -> Array:
    """Return the m along a road, rising, of points (n, 2) in driving order."""
    places = road.locate_many(points)[:, 0]
    if road.closed:
        places = np.unwrap(places, period=road.length)
        places -= road.length * round(float(places[0]) / road.length)
    rising: Array = np.maximum.accumulate(places)
    return rising


def is_battle(state: CarState) -> bool:
    """Return whether another car is so near that the coach is silent."""
    near = max(BATTLE_M, BATTLE_S * state.speed)
    return any(math.dist((state.x, state.y), (car.x, car.y)) < near for car in state.others if car.index < GHOST_INDEX)


class LiveCoach(LapFollower):
    """Follows the laps of a person, and measures them against the target.

    The best lap and the best sections are those of the target until this session has better ones. Without a road, the
    path of the first whole lap is the road, so that later laps compare by place.

    Args:
        road: the track; None where it is not known.
        choice: the target.

    Attributes:
        is_elsewhere: the car has been driven far from the road of the target for a while.
    """

    def __init__(self, road: Road | None, choice: CoachChoice) -> None:
        super().__init__(road)
        self.is_elsewhere = False
        self._target = LocatedTarget(road, choice.target) if road is not None else None
        self._ideals: list[Array | None] = []  # the best sections together before each finished lap
        self._away_s, self._time = 0.0, math.nan
        if self._target is not None:
            self.best = self._target.paths.get("best")

    def add_sample(self, state: CarState, clock: float) -> int:
        """Follow a sample; arguments and result are those of `LapFollower.add_sample`."""
        undone = super().add_sample(state, clock)
        for ideal in [self._ideals.pop() for _ in range(min(undone, len(self._ideals)))][-1:]:
            self._set_ideal(ideal)
        if self._target is not None and math.isfinite(clock):
            self._check_road(state)
            self.pace = self._target.measure_pace(self.pace, clock, state.speed)
        self.pace.battle = float(is_battle(state))
        return undone

    def _check_road(self, state: CarState) -> None:
        """Note where the car has been driven far from the road of the target for a while."""
        dt, self._time = state.time - self._time, state.time
        if abs(self.offset) < OTHER_ROAD_M:
            self._away_s = 0.0
        elif state.speed > MOVING_SPEED and 0.0 < dt < 1.0:
            self._away_s += dt
        self.is_elsewhere = self._away_s > OTHER_ROAD_S and self._target is not None and bool(self._target.paths)

    def finish_lap(self, record: LapRecord) -> list[dict[str, Any]]:
        """Follow a finished lap; argument and result are those of `LapFollower.finish_lap`."""
        corners = super().finish_lap(record)
        lap = self.newest_lap
        if lap is not None and self._road is None and record.valid:
            lap = self._adopt_road(lap)
            self.best = lap if self.best is not None else None
        target = self._target
        self._ideals.append(target.times.get("ideal") if target is not None else None)
        if lap is not None and target is not None and record.valid:
            before = target.times.get("ideal")
            laps = np.array([each for each in (before, target.time_lap(lap)) if each is not None])
            target.times["ideal"] = join_best_sections(laps, target.borders)
        return corners

    def _set_ideal(self, ideal: Array | None) -> None:
        if self._target is not None:
            self._target.times.pop("ideal", None)
            if ideal is not None:
                self._target.times["ideal"] = ideal

    def _adopt_road(self, lap: LapPath) -> LapPath:
        """Take the path of a lap as the road, where it is a round; return the lap along it."""
        points = lap.samples[:, 2:4]
        if not np.isfinite(points).all() or math.dist(points[0], points[-1]) > OTHER_ROAD_M:
            return lap
        moved = np.hypot(*np.diff(points, axis=0).T) >= LEAST_STEP
        path = points[np.concatenate([[True], moved])]
        x, y, yaw, curvature, spacing = resample_path(path[:, 0], path[:, 1], True, 2.0)
        self._road = Road.from_columns(spacing, True, x, y, yaw, curvature)
        self._spans, self._row = find_corner_spans(self._road), -1
        self._target = LocatedTarget(self._road, None)
        samples = lap.samples.copy()
        samples[:, 1] = _locate_line(self._road, points)
        return LapPath(lap.number, lap.time_s, samples)

    def ghosts_at(self, clock: float) -> list[OtherCar]:
        """Return the cars of the best and of the limit lap as they were `clock` s after their start."""
        limit = self._target.paths.get("limit") if self._target is not None else None
        ghost = limit.ghost_at(clock) if limit is not None and math.isfinite(clock) else None
        return [*super().ghosts_at(clock), *([] if ghost is None else [ghost])]
