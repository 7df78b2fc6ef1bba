"""Slipstream: what the wake of a car ahead takes from the drag and the downforce of a car behind it.

Both shares fall with the gap as LOST / (1 + gap / HALVED), the gap from tail to nose in lengths of the car ahead:

* downforce: Formula 1's own figures for its cars before 2022, 47 % lost at 10 m and 35 % at 20 m from nose to nose
  ("10 things you need to know about the all-new 2022 F1 car", formula1.com, 2021), with cars of 5.5 m. Its cars of 2022
  were to lose 18 and 4 %: cars differ, and front and rear do; here both axles lose the same share;
* drag: 43 % less at half a length behind another vehicle (Cerutti, Cafiero and Iuso, Int. J. Heat and Fluid Flow 90,
  2021, 108823); air 8.5, 6.5 and 3.8 % slower in front of a vehicle 3.1, 4.7 and 6.3 lengths behind (Nuszkowski et al.,
  Proc. IMechE D, 2017, 10.1177/0954407017703233), squared 16, 13 and 7 % of the drag. No racing cars: those publish
  no drag.

Across, a far wake has a Gaussian profile whose width grows with the cube root of the distance (Schlichting, Boundary-
Layer Theory, 7th ed. 1979, section XXIV.d); the width at the tail is an estimate. Distances are those along the road:
in a bend the wake lies where the car ahead has driven.
"""

import math

from trailbrake.kernels import inline_jit, lane_jit
from trailbrake.kernels.lane_blocks import LANES, get, put
from trailbrake.world.kernel_arguments import CarBlocks
from trailbrake.world.row_layout import Array, ParamRow, StateRow, WorkRow

DRAG_LOST, DRAG_HALVED = 0.63, 1.09  # share at no gap; gap at half of it, lengths
LIFT_LOST, LIFT_HALVED = 0.556, 4.48
REACH = 20.0  # lengths behind which nothing is left: it fades there
WIDTH = 0.6  # of the profile at the tail, in widths of the car ahead (estimate)
_SLOWEST = 1.0  # m/s


@inline_jit
def compute_wake_losses(gap: float, offset: float, length: float, width: float) -> tuple[float, float]:
    """Return the shares of drag and of downforce that a car behind another loses, of equal speed.

    Args:
        gap: m, from the tail of the car ahead to the nose of the one behind; negative where they overlap.
        offset: m, between their middles, across.
        length: m, of the car ahead.
        width: m, of the car ahead.
    """
    lengths = max(gap, 0.0) / length
    beside = min(max(1.0 + gap / length, 0.0), 1.0)  # less where they overlap, nothing side by side
    fade = max(1.0 - (lengths / REACH) * (lengths / REACH), 0.0)
    across = offset / (WIDTH * width * (1.0 + lengths) ** (1.0 / 3.0))
    share = beside * fade * math.exp(-across * across)
    return share * DRAG_LOST / (1.0 + lengths / DRAG_HALVED), share * LIFT_LOST / (1.0 + lengths / LIFT_HALVED)


@inline_jit
def _write_wake(blocks: CarBlocks, car: int, begin: int, end: int, around: float) -> None:
    """Write what the car loses behind the cars `begin`..`end` - 1: the most that one of them takes."""
    block, lane = blocks.cars[car // LANES], car % LANES
    params: Array = blocks.params[blocks.kinds[car // LANES]]
    nose = get(params, ParamRow.BOX_CENTRE - WorkRow.COUNT, lane) + get(
        params, ParamRow.HALF_LENGTH - WorkRow.COUNT, lane
    )
    speed = max(get(block, StateRow.VX, lane), _SLOWEST)
    drag, lift = 0.0, 0.0
    for other in range(begin, end):
        ahead, k = blocks.cars[other // LANES], other % LANES
        way = get(ahead, StateRow.S, k) - get(block, StateRow.S, lane)
        if around > 0.0:
            way -= around * math.floor(way / around + 0.5)
        if other == car or way <= 0.0:
            continue
        its: Array = blocks.params[blocks.kinds[other // LANES]]
        half, centre = (
            get(its, ParamRow.HALF_LENGTH - WorkRow.COUNT, k),
            get(its, ParamRow.BOX_CENTRE - WorkRow.COUNT, k),
        )
        gap = way - nose - half + centre
        if gap >= REACH * 2.0 * half:
            continue
        offset = get(ahead, StateRow.OFFSET, k) - get(block, StateRow.OFFSET, lane)
        width = 2.0 * get(its, ParamRow.HALF_WIDTH - WorkRow.COUNT, k)
        less_drag, less_lift = compute_wake_losses(gap, offset, 2.0 * half, width)
        pace = min(max(get(ahead, StateRow.VX, k) / speed, 0.0), 1.0)  # a car that stands draws no air along
        drag, lift = max(drag, pace * less_drag), max(lift, pace * less_lift)
    put(block, StateRow.WAKE_DRAG, lane, drag)
    put(block, StateRow.WAKE_LIFT, lane, lift)


@lane_jit
def update_wakes(blocks: CarBlocks, around: float, group_size: int, lo: int, hi: int) -> None:
    """Write what each car of the groups loses in the wakes of its group, for the next step.

    Args:
        blocks: all cars, changed.
        around: m, length of a closed road; 0: open.
        group_size: number of consecutive cars in a group.
        lo: first group.
        hi: one past the last group.
    """
    for g in range(lo, hi):
        for car in range(g * group_size, (g + 1) * group_size):
            _write_wake(blocks, car, g * group_size, (g + 1) * group_size, around)
