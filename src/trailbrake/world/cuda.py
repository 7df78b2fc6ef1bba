"""`CudaBatch`: the cars of a `Batch` on a graphics card, one to a thread, by the same kernel."""

from collections.abc import Sequence
from typing import Any

import numba.cuda
import numpy as np
from numpy.typing import ArrayLike

from trailbrake.cars.params import CarParams
from trailbrake.kernels.device import Device
from trailbrake.tracks.track import Track
from trailbrake.world.batch import Batch
from trailbrake.world.contact import collide
from trailbrake.world.integrate import advance
from trailbrake.world.layout import Array, Axle, Control, State, Work

cuda: Any = numba.cuda
THREADS = 64  # of a block of the card: a car's work block takes what several would need of its first-level cache


class CudaBatch:
    """Cars side by side on the same road, on a graphics card; `place` them before the first step.

    What it computes is `Batch`'s to within rounding; here the order of operations is the card's compiler's.

    Args:
        track: where they drive; its first road.
        cars: one CarParams for all, or one per car.
        n: how many cars; by default as many as there are in `cars`.
        group: how many consecutive cars race each other and may touch; n must be a multiple of it.
        heat: whether tyres warm and wear where the car file describes it.
        single: float32, for which cards are made; False for float64.

    Attributes:
        host: the same cars in the processor's memory, as they were last put somewhere. After a change of its `params`
            call `upload`.
        n: how many cars.
        cars: device array (n, Control.COUNT), a quantity of all cars side by side.

    Raises:
        ValueError: numbers that do not fit together.
        DataError: the road is too narrow for a car.
        UsageError: no card, see `kernels.device.cuda`.
    """

    def __init__(
        self,
        track: Track,
        cars: Sequence[CarParams],
        n: int | None = None,
        *,
        group: int = 1,
        heat: bool = False,
        single: bool = True,
    ) -> None:
        device = Device(single=single)
        self.host = Batch(track, cars, n, group=group, heat=heat, single=single)
        self.n = self.host.n
        self.touching = True
        self._advance, self._collide, self._write = _entries(device, self.host.dtype)
        self.upload()

    def upload(self) -> None:
        """Copy all of `host` to the card: state, controls, parameters."""
        host, to = self.host, cuda.to_device
        kept = host.cars.reshape(-1, Control.COUNT, host.lanes)
        columns = kept.transpose(0, 2, 1).reshape(-1, Control.COUNT)[: self.n]
        self.cars: Any = to(np.asfortranarray(columns))
        lanes = host.params.reshape(len(host.params), -1, host.lanes)
        self._params = to(np.ascontiguousarray(lanes.transpose(0, 2, 1).reshape(-1, lanes.shape[1])))
        self._kinds = to(
            np.ascontiguousarray((host.kinds[:, None] * host.lanes + np.arange(host.lanes)).reshape(-1)[: self.n])
        )
        self._maps = to(np.ascontiguousarray(host.maps, host.dtype))
        table, strip, spacing, closed = host.road
        # Rows in the numbers of the state: a thread would else compute the road in double precision.
        self._road = to(table.astype(host.dtype)), to(strip.astype(host.dtype)), host.dtype(spacing), closed

    def place(self, cars: ArrayLike, x: ArrayLike, y: ArrayLike, yaw: ArrayLike, speed: ArrayLike = 0.0) -> None:
        """Put cars on the road as `Batch.place` does; their controls stay."""
        chosen = np.atleast_1d(np.asarray(cars, np.intp))
        self.host.place(chosen, x, y, yaw, speed)
        lanes = self.host.lanes
        kept = self.host.cars.reshape(-1, Control.COUNT, lanes)
        rows = np.ascontiguousarray(kept[chosen // lanes, : State.COUNT, chosen % lanes].T)
        grid = -(-len(chosen) // THREADS)
        self._write[grid, THREADS](self.cars, cuda.to_device(rows), cuda.to_device(chosen))

    def get(self, row: int, count: int = 1) -> Array:
        """Return quantity `row` of all cars, (n,); with `count` > 1 that many rows from it on, (count, n)."""
        values: Array = np.ascontiguousarray(self.cars[:, int(row) : int(row) + count].copy_to_host().T)
        return values[0] if count == 1 else values

    def row(self, row: int) -> Any:
        """Return quantity `row` of all cars as an array on the card, (n,), a view.

        It has the `__cuda_array_interface__` by which other libraries (`torch.as_tensor`) read and write it in place.
        """
        return self.cars[:, int(row)]

    def set(self, row: int, values: ArrayLike) -> None:
        """Set quantity `row` of all cars to `values`, one number or one per car."""
        whole = np.broadcast_to(np.asarray(values, self.host.dtype), (self.n,))
        self.row(row).copy_to_device(np.ascontiguousarray(whole))

    def step(self, dt: float, substeps: int) -> None:
        """Advance all cars by `substeps` times `dt` (s), as `Batch.step`. Returns before the card has done it."""
        host = self.host
        real, group = host.dtype, host.group
        table, strip, spacing, closed = self._road
        self._advance[-(-self.n // THREADS), THREADS](
            self.cars, self._params, self._kinds, self._maps, table, strip, spacing, closed, *host.off, real(dt),
            real(dt * substeps), substeps,
        )  # fmt: skip
        if group > 1 and substeps > 0 and self.touching:
            groups = self.n // group
            self._collide[-(-groups // THREADS), THREADS](
                self.cars, self._params, self._kinds, group, real(2.0 * host.reach), groups
            )

    def synchronize(self) -> None:
        """Wait until the card has done all steps."""
        cuda.synchronize()


def _entries(device: Device, dtype: Any) -> tuple[Any, Any, Any]:
    size, states = int(Axle.COUNT), int(State.COUNT)
    moved = int(Work.DX)  # the only rows that a call begins with: DX, DY, DYAW
    real = np.dtype(dtype)
    move, touch = device.of(advance), device.of(collide)

    @cuda.jit  # type: ignore[untyped-decorator]
    def advance_cars(
        cars: Any, params: Any, kinds: Any, maps: Any, table: Any, strip: Any, spacing: Any, closed: Any,
        off_grip: Any, off_soft: Any, dt: Any, period: Any, substeps: Any,
    ) -> None:  # fmt: skip
        car = cuda.grid(1)
        if car < cars.shape[0]:
            work = cuda.local.array(size, real)
            for row in range(moved, moved + 3):
                work[row] = 0.0
            # A group of one: cars move before any of them touch.
            move(
                cars, params, kinds, maps, work, table, strip, spacing, closed, off_grip, off_soft, dt, 1,
                cars.shape[0], dt, period, substeps, car, car + 1, -1,
            )  # fmt: skip

    @cuda.jit  # type: ignore[untyped-decorator]
    def collide_groups(cars: Any, params: Any, kinds: Any, group: Any, near: Any, groups: Any) -> None:
        at = cuda.grid(1)
        if at < groups:
            touch(cars, params, kinds, group, near, at, at + 1)

    @cuda.jit  # type: ignore[untyped-decorator]
    def write(cars: Any, rows: Any, chosen: Any) -> None:
        at = cuda.grid(1)
        if at < chosen.shape[0]:
            for row in range(states):
                cars[chosen[at], row] = rows[row, at]

    return advance_cars, collide_groups, write
