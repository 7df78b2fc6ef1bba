"""What is done once per call and not in every substep: `act` before the substeps, `look` after them.

What changes slowly against a few milliseconds (the ground, gears, the engine map's tangent, camber, heat, fuel) is
found here and held over the substeps. Keep a call's time within 10 ms.
"""

from trailbrake.kernels import inline
from trailbrake.kernels.lanes import get, put
from trailbrake.world.actuate import pedals, wheel
from trailbrake.world.contact import walls
from trailbrake.world.gearbox import couple, energise, shift
from trailbrake.world.ground import gather, lie, settle, stand
from trailbrake.world.layout import Array, State, Work
from trailbrake.world.wear import heat


@inline
def act(block: Array, maps: Array, first: int, last: int, period: float) -> None:
    """Turn the controls of lanes `first`..`last` - 1 into what the substeps of the next `period` (s) work with."""
    for j in range(first, last):
        pedals(block, j)
    for j in range(first, last):
        wheel(block, 0, 0, 1.0, j)
    for j in range(first, last):
        wheel(block, 0, 1, -1.0, j)
    for j in range(first, last):
        wheel(block, 1, 2, 1.0, j)
    for j in range(first, last):
        wheel(block, 1, 3, -1.0, j)
    for j in range(first, last):
        shift(block, j, period)
        couple(block, j)
        energise(block, maps, j, period)


@inline
def settle_all(block: Array, first: int, last: int) -> None:
    """Move the poses of lanes `first`..`last` - 1 by what the substeps added up."""
    for j in range(first, last):
        settle(block, j)


@inline
def look(
    block: Array,
    table: Array,
    strip: Array,
    spacing: float,
    closed: bool,
    off_grip: float,
    off_soft: float,
    first: int,
    last: int,
    period: float,
) -> None:
    """Find what is under lanes `first`..`last` - 1, and keep them inside the walls."""
    per_period = 1.0 / period if period > 0.0 else 0.0
    for j in range(first, last):
        gather(block, table, strip, spacing, closed, j)
    for j in range(first, last):
        lie(block, j)
    for j in range(first, last):
        stand(block, 0, 0, 1.0, j, off_grip, off_soft, per_period)
        heat(block, 0, 0, j, period)
    for j in range(first, last):
        stand(block, 0, 1, -1.0, j, off_grip, off_soft, per_period)
        heat(block, 0, 1, j, period)
    for j in range(first, last):
        stand(block, 1, 2, 1.0, j, off_grip, off_soft, per_period)
        heat(block, 1, 2, j, period)
    for j in range(first, last):
        stand(block, 1, 3, -1.0, j, off_grip, off_soft, per_period)
        heat(block, 1, 3, j, period)
    for j in range(first, last):
        put(block, State.CONTACT_DEPTH, j, 0.0)
        put(block, State.CONTACT_GAP, j, min(get(block, State.CONTACT_GAP, j) + period, 1e6))
        if get(block, Work.NEAR_WALL, j) > 0.0:
            walls(block, table, spacing, closed, j)
