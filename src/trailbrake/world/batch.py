"""`Batch`: many cars on one track as arrays, and the calls of the kernel on them. One car is a batch of one."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trailbrake import kernels
from trailbrake.cars.params import CarParams
from trailbrake.kernels.lanes import CACHE_LINE, lanes_of
from trailbrake.kernels.signal import APART
from trailbrake.kernels.team import Team
from trailbrake.state import Controls
from trailbrake.tracks.fit import check_fit
from trailbrake.tracks.track import Track
from trailbrake.world.integrate import advance, advance_together
from trailbrake.world.layout import Array, Axle, Control, Param, State, Work
from trailbrake.world.pack import engine_map, pack
from trailbrake.world.strip import Strip, strip

PIECES = 32  # of a thread's part: what it loses to something else is taken over by the others
MAX_DT = 0.0012  # s: substeps are no longer; stiff wheels and ABS are verified up to here


def substeps_for(period: float) -> int:
    """Return how many equal substeps of at most MAX_DT make up `period` (s)."""
    return max(1, math.ceil(period / MAX_DT))


class Batch:
    """Cars side by side on the same road; `place` them before the first step.

    Args:
        track: where they drive; its first road.
        cars: one CarParams for all, or one per car.
        n: how many cars; by default as many as there are in `cars`.
        group: how many consecutive cars race each other and may touch; n must be a multiple of it.
        team: the threads that share the work; by default the caller's alone.
        heat: whether tyres warm and wear where the car file describes it; otherwise friction is that of its `mu`.
        single: float32 and freer arithmetic: half the memory and twice the speed, for training. Not repeatable to the
            bit on another machine, and positions are good to a millimetre.

    Attributes:
        n: how many cars.
        lanes: how many cars are in a block.
        cars: (blocks, Control.COUNT * lanes), see `layout`: state and controls. Cars beyond n fill the last
            block and are nobody's.
        params: (kinds, (Axle.COUNT - Work.COUNT) * lanes): parameters of each kind of block.
        touching: whether cars of a group push each other.
        maps: (models, TORQUES) N m, engine maps.
        road: the road's table, its `strip`, m between their rows, and whether it is closed.
        off: grip and rolling resistance beyond the road.
        team: as given.
        work: a work block, (Axle.COUNT * lanes,), for each of its threads.
        reach: m, no corner of a car is further from its centre of mass.
        kinds: (blocks,) which row of `params` is a block's; blocks of like cars share one, see `own_params`.

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
        group: int = 1,
        team: Team | None = None,
        heat: bool = False,
        single: bool = False,
    ) -> None:
        n = len(cars) if n is None else n
        if not cars or n < 1 or len(cars) not in (1, n):
            raise ValueError(f"Batch: expected 1 or n CarParams and n >= 1, got {len(cars)} and n = {n}")
        if group < 1 or n % group:
            raise ValueError(f"Batch: expected n to be a multiple of group, got n = {n} and group = {group}")
        widest = max(cars, key=lambda car: car.body.width)
        check_fit(track, widest.body.width, f"{widest.name} on {track.name}")
        self.track, self.n, self.group = track, n, group
        self.team = Team(1) if team is None else team
        self.dtype: Any = np.float32 if single else np.float64
        self.lanes = lanes = lanes_of(self.dtype)
        self._whole = math.lcm(group, lanes) // lanes  # blocks that hold whole groups
        count = -(-n // lanes)
        self._number: Any = np.float32 if single else float  # of the kernel's lone arguments
        self._heat, self._changed, self.touching = heat, False, True
        self._kernels: Any = [kernels.single(kernel) if single else kernel for kernel in (advance, advance_together)]
        self.cars: Any = _aligned(count, Control.COUNT * lanes, self.dtype)
        models = {id(car): car for car in cars}
        rows = {key: row for row, key in enumerate(models)}
        self.maps: Any = np.stack([engine_map(car) for car in models.values()]).astype(self.dtype)
        columns = []
        for row, car in enumerate(models.values()):
            columns.append(pack(car, heat=heat))
            columns[-1][Param.MODEL - Work.COUNT] = row
        which = np.full(count * lanes, rows[id(cars[-1])])
        which[: len(cars)] = [rows[id(car)] for car in cars]
        combinations, kinds = np.unique(which.reshape(count, lanes), axis=0, return_inverse=True)
        self.kinds: Any = kinds.reshape(count).astype(np.int64)
        stacked = np.stack(columns, axis=1)
        self.params: Any = np.stack([stacked[:, chosen].reshape(-1) for chosen in combinations]).astype(self.dtype)
        self._turns = np.zeros(APART * self.team.threads, np.int64)
        self.work = [_aligned(1, Axle.COUNT * lanes, self.dtype)[0] for _ in range(self.team.threads)]
        kept = self.cars.reshape(count, Control.COUNT, lanes)
        kept[:, Control.GEAR] = np.nan
        kept[:, Control.DRIVE_TORQUE : Control.COUNT] = np.nan
        road, off = track.road, track.off_road
        # Plain, writable copies: numba compiles anew for a read-only array.
        lines = _aligned(len(road.table), Strip.COUNT, self.dtype)
        self.reach = max(map(_reach, models.values()))
        lines[:] = strip(road, self.reach)
        self.road = (np.array(road.table, order="C"), lines, float(road.spacing), bool(road.closed))
        self.off: tuple[Any, Any] = (self._number(off.grip), self._number(off.rolling))
        self._give()

    def get(self, row: int, count: int = 1) -> Array:
        """Return quantity `row` of all cars, (n,); with `count` > 1 that many rows from it on, (count, n)."""
        kept = self.cars.reshape(-1, Control.COUNT, self.lanes)[:, row : row + count]
        values = kept.transpose(1, 0, 2).reshape(count, -1)[:, : self.n]
        result: Array = values[0].copy() if count == 1 else values.copy()
        return result

    def set(self, row: int, values: ArrayLike, cars: ArrayLike | None = None) -> None:
        """Set quantity `row` of all cars, or of `cars`, to `values`, one number or one per car."""
        chosen = np.arange(self.n) if cars is None else np.asarray(cars, np.intp)
        self.cars[chosen // self.lanes, int(row) * self.lanes + chosen % self.lanes] = values

    def column(self, car: int) -> Array:
        """Return state and controls of one car, (Control.COUNT,), a view."""
        column: Array = self.cars[car // self.lanes, car % self.lanes :: self.lanes]
        return column

    def own_params(self) -> None:
        """Give every block parameters of its own, so that `params` may be changed car by car."""
        self.params = np.ascontiguousarray(self.params[self.kinds])
        self.kinds = np.arange(len(self.kinds), dtype=np.int64)
        self._give()

    def change(self, car: int, params: CarParams) -> None:
        """Let one car be `params` from now on. Its state stays, and the other cars stay as they are."""
        model = (Param.MODEL - Work.COUNT) * self.lanes
        if not self._changed:  # every car gets its own parameters and its own engine map
            self._changed = True
            self.own_params()
            models = self.params[:, model : model + self.lanes].reshape(-1).astype(np.intp)
            self.maps = np.ascontiguousarray(self.maps[models])
            self.params[:, model : model + self.lanes] = np.arange(len(models)).reshape(-1, self.lanes)
            self._give()
        column = pack(params, heat=self._heat)
        column[Param.MODEL - Work.COUNT] = car
        self.params[car // self.lanes, car % self.lanes :: self.lanes] = column
        self.maps[car] = engine_map(params)
        if _reach(params) > self.reach:
            self.reach = _reach(params)
            self.road[1][:] = strip(self.track.road, self.reach)
            self._give()

    def param(self, row: int, cars: ArrayLike | None = None) -> Array:
        """Return parameter `row` of all cars, or of `cars`, (n,)."""
        chosen = np.arange(self.n) if cars is None else np.asarray(cars, np.intp)
        place = (int(row) - Work.COUNT) * self.lanes + chosen % self.lanes
        values: Array = self.params[self.kinds[chosen // self.lanes], place]
        return values

    def place(self, cars: ArrayLike, x: ArrayLike, y: ArrayLike, yaw: ArrayLike, speed: ArrayLike = 0.0) -> None:
        """Put `cars` on the road at x, y (m, world), heading `yaw` (rad), rolling at `speed` (m/s), all as new.

        At rest in first gear; rolling in the lowest gear that keeps the engine below the automatic's upshift.
        """
        chosen = np.atleast_1d(np.asarray(cars, np.intp))
        kept = self.cars.reshape(-1, Control.COUNT, self.lanes)
        block, lane = chosen // self.lanes, chosen % self.lanes
        kept[block, : State.COUNT, lane] = 0.0

        def put(row: int, values: ArrayLike) -> None:
            kept[block, row, lane] = values

        def param(row: int) -> Array:
            return self.param(row, chosen)

        direction = np.asarray(yaw, np.float64)
        direction = direction - 2.0 * np.pi * np.floor(direction / (2.0 * np.pi) + 0.5)
        put(State.X, x)
        put(State.Y, y)
        put(State.YAW, direction)
        put(State.COS_YAW, np.cos(direction))
        put(State.SIN_YAW, np.sin(direction))
        put(State.ROW, -1.0)
        put(State.CONTACT_GAP, 1e6)
        put(State.FUEL, param(Param.FUEL_START))
        put(State.CHARGE, param(Param.CHARGE_START))
        put(State.TC, 1.0)
        put(State.INVERSE_MASS, 1.0 / param(Param.MASS))
        rolling = np.broadcast_to(np.asarray(speed, np.float64), chosen.shape)
        put(State.VX, rolling)
        for i in range(4):
            put(State.SPIN + i, rolling / param(Axle.RADIUS + i // 2))
            put(State.TEMPERATURE + i, param(Axle.START_TEMPERATURE + i // 2))
            put(State.LOAD + i, param(Axle.LOAD_AT_REST + i // 2))
            put(State.ABS + i, 1.0)
        radius = param(Param.DRIVE_FRONT) * param(Axle.RADIUS) + param(Param.DRIVE_REAR) * param(Axle.RADIUS + 1)

        def ratio_of(gear: Array) -> Array:
            place = (Param.RATIOS + 1 - Work.COUNT + gear.astype(np.intp)) * self.lanes + lane
            values: Array = self.params[self.kinds[block], place]
            return values

        gear = np.ones(chosen.shape)
        for _ in range(1, int(param(Param.TOP_GEAR).max())):
            ratio = ratio_of(gear)
            gear += (rolling / radius * ratio > param(Param.UPSHIFT)) & (gear < param(Param.TOP_GEAR))
        ratio = ratio_of(gear)
        put(State.GEAR, gear)
        put(State.NEXT_GEAR, gear)
        put(State.RATIO, ratio)
        put(State.ENGINE, np.clip(rolling / radius * ratio, param(Param.IDLE), param(Param.LIMITER)))
        for b in np.unique(block):
            self._advance(0.0, 0, int(b), int(b) + 1)

    def step(self, dt: float, substeps: int) -> None:
        """Advance all cars by `substeps` times `dt` (s) under the controls in `cars`; see `integrate`.

        Args:
            dt: length of a substep (s), at most MAX_DT.
            substeps: how many. The ground, gears and contacts are looked at once, at the end: keep `dt * substeps`
                within 10 ms.
        """
        count, whole, parts = len(self.cars), self._whole, self.team.threads
        units = -(-count // whole)
        if parts == 1 or units == 1:  # nothing to share, and the way there takes longer than such a step
            self._advance(dt, substeps, 0, count)
            return
        span = -(-units // parts)
        size = max(1, span // PIECES)
        self._turns[::APART] = range(0, parts * span * whole, span * whole)
        call = self._call(dt, substeps)

        def advance(thread: int, lo: int, hi: int) -> None:
            self._together[thread](*call, thread, parts, span * whole, size * whole, count)

        self.team.share(advance, parts)

    def refresh(self) -> None:
        """Find the ground under all cars, after `cars` was written from outside."""
        kept = self.cars.reshape(-1, Control.COUNT, self.lanes)
        kept[:, State.COS_YAW], kept[:, State.SIN_YAW] = np.cos(kept[:, State.YAW]), np.sin(kept[:, State.YAW])
        self._advance(0.0, 0, 0, len(self.cars))

    def _give(self) -> None:
        """Tie to the kernel what stays from call to call: to hand it over anew takes as long as a lone car's look."""
        (alone, together), near = self._kernels, self._number(2.0 * self.reach)
        given = [
            (self.cars, self.params, self.kinds, self.maps, work, *self.road, *self.off, near) for work in self.work
        ]
        self._alone = partial(alone, *given[0])
        self._together = [partial(together, *own, self._turns) for own in given]

    def _call(self, dt: float, substeps: int) -> tuple[Any, ...]:
        group, number = self.group if self.touching else 1, self._number
        return group, self.n, number(dt), number(dt * substeps), substeps

    def _advance(self, dt: float, substeps: int, lo: int, hi: int) -> None:
        self._alone(*self._call(dt, substeps), lo, hi, -1)


def ask(asked: "memoryview[float]", controls: Controls) -> None:
    """Write controls into what is asked of a car; a gear of None: automatic.

    Args:
        asked: of a car's `Batch.column` the rows from Control.STEER on. One number after the other goes there in a
            third of the time that an array takes for all of them.
        controls: as asked for.
    """
    gear, wheels = controls.gear, controls.wheels
    # The places are those of `layout.Control`, from STEER on; the wheels' torques begin at 8.
    asked[0], asked[1], asked[2] = controls.steer, controls.throttle, controls.brake
    asked[3], asked[4] = controls.clutch, controls.handbrake
    asked[5] = math.nan if gear is None else gear
    asked[6], asked[7] = controls.drs, controls.boost
    if wheels is None:  # the powertrain's and the brakes' own
        asked[8] = asked[9] = asked[10] = asked[11] = asked[12] = asked[13] = asked[14] = asked[15] = math.nan
    else:
        for k, wheel in enumerate(wheels, 8):
            asked[k], asked[k + 4] = wheel.drive_torque, wheel.brake_torque


def _reach(car: CarParams) -> float:
    """Return how far (m) no corner of a car is from its centre of mass."""
    return 0.5 * (car.body.length + car.body.width + abs(car.body.cg_to_front - car.body.cg_to_rear))


def _aligned(rows: int, columns: int, dtype: type) -> Any:
    """Return zeros (rows, columns) that begin on a cache line: vectors across two lines cost twice."""
    size = np.dtype(dtype).itemsize
    raw: Any = np.zeros(rows * columns + CACHE_LINE // size, dtype)
    first = -raw.ctypes.data % CACHE_LINE // size
    return raw[first : first + rows * columns].reshape(rows, columns)
