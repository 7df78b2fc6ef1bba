"""`CudaBatch`: the cars of a `Batch` on a graphics card, one to a thread, by the same kernel."""

from collections.abc import Sequence
from typing import Any

import numba.cuda
import numpy as np
from numpy.typing import ArrayLike

from trailbrake.cars.params import CarParams
from trailbrake.tracks.track import Track
from trailbrake.world.batch import Batch
from trailbrake.world.cuda_kernels import get_kernels
from trailbrake.world.row_layout import Array, ControlRow, StateRow

cuda: Any = numba.cuda


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
        UsageError: no card, see `kernels.cuda_compiler.require_cuda`.
    """

    def __init__(
        self,
        track: Track,
        cars: Sequence[CarParams],
        n: int | None = None,
        *,
        group_size: int = 1,
        tyre_heat: bool = False,
        single_precision: bool = True,
    ) -> None:
        self._kernels = get_kernels(single=single_precision)
        self.host_batch = Batch(
            track, cars, n, group_size=group_size, tyre_heat=tyre_heat, single_precision=single_precision
        )
        self.n = self.host_batch.n
        self.collisions_enabled = True
        self.upload_host()

    def upload_host(self) -> None:
        """Copy all of `host` to the card: state, controls, parameters."""
        host, to = self.host_batch, cuda.to_device
        kept = host.cars.reshape(-1, ControlRow.COUNT, host.lanes)
        columns = kept.transpose(0, 2, 1).reshape(-1, ControlRow.COUNT)[: self.n]
        self.cars: Any = to(np.asfortranarray(columns))
        lanes = host.params.reshape(len(host.params), -1, host.lanes)
        params = np.zeros((len(host.params) * host.lanes, self._kernels.param_columns), host.dtype)
        params[:, : lanes.shape[1]] = lanes.transpose(0, 2, 1).reshape(-1, lanes.shape[1])
        self._params = to(params)
        self._equal_params = params[0] if (params == params[0]).all() else None
        self._kinds = to(
            np.ascontiguousarray((host.kinds[:, None] * host.lanes + np.arange(host.lanes)).reshape(-1)[: self.n])
        )
        self._maps = to(np.ascontiguousarray(host.maps, host.dtype))
        self._advance: Any = None  # the kernel, compiled at the first step
        (table, spacing, closed), segments, off_grip, off_rolling = host.road
        # In the precision of the state, or each thread would compute the road in double precision.
        self._road = (
            to(table.astype(host.dtype)), host.dtype(spacing), closed, to(segments.astype(host.dtype)), off_grip,
            off_rolling,
        )  # fmt: skip

    def place_cars(self, cars: ArrayLike, x: ArrayLike, y: ArrayLike, yaw: ArrayLike, speed: ArrayLike = 0.0) -> None:
        """Put cars on the road as `Batch.place_cars` does; their controls stay."""
        chosen = np.atleast_1d(np.asarray(cars, np.intp))
        self.host_batch.place_cars(chosen, x, y, yaw, speed)
        lanes = self.host_batch.lanes
        kept = self.host_batch.cars.reshape(-1, ControlRow.COUNT, lanes)
        rows = np.ascontiguousarray(kept[chosen // lanes, : StateRow.COUNT, chosen % lanes].T)
        self._kernels.write(self.cars, cuda.to_device(rows), cuda.to_device(chosen))

    def get_row(self, row: int, count: int = 1) -> Array:
        """Return quantity `row` of all cars, (n,); with `count` > 1 that many rows from it on, (count, n)."""
        values: Array = np.ascontiguousarray(self.cars[:, int(row) : int(row) + count].copy_to_host().T)
        return values[0] if count == 1 else values

    def view_row(self, row: int) -> Any:
        """Return quantity `row` of all cars as an array on the card, (n,), a view.

        It has the `__cuda_array_interface__` by which other libraries (`torch.as_tensor`) read and write it in place.
        """
        return self.cars[:, int(row)]

    def set_row(self, row: int, values: ArrayLike) -> None:
        """Set quantity `row` of all cars to `values`, one number or one per car."""
        whole = np.broadcast_to(np.asarray(values, self.host_batch.dtype), (self.n,))
        self.view_row(row).copy_to_device(np.ascontiguousarray(whole))

    def step(self, dt: float, substeps: int) -> None:
        """Advance all cars by `substeps` times `dt` (s), as `Batch.step`. Returns before the card has done it."""
        host = self.host_batch
        real, group_size = host.dtype, host.group_size
        cars = self.cars, self._params, self._kinds, self._maps
        plan = real(dt), real(dt * substeps), substeps
        if self._advance is None:
            self._advance = self._kernels.compile_advance(cars, self._road, plan, self._equal_params)
        self._kernels.advance(self._advance, cars, self._road, plan, self._equal_params)
        if group_size > 1 and substeps > 0 and self.collisions_enabled:
            contact_range = real(2.0 * host.corner_distance)
            self._kernels.collide(cars, contact_range, group_size, self.n // group_size)

    def synchronize(self) -> None:
        """Wait until the card has done all steps."""
        cuda.synchronize()
