"""`Batch`: many cars on one track as arrays, and the kernels that advance them. One car is a batch of one."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trailbrake import kernels
from trailbrake.cars.params import CarParams
from trailbrake.kernels.atomics import COUNTER_STRIDE
from trailbrake.kernels.lane_blocks import CACHE_LINE_BYTES, lanes_per_block
from trailbrake.kernels.thread_team import Team
from trailbrake.state import Controls
from trailbrake.tracks.frenet import RoadTable
from trailbrake.tracks.track import Track, check_car_fits
from trailbrake.world.car_placement import reset_cars, tabulate_poses
from trailbrake.world.integration import advance_blocks, advance_shared_blocks
from trailbrake.world.kernel_arguments import BlockShare, CarBlocks, RoadTables, StepPlan
from trailbrake.world.param_packing import engine_map, pack_car
from trailbrake.world.row_layout import Array, AxleRow, ControlRow, ParamRow, StateRow, WorkRow
from trailbrake.world.segment_table import GRIP_COLUMNS, NO_PATCH, GripPatch, SegmentColumn, build_segment_table
from trailbrake.world.slipstream import update_wakes

CHUNKS_PER_THREAD = 32  # of a thread's part: what it loses to something else is taken over by the others
# Compiled code, which is bound anew after pickling.
_BOUND = ("_kernels", "_advance_alone", "_advance_shared", "_update_wakes", "blocks")
MAX_DT = 0.0012  # s: substeps are no longer; stiff wheels and ABS are verified up to here


def count_substeps(period: float) -> int:
    """Return how many equal substeps of at most MAX_DT make up `period` (s)."""
    return max(1, math.ceil(period / MAX_DT))


class Batch:
    """Cars on the same road; call `place_cars` before the first step.

    Args:
        track: the track; the cars drive on its first road.
        cars: one CarParams for all, or one per car.
        n: number of cars; by default the length of `cars`.
        group_size: number of consecutive cars that race each other and can touch; n must be a multiple of it.
        team: threads that share the work; by default the calling thread alone.
        tyre_heat: whether tyres warm up and wear where the car file describes it; otherwise friction is constant.
        slipstream: whether cars lose drag and downforce behind others of their group.
        single_precision: float32 and freer arithmetic: half the memory and twice the speed, for training. Results
            differ in the last bits between machines, and positions have an error of about a millimetre.

    Attributes:
        n: number of cars.
        lanes: number of cars in a block.
        cars: (blocks, ControlRow.COUNT * lanes) state and controls, see `row_layout`. The last block may have unused
            lanes.
        params: (kinds, (AxleRow.COUNT - WorkRow.COUNT) * lanes) parameters of each kind of block.
        kinds: (blocks,) int64, the row of `params` of each block; blocks of equal cars share one.
        maps: (models, MAP_POINTS) N m, engine maps.
        blocks: these four as the kernels take them.
        road: the road as the kernels take it.
        collisions_enabled: whether cars of a group collide with each other.
        team: as given.
        work: a work block, (AxleRow.COUNT * lanes,), for each thread.
        corner_distance: m, largest distance of a car's corner from its centre of mass.

    Raises:
        ValueError: numbers that do not fit together.
        DataError: the road is too narrow for a car.
    """

    def __init__(
        self,
        track: Track,
        cars: Sequence[CarParams],
        n: int | None = None,
        *,
        group_size: int = 1,
        team: Team | None = None,
        tyre_heat: bool = False,
        slipstream: bool = False,
        single_precision: bool = False,
    ) -> None:
        n = len(cars) if n is None else n
        if not cars or n < 1 or len(cars) not in (1, n):
            raise ValueError(f"Batch: expected 1 or n CarParams and n >= 1, got {len(cars)} and n = {n}")
        if group_size < 1 or n % group_size:
            raise ValueError(f"Batch: expected n to be a multiple of group, got n = {n} and group = {group_size}")
        widest = max(cars, key=lambda car: car.body.width)
        check_car_fits(track, widest.body.width, f"{widest.name} on {track.name}")
        self.track, self.n, self.group_size = track, n, group_size
        self.team = Team(1) if team is None else team
        self.dtype: Any = np.float32 if single_precision else np.float64
        self.lanes = lanes = lanes_per_block(self.dtype)
        self._blocks_per_unit = math.lcm(group_size, lanes) // lanes  # blocks that hold whole groups
        count = -(-n // lanes)
        self._grip_factor = 1.0  # of the ground, over the track's own
        self._track_grip: Array | None = None  # columns of the segment table at factor 1, once it changes
        self._patch = NO_PATCH
        self._tyre_heat, self._maps_separated, self.collisions_enabled = tyre_heat, False, True
        self._update_wakes: Callable[..., object] | None = None
        self._has_wakes = slipstream and group_size > 1
        self.cars: Any = _allocate_aligned(count, ControlRow.COUNT * lanes, self.dtype)
        models = {id(car): car for car in cars}
        rows = {key: row for row, key in enumerate(models)}
        self.maps: Any = np.stack([engine_map(car) for car in models.values()]).astype(self.dtype)
        columns = []
        for row, car in enumerate(models.values()):
            columns.append(pack_car(car, tyre_heat=tyre_heat))
            columns[-1][ParamRow.MODEL - WorkRow.COUNT] = row
        which = np.full(count * lanes, rows[id(cars[-1])])
        which[: len(cars)] = [rows[id(car)] for car in cars]
        combinations, kinds = np.unique(which.reshape(count, lanes), axis=0, return_inverse=True)
        self.kinds: Any = kinds.reshape(count).astype(np.int64)
        stacked = np.stack(columns, axis=1)
        self.params: Any = np.stack([stacked[:, chosen].reshape(-1) for chosen in combinations]).astype(self.dtype)
        self._next_blocks = np.zeros(COUNTER_STRIDE * self.team.threads, np.int64)
        self.work = [_allocate_aligned(1, AxleRow.COUNT * lanes, self.dtype)[0] for _ in range(self.team.threads)]
        kept = self.cars.reshape(count, ControlRow.COUNT, lanes)
        kept[:, ControlRow.GEAR] = np.nan
        kept[:, ControlRow.DRIVE_TORQUE : ControlRow.COUNT] = np.nan
        road, off = track.road, track.off_road
        # Plain, writable copies: numba compiles anew for a read-only array.
        lines = _allocate_aligned(len(road.table), SegmentColumn.COUNT, self.dtype)
        self.corner_distance = max(map(measure_corner_distance, models.values()))
        lines[:] = build_segment_table(road, self.corner_distance)
        self.road = RoadTables(
            RoadTable(np.array(road.table, order="C"), float(road.spacing), bool(road.closed)), lines,
            self._scalar(off.grip), self._scalar(off.rolling),
        )  # fmt: skip
        self._bind_kernels()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in _BOUND}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._bind_kernels()

    def get_row(self, row: int, count: int = 1) -> Array:
        """Return quantity `row` of all cars, (n,); with `count` > 1 that many rows from it on, (count, n)."""
        kept = self.cars.reshape(-1, ControlRow.COUNT, self.lanes)[:, row : row + count]
        values = kept.transpose(1, 0, 2).reshape(count, -1)[:, : self.n]
        result: Array = values[0].copy() if count == 1 else values.copy()
        return result

    def set_row(self, row: int, values: ArrayLike, cars: ArrayLike | None = None) -> None:
        """Set quantity `row` of all cars, or of `cars`, to `values`, one number or one per car."""
        chosen = np.arange(self.n) if cars is None else np.asarray(cars, np.intp)
        self.cars[chosen // self.lanes, int(row) * self.lanes + chosen % self.lanes] = values

    def view_car(self, car: int) -> Array:
        """Return state and controls of one car, (Control.COUNT,), a view."""
        column: Array = self.cars[car // self.lanes, car % self.lanes :: self.lanes]
        return column

    def separate_params(self) -> None:
        """Give every block parameters of its own, so that `params` may be changed car by car."""
        self.params = np.ascontiguousarray(self.params[self.kinds])
        self.kinds = np.arange(len(self.kinds), dtype=np.int64)
        self._bind_kernels()

    def change_car(self, car: int, params: CarParams) -> None:
        """Let one car be `params` from now on. Its state stays, and the other cars stay as they are."""
        model = (ParamRow.MODEL - WorkRow.COUNT) * self.lanes
        if not self._maps_separated:  # every car gets its own parameters and its own engine map
            self._maps_separated = True
            self.separate_params()
            models = self.params[:, model : model + self.lanes].reshape(-1).astype(np.intp)
            self.maps = np.ascontiguousarray(self.maps[models])
            self.params[:, model : model + self.lanes] = np.arange(len(models)).reshape(-1, self.lanes)
            self._bind_kernels()
        column = pack_car(params, tyre_heat=self._tyre_heat)
        column[ParamRow.MODEL - WorkRow.COUNT] = car
        self.params[car // self.lanes, car % self.lanes :: self.lanes] = column
        self.maps[car] = engine_map(params)
        if measure_corner_distance(params) > self.corner_distance:
            self.corner_distance = measure_corner_distance(params)
            self._fill_segments()

    def lay_patch(self, patch: GripPatch) -> None:
        """Let a stretch of the road have other grip from now on, in place of the patch before."""
        self._patch = patch
        self._fill_segments()

    def _fill_segments(self) -> None:
        self.road.segments[:] = build_segment_table(self.track.road, self.corner_distance, self._patch)
        self._track_grip = None
        self.set_grip_factor(self._grip_factor)

    def set_grip_factor(self, factor: float) -> None:
        """Let all ground have `factor` times the grip of the track from now on."""
        if self._track_grip is None:
            self._track_grip = self.road.segments[:, GRIP_COLUMNS].copy()
        self.road.segments[:, GRIP_COLUMNS] = self._track_grip * factor
        self._grip_factor = factor
        self.road = self.road._replace(off_grip=self._scalar(self.track.off_road.grip * factor))
        self._bind_kernels()

    def get_param(self, row: int, cars: ArrayLike | None = None) -> Array:
        """Return parameter `row` of all cars, or of `cars`, (n,)."""
        chosen = np.arange(self.n) if cars is None else np.asarray(cars, np.intp)
        place = (int(row) - WorkRow.COUNT) * self.lanes + chosen % self.lanes
        values: Array = self.params[self.kinds[chosen // self.lanes], place]
        return values

    def place_cars(self, cars: ArrayLike, x: ArrayLike, y: ArrayLike, yaw: ArrayLike, speed: ArrayLike = 0.0) -> None:
        """Put `cars` on the road at x, y (m, world), heading `yaw` (rad), rolling at `speed` (m/s), all as new."""
        chosen = np.atleast_1d(np.asarray(cars, np.int64))
        columns = (np.broadcast_to(np.asarray(values, np.float64), chosen.shape) for values in (x, y, yaw, speed))
        reset_cars(self.blocks, self.lanes, chosen, tabulate_poses(*columns))
        for b in np.unique(chosen // self.lanes):
            self._advance_blocks(0.0, 0, int(b), int(b) + 1)

    def step(self, dt: float, substeps: int) -> None:
        """Advance all cars by `substeps` times `dt` (s) under the controls in `cars`; see `integrate`.

        Args:
            dt: length of a substep (s), at most MAX_DT.
            substeps: how many. The ground, gears and contacts are looked at once, at the end: keep `dt * substeps`
                within 10 ms.
        """
        parts, units = self.team.threads, -(-len(self.cars) // self._blocks_per_unit)
        if parts == 1 or units == 1:  # waking a thread takes longer than such a step
            self._advance_blocks(dt, substeps, 0, len(self.cars))
        else:
            self._advance_in_threads(dt, substeps, units)
        if self._has_wakes:
            self._write_wakes()

    def _write_wakes(self) -> None:
        groups = self.n // self.group_size
        if self._update_wakes is None:
            around = self._scalar(self.track.road.length if self.track.road.closed else 0.0)
            entry = kernels.bind_entry(self._kernels[2], self.blocks, around, self.group_size, 0, groups)
            self._update_wakes = partial(entry, self.blocks, around, self.group_size)
        update: Callable[..., object] = self._update_wakes
        self.team.parallel_for(lambda thread, lo, hi: update(lo, hi), groups)

    def _advance_in_threads(self, dt: float, substeps: int, units: int) -> None:
        count, whole, parts = len(self.cars), self._blocks_per_unit, self.team.threads
        part_units = -(-units // parts)
        chunk = max(1, part_units // CHUNKS_PER_THREAD)
        self._next_blocks[::COUNTER_STRIDE] = range(0, parts * part_units * whole, part_units * whole)
        plan, group_size = self._plan_step(dt, substeps)
        shares = [BlockShare(part, parts, part_units * whole, chunk * whole, count) for part in range(parts)]
        if not self._advance_shared:
            self._bind_shared_kernel(plan, shares[0])

        def advance(thread: int, lo: int, hi: int) -> None:
            self._advance_shared[thread](plan, group_size, shares[thread])

        self.team.parallel_for(advance, parts)

    def update_ground(self) -> None:
        """Find the ground under all cars, after `cars` was written from outside."""
        kept = self.cars.reshape(-1, ControlRow.COUNT, self.lanes)
        kept[:, StateRow.COS_YAW], kept[:, StateRow.SIN_YAW] = (
            np.cos(kept[:, StateRow.YAW]),
            np.sin(kept[:, StateRow.YAW]),
        )
        self._advance_blocks(0.0, 0, 0, len(self.cars))

    def _scalar(self, value: float) -> Any:
        """Return `value` in the precision of the batch."""
        return np.float32(value) if self.dtype is np.float32 else float(value)

    def _bind_kernels(self) -> None:
        """Bind what stays from call to call to the kernels: passing it anew would take as long as one car's step."""
        contact_range = self._scalar(2.0 * self.corner_distance)
        self.blocks = CarBlocks(self.cars, self.params, self.kinds, self.maps, self.n, contact_range)
        self._kernels: Any = [
            kernels.single_precision(kernel) if self.dtype is np.float32 else kernel
            for kernel in (advance_blocks, advance_shared_blocks, update_wakes)
        ]
        self._plan_key, self._plan = (0.0, 0), StepPlan(self._scalar(0.0), self._scalar(0.0), 0)
        self._advance_alone: Callable[..., object] | None = None
        self._update_wakes = None
        self._advance_shared: list[Callable[..., object]] = []

    def _bind_shared_kernel(self, plan: StepPlan, share: BlockShare) -> None:
        example = self.blocks, self.work[0], self.road, self._next_blocks, plan, 1, share
        entry = kernels.bind_entry(self._kernels[1], *example)
        self._advance_shared = [partial(entry, self.blocks, work, self.road, self._next_blocks) for work in self.work]

    def _plan_step(self, dt: float, substeps: int) -> tuple[StepPlan, int]:
        """Return the plan of a step, and the number of cars that can touch each other in it."""
        if (dt, substeps) != self._plan_key:
            self._plan_key = dt, substeps
            self._plan = StepPlan(self._scalar(dt), self._scalar(dt * substeps), substeps)
        return self._plan, self.group_size if self.collisions_enabled else 1

    def _advance_blocks(self, dt: float, substeps: int, lo: int, hi: int) -> None:
        plan, group_size = self._plan_step(dt, substeps)
        if self._advance_alone is None:
            bound = self.blocks, self.work[0], self.road
            entry = kernels.bind_entry(self._kernels[0], *bound, plan, group_size, lo, hi, -1)
            self._advance_alone = partial(entry, *bound)
        self._advance_alone(plan, group_size, lo, hi, -1)


# Where each control is in the rows from ControlRow.STEER on.
_STEER, _THROTTLE, _BRAKE, _CLUTCH, _HANDBRAKE, _GEAR, _DRS, _BOOST, _DRIVE_TORQUE, _BRAKE_TORQUE = (
    row - ControlRow.STEER
    for row in (
        ControlRow.STEER, ControlRow.THROTTLE, ControlRow.BRAKE, ControlRow.CLUTCH, ControlRow.HANDBRAKE,
        ControlRow.GEAR, ControlRow.DRS, ControlRow.BOOST, ControlRow.DRIVE_TORQUE, ControlRow.BRAKE_TORQUE,
    )
)  # fmt: skip


def write_controls(control_rows: "memoryview[float]", controls: Controls) -> None:
    """Write controls into the control rows of a car; a gear of None is the automatic gearbox.

    Args:
        control_rows: the rows of a car from ControlRow.STEER on, of `Batch.view_car(car)`. Assigning single numbers to
            a memoryview takes a third of the time of assigning an array.
        controls: what the driver demands.
    """
    rows, gear, wheels = control_rows, controls.gear, controls.wheels
    rows[_STEER], rows[_THROTTLE], rows[_BRAKE] = controls.steer, controls.throttle, controls.brake
    rows[_CLUTCH], rows[_HANDBRAKE] = controls.clutch, controls.handbrake
    rows[_GEAR] = math.nan if gear is None else gear
    rows[_DRS], rows[_BOOST] = controls.drs, controls.boost
    for k in range(4):
        wheel = None if wheels is None else wheels[k]
        rows[_DRIVE_TORQUE + k] = math.nan if wheel is None else wheel.drive_torque
        rows[_BRAKE_TORQUE + k] = math.nan if wheel is None else wheel.brake_torque


def measure_corner_distance(car: CarParams) -> float:
    """Return a bound, m, of the distance from the centre of mass to a corner of the car."""
    return 0.5 * (car.body.length + car.body.width + abs(car.body.cg_to_front - car.body.cg_to_rear))


def _allocate_aligned(rows: int, columns: int, dtype: type) -> Any:
    """Return zeros (rows, columns) that begin on a cache line: vectors across two lines cost twice."""
    size = np.dtype(dtype).itemsize
    raw: Any = np.zeros(rows * columns + CACHE_LINE_BYTES // size, dtype)
    first = -raw.ctypes.data % CACHE_LINE_BYTES // size
    return raw[first : first + rows * columns].reshape(rows, columns)
