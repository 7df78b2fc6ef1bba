"""`advance`: the kernel that takes blocks of cars through controls, substeps, a look, and contacts."""

from trailbrake.kernels import inline, lane_jit
from trailbrake.kernels.lanes import LANES, get
from trailbrake.kernels.signal import APART, take
from trailbrake.world.contact import collide, walls
from trailbrake.world.gearbox import shift
from trailbrake.world.ground import gather
from trailbrake.world.layout import Array, Control, Ints, State, Work
from trailbrake.world.look import begin_all, foot_all, ready_all, scale_all, settle_all, surface_all
from trailbrake.world.substep import substep


@inline
def copy_params(work: Array, params: Array, kind: int) -> None:
    """Copy the parameters of a kind of block into the work block."""
    param = params[kind]
    for k in range(param.shape[0]):
        work[Work.COUNT * LANES + k] = param[k]


@inline
def copy_in(work: Array, cars: Array, b: int) -> None:
    """Copy block `b` into the work block."""
    car = cars[b]
    for k in range(Control.COUNT * LANES):
        work[k] = car[k]


@inline
def copy_out(work: Array, cars: Array, b: int) -> None:
    """Copy the state in the work block to block `b`."""
    car = cars[b]
    for k in range(State.COUNT * LANES):
        car[k] = work[k]


@lane_jit
def advance(
    cars: Array,
    params: Array,
    kinds: Ints,
    maps: Array,
    work: Array,
    table: Array,
    strip: Array,
    spacing: float,
    closed: bool,
    off_grip: float,
    off_soft: float,
    near: float,
    group: int,
    n: int,
    dt: float,
    period: float,
    substeps: int,
    lo: int,
    hi: int,
    kind: int,
) -> int:
    """Advance the cars of blocks `lo`..`hi` - 1 under constant controls, and look at what is under them then.

    Groups of cars lie within `lo`..`hi` as a whole: then blocks are independent of those elsewhere, and the work may
    be split over threads.

    Args:
        cars: (blocks, Control.COUNT * LANES), see `layout`; controls out of range are clamped, NaN counts as 0.
        params: (kinds, (Axle.COUNT - Work.COUNT) * LANES), the rows from Work.COUNT on of each kind of block.
        kinds: (blocks,) int64, each block's row of `params`.
        maps: (models, TORQUES) N m, engine maps.
        work: (Axle.COUNT * LANES,), this thread's work block.
        table: the road's table, and
        strip: `strip.strip` of it, with
        spacing: m between its rows, and
        closed: whether row n is row 0.
        off_grip: friction factor beyond road and kerbs.
        off_soft: extra rolling resistance there.
        near: m, further apart than which no two cars touch.
        group: how many consecutive cars may touch each other; 1: none.
        n: how many cars there are; what fills the last block is none.
        dt: s, a substep.
        period: s, `dt * substeps`.
        substeps: how many; 0 after cars were put somewhere: they are looked at only, without contacts.
        lo: first block.
        hi: one past the last block.
        kind: row of `params` that the work block holds from a call before; -1: none.

    Returns:
        the row that it holds now.
    """
    per_period = 1.0 / period if period > 0.0 else 0.0
    met = -(-lo * LANES // group)
    for b in range(lo, hi):
        lanes = min(LANES, n - b * LANES)
        if kinds[b] != kind:
            kind = kinds[b]
            copy_params(work, params, kind)
            scale_all(work, lanes, dt)
        copy_in(work, cars, b)
        if substeps > 0:
            begin_all(work, lanes, dt, period)
            for j in range(lanes):
                if get(work, Work.CALLED, j) > 0.0:
                    shift(work, j)
            ready_all(work, lanes, maps, dt, period)
            for _ in range(substeps):
                substep(work, lanes, dt)
            settle_all(work, lanes, period)
        foot_all(work, lanes, strip, spacing, float(strip.shape[0]), 1.0 if closed else 0.0)
        for j in range(lanes):
            if get(work, Work.FOUND, j) == 0.0:
                gather(work, table, strip, spacing, closed, j)
        surface_all(work, lanes, off_grip, off_soft, period, per_period)
        for j in range(lanes):
            if get(work, Work.NEAR_WALL, j) > 0.0:
                walls(work, table, spacing, closed, j)
        copy_out(work, cars, b)
        if group > 1 and substeps > 0:  # of the groups whose last car was in this block, while they are near
            done = min((b + 1) * LANES, n) // group
            collide(cars, params, kinds, group, near, met, done)
            met = done
    return kind


@lane_jit
def advance_together(
    cars: Array,
    params: Array,
    kinds: Ints,
    maps: Array,
    work: Array,
    table: Array,
    strip: Array,
    spacing: float,
    closed: bool,
    off_grip: float,
    off_soft: float,
    near: float,
    turns: Ints,
    group: int,
    n: int,
    dt: float,
    period: float,
    substeps: int,
    part: int,
    parts: int,
    span: int,
    size: int,
    last: int,
) -> None:
    """Advance the cars of all blocks before `last` as `advance` does, together with other threads that call this.

    The blocks lie in `parts` of `span`, and each thread has a `part`. It takes `size` blocks after the other, first of
    its own, which it had the last time and has in its cache, then of what others have left: processors are seldom ours
    alone. Both are whole groups of cars. `turns`, (parts * APART,) int64, has at the place of each part its next block
    that nobody has taken. What else there is, is as of `advance`.
    """
    kind = -1
    for k in range(parts):
        at = (part + k) % parts
        end = min((at + 1) * span, last)
        lo = take(turns, at * APART, size)
        while lo < end:
            hi = min(lo + size, end)
            kind = advance(
                cars, params, kinds, maps, work, table, strip, spacing, closed, off_grip, off_soft, near, group, n, dt,
                period, substeps, lo, hi, kind,
            )  # fmt: skip
            lo = take(turns, at * APART, size)
