"""`CudaBatch`: cars on a graphics card, one to a thread, advanced by the kernel of `Batch`."""

from collections.abc import Sequence
from typing import Any

import numba.cuda
import numpy as np
from numpy.typing import ArrayLike, NDArray

from trailbrake.arrays import Ints
from trailbrake.cars.params import CarParams
from trailbrake.kernels.cuda_memory import check_memory, stack_tables
from trailbrake.tracks.track import Track, check_car_fits
from trailbrake.world.batch import measure_corner_distance
from trailbrake.world.car_placement import tabulate_poses
from trailbrake.world.cuda_kernels import get_kernels
from trailbrake.world.param_packing import engine_map, pack_car
from trailbrake.world.row_layout import Array, ControlRow, ParamRow, WorkRow
from trailbrake.world.segment_table import build_segment_table

cuda: Any = numba.cuda


class CudaBatch:
    """Cars side by side on a graphics card; call `place_cars` before the first step.

    What it computes is `Batch`'s to within rounding; here the order of operations is the card's compiler's.

    Args:
        tracks: tracks; cars drive on the first road of theirs.
        cars: the different cars.
        tracks_of_cars: (n,) number of each car's track.
        models_of_cars: (n,) number of each car's CarParams.
        group_size: number of consecutive cars that race each other and can touch; n must be a multiple of it.
        tyre_heat: whether tyres warm up and wear where the car file describes it.
        single_precision: float32, for which cards are made; False for float64.
        own_params: whether every car has a line of parameters of its own, to be changed.

    Attributes:
        n: number of cars.
        dtype: of the numbers.
        arrays: state and controls (n, ControlRow.COUNT), a quantity of all cars side by side; parameters
            (lines, columns); line of each car (n,); engine maps. All are arrays on the card.
        roads: the roads on the card, as `cuda_kernels.select_road` takes them.
        everyone: (n,) uint8, ones on the card.

    Raises:
        ValueError: numbers that do not fit together.
        DataError: a road is too narrow for a car.
        UsageError: no card, see `kernels.cuda_compiler.require_cuda`; too many cars for its memory.
    """

    def __init__(
        self,
        tracks: Sequence[Track],
        cars: Sequence[CarParams],
        tracks_of_cars: ArrayLike,
        models_of_cars: ArrayLike,
        *,
        group_size: int = 1,
        tyre_heat: bool = False,
        single_precision: bool = True,
        own_params: bool = False,
    ) -> None:
        tracks_of_cars, models = np.asarray(tracks_of_cars, np.int32), np.asarray(models_of_cars, np.int64)
        self.n = n = len(models)
        if n < 1 or tracks_of_cars.shape != (n,) or group_size < 1 or n % group_size:
            raise ValueError(f"CudaBatch: {n} cars, {tracks_of_cars.shape} tracks of cars, groups of {group_size}")
        for t, m in set(zip(tracks_of_cars.tolist(), models.tolist(), strict=True)):
            check_car_fits(tracks[t], cars[m].body.width, f"{cars[m].name} on {tracks[t].name}")
        self._kernels = get_kernels(single=single_precision)
        self.dtype: Any = np.float32 if single_precision else np.float64
        self.group_size, self.collisions_enabled = group_size, True
        check_memory(n, self.count_car_bytes(own_params=own_params, single_precision=single_precision))
        self._corner_distance = max(map(measure_corner_distance, cars))
        self.arrays, self._equal_params = self._upload_cars(cars, models, tyre_heat, own_params)
        self.roads = self._upload_roads(tracks, tracks_of_cars)
        self.everyone: Any = cuda.to_device(np.ones(n, np.uint8))
        self._advance: Any = None  # the kernel, compiled at the first step

    @staticmethod
    def count_car_bytes(*, own_params: bool, single_precision: bool) -> int:
        """Return the bytes of a car in the card's memory."""
        columns = ControlRow.COUNT + (get_kernels(single=single_precision).param_columns if own_params else 0)
        return columns * (4 if single_precision else 8) + 13  # kind, road, `everyone`

    def _upload_cars(
        self, cars: Sequence[CarParams], models: Ints, tyre_heat: bool, own_params: bool
    ) -> tuple[Any, Array | None]:
        state = np.zeros((self.n, ControlRow.COUNT), self.dtype, "F")
        state[:, ControlRow.GEAR] = np.nan
        state[:, ControlRow.DRIVE_TORQUE :] = np.nan
        params = np.zeros((len(cars), self._kernels.param_columns), self.dtype)
        for row, car in enumerate(cars):
            column = pack_car(car, tyre_heat=tyre_heat)
            column[ParamRow.MODEL - WorkRow.COUNT] = row
            params[row, : len(column)] = column
        maps = np.stack([engine_map(car) for car in cars]).astype(self.dtype)
        equal = params[0] if len(cars) == 1 and not own_params else None
        if own_params:
            params, models = params[models], np.arange(self.n)
        return tuple(cuda.to_device(array) for array in (state, params, models, maps)), equal

    def _upload_roads(self, tracks: Sequence[Track], tracks_of_cars: NDArray[np.int32]) -> Any:
        roads = [track.road for track in tracks]
        tables, starts = stack_tables([road.table for road in roads], self.dtype)
        segments, _ = stack_tables([build_segment_table(road, self._corner_distance) for road in roads], self.dtype)
        values = [
            [road.spacing, road.closed, track.off_road.grip, track.off_road.rolling]
            for track, road in zip(tracks, roads, strict=True)
        ]
        # In the precision of the state, or each thread would compute the road in double precision.
        arrays = tables, segments, starts, np.array(values, self.dtype), tracks_of_cars
        return tuple(cuda.to_device(array) for array in arrays)

    def place_cars(self, cars: ArrayLike, x: ArrayLike, y: ArrayLike, yaw: ArrayLike, speed: ArrayLike = 0.0) -> None:
        """Put cars on the road as `Batch.place_cars` does; their controls stay."""
        chosen = np.atleast_1d(np.asarray(cars, np.int64))
        columns = (np.broadcast_to(np.asarray(values, np.float64), chosen.shape) for values in (x, y, yaw, speed))
        poses = np.ascontiguousarray(tabulate_poses(*columns), self.dtype)
        placed = np.zeros(self.n, np.uint8)
        placed[chosen] = 1
        self._kernels.place(self.arrays, cuda.to_device(chosen), cuda.to_device(poses))
        self.update_ground(cuda.to_device(placed))

    def update_ground(self, chosen: Any) -> None:
        """Find the ground under the cars of which `chosen`, (n,) uint8 on the card, is 1."""
        self._advance_cars(chosen, 0.0, 0)

    def get_row(self, row: int, count: int = 1) -> Array:
        """Return quantity `row` of all cars, (n,); with `count` > 1 that many rows from it on, (count, n)."""
        values: Array = np.ascontiguousarray(self.arrays[0][:, int(row) : int(row) + count].copy_to_host().T)
        return values[0] if count == 1 else values

    def view_row(self, row: int) -> Any:
        """Return quantity `row` of all cars as an array on the card, (n,), a view.

        It has the `__cuda_array_interface__` by which other libraries (`torch.as_tensor`) read and write it in place.
        """
        return self.arrays[0][:, int(row)]

    def set_row(self, row: int, values: ArrayLike) -> None:
        """Set quantity `row` of all cars to `values`, one number or one per car."""
        whole = np.broadcast_to(np.asarray(values, self.dtype), (self.n,))
        self.view_row(row).copy_to_device(np.ascontiguousarray(whole))

    def step(self, dt: float, substeps: int) -> None:
        """Advance all cars by `substeps` times `dt` (s), as `Batch.step`. Returns before the card has done it."""
        self._advance_cars(self.everyone, dt, substeps)
        if self.group_size > 1 and substeps > 0 and self.collisions_enabled:
            contact_range = self.dtype(2.0 * self._corner_distance)
            self._kernels.collide(self.arrays, contact_range, self.group_size, self.n // self.group_size)

    def synchronize(self) -> None:
        """Wait until the card has done all steps."""
        cuda.synchronize()

    def _advance_cars(self, chosen: Any, dt: float, substeps: int) -> None:
        arguments = self.arrays, self.roads, chosen, (self.dtype(dt), self.dtype(dt * substeps), substeps)
        if self._advance is None:
            self._advance = self._kernels.compile_advance(*arguments, self._equal_params)
        self._kernels.advance(self._advance, arguments, self._equal_params)
