"""`advance`, the one entry kernel: blocks of cars through controls, substeps and a look at the ground."""

from trailbrake.kernels import lane_jit
from trailbrake.kernels.lanes import LANES
from trailbrake.world.layout import Array, Control, Work
from trailbrake.world.look import act, look
from trailbrake.world.substep import substep


@lane_jit
def advance(
    cars: Array,
    params: Array,
    kinds: Array,
    maps: Array,
    work: Array,
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
        cars: (blocks, Control.COUNT * LANES), see `layout`; controls out of range are clamped, NaN counts as 0.
        params: (kinds, (Axle.COUNT - Work.COUNT) * LANES), the rows from Work.COUNT on of each kind of block.
        kinds: (blocks,) int64, each block's row of `params`.
        maps: (models, TORQUES) N m, engine maps.
        work: (Axle.COUNT * LANES,), this thread's work block.
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
    first_param = Work.COUNT * LANES
    kind = -1
    for b in range(lo, hi):
        car = cars[b]
        for k in range(Control.COUNT * LANES):
            work[k] = car[k]
        if kinds[b] != kind:
            kind = kinds[b]
            param = params[kind]
            for k in range(param.shape[0]):
                work[first_param + k] = param[k]
        if substeps > 0:
            act(work, maps, 0, LANES, period)
            per_dt = 1.0 / dt
            for _ in range(substeps):
                substep(work, 0, LANES, dt, per_dt)
        look(work, table, spacing, closed, off_grip, off_soft, 0, LANES, period)
        for k in range(Control.COUNT * LANES):
            car[k] = work[k]
