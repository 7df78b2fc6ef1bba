"""`RoadMonitor`: follows a car along a road and measures; `goals` judge what it has measured.

`WireLapScorer` counts the laps of a wire without positions.
"""

import math
from collections.abc import Callable, Sequence

from trailbrake.json_types import JsonObject
from trailbrake.laps import END_MARGIN, MAX_WHEELS_OFF, MOVING_SPEED, LapClock, LapRecord, LapTimer, Rewind, begin_later
from trailbrake.roles import Plant
from trailbrake.state import CarState, Controls
from trailbrake.tracks.road import Road, RoadColumn

JOIN_DISTANCE = 300.0  # m from a start at rest on the centreline, which the line is not, until errors count
STANDSTILL_RADIUS = 0.3  # m within which a car stands still: one that rocks at a wall stands
HEADWAY = 2.0  # m further than ever before that count as headway
HEADWAY_TIME = 5.0  # s without headway from which a car counts as stuck


class RoadMonitor:
    """A Tap that measures how a car gets on along a road; it ends nothing.

    Laps are timed by the positions, or are those of a world; the first begins at the first state. The clock never goes
    back: a car that is sent back to the start keeps its laps and contacts, and has lost the time.

    Args:
        road: that is driven; None where there is none: `way` is then the m travelled, and nothing is off the road.
        line: `max_error` is the distance from it; None: there is none.
        on_lap: receives each finished lap.
        on_rewind: receives what the simulator has undone, laps included.
        plant: the world whose first car is followed by its own states and laps; None: by the states of the wire.
        half_width: m, of the car, for `edge_share`; 0: its middle counts.
        began: s, the clock at which the drive begins; NaN: at the first state.

    Attributes:
        on_lap: receives each finished lap.
        clock: s of simulator time, on over restarts.
        began: s, the clock at the first state.
        time, speed, fuel: s, m/s, and share of a full tank or l, of the last state; time 0 before the first.
        states: how many were observed.
        laps: finished laps.
        finished_at: s, the clock at the end of the last lap; 0 before.
        s, offset: m along the road, and left of its middle.
        way: m along the road, on over laps of a circuit.
        stuck_s: s without headway for more than HEADWAY_TIME.
        wheels_off: wheels off the road; where the wire does not supply them, two with the centre beyond the edge, and
            four with it a metre beyond.
        off_track_s, off_track_count: s with more than MAX_WHEELS_OFF wheels off the road, and times that this began.
        edge_share: half roads from the middle to the side of the car, the most.
        contacts: with walls and cars since the start.
        travelled: m, of the path in steps of STANDSTILL_RADIUS.
        gap, away: m from the place of the start, now and the most.
        alignment: cosine of the angle between the car's heading and that at the start; 1: not known.
        max_error: m, largest distance from the line to the side once the car is JOIN_DISTANCE on its way; NaN before,
            and without a line.
        rolled_s: s with the roof below the wheels, since the last headway.
        moved_at: s, the clock when the car first drove; NaN before.
        progress: share of the lap under way, 0..1.
    """

    def __init__(
        self,
        road: Road | None,
        line: Road | None = None,
        on_lap: Callable[[LapRecord], None] = lambda lap: None,
        *,
        on_rewind: Callable[[Rewind], None] = lambda rewind: None,
        plant: Plant | None = None,
        half_width: float = 0.0,
        began: float = math.nan,
    ) -> None:
        self.road, self.line, self.on_lap, self._on_rewind = road, line, on_lap, on_rewind
        self._lap_clock = LapClock()
        self._plant, self._half_width = plant, half_width
        self._timer = None if road is None else LapTimer(road.length, road.closed)
        sides = [RoadColumn.WIDTH_LEFT, RoadColumn.WIDTH_RIGHT]
        self._half_widths = [] if road is None else road.table[:, sides].tolist()  # quicker to read than an array
        self._row = self._line_row = -1
        self.clock = self.time = 0.0
        self.began, self.finished_at = began, 0.0
        self._lap_began = 0.0 if math.isnan(began) else began
        self.speed, self.fuel = 0.0, math.nan
        self.states, self._speed_sum = 0, 0.0
        self.laps: list[LapRecord] = []
        self._known_laps, self.progress = 0, 0.0
        self._late = 0.0  # s for which the world had run at the first state
        self.s = self.offset = self.way = self._start = math.nan
        self._furthest, self._advanced_at, self.stuck_s = -math.inf, 0.0, 0.0
        self.rolled_s = 0.0
        self.wheels_off, self.off_track_s, self.off_track_count = 0, 0.0, 0
        self._is_off, self._off_at = False, math.nan
        self.edge_share = 0.0
        self.contacts: float = 0
        self._contacts_seen = 0.0
        self._home = self._anchor = math.nan, math.nan
        self._home_yaw, self.alignment = math.nan, 1.0
        self._anchored_at = self.travelled = self.gap = self.away = 0.0
        self.max_error = math.nan
        self.moved_at = math.nan

    def start(self, about: JsonObject) -> None:
        """Nothing to prepare."""

    def tick(self, state: CarState, controls: Controls) -> None:
        """Follow the car: by the wire's state, or by the world's, which the driver never sees."""
        if self._plant is None:
            self.observe_state(state)
        else:
            self.observe_state(self._plant.car_state(0), self._plant.laps(0))
        if self._timer is not None and controls.command is not None and controls.command.teleport is not None:
            self._timer.mark_jump()  # however short the way

    def close(self) -> None:
        """Nothing to end."""

    def observe_state(self, state: CarState, laps: Sequence[LapRecord] | None = None) -> None:
        """Measure one state; `laps` are those of the world since the car's last restart, None: they are timed here."""
        dt = state.time - self.time
        restarted = dt < 0.0 or (laps is not None and len(laps) < self._known_laps)
        self.clock += dt if dt >= 0.0 else state.time
        if not self.states:
            dt = 0.0
            self._begin(state, laps is not None)
        elif restarted:
            self._known_laps, self._lap_began = 0, self.clock
        if not laps and (not self.states or state.time < self.time):
            self._late = state.time
        self.time, self.speed = state.time, state.speed
        self.fuel = state.fuel if math.isfinite(state.fuel) else state.fuel_litres
        self.states, self._speed_sum = self.states + 1, self._speed_sum + state.speed
        if math.isnan(self.moved_at) and state.speed > MOVING_SPEED:
            self.moved_at = self.clock
        self._count_contacts(state.contacts)
        self._follow_path(state)
        self._follow_road(state, max(dt, 0.0), laps)
        if _cos(state.roll) * _cos(state.pitch) < 0.0:
            self.rolled_s += max(dt, 0.0)
        elif self._advanced_at == self.clock:
            self.rolled_s = 0.0

    def _begin(self, state: CarState, in_world: bool) -> None:
        self._home, self._home_yaw = (state.x, state.y), state.yaw
        self._advanced_at = self.clock
        if math.isnan(self.began):
            self.began = self._lap_began = self.clock
        if not in_world and math.isfinite(state.contacts):  # a game may have counted before the drive
            self._contacts_seen = state.contacts

    def _count_contacts(self, contacts: float) -> None:
        if contacts < self._contacts_seen:  # a restart
            self._contacts_seen = 0.0
        if contacts > self._contacts_seen:
            self.contacts += round(contacts - self._contacts_seen)
            self._contacts_seen = contacts

    def _follow_path(self, state: CarState) -> None:
        here = state.x, state.y
        step = math.dist(self._anchor, here)
        if not step <= STANDSTILL_RADIUS:  # NaN at first
            self.travelled += step if step == step else 0.0
            self._anchor, self._anchored_at = here, self.clock
        self.gap = math.dist(here, self._home)
        self.away = max(self.away, self.gap)
        self.alignment = _cos(state.yaw - self._home_yaw)

    def _follow_road(self, state: CarState, dt: float, laps: Sequence[LapRecord] | None) -> None:
        road, before, beyond = self.road, self.s, -math.inf
        if road is not None:
            self.s, self.offset, self._row = road.locate(state.x, state.y, self._row)
            half_road = self._half_widths[self._row][self.offset <= 0.0]
            beyond = abs(self.offset) - half_road
            self.edge_share = max(self.edge_share, (abs(self.offset) + self._half_width) / max(half_road, 1e-9))
        self._measure_error(state)
        self.wheels_off = _count_wheels_off(state, beyond)
        was_off, self._is_off = self._is_off, self.wheels_off > MAX_WHEELS_OFF
        if self._is_off:
            self.off_track_count += not was_off
            self.off_track_s += dt
        if not (self._is_off or beyond > 0.0):
            self._off_at = math.nan
        elif math.isnan(self._off_at):
            self._off_at = self.clock
        self._follow_laps(state, laps)
        self._measure_way(before, laps is not None)
        if self.way >= self._furthest + HEADWAY:
            self._furthest, self._advanced_at = self.way, self.clock
        elif self.without_headway_s > HEADWAY_TIME:
            self.stuck_s += dt

    def _measure_error(self, state: CarState) -> None:
        if self.line is None or self._timer is None:
            return
        # A start may be behind the line.
        joined = self._timer.number > 1 or self._timer.progress * self._timer.length > JOIN_DISTANCE
        _, error, self._line_row = self.line.locate(state.x, state.y, self._line_row)
        if joined and not abs(error) <= self.max_error:  # true for NaN
            self.max_error = abs(error)

    def _follow_laps(self, state: CarState, laps: Sequence[LapRecord] | None) -> None:
        new: Sequence[LapRecord] = ()
        if laps is not None:
            new, self._known_laps, self.progress = laps[self._known_laps :], len(laps), state.lap_progress
        else:
            found = self._lap_clock.update(state)
            if isinstance(found, Rewind):
                self._on_rewind(found)
            new = self._follow_wire_laps(state, found)
        for lap in new:
            if laps is not None and lap.number == 1:
                lap = begin_later(lap, self._late)
            self._lap_began += lap.time_s
            self.finished_at = self._lap_began
            self.laps.append(lap)
            self.on_lap(lap)

    def _follow_wire_laps(self, state: CarState, found: LapRecord | Rewind | None) -> Sequence[LapRecord]:
        """Return the laps that ended at a state of the wire; `found`: by the wire's lap clock."""
        if self._timer is None:
            return ()
        if isinstance(found, Rewind) and not found.samples:
            if state.lap == 1.0:
                self._timer.reset()
        elif isinstance(found, Rewind):
            del self.laps[len(self.laps) - self._timer.rewind(state.time, self.s, found.seconds) :]
        lap = self._timer.update(state.time, self.s, self.wheels_off, state.contacts, state.lap_time)
        self.progress = self._timer.progress
        if lap is None:
            return ()
        self._lap_began = self.clock - (state.time - lap.end) - lap.time_s
        return (lap,)

    def _measure_way(self, before: float, in_world: bool) -> None:
        road = self.road
        if road is None:
            self.way = self.travelled
        elif in_world:  # at the end of an open road the lap is finished and its whole length driven: that is one length
            self.way = (len(self.laps) * road.length if road.closed else 0.0) + self.place
        elif not road.closed or math.isnan(self.way):
            self.way = self.s
        else:
            step = self.s - before
            self.way += step - road.length * math.floor(step / road.length + 0.5)
        if math.isnan(self._start):
            self._start = self.way

    @property
    def is_open_road(self) -> bool:
        """Whether the road has an end."""
        return self.road is not None and not self.road.closed

    @property
    def elapsed(self) -> float:
        """Time since the drive began, s."""
        return self.clock - self.began if self.states else 0.0

    @property
    def standing_s(self) -> float:
        """Time for which the car has stood within STANDSTILL_RADIUS, s."""
        return self.clock - self._anchored_at

    @property
    def distance(self) -> float:
        """Way from the start to the last headway, m."""
        return max(self._furthest - self._start, 0.0) if self.states else 0.0

    @property
    def without_headway_s(self) -> float:
        """Time since the last headway, s."""
        return self.clock - self._advanced_at

    @property
    def off_road_s(self) -> float:
        """Time for which the centre, or more than MAX_WHEELS_OFF wheels, have been off the road, s; 0 on it."""
        return 0.0 if math.isnan(self._off_at) else self.clock - self._off_at

    @property
    def place(self) -> float:
        """Place behind the start line, m; of the lap under way."""
        return 0.0 if self.road is None else self.progress * self.road.length

    @property
    def mean_speed(self) -> float:
        """Mean speed over time, m/s; NaN before the first state."""
        return self._speed_sum / self.states if self.states else math.nan

    @property
    def length(self) -> float:
        """Length of a round, or of an open road up to END_MARGIN before its end, m; infinite without a road."""
        if self.road is None:
            return math.inf
        return self.road.length if self.road.closed else self.road.length - END_MARGIN

    def measure_rest(self, rounds: float = 1.0) -> float:
        """Return the m that are left of `rounds` of a circuit from the start, or of an open road."""
        return self.length - self.way if self.is_open_road else rounds * self.length - (self.way - self._start)


def _cos(angle: float) -> float:
    """Return the cosine of an angle (rad), 1 where it is not known."""
    return math.cos(angle) if math.isfinite(angle) else 1.0


def _count_wheels_off(state: CarState, beyond: float) -> int:
    """Return how many wheels are off the road; `beyond`: m by which the centre is, where the wire does not tell."""
    a, b, c, d = state.wheels
    on = a.on_track + b.on_track + c.on_track + d.on_track
    if on == on:
        return 4 - int(on)
    return 4 if beyond > 1.0 else 2 if beyond > 0.0 else 0


class WireLapScorer(RoadMonitor):
    """A monitor by `lap` and `lap_time`. Such a wire has no sectors, no line, and no road that a car could leave.

    Most such wires show no contact, and then only the other end knows of one. Finished laps of a session before a
    restart are forgotten, as the simulator forgets them.

    Args:
        on_lap: receives each finished lap.
        on_rewind: receives what the simulator has undone.
    """

    def __init__(
        self, on_lap: Callable[[LapRecord], None], on_rewind: Callable[[Rewind], None] = lambda rewind: None
    ) -> None:
        super().__init__(None, on_lap=on_lap, on_rewind=on_rewind)
        self.off_track_s = self.contacts = math.nan
        self.laps = self._lap_clock.laps

    def observe_state(self, state: CarState, laps: Sequence[LapRecord] | None = None) -> None:
        """Measure one state."""
        super().observe_state(state, laps)
        self.contacts = state.contacts

    def _follow_wire_laps(self, state: CarState, found: LapRecord | Rewind | None) -> Sequence[LapRecord]:
        if isinstance(found, LapRecord):  # it is among `laps` already
            self.on_lap(found)
        return ()
