"""Kernels that advance blocks of cars: controls, substeps, outer step, contacts."""

from trailbrake.kernels import inline_jit, lane_jit
from trailbrake.kernels.atomics import COUNTER_STRIDE, fetch_add
from trailbrake.kernels.lane_blocks import LANES, get
from trailbrake.world.contact import collide_cars, collide_with_walls
from trailbrake.world.gearbox import begin_shift
from trailbrake.world.ground import project_search
from trailbrake.world.kernel_arguments import BlockShare, CarBlocks, RoadTables, StepPlan
from trailbrake.world.outer_step import (
    apply_inputs,
    integrate_poses,
    prepare_gains,
    prepare_substeps,
    project_cars,
    update_surfaces,
)
from trailbrake.world.row_layout import Array, ControlRow, Ints, StateRow, WorkRow
from trailbrake.world.substep import advance_substep


@inline_jit
def load_params(work: Array, params: Array, kind: int) -> None:
    """Copy the parameters of a kind of block into the work block."""
    param = params[kind]
    for k in range(param.shape[0]):
        work[WorkRow.COUNT * LANES + k] = param[k]


@inline_jit
def load_block(work: Array, cars: Array, b: int) -> None:
    """Copy block `b` into the work block."""
    car = cars[b]
    for k in range(ControlRow.COUNT * LANES):
        work[k] = car[k]


@inline_jit
def store_block(work: Array, cars: Array, b: int) -> None:
    """Copy the state in the work block to block `b`."""
    car = cars[b]
    for k in range(StateRow.COUNT * LANES):
        car[k] = work[k]


@lane_jit
def advance_blocks(
    blocks: CarBlocks, work: Array, road: RoadTables, step: StepPlan, group_size: int, lo: int, hi: int, kind: int
) -> int:
    """Advance the cars of blocks `lo`..`hi` - 1 under constant controls, then do their outer step.

    The range must contain whole groups. Then its blocks do not depend on others, and threads may share the work.

    Args:
        blocks: cars and parameters; controls out of range are clamped, NaN counts as 0.
        work: (AxleRow.COUNT * LANES,), the work block of this thread.
        road: the road.
        step: substeps and their length.
        group_size: number of consecutive cars that can touch each other; 1: none.
        lo: first block.
        hi: one past the last block.
        kind: row of `params` that the work block holds from a call before; -1: none.

    Returns:
        the row of `params` that the work block holds now.
    """
    dt, period, substeps = step.dt, step.period, step.substeps
    per_period = 1.0 / period if period > 0.0 else 0.0
    rows, closed = float(road.segments.shape[0]), 1.0 if road.table.closed else 0.0
    collided = -(-lo * LANES // group_size)
    for b in range(lo, hi):
        lanes = min(LANES, blocks.n - b * LANES)
        if blocks.kinds[b] != kind:
            kind = blocks.kinds[b]
            load_params(work, blocks.params, kind)
            prepare_gains(work, lanes, dt)
        load_block(work, blocks.cars, b)
        if substeps > 0:
            apply_inputs(work, lanes, dt, period)
            for lane in range(lanes):
                if get(work, WorkRow.SHIFT_DUE, lane) > 0.0:
                    begin_shift(work, lane)
            prepare_substeps(work, lanes, blocks.maps, dt, period)
            for _ in range(substeps):
                advance_substep(work, lanes, dt)
            integrate_poses(work, lanes, period)
        project_cars(work, lanes, road.segments, road.table.spacing, rows, closed)
        for lane in range(lanes):
            if get(work, WorkRow.PROJECTION_VALID, lane) == 0.0:
                project_search(work, road, lane)
        update_surfaces(work, lanes, road.off_grip, road.off_rolling, period, per_period)
        for lane in range(lanes):
            if get(work, WorkRow.NEAR_WALL, lane) > 0.0:
                collide_with_walls(work, road, lane)
        store_block(work, blocks.cars, b)
        if group_size > 1 and substeps > 0:  # the groups whose last car was in this block, while they are in the cache
            complete = min((b + 1) * LANES, blocks.n) // group_size
            collide_cars(blocks, group_size, collided, complete)
            collided = complete
    return kind


@lane_jit
def advance_shared_blocks(
    blocks: CarBlocks, work: Array, road: RoadTables, next_blocks: Ints, step: StepPlan, group_size: int,
    share: BlockShare,
) -> None:  # fmt: skip
    """Advance blocks as `advance_blocks` does, together with other threads that call this function.

    Each thread owns a part of the blocks. It takes chunks of its own part first, which it had in the last call and
    still has in its cache, then chunks that other threads have not begun: another process may hold up a processor.

    Args:
        blocks: cars and parameters.
        work: (AxleRow.COUNT * LANES,), the work block of this thread.
        road: the road.
        next_blocks: (parts * COUNTER_STRIDE,) at `part * COUNTER_STRIDE` the next block of each part that no thread
            has begun.
        step: substeps and their length.
        group_size: number of consecutive cars that can touch each other; 1: none.
        share: the part of this thread.
    """
    kind = -1
    for k in range(share.parts):
        part = (share.part + k) % share.parts
        end = min((part + 1) * share.part_blocks, share.blocks)
        lo = fetch_add(next_blocks, part * COUNTER_STRIDE, share.chunk)
        while lo < end:
            hi = min(lo + share.chunk, end)
            kind = advance_blocks(blocks, work, road, step, group_size, lo, hi, kind)
            lo = fetch_add(next_blocks, part * COUNTER_STRIDE, share.chunk)
