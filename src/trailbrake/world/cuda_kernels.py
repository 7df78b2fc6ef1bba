"""The kernels of a graphics card that advance cars, one car to a thread.

They are the processor's `advance_blocks`, compiled for the card. A thread keeps the rows of its car in registers, which
takes two measures. Every index into its rows is a constant. And rows are loaded and stored between the parts of a step
(`plan_transfers`), so that rows that the substeps do not use are not in registers meanwhile. Parameters are read where
they are used: from constant memory where all cars have the same, otherwise from a table.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import numba.cuda
import numpy as np

from trailbrake.kernels.cuda_compiler import BlockAccess, CudaCompiler, make_transfer
from trailbrake.kernels.cuda_memory import (
    is_simulated,
    make_aligned_view,
    make_constant_array,
    pad_columns,
    write_constants,
)
from trailbrake.kernels.lane_phases import find_row_usage
from trailbrake.tracks.frenet import RoadTable
from trailbrake.world.car_placement import StartPose, reset_car
from trailbrake.world.contact import collide_cars, collide_with_walls
from trailbrake.world.gearbox import begin_shift
from trailbrake.world.ground import project_search
from trailbrake.world.integration import (
    advance_blocks,
    advance_substep,
    apply_inputs,
    integrate_poses,
    load_block,
    load_params,
    prepare_substeps,
    project_cars,
    store_block,
    update_surfaces,
)
from trailbrake.world.kernel_arguments import CarBlocks, RoadTables, StepPlan
from trailbrake.world.row_layout import Array, AxleRow, ControlRow, StateRow, WorkRow
from trailbrake.world.segment_table import SegmentColumn

cuda: Any = numba.cuda
THREADS = 64  # of a block of the card
MAX_REGISTERS: int | None = None  # of a thread; None: as many as there are
FIRST_PARAM = int(WorkRow.COUNT)
_PARAMS = "trailbrake_params"  # name of the constant array


class CardBlock(NamedTuple):
    """The work block of one car on the card.

    Attributes:
        rows: (WorkRow.COUNT,) state, controls and work rows.
        params: (columns,) the rows from WorkRow.COUNT on.
        cars: state and controls of all cars.
        car: which of them this is.
        moving: whether the step has substeps.
    """

    rows: Any
    params: Any
    cars: Any
    car: int
    moving: bool


def _get_row(block: Any, row: int, lane: int) -> Any:
    if row >= FIRST_PARAM:
        return block.params[row - FIRST_PARAM]
    return block.rows[row]


def _get_indexed_param(block: Any, row: int, index: int, lane: int) -> Any:
    return block.params[row - FIRST_PARAM + index]


def _put_row(block: Any, row: int, lane: int, value: float) -> None:
    block.rows[row] = value


def _leave_params(block: Any, params: Any, kind: int) -> None:  # they are read where they are used
    pass


def _leave_collisions(blocks: Any, group_size: int, lo: int, hi: int) -> None:  # when all cars have moved
    pass


class RowTransfers(NamedTuple):
    """Rows of a car to load and to store in a step, in order.

    Attributes:
        load_begin: at the begin.
        load_resting: at the begin, where there are no substeps.
        store_begin: before the substeps, which do not use them.
        load_substeps: before the substeps.
        store_substeps: after the substeps; nothing uses them later.
        load_poses: before `integrate_poses`.
        store_poses: after it; nothing uses them later.
        load_end: before `project_cars`.
        store_end: at the end.
    """

    load_begin: list[int]
    load_resting: list[int]
    store_begin: list[int]
    load_substeps: list[int]
    store_substeps: list[int]
    load_poses: list[int]
    store_poses: list[int]
    load_end: list[int]
    store_end: list[int]


def plan_transfers() -> RowTransfers:
    """Return the transfers of a step, by what each of its parts uses.

    A row is loaded before a part that reads or writes it, and stored where the next part does not use it. What a part
    may write is loaded too, since it may not write it in every case.
    """
    kept, states = frozenset(range(ControlRow.COUNT)), frozenset(range(StateRow.COUNT))
    begin, substeps, poses, end = (
        find_row_usage(*part)
        for part in (
            (apply_inputs, begin_shift, prepare_substeps),
            (advance_substep,),
            (integrate_poses,),
            (project_cars, project_search, update_surfaces, collide_with_walls),
        )
    )
    use_begin, use_substeps, use_poses, use_end = (
        (part.read | part.written) & kept for part in (begin, substeps, poses, end)
    )
    held = (use_substeps | use_poses) & use_end  # in registers when `project_cars` begins
    moved = (begin.written & use_substeps) | substeps.written
    rows = (
        use_begin,
        held,
        begin.written - use_substeps,
        use_substeps - use_begin,
        moved - held - use_poses,
        use_poses - use_substeps,
        (poses.written | (moved & use_poses)) - held,
        use_end - held,
        ((moved | poses.written) & held) | end.written,
    )
    loads = {0, 1, 3, 5, 7}
    return RowTransfers(*(sorted(some & (kept if k in loads else states)) for k, some in enumerate(rows)))


class CardKernels:
    """The kernels of one precision, compiled at their first launch.

    Args:
        single: whether numbers are float32; otherwise float64.
    """

    def __init__(self, *, single: bool) -> None:
        self._single = single
        self._real = np.dtype(np.float32 if single else np.float64)
        self.param_columns = pad_columns(int(AxleRow.COUNT) - FIRST_PARAM, self._real)
        self._options: dict[str, Any] = {}
        if not is_simulated():
            # `fastmath`: quick division and square root. `lto` would hide the constant array from the processor.
            self._options = {"fastmath": single, "lto": False}
            if MAX_REGISTERS is not None:
                self._options["max_registers"] = MAX_REGISTERS
        self._advance = self._define_advance(None)
        constants = None if is_simulated() else make_constant_array(_PARAMS, self.param_columns, single)
        self._advance_equal: Any = constants and self._define_advance(constants)
        self._collide = self._define_collide()
        self._place = self._define_place()
        self._constants: dict[Any, Array] = {}  # what the constant memory of each compiled kernel holds

    def compile_advance(self, cars: Any, roads: Any, chosen: Any, plan: Any, equal_params: Array | None) -> Any:
        """Return the kernel that advances cars, compiled for the types of its arguments.

        Args:
            cars: state and controls, parameters, kinds and engine maps on the card.
            roads: the roads on the card, as `select_road` takes them.
            chosen: (n,) uint8, 1 for the cars to advance.
            plan: as `StepPlan`.
            equal_params: (columns,) the parameters if all cars have the same, else None.
        """
        if is_simulated():
            return self._advance
        kernel = self._advance if equal_params is None else self._advance_equal
        return kernel.specialize(cars, roads, chosen, plan)

    def advance(self, kernel: Any, arguments: tuple[Any, Any, Any, Any], equal_params: Array | None) -> None:
        """Advance cars; `kernel` is of `compile_advance`, `arguments` are the first four of it."""
        if equal_params is not None and self._constants.get(kernel) is not equal_params and not is_simulated():
            write_constants(kernel, _PARAMS, equal_params)
            self._constants[kernel] = equal_params
        launch(kernel, arguments[0][0].shape[0], *arguments)

    def collide(self, cars: Any, contact_range: Any, group_size: int, groups: int) -> None:
        """Collide the cars of each group with each other."""
        launch(self._collide, groups, cars, contact_range, group_size, groups)

    def place(self, cars: Any, chosen: Any, poses: Any) -> None:
        """Write the state of the new cars `chosen` (k,), with the values of a `StartPose` in each line of `poses`."""
        launch(self._place, chosen.shape[0], cars, chosen, poses)

    def _compile_advance(self) -> Any:
        """Return `advance_blocks` for the card."""
        rows = plan_transfers()
        load_moving = cuda.jit(device=True)(make_transfer(load=rows.load_begin))
        load_resting = cuda.jit(device=True)(make_transfer(load=rows.load_resting))
        store_end = cuda.jit(device=True)(make_transfer(store=rows.store_end))

        def load(block: Any, cars: Any, b: int) -> None:
            if block.moving:
                load_moving(block)
            else:
                load_resting(block)

        def store(block: Any, cars: Any, b: int) -> None:
            store_end(block)

        hooks = {
            prepare_substeps: (None, make_transfer(load=rows.load_substeps, store=rows.store_begin)),
            integrate_poses: (
                make_transfer(load=rows.load_poses, store=rows.store_substeps),
                make_transfer(store=rows.store_poses),
            ),
            project_cars: (make_transfer(load=rows.load_end), None),
        }
        replacements = {
            load_params: _leave_params,
            load_block: load,
            store_block: store,
            collide_cars: _leave_collisions,
        }
        access = BlockAccess(_get_row, _get_indexed_param, _put_row)
        compiler = CudaCompiler(single=self._single, access=access, replacements=replacements, hooks=hooks)
        return compiler.compile_kernel(advance_blocks)

    def _define_advance(self, constants: Any) -> Any:
        real = self._real
        has_constants = constants is not None
        first_moved = int(WorkRow.DX)  # DX, DY, DYAW: the only work rows that a call begins with
        move = self._compile_advance()
        view_lines, view_params = make_aligned_view(int(SegmentColumn.COUNT)), make_aligned_view(self.param_columns)

        # Tuples instead of NamedTuples between the processor and the card: numba.cuda converts only these.
        def advance_cars(arrays: Any, roads: Any, chosen: Any, plan: Any) -> None:
            cars, params, kinds, maps = arrays
            tables, segments, starts, values, roads_of_cars = roads
            dt, period, substeps = plan
            car = cuda.grid(1)
            n = cars.shape[0]
            if car < n and chosen[car]:
                rows = cuda.local.array(FIRST_PARAM, real)
                for row in range(first_moved, first_moved + 3):
                    rows[row] = 0.0
                if has_constants:
                    block = CardBlock(rows, constants(), cars, car, substeps > 0)
                else:
                    block = CardBlock(rows, view_params(params)[kinds[car]], cars, car, substeps > 0)
                blocks = CarBlocks(cars, params, kinds, maps, n, dt)
                k = roads_of_cars[car]
                first, last = starts[k], starts[k + 1]
                table = RoadTable(tables[first:last], values[k, 0], values[k, 1] > 0.0)
                road = RoadTables(table, view_lines(segments)[first:last], values[k, 2], values[k, 3])
                # Groups of one: all cars move before any of them collide.
                move(blocks, block, road, StepPlan(dt, period, substeps), 1, car, car + 1, -1)

        return cuda.jit(advance_cars, **self._options)  # as a decorator it ignores `lto`

    def _define_collide(self) -> Any:
        touch = CudaCompiler(single=self._single).compile_kernel(collide_cars)

        @cuda.jit  # type: ignore[untyped-decorator]
        def collide_groups(arrays: Any, contact_range: Any, group_size: Any, groups: Any) -> None:
            cars, params, kinds, maps = arrays
            at = cuda.grid(1)
            if at < groups:
                touch(CarBlocks(cars, params, kinds, maps, cars.shape[0], contact_range), group_size, at, at + 1)

        return collide_groups

    def _define_place(self) -> Any:
        reset = CudaCompiler(single=self._single).compile_kernel(reset_car)

        @cuda.jit  # type: ignore[untyped-decorator]
        def place(arrays: Any, chosen: Any, poses: Any) -> None:
            cars, params, kinds, maps = arrays
            k = cuda.grid(1)
            if k < chosen.shape[0]:
                pose = StartPose(poses[k, 0], poses[k, 1], poses[k, 2], poses[k, 3], poses[k, 4], poses[k, 5])
                reset(CarBlocks(cars, params, kinds, maps, cars.shape[0], 0.0), 1, chosen[k], pose)

        return place


@cuda.jit(device=True)  # type: ignore[untyped-decorator]
def select_road(roads: Any, car: Any) -> Any:
    """Return the road of a car, for kernels of the card.

    Args:
        roads: tables of all roads one below the other; segment tables alike; (roads + 1,) first rows of each road;
            (roads, 4) spacing, 1 if closed, off_grip, off_rolling; (n,) number of each car's road.
        car: which car.
    """
    tables, _, starts, values, roads_of_cars = roads
    k = roads_of_cars[car]
    return RoadTable(tables[starts[k] : starts[k + 1]], values[k, 0], values[k, 1] > 0.0)


_stream: Any = 0  # on which kernels are launched: CUDA's default stream


def launch(kernel: Any, threads: int, *arguments: Any) -> None:
    """Run a kernel in `threads` threads of the card or a few more; returns before it has ended.

    It runs on CUDA's default stream, the legacy one, unless within `launch_on`. numba launches there if no stream is
    given (NUMBA_CUDA_PER_THREAD_DEFAULT_STREAM=0, its default), and so does PyTorch ("CUDA semantics", CUDA streams);
    work on one stream is done in the order in which it was given (CUDA Programming Guide, Streams).
    """
    kernel[-(-threads // THREADS), THREADS, _stream](*arguments)


@contextmanager
def launch_on(stream: int) -> Iterator[None]:
    """Within it, `launch` uses another stream: its handle, as that of a `torch.cuda.Stream`."""
    global _stream
    before, _stream = _stream, cuda.external_stream(stream)
    try:
        yield
    finally:
        _stream = before


@cache
def get_kernels(*, single: bool) -> CardKernels:
    """Return the kernels of one precision; batches share them, since compiling takes half a minute."""
    return CardKernels(single=single)
