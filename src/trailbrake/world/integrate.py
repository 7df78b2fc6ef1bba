"""The two entry kernels: `carry` takes blocks of cars through controls and substeps, `view` looks at the ground.

Two, and not one, because they are compiled by two processes at a time, which a newcomer waits for.
"""

from trailbrake.kernels import inline, lane_jit
from trailbrake.kernels.lanes import LANES
from trailbrake.world.layout import Array, Control, Ints, Work
from trailbrake.world.look import act, look, settle_all
from trailbrake.world.substep import substep


@inline
def copy_in(work: Array, cars: Array, params: Array, kinds: Ints, b: int, kind: int) -> int:
    """Copy block `b` into the work block, and its parameters unless they are those of `kind`; return its kind."""
    car = cars[b]
    for k in range(Control.COUNT * LANES):
        work[k] = car[k]
    if kinds[b] != kind:
        param = params[kinds[b]]
        for k in range(param.shape[0]):
            work[Work.COUNT * LANES + k] = param[k]
    return int(kinds[b])


@inline
def copy_out(work: Array, cars: Array, b: int) -> None:
    """Copy what is kept of the work block to block `b`."""
    car = cars[b]
    for k in range(Control.COUNT * LANES):
        car[k] = work[k]


@lane_jit
def carry(
    cars: Array,
    params: Array,
    kinds: Ints,
    maps: Array,
    work: Array,
    dt: float,
    period: float,
    substeps: int,
    lo: int,
    hi: int,
) -> None:
    """Advance the cars of blocks `lo`..`hi` - 1 by `substeps` steps of `dt` (s) under constant controls.

    Args:
        cars: (blocks, Control.COUNT * LANES), see `layout`; controls out of range are clamped, NaN counts as 0.
        params: (kinds, (Axle.COUNT - Work.COUNT) * LANES), the rows from Work.COUNT on of each kind of block.
        kinds: (blocks,) int64, each block's row of `params`.
        maps: (models, TORQUES) N m, engine maps.
        work: (Axle.COUNT * LANES,), this thread's work block.
        dt: s.
        period: s, `dt * substeps`.
        substeps: how many, 1 or more.
        lo: first block.
        hi: one past the last block. Blocks are independent of each other: the work may be split over threads.
    """
    kind = -1
    per_dt = 1.0 / dt
    for b in range(lo, hi):
        kind = copy_in(work, cars, params, kinds, b, kind)
        act(work, maps, 0, LANES, period)
        for _ in range(substeps):
            substep(work, 0, LANES, dt, per_dt)
        settle_all(work, 0, LANES)
        copy_out(work, cars, b)


@lane_jit
def view(
    cars: Array,
    params: Array,
    kinds: Ints,
    work: Array,
    table: Array,
    strip: Array,
    spacing: float,
    closed: bool,
    off_grip: float,
    off_soft: float,
    period: float,
    lo: int,
    hi: int,
) -> None:
    """Look at what is under the cars of blocks `lo`..`hi` - 1, and keep them inside the walls.

    Args:
        cars: as in `carry`; likewise
        params: and
        kinds: and
        work: this thread's work block.
        table: the road's table, and
        strip: `strip.strip` of it, with
        spacing: m between its rows, and
        closed: whether row n is row 0.
        off_grip: friction factor beyond road and kerbs.
        off_soft: extra rolling resistance there.
        period: s, of the `carry` before; 0 after a car was put somewhere.
        lo: first block.
        hi: one past the last block.
    """
    kind = -1
    for b in range(lo, hi):
        kind = copy_in(work, cars, params, kinds, b, kind)
        look(work, table, strip, spacing, closed, off_grip, off_soft, 0, LANES, period)
        copy_out(work, cars, b)
