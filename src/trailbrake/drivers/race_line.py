"""Races among others: holds the line as `line_track` does, leaves it to pass, and follows where it cannot.

Alone it is `line_track` to the bit. With others within reach a path across the road and its speeds are planned every
PLAN_PERIOD (`planning/race_lattice.py`) against where they may be (`planning/rival_prediction.py`), from the same
envelope and learned grip; a plan acts PLAN_DELAY ticks after the sample that it was made from. Meanwhile laps
teach the grip alone.
"""

import math
from copy import copy
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from trailbrake.cars.ggv_envelope import Envelope
from trailbrake.control.vehicle.line_tracking import PlanColumn, TrackingPlan
from trailbrake.control.vehicle.recovery import STUCK_SPEED
from trailbrake.drivers import line_track
from trailbrake.drivers.parts.tracking_plan import PlanSources, fill_rows
from trailbrake.errors import UsageError
from trailbrake.planning.course import GRIP_MARGIN, Course
from trailbrake.planning.pass_planning import AttackPlanner
from trailbrake.planning.passing_paths import build_paths
from trailbrake.planning.path_room import PathRoom
from trailbrake.planning.race_lattice import (
    DRIVEN,
    HELD,
    LINE,
    PASS,
    POINTS,
    STEP_TIMES,
    STRIDE,
    FineRows,
    RaceRoad,
    RaceStart,
    RaceTraffic,
    commit_path,
    make_buffers,
    plan_race_path,
    write_path,
)
from trailbrake.planning.rival_prediction import STEPS, RivalColumn, RivalTracker, hold_behind
from trailbrake.state import CarState, Controls
from trailbrake.tracks.frenet import RoadTable

PLAN_PERIOD = 0.04  # s of simulator time between plans
PLAN_DELAY = 3  # ticks from a plan's sample until it acts
NEAR_AHEAD, NEAR_BEHIND = 160.0, 40.0  # m, within which others count
LANE_MARGIN = 0.4  # m between the car's side and the end of the kerb, or the edge
PRESSED = 25.0  # m, within which a car behind lets no gap be opened for an attack
LEAST_PACE = 0.5  # of the planned speeds
MOST_ERROR = 1.0  # m from the line, from which the way back to it is planned
MOST_RIVALS = 6  # the nearest, that a plan reckons with
FILLED_TIME, FILLED_ROWS = 3.0, 60  # s, and rows more, of a plan that are filled in: the next plan comes before
WINDOW_TIME, WINDOW_BRAKING, WINDOW_MORE = 9.5, 6.0, 60.0  # s, m/s^2 and m that a path is long at least


class RacePlan(NamedTuple):
    """A plan beside the line: what the law holds, the rows that a path is written to, and what fills the law's."""

    held: TrackingPlan
    rows: FineRows
    sources: PlanSources


class Driver(line_track.Driver):
    """Holds the line as `line_track` does, and passes, follows and leaves room where others are near.

    Args:
        learn, start_grip: as of `line_track`.
        pace: share of the planned speeds that it drives, 0.5 to 1; below 1 laps teach the grip alone.
    """

    USES = line_track.Driver.USES | {"others"}

    def __init__(self, learn: float = 1.0, start_grip: float = line_track.START_GRIP, pace: float = 1.0) -> None:
        super().__init__(learn, start_grip)
        if not LEAST_PACE <= pace <= 1.0:
            raise UsageError("no such pace", where="race_line", expected=f"{LEAST_PACE:g} to 1", got=f"{pace:g}")
        self.pace = pace

    def reset(self, course: Course) -> None:
        """Plan as `line_track` does, and lay the lanes."""
        super().reset(course)
        if self.pace < 1.0:
            speed, acceleration = np.zeros((2, len(self.line.table)))
            self.sources = self.sources._replace(speed=speed, acceleration=acceleration)
            self._scale_speeds()
            fill_rows(self.plan.table, self.sources, 0, len(self.plan.table))
        body, sources = course.known_car().body, self.sources
        room = PathRoom(0.5 * body.width, 0.5 * min(body.track_front, body.track_rear), LANE_MARGIN, kerbs=True)
        size, paths = (body.length, body.width), build_paths(self.line, self.adaptive.speeds, room)
        self.tracker = RivalTracker(self.line, self.adaptive.speeds, size)
        limits = slip_clutch(sources.limits)
        alone = self.adaptive.speeds
        self.road = RaceRoad(sources.line, sources.shapes, paths, limits, GRIP_MARGIN, size, alone, self.pace)
        self.attack = AttackPlanner(self.road, self.line, self.sources.speed, room)
        self.driven_path, self.path = paths[DRIVEN], make_buffers()
        self.room = paths[PASS + 1 :].min(axis=0), paths[PASS + 1 :].max(axis=0)
        self.race_plans = [self._make_race_plan(), self._make_race_plan()]
        self.rivals = np.zeros((MOST_RIVALS, STEPS, len(RivalColumn)))
        self.since_plan, self.pending, self.delay_ticks = math.inf, self.held_plan, -1
        self.own_row, self.turn = -1, 0
        self.target, self.step_row, self.step_rows = LINE, 0, 0
        self.is_disturbed = self.pace < 1.0

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        if state.others or self.held_plan is not self.plan or self.delay_ticks >= 0:
            self._race(state, dt)
        return super().act(state, dt)

    def rehearse(self, state: CarState, dt: float) -> Controls:
        """Return what `act` would return without a new plan, and leave the driver as it is."""
        frozen = copy(self)
        frozen.is_disturbed, frozen.delay_ticks = False, -1
        return super(Driver, frozen).rehearse(replace(state, others=[]), dt)

    def _race(self, state: CarState, dt: float) -> None:
        """Look after the others, plan where it is time, and let a plan act whose time has come."""
        self.tracker.observe_cars(state.others, state.time, state.speed)
        if self.delay_ticks > 0:
            self.delay_ticks -= 1
        elif self.delay_ticks == 0:
            self.held_plan, self.delay_ticks = self.pending, -1
            self.is_disturbed = self.held_plan is not self.plan or self.pace < 1.0
        self.since_plan += dt
        if self.since_plan >= PLAN_PERIOD - 0.5 * dt and math.isfinite(state.x + state.y + state.speed):
            self.since_plan = 0.0
            self._plan_path(state)
        row = max(self.own_row, 0)
        if self.held_plan is not self.plan and self.held_plan.table[row, PlanColumn.SPEED] < STUCK_SPEED:
            self.road_return.wait()  # it stands behind another car, and is not stuck

    def _scale_speeds(self) -> None:
        np.multiply(self.adaptive.speeds, self.pace, out=self.sources.speed)
        np.multiply(self.adaptive.accelerations, self.pace**2, out=self.sources.acceleration)

    def _fill_changed_rows(self) -> None:
        if self.pace < 1.0 and self.filled == 0:
            self._scale_speeds()
        super()._fill_changed_rows()

    def _plan_path(self, state: CarState) -> None:
        s, offset, self.own_row = self.line.locate(state.x, state.y, self.own_row)
        near = self._predict_near(s, state.speed)
        if not (len(near.rivals) or self.held_plan is not self.plan):
            return
        v = state.speed
        window = WINDOW_TIME * v + v * v / (2.0 * WINDOW_BRAKING) + WINDOW_MORE
        points = min(int(window / (STRIDE * self.line.spacing)) + 2, POINTS)
        is_stepping = (self.own_row - self.step_row) % len(self.driven_path) < self.step_rows
        self.step_rows *= is_stepping
        if self.held_plan is self.plan and abs(offset) > MOST_ERROR:  # as on a grid: it goes on beside the line
            self.driven_path[:], self.target = np.clip(offset, *self.room), DRIVEN
        self.road.paths[HELD] = np.clip(self.driven_path[self.own_row], *self.room)
        error = offset - float(self.driven_path[self.own_row])
        self.turn += 1
        step_time = STEP_TIMES[self.turn % len(STEP_TIMES)]
        start = RaceStart(self.own_row, points, v, error, self.target, is_stepping, step_time)
        choice = plan_race_path(self.road, start, near, self.path)
        if choice.target != DRIVEN:
            commit_path(self.road, start, choice)
            self.target, self.step_row, self.step_rows = choice.target, start.row, choice.blend * STRIDE
        self.delay_ticks = PLAN_DELAY
        if not self.path.offset[: points + 2].any():
            self.driven_path[:], self.target, self.step_rows = 0.0, LINE, 0
            if not choice.is_held_up:
                self.pending = self.plan
                return
        spare = self.race_plans[self.held_plan is self.race_plans[0].held]
        count = write_path(self.road, start, self.path, spare.rows)
        self._fill_race_rows(spare, start.row, min(count, int(FILLED_TIME * v / self.line.spacing) + FILLED_ROWS))
        self.pending = spare.held

    def _predict_near(self, s: float, speed: float) -> RaceTraffic:
        """Return the nearest others around s (m), and the gap to hold from the one ahead at own `speed` (m/s)."""
        measured = [(self.tracker.measure_ahead(rival, s), rival) for rival in self.tracker.list_present()]
        near = [(abs(ahead), rival.index, rival) for ahead, rival in measured if -NEAR_BEHIND < ahead < NEAR_AHEAD]
        near = sorted(near)[:MOST_RIVALS]
        ahead, length = -1, self.road.size[0]
        for number, (_, _, rival) in enumerate(near):
            self.tracker.predict(rival, s, self.rivals[number])
            if ahead < 0 and self.rivals[number, 0, RivalColumn.AHEAD] > -length:
                ahead = number
        here = self.rivals[: len(near)]
        hold_behind(here, here.copy(), np.zeros(len(near)), self.road.size)
        places = here[:, 0, RivalColumn.AHEAD]
        is_pressed = bool(((places < 0.0) & (places > -PRESSED)).any())  # who opens a gap is passed from behind
        if ahead >= 0 and places[ahead] > length and not is_pressed:
            self.tracker.predict(near[ahead][2], s, self.attack.prediction)
            hold = self.attack.plan_gap(near[ahead][1], self.own_row, speed)
        else:
            hold = self.attack.release()
        return RaceTraffic(here, ahead, hold, self.attack.has_path)

    def _fill_race_rows(self, plan: RacePlan, first: int, count: int) -> None:
        fill_rows(plan.held.table, plan.sources, first, count)
        n = len(self.line.table)
        rows = np.arange(first, first + count) % n
        offsets = self.driven_path[rows]
        near_line = np.maximum(1.0 - np.abs(offsets), 0.0)[:, None]
        columns = [PlanColumn.LEARNED_STEER, PlanColumn.LEARNED_SIDESLIP, PlanColumn.OFFSET]
        plan.held.table[rows[:, None], columns] = near_line * self.plan.table[rows[:, None], columns]
        plan.held.table[rows, PlanColumn.OFFSET] += offsets

    def _make_race_plan(self) -> RacePlan:
        sources, n = self.sources, len(self.line.table)
        line = RoadTable(sources.line.table.copy(), sources.line.spacing, sources.line.closed)
        rows = FineRows(line, sources.shapes.copy(), sources.speed.copy(), sources.acceleration.copy())
        filled = sources._replace(line=line, shapes=rows.shapes, speed=rows.speed, acceleration=rows.acceleration)
        return RacePlan(TrackingPlan(line, np.zeros((n, len(PlanColumn)))), rows, filled)


def slip_clutch(limits: Envelope) -> Envelope:
    """Return the envelope of a car whose clutch slips: it pulls at each speed what it pulls at any higher one."""
    pull = np.maximum.accumulate(limits.pull[::-1])[::-1].copy()
    return limits._replace(pull=pull, drive=np.minimum(limits.traction, pull))
