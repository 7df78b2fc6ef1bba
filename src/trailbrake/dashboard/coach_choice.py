"""`CoachChoice`: by what a person is coached on the live page. `choose_target`: by which session, of those kept."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from trailbrake.coaching.coached_sessions import CoachedSession, choose_sessions, list_sessions
from trailbrake.coaching.target_laps import TargetLaps
from trailbrake.errors import TrailbrakeError, UsageError
from trailbrake.state import CarState
from trailbrake.tracks.road import Road, RoadColumn
from trailbrake.tracks.track_library import load_track

NEAR_ROAD = 200.0  # m from its road, within which a car is on it or in its pits
SAME_LINE = 40.0  # m, median distance of two lines of one road
SAME_LIMITER = 0.01  # share of the engine speed
UNKNOWN_HALF_WIDTH = 8.0  # m, beyond which a car has left a road whose edges were not measured
NO_RESULT = "no coach result of this road and car: your own laps alone; `trailbrake coach` makes one"
OTHER_ROAD = "the coach's result is of another road: its laps and hints are left out"
OTHER_CAR = "the coach's result is of another car: its laps and hints are left out"


class CoachChoice(NamedTuple):
    """By what a person is coached.

    Attributes:
        target: the laps; None: own laps of this drive alone.
        line: why there are none, for people.
        name: of the session.
        road: that is driven; None where it is not known.
        others: the sessions to try where it turns out to be another road.
    """

    target: TargetLaps | None
    line: str = ""
    name: str = ""
    road: Road | None = None
    others: Sequence[CoachedSession] = ()

    @property
    def width_known(self) -> bool:
        """Whether the road's edges are known, so that leaving it counts."""
        return self.target is None or self.target.width_known

    def describe(self) -> dict[str, Any]:
        """Return what the page needs before the first frame, as JSON values."""
        corners = self.target.corners if self.target is not None else []
        best = None if self.target is None else self.target.times["best"][-1]
        hints = [{"name": corner.name, "hint": corner.hint} for corner in corners]
        return {"line": self.line, "best_s": best, "corners": hints}


def find_sessions(names: tuple[str, ...]) -> list[CoachedSession]:
    """Return the sessions that a person may be coached by, the preferred one first; `names` is the flag's value.

    Raises:
        UsageError: more than one name, or no such session.
    """
    if len(names) > 1:
        raise UsageError("a person is coached by one session", where="--coach", got=" ".join(names))
    return choose_sessions(list_sessions(), names[0] if names else "")


def choose_target(
    sessions: Sequence[CoachedSession], state: CarState, road: Road | None, *, is_named: bool
) -> CoachChoice:
    """Return by what a car is coached.

    Args:
        sessions: with target laps, the preferred one first.
        state: of the car.
        road: that the user has named; None: that of the session.
        is_named: the user has named the session, and wants to know what is wrong with it.
    """
    line = NO_RESULT if sessions else OTHER_ROAD
    for number, session in enumerate(sessions):
        target = session.target
        assert target is not None
        try:
            own = road or load_track(target.track).road
        except TrailbrakeError as error:
            line = f"the road of the coach's result is gone: {error}; coach the laps again"
            continue
        if not _is_same_road(target, state, own):
            line = OTHER_ROAD
        elif target.limiter and abs(state.max_engine_speed / target.limiter - 1.0) > SAME_LIMITER:  # false for NaN
            line = OTHER_CAR
        else:
            return CoachChoice(target, "", session.id, own, sessions[number + 1 :])
    return CoachChoice(None, line if is_named else NO_RESULT, road=road)


def _is_same_road(target: TargetLaps, state: CarState, road: Road) -> bool:
    points = np.column_stack([target.x, target.y])
    away = float(np.hypot(*(points - (state.x, state.y)).T).min())
    offset = float(np.median(np.abs(road.locate_many(points)[:, 1])))
    return not away > NEAR_ROAD and math.isfinite(offset) and offset < SAME_LINE


def widen_road(road: Road | None) -> Road | None:
    """Return a road as wide as one may be whose edges were not measured."""
    if road is None:
        return None
    table, sides = road.table.copy(), [RoadColumn.WIDTH_LEFT, RoadColumn.WIDTH_RIGHT]
    table[:, sides] = np.maximum(table[:, sides], UNKNOWN_HALF_WIDTH)
    return Road(table, road.spacing, road.closed)
