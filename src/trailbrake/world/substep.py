"""One substep of a block of cars: 14 degrees of freedom, four relaxing tyres, the drivetrain.

Semi-implicit Euler: velocities first, places with the new velocities; stiff couplings implicit or as impulses.
"""

from trailbrake.kernels import inline
from trailbrake.world.body import body
from trailbrake.world.corners import pass_on, press, steer_and_bars
from trailbrake.world.layout import Array
from trailbrake.world.powertrain import brake, drive
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
    steer_and_bars(block, first, last, dt)
    press(block, 0, 0, 1.0, first, last)
    press(block, 0, 1, -1.0, first, last)
    press(block, 1, 2, 1.0, first, last)
    press(block, 1, 3, -1.0, first, last)
    stretch(block, 0, 0, 1.0, first, last, dt, per_dt)
    stretch(block, 0, 1, -1.0, first, last, dt, per_dt)
    stretch(block, 1, 2, 1.0, first, last, dt, per_dt)
    stretch(block, 1, 3, -1.0, first, last, dt, per_dt)
    friction(block, 0, 0, first, last)
    friction(block, 0, 1, first, last)
    friction(block, 1, 2, first, last)
    friction(block, 1, 3, first, last)
    pass_on(block, 0, 0, 1, first, last, dt)
    pass_on(block, 1, 2, 3, first, last, dt)
    body(block, first, last, dt)
    drive(block, first, last, dt)
    brake(block, 0, 0, first, last, dt)
    brake(block, 0, 1, first, last, dt)
    brake(block, 1, 2, first, last, dt)
    brake(block, 1, 3, first, last, dt)
