"""`advance`, the one entry kernel: blocks of cars through controls, substeps and a look at the ground."""

from trailbrake.kernels import lane_jit
from trailbrake.kernels.lanes import LANES
from trailbrake.world.layout import Array
from trailbrake.world.look import act, look
from trailbrake.world.substep import substep


@lane_jit
def advance(
    blocks: Array,
    maps: Array,
    table: Array,
    spacing: float,
    closed: bool,
    off_grip: float,
    off_soft: float,
    dt: float,
    substeps: int,
    lo: int,
    hi: int,
) -> None:
    """Advance the cars of blocks `lo`..`hi` - 1 by `substeps` steps of `dt` (s) under constant controls, then look.

    Args:
        blocks: (blocks, Axle.COUNT * LANES), see `layout`; controls out of range are clamped, NaN counts as 0.
        maps: (models, TORQUES) N m, engine maps.
        table: the road's table, with
        spacing: m between its rows, and
        closed: whether row n is row 0.
        off_grip: friction factor beyond road and kerbs.
        off_soft: extra rolling resistance there.
        dt: s.
        substeps: 0 only looks, after a car was put somewhere.
        lo: first block.
        hi: one past the last block. Blocks are independent of each other: the work may be split over threads.
    """
    period = dt * substeps
    for b in range(lo, hi):
        block = blocks[b]
        if substeps > 0:
            act(block, maps, 0, LANES, period)
            per_dt = 1.0 / dt
            for _ in range(substeps):
                substep(block, 0, LANES, dt, per_dt)
        look(block, table, spacing, closed, off_grip, off_soft, 0, LANES, period)
