"""A search for the quickest clean lap in the embedded world: grip to plan with and path, place by place.

An evolution strategy with the plant in the loop (after Hansen, "The CMA evolution strategy: a tutorial", 2016, without
its covariance): each car of a generation drives a disturbed plan. What a disturbance is worth shows near its place:
the candidates of each place are ranked by the times of the gates around it alone, so that a lap of a hundred places
needs no more laps than one of ten.

Laps of many cars at once in the embedded world, each with a plan of its own, held by `track_line`.

Everything is in this process and on arrays: no wire, and the truth of the world instead of a sensor. Controls act from
the physics step after the state that they answer, as through a wire in lockstep.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array, Ints
from trailbrake.cars.params import CarParams
from trailbrake.control.vehicle.line_tracking import (
    DEFAULT_GAINS,
    PlanColumn,
    TrackedCar,
    TrackedMotion,
    TrackingAim,
    TrackingGain,
    TrackingPlan,
    track_line,
    tracked_car,
)
from trailbrake.drivers.parts.tracking_plan import build_tracking_plan, collect_sources
from trailbrake.kernels import bind_entry, jit
from trailbrake.planning.course import GRIP_MARGIN, Course, path_shapes
from trailbrake.planning.minimum_curvature import road_through
from trailbrake.planning.path_margins import KERB_MARGIN
from trailbrake.planning.path_room import LEFT_SIDE, RIGHT_SIDE, PathRoom, find_side_reach
from trailbrake.planning.speed_profile import compute_profile
from trailbrake.tracks.frenet import RoadTable
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track import Track
from trailbrake.world.batch import Batch, count_substeps
from trailbrake.world.plant import PERIOD
from trailbrake.world.row_layout import ControlRow, StateRow

REACH_BEFORE, REACH_AFTER = 4.0, 6.0  # gates over which the weight of a gate's time falls to 1/e
OFF_WEIGHT = 20.0  # s of lap time that a second off the road counts as
LOST_TIME = 5.0  # s that a gate counts as that was not reached
BEST_SHARE = 0.25  # of a generation, from which the next plan is recombined
GRIP_STEPS = (0.04, 0.005)  # standard deviation of the factors on the grip in the first and the last generation
OFFSET_STEPS = (0.4, 0.04)  # m, of the offsets
SMOOTH_ROWS = 6  # rows of the line, before and behind, over which a path's offset is averaged
FIRST_GRIP = 1.08  # factor on the road's grip that the first plan uses
PATIENCE = 4  # generations without a clean lap, after which the grip to begin with is looked for
GRIP_LIMITS = (0.6, 1.5)
PROVEN_LAPS = 3  # flying laps in a row that the result has to drive clean

APPROACH = 200.0  # m before the start line, where cars are placed at the plan's speed
APPROACH_SPEED = 0.9  # share of the plan's speed there
SLOWEST = 0.75  # share of the planned mean speed below which a lap is given up
MIN_WHEELS = 2  # on the road; with fewer the place is off
CHECK_TICKS = 333  # ticks between the tests for the end


class PlanSet(NamedTuple):
    """The plans of all cars, padded to the longest.

    Attributes:
        lines: (cars, rows, len(RoadColumn)).
        tables: (cars, rows, len(PlanColumn)).
        rows: (cars,) rows in use.
        spacings: (cars,) m.
        gains: (len(TrackingGain),) of the law.
    """

    lines: Array
    tables: Array
    rows: Ints
    spacings: Array
    gains: Array


class LapClocks(NamedTuple):
    """What is measured on the way.

    Attributes:
        marks: (cars, gates) s, time at which each gate was crossed; NaN before.
        off: (cars, gates) s, with fewer than MIN_WHEELS wheels on the road before that gate.
        next_gate: (cars,).
        last_s: (cars,) m, along the road at the last tick, counted on over laps.
        near: (cars,) hints for the projection on the lines.
        gates: (gates,) m, along the road from the first start line on, rising.
        length: m, of the road.
        lanes: cars in a block of the world.
    """

    marks: Array
    off: Array
    next_gate: Ints
    last_s: Array
    near: Ints
    gates: Array
    length: float
    lanes: int


@jit
def control_cars(cars: Array, plans: PlanSet, car: TrackedCar, clocks: LapClocks, time: float) -> None:
    """Write the controls of all cars, and the times at which they cross the gates.

    Args:
        cars: state and controls, as `Batch.cars`.
        plans: of the cars.
        car: the numbers of all the cars.
        clocks: in and out.
        time: s.
    """
    gates, length, lanes = clocks.gates, clocks.length, clocks.lanes
    for k in range(len(plans.rows)):
        column = cars[k // lanes, k % lanes :: lanes]
        rows = plans.rows[k]
        plan = TrackingPlan(RoadTable(plans.lines[k, :rows], plans.spacings[k], True), plans.tables[k, :rows])
        motion = TrackedMotion(
            column[StateRow.X],
            column[StateRow.Y],
            column[StateRow.YAW],
            column[StateRow.VX],
            column[StateRow.VY],
            column[StateRow.YAW_RATE],
            column[StateRow.ENGINE_SPEED],
            (column[StateRow.SPIN], column[StateRow.SPIN + 1], column[StateRow.SPIN + 2], column[StateRow.SPIN + 3]),
            int(column[StateRow.GEAR]),
        )
        command = track_line(plan, car, motion, plans.gains, TrackingAim(clocks.near[k], 1.0, 0.0))
        clocks.near[k] = command.row
        column[ControlRow.STEER] = command.steer / car.max_steer
        column[ControlRow.THROTTLE] = command.throttle
        column[ControlRow.BRAKE] = command.brake
        column[ControlRow.GEAR] = command.gear

        before = clocks.last_s[k]
        moved = column[StateRow.S] - before
        moved -= length * np.floor(moved / length + 0.5)
        s = before + moved
        clocks.last_s[k] = s
        gate = clocks.next_gate[k]
        if gate < len(gates):
            on = column[StateRow.ON_TRACK] + column[StateRow.ON_TRACK + 1]
            on += column[StateRow.ON_TRACK + 2] + column[StateRow.ON_TRACK + 3]
            if on < MIN_WHEELS:
                clocks.off[k, gate] += PERIOD
            if s >= gates[gate]:
                share = (s - gates[gate]) / max(moved, 1e-9)
                clocks.marks[k, gate] = time - share * PERIOD
                clocks.next_gate[k] = gate + 1


class LapBatch:
    """Cars of one kind on one track, each on a plan of its own.

    Args:
        track: a closed road.
        car: the car.
        count: number of cars.
        gate_spacing: m along the road, approximate, between the gates at which times are taken.

    Attributes:
        gates: number of gates of a lap.
    """

    def __init__(self, track: Track, car: CarParams, count: int, gate_spacing: float = 50.0) -> None:
        self.track, self.count = track, count
        self.car = tracked_car(car)
        self.batch = Batch(track, [car], count)
        self.gates = max(round(track.road.length / gate_spacing), 4)
        self._substeps = count_substeps(PERIOD)

    def drive_laps(self, plans: Sequence[TrackingPlan], laps: int = 1) -> tuple[Array, Array]:
        """Drive flying laps.

        Args:
            plans: of each car.
            laps: how many.

        Returns:
            Times at the gates, (count, laps * gates + 1) s, the first 0 at the start line; NaN where a car did not get
            there in time. And the times off the road before each gate but the first, (count, laps * gates) s; the last
            with a second for each contact.
        """
        gates: Array = np.arange(laps * self.gates + 1, dtype=np.float64) * (self.track.road.length / self.gates)
        shape = self.count, len(gates)
        near, next_gate = np.full(self.count, -1, np.int64), np.zeros(self.count, np.int64)
        length, lanes = float(self.track.road.length), int(self.batch.lanes)
        clocks = LapClocks(
            np.full(shape, np.nan), np.zeros(shape), next_gate, np.zeros(self.count), near, gates, length, lanes
        )
        packed = pack_plans(plans)
        self._place(packed)
        clocks.last_s[:] = self.batch.get_row(StateRow.S) - self.track.road.length
        planned = float(np.max(packed.tables[0, : packed.rows[0], PlanColumn.SPEED]))
        mean = packed.spacings[0] / packed.tables[0, : packed.rows[0], PlanColumn.SPEED]
        ticks = int((laps * float(np.sum(mean)) / SLOWEST + 2.0 * APPROACH / planned) / PERIOD)
        control = bind_entry(control_cars, self.batch.cars, packed, self.car, clocks, 0.0)
        for tick in range(ticks):
            control(self.batch.cars, packed, self.car, clocks, tick * PERIOD)
            self.batch.step(PERIOD / self._substeps, self._substeps)
            if tick % CHECK_TICKS == 0 and np.all(next_gate == len(gates)):
                break
        clocks.off[:, -1] += self.batch.get_row(StateRow.CONTACTS)  # each as much as a second off the road
        return clocks.marks - clocks.marks[:, :1], clocks.off[:, 1:]

    def _place(self, plans: PlanSet) -> None:
        cars = np.arange(self.count)
        first = plans.rows - np.ceil(APPROACH / plans.spacings).astype(np.int64)
        rows = plans.lines[cars, first]
        speed = APPROACH_SPEED * plans.tables[cars, first, PlanColumn.SPEED]
        self.batch.place_cars(cars, rows[:, 0], rows[:, 1], rows[:, 3], speed)


def pack_plans(plans: Sequence[TrackingPlan]) -> PlanSet:
    """Return plans as arrays for the kernels."""
    rows = np.array([len(plan.table) for plan in plans])
    shape = len(plans), int(rows.max())
    lines = np.zeros((*shape, plans[0].line.table.shape[1]))
    tables = np.zeros((*shape, len(PlanColumn)))
    for k, plan in enumerate(plans):
        lines[k, : rows[k]], tables[k, : rows[k]] = plan.line.table, plan.table
    gains = np.array(DEFAULT_GAINS)
    gains[TrackingGain.LIFT_RANGE] = math.inf  # paths of the search leave the room for which a driver lifts
    return PlanSet(lines, tables, rows, np.array([plan.line.spacing for plan in plans]), gains)


class LapPlan(NamedTuple):
    """What is searched for.

    Attributes:
        grip: (gates,) factors on the grip that speeds are planned with.
        offset: (gates,) m, to the left of the first line.
    """

    grip: Array
    offset: Array


class ProvenLap(NamedTuple):
    """A plan that was driven again.

    Attributes:
        plan: the plan.
        laps: s, of flying laps in a row, all of them clean.
    """

    plan: LapPlan
    laps: list[float]


@dataclass
class LapSearch:
    """The state of a search.

    Args:
        course: the track (closed), the car, and the line to begin with.
        count: cars of a generation, even.
        seed: of the disturbances.

    Attributes:
        mean: the plan about which the next generation is disturbed.
        candidates: times (s) and plans of the best clean laps, `count` at most, the quickest first.
    """

    course: Course
    count: int = 128
    seed: int = 0
    candidates: list[tuple[float, LapPlan]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        car = self.course.known_car()
        self.batch = LapBatch(self.course.track, car, self.count)
        gates = self.batch.gates
        self.mean = LapPlan(np.full(gates, FIRST_GRIP), np.zeros(gates))
        self._rng = np.random.default_rng(self.seed)
        self.builder = PlanBuilder(self.course, gates)

    @property
    def best_time(self) -> float:
        """The quickest clean lap so far, s; infinite without one."""
        return self.candidates[0][0] if self.candidates else np.inf

    def run_generations(self, generations: int, report: Callable[[int, float, float], None] | None = None) -> None:
        """Run generations; `report` receives the number, the best time so far and the median of the generation (s)."""
        for number in range(generations):
            if number == PATIENCE and not self.candidates:
                self.mean = LapPlan(np.full(self.batch.gates, self._find_clean_grip()), np.zeros(self.batch.gates))
            share = number / max(generations - 1, 1)
            steps = [first * (last / first) ** share for first, last in (GRIP_STEPS, OFFSET_STEPS)]
            middle = self._run_generation(*steps)
            if report is not None:
                report(number, self.best_time, middle)

    def _find_clean_grip(self) -> float:
        """Return the highest grip of some, the same everywhere, whose lap is clean; the lowest where none is.

        Cars that all leave the road in a braking zone do not differ by what they do there: no place can be ranked.
        """
        grips = np.linspace(FIRST_GRIP, GRIP_LIMITS[0], self.count)
        gates = self.batch.gates
        plans = [LapPlan(np.full(gates, grip), np.zeros(gates)) for grip in grips]
        marks, off = self.batch.drive_laps([self.builder.build_plan(plan) for plan in plans])
        clean = np.isfinite(marks[:, -1]) & (off.sum(axis=1) == 0.0)
        return float(grips[np.argmax(clean)]) if clean.any() else float(grips[-1])

    def prove_candidates(self) -> ProvenLap | None:
        """Return the candidate whose slowest of some flying laps in a row is quickest, all of them clean; else None."""
        if not self.candidates:
            return None
        plans = [plan for _, plan in self.candidates]
        driven = plans + plans[:1] * (self.count - len(plans))
        marks, off = self.batch.drive_laps([self.builder.build_plan(plan) for plan in driven], PROVEN_LAPS)
        laps = np.diff(marks[:, :: self.batch.gates], axis=1)
        slowest = np.where(np.isfinite(laps).all(axis=1) & (off.sum(axis=1) == 0.0), laps.max(axis=1), np.inf)
        first = int(np.argmin(slowest))
        return ProvenLap(driven[first], laps[first].tolist()) if np.isfinite(slowest[first]) else None

    def _run_generation(self, grip_step: float, offset_step: float) -> float:
        mean, half = self.mean, self.count // 2
        noise = [self._rng.standard_normal((half, len(values))) for values in mean]
        grip_noise, offset_noise = (np.concatenate([values, -values]) for values in noise)
        grip_noise[0] = offset_noise[0] = 0.0  # the mean itself drives as well
        plans = [
            self.builder.limit_plan(
                LapPlan(mean.grip * np.exp(grip_step * grip_noise[k]), mean.offset + offset_step * offset_noise[k])
            )
            for k in range(self.count)
        ]
        marks, off = self.batch.drive_laps([self.builder.build_plan(plan) for plan in plans])
        spent = np.diff(marks, axis=1)
        spent = np.where(np.isnan(spent), LOST_TIME, spent) + OFF_WEIGHT * off
        clean = np.where(off.sum(axis=1) > 0.0, np.inf, np.where(np.isnan(marks[:, -1]), np.inf, marks[:, -1]))
        finished = [(float(time), plan) for time, plan in zip(clean, plans, strict=True) if np.isfinite(time)]
        self.candidates = sorted(self.candidates + finished, key=lambda item: item[0])[: self.count]
        chosen = self._rank_places(spent)
        places = np.arange(self.batch.gates)
        weights = rank_weights(len(chosen))
        grips = np.log(np.array([plan.grip for plan in plans]))
        offsets = np.array([plan.offset for plan in plans])
        self.mean = LapPlan(
            np.exp(np.einsum("i,ik->k", weights, grips[chosen, places])),
            np.einsum("i,ik->k", weights, offsets[chosen, places]),
        )
        return float(np.median(np.where(np.isnan(marks[:, -1]), np.inf, marks[:, -1])))

    def _rank_places(self, spent: Array) -> NDArray[np.int64]:
        """Return the best cars for each place, (cars, gates), by the times of the gates around it."""
        gates = self.batch.gates
        away = (np.arange(gates)[:, None] - np.arange(gates)[None, :] + gates // 2) % gates - gates // 2
        weight = np.exp(np.where(away < 0, away / REACH_BEFORE, -away / REACH_AFTER))
        score = np.minimum(spent, LOST_TIME) @ weight
        return np.argsort(score, axis=0)[: max(int(BEST_SHARE * self.count), 2)]


def rank_weights(count: int) -> Array:
    """Return the weights (count,) of the best candidates, falling with the logarithm of their rank; their sum is 1."""
    weights = np.log(count + 0.5) - np.log(np.arange(1, count + 1))
    result: Array = weights / weights.sum()
    return result


def blend_periodic(values: Array, phase: Array) -> Array:
    """Return the periodic uniform cubic B-spline with the control points `values` (n,) at `phase` (m,), 0..n."""
    i = np.floor(phase).astype(np.int64)
    u = phase - i
    weights = ((1.0 - u) ** 3, 3.0 * u**3 - 6.0 * u**2 + 4.0, -3.0 * u**3 + 3.0 * u**2 + 3.0 * u + 1.0, u**3)
    places = (i[None, :] + np.arange(-1, 3)[:, None]) % len(values)
    blended: Array = np.sum(np.array(weights) * values[places], axis=0) / 6.0
    return blended


class PlanBuilder:
    """Makes tracking plans of lap plans.

    Args:
        course: the track, the car and the line to begin with.
        gates: places along the road.
    """

    def __init__(self, course: Course, gates: int) -> None:
        self._course = course
        line, road = course.line, course.track.road
        x, y = line.column(RoadColumn.X), line.column(RoadColumn.Y)
        self._x, self._y, yaw = x, y, line.column(RoadColumn.YAW)
        self._nx, self._ny = -np.sin(yaw), np.cos(yaw)
        place = road.locate_many(np.column_stack([x, y]))
        self._phase = (place[:, 0] / road.length * gates) % gates
        self._gates = gates
        self._most = np.maximum(self._find_reach(LEFT_SIDE), 0.0)
        self._least = -np.maximum(self._find_reach(RIGHT_SIDE), 0.0)
        away = np.abs((self._phase[None, :] - np.arange(gates)[:, None] + 0.5 * gates) % gates - 0.5 * gates)
        self._rows = np.argmin(away, axis=1)

    def _find_reach(self, side: tuple[RoadColumn, RoadColumn, RoadColumn]) -> Array:
        """Return how far (n,) m from the line to one side the middle of the car may go."""
        line, body = self._course.line, self._course.known_car().body
        width, kerb, runoff = (line.column(column) for column in side)
        half_track = 0.5 * min(body.track_front, body.track_rear)
        room = PathRoom(0.5 * body.width, half_track, KERB_MARGIN, kerbs=True)
        return find_side_reach(width, kerb, runoff, room)

    def limit_plan(self, plan: LapPlan) -> LapPlan:
        """Return a plan within the bounds of the road and of the factors."""
        return LapPlan(
            np.clip(plan.grip, *GRIP_LIMITS), np.clip(plan.offset, self._least[self._rows], self._most[self._rows])
        )

    def build_line(self, plan: LapPlan) -> Road:
        """Return the path of a plan."""
        # Between the gates the road may be narrower than at them; a path that is cut off there has no kinks left.
        cut = np.clip(blend_periodic(plan.offset, self._phase), self._least, self._most)
        offset = np.mean([np.roll(cut, shift) for shift in range(-SMOOTH_ROWS, SMOOTH_ROWS + 1)], axis=0)
        return road_through(self._course.track.road, self._x + offset * self._nx, self._y + offset * self._ny)

    def build_plan(self, plan: LapPlan) -> TrackingPlan:
        """Return the plan as the law takes it."""
        course, line = self._course, self.build_line(plan)
        place = self._course.track.road.locate_many(line.table[:, :2])
        phase = place[:, 0] / course.track.road.length * self._gates
        grip = line.column(RoadColumn.GRIP) * np.interp(phase, np.arange(self._gates), plan.grip, period=self._gates)
        shapes = path_shapes(line)
        shapes[:, 4] = grip
        profile = compute_profile(shapes, line.spacing, True, course.envelope, start=-1.0, margin=GRIP_MARGIN)
        table = line.table.copy()
        table[:, RoadColumn.GRIP] = grip
        planned = RoadTable(table, line.spacing, True)
        return build_tracking_plan(collect_sources(course, line, planned, profile.speed, profile.acceleration))
