"""One substep of a block of cars: 14 degrees of freedom, four relaxing tyres, the drivetrain.

Semi-implicit Euler: velocities first, places with the new velocities; stiff couplings implicit or as impulses.
"""

from trailbrake.kernels import inline
from trailbrake.world.body import body
from trailbrake.world.corners import axles, pass_on, press
from trailbrake.world.layout import Array
from trailbrake.world.powertrain import brakes, engine, wheels
from trailbrake.world.tyres import friction, stretch


@inline
def substep(block: Array, first: int, last: int, dt: float, per_dt: float) -> None:
    """Advance lanes `first`..`last` - 1 of a block by `dt` (s).

    Args:
        block: (Axle.COUNT * LANES,).
        first: lane; 0 and
        last: LANES but where every lane has a thread of its own.
        dt: s.
        per_dt: 1/s.
    """
    for j in range(first, last):
        axles(block, j, dt)
    for j in range(first, last):
        press(block, 0, 0, 1.0, j)
    for j in range(first, last):
        press(block, 0, 1, -1.0, j)
    for j in range(first, last):
        press(block, 1, 2, 1.0, j)
    for j in range(first, last):
        press(block, 1, 3, -1.0, j)
    for j in range(first, last):
        stretch(block, 0, 0, 1.0, j, dt, per_dt)
    for j in range(first, last):
        stretch(block, 0, 1, -1.0, j, dt, per_dt)
    for j in range(first, last):
        stretch(block, 1, 2, 1.0, j, dt, per_dt)
    for j in range(first, last):
        stretch(block, 1, 3, -1.0, j, dt, per_dt)
    for j in range(first, last):
        friction(block, 0, 0, j)
    for j in range(first, last):
        friction(block, 0, 1, j)
    for j in range(first, last):
        friction(block, 1, 2, j)
    for j in range(first, last):
        friction(block, 1, 3, j)
    for j in range(first, last):
        pass_on(block, 0, 0, 1, j, dt)
    for j in range(first, last):
        pass_on(block, 1, 2, 3, j, dt)
    for j in range(first, last):
        body(block, j, dt)
        engine(block, j, dt)
    for j in range(first, last):
        wheels(block, j, dt)
    for j in range(first, last):
        brakes(block, 0, 0, 1, j, dt)
    for j in range(first, last):
        brakes(block, 1, 2, 3, j, dt)
