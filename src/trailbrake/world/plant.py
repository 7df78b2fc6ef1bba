"""`World`: the embedded simulator as a Plant: cars on a track, laps and contacts counted, one period per step."""

import math
from collections.abc import Sequence
from typing import Any

from trailbrake.cars.params import CarParams
from trailbrake.laps import LapRecord, LapTimer
from trailbrake.state import CarState, Controls, Pose, SimCommand, settings_of
from trailbrake.tracks.columns import Column
from trailbrake.tracks.track import Track
from trailbrake.world.batch import Batch, ask, substeps_for
from trailbrake.world.layout import State
from trailbrake.world.publish import Publisher
from trailbrake.world.settings import NOTHING_SET, tuned

PERIOD = 1.0 / 333.0  # s, the physics rate of Assetto Corsa
GRID_GAP = 8.0  # m along the road from one car of the grid to the next
_S, _ON_TRACK, _CONTACTS, _STATES = int(State.S), int(State.ON_TRACK), int(State.CONTACTS), int(State.COUNT)
GRID_SIDE = 0.25  # share of the road's half width by which the grid is staggered


class World:
    """Cars on the first road of a track. They touch each other; walls are solid.

    Args:
        track: where.
        cars: one CarParams per car; car 0 starts on the start line, the others on a staggered grid behind it.
        seed: kept for what is random. Nothing is, so far: equal controls give equal states to the bit, whatever
            the seed.
        period: s that one step goes; cut into equal substeps of about a millisecond.
    """

    def __init__(self, track: Track, cars: Sequence[CarParams], seed: int = 0, period: float = PERIOD) -> None:
        if not 0.0 < period <= 0.05:
            raise ValueError(f"World: expected a period in (0, 0.05] s, got {period}")
        self.track, self.cars, self.period = track, list(cars), period
        self.batch = Batch(track, self.cars, group=len(self.cars))
        self._substeps = substeps_for(period)
        self._dt = period / self._substeps
        self._publishers = [Publisher(car) for car in self.cars]
        self._settings = [NOTHING_SET] * len(self.cars)
        # Views of each car's state in the batch: to make one takes as long as to read it.
        columns = [self.batch.column(car) for car in range(len(self.cars))]
        self._states = [column[:_STATES] for column in columns]
        self._asked: list[Any] = [column[_STATES:].data for column in columns]
        self._figures = [column.item for column in columns]  # one of them as Python's float
        self.reset(seed)

    def reset(self, seed: int) -> None:
        """Put every car at rest on the grid and start the clocks at 0."""
        self.seed = seed
        self._sequence = 0
        road = self.track.road
        self._timers = [LapTimer(road.length, road.closed) for _ in self.cars]
        self._best = [math.nan] * len(self.cars)
        self._laps: list[list[LapRecord]] = [[] for _ in self.cars]
        for car in range(len(self.cars)):
            ask(self._asked[car], Controls())
            if self._settings[car] != NOTHING_SET:
                self._set(car, Controls())
            self._to_grid(car)
            self._score(car)

    def step(self, controls: Sequence[Controls]) -> None:
        """Advance all cars by one period; `controls[i]` is for car i."""
        batch = self.batch
        for car, wanted in enumerate(controls):
            ask(self._asked[car], wanted)
            if settings_of(wanted) != self._settings[car]:
                self._set(car, wanted)
        batch.step(self._dt, self._substeps)
        self._sequence += 1
        for car in range(len(self.cars)):
            self._score(car)

    def state(self, car: int) -> CarState:
        """Return a fresh CarState of car `car`; what the world has no model of is NaN."""
        timer = self._timers[car]
        laps = (float(timer.number), timer.lap_time, self._best[car], timer.progress)
        return self._publishers[car].state(self._states[car], self._sequence * self.period, self._sequence, laps)

    def laps(self, car: int) -> list[LapRecord]:
        """Return the laps that car `car` has finished since the start or its restart."""
        return list(self._laps[car])

    def command(self, car: int, command: SimCommand) -> None:
        """Carry out teleport, to_pits, restart or collisions for car `car`; the rest is the host's business.

        A way to the pits begins a new lap, a restart also clears contacts and laps, a teleport spoils the lap.
        Whether cars touch each other is the same for all of them.
        """
        if command.collisions is not None:
            self.batch.touching = command.collisions
        if command.restart or command.to_pits:
            contacts = self.batch.column(car)[_CONTACTS]
            self._to_grid(car)
            if command.restart:
                self._best[car] = math.nan
                self._laps[car].clear()
            else:
                self.batch.column(car)[_CONTACTS] = contacts
            self._timers[car].reset()
            self._score(car)
        elif command.teleport is not None:
            contacts = self.batch.column(car)[_CONTACTS]
            self._to_pose(car, command.teleport)
            self.batch.column(car)[_CONTACTS] = contacts

    def _set(self, car: int, wanted: Controls) -> None:
        self._settings[car] = settings_of(wanted)
        self.batch.change(car, tuned(self.cars[car], wanted))

    def _score(self, car: int) -> None:
        figure = self._figures[car]
        on_track = figure(_ON_TRACK) + figure(_ON_TRACK + 1) + figure(_ON_TRACK + 2) + figure(_ON_TRACK + 3)
        lap = self._timers[car].update(self._sequence * self.period, figure(_S), 4 - int(on_track), figure(_CONTACTS))
        if lap is not None:
            self._laps[car].append(lap)
        if lap is not None and lap.valid and not self._best[car] <= lap.time_s:  # best may be NaN
            self._best[car] = lap.time_s

    def _to_grid(self, car: int) -> None:
        row = self.track.road.table[0]
        half_width = float(min(row[Column.WIDTH_LEFT], row[Column.WIDTH_RIGHT]))
        offset = 0.0 if car == 0 else GRID_SIDE * half_width * (1.0 if car % 2 else -1.0)
        x, y, _, yaw = self.track.road.points(-GRID_GAP * car, offset)[0].tolist()
        self.batch.place(car, x, y, yaw)

    def _to_pose(self, car: int, pose: Pose) -> None:
        # The pose is the centre of mass; the state is the point of the road under it, which a bank shifts sideways.
        self.batch.place(car, pose.x, pose.y, pose.yaw)
        here = self.state(car)
        self.batch.place(car, 2.0 * pose.x - here.x, 2.0 * pose.y - here.y, pose.yaw)
