"""One substep of a block of cars: 14 degrees of freedom, four relaxing tyres, the drivetrain.

Semi-implicit Euler: velocities first, places with the new velocities; stiff couplings implicit or as impulses.
What a phase holds was found by trial: a processor looks ahead over about 250 instructions, so that long phases are one
chain of operations that wait for each other, and short ones write down what they could have kept.
"""

from trailbrake.kernels.trace import vectors
from trailbrake.world.body import body
from trailbrake.world.corners import axle, pass_on, press, steer
from trailbrake.world.layout import Array, Work
from trailbrake.world.powertrain import brake, engine, wheels
from trailbrake.world.tyres import friction, stretch


def _front_springs(block: Array, j: int, dt: float) -> None:
    steer(block, j)
    axle(block, 0, 0, 1, j)
    press(block, 0, 0, 1.0, j)
    press(block, 0, 1, -1.0, j)


def _rear_springs(block: Array, j: int, dt: float) -> None:
    axle(block, 1, 2, 3, j)
    press(block, 1, 2, 1.0, j)
    press(block, 1, 3, -1.0, j)


def _front_stretch(block: Array, j: int, dt: float) -> None:
    stretch(block, 0, 0, 1.0, j)
    stretch(block, 0, 1, -1.0, j)


def _rear_stretch(block: Array, j: int, dt: float) -> None:
    stretch(block, 1, 2, 1.0, j)
    stretch(block, 1, 3, -1.0, j)


def _friction_0(block: Array, j: int, dt: float) -> None:
    friction(block, 0, 0, j)


def _friction_1(block: Array, j: int, dt: float) -> None:
    friction(block, 0, 1, j)


def _friction_2(block: Array, j: int, dt: float) -> None:
    friction(block, 1, 2, j)


def _friction_3(block: Array, j: int, dt: float) -> None:
    friction(block, 1, 3, j)


def _front_links(block: Array, j: int, dt: float) -> None:
    pass_on(block, 0, 0, 1, j, dt)


def _rear_links(block: Array, j: int, dt: float) -> None:
    pass_on(block, 1, 2, 3, j, dt)


def _engine(block: Array, j: int, dt: float) -> None:
    engine(block, j)


def _wheels(block: Array, j: int, dt: float) -> None:
    wheels(block, j)
    for i in range(4):
        brake(block, i, j)


substep = vectors(
    _front_springs, _rear_springs, _front_stretch, _rear_stretch, _friction_0, _friction_1, _friction_2, _friction_3,
    _front_links, _rear_links, body, _engine, _wheels, scratch=range(Work.SIN, Work.COS_HEADING),
)  # fmt: skip
