"""Laps of many cars at once in the embedded world, each with a plan of its own, held by `track_line`.

Everything is in this process and on arrays: no wire, and the truth of the world instead of a sensor. Controls act from
the physics step after the state that they answer, as through a wire in lockstep.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
from trailbrake.kernels import bind_entry, jit
from trailbrake.tracks.frenet import RoadTable
from trailbrake.tracks.track import Track
from trailbrake.world.batch import Batch, count_substeps
from trailbrake.world.plant import PERIOD
from trailbrake.world.row_layout import ControlRow, StateRow

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

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
        command = track_line(plan, car, motion, plans.gains, TrackingAim(clocks.near[k], 1.0))
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
