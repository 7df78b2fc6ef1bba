"""What is done once per call and not in every substep, as vector code; `integrate.advance` has the order.

What changes slowly against a few milliseconds (the ground, gears, the engine map's tangent, camber, heat, fuel) is
found here and held over the substeps. Keep a call's time within 10 ms.
"""

from trailbrake.kernels.lanes import get, put
from trailbrake.kernels.trace import vectors
from trailbrake.world.actuate import drive, pedals, scale, scale_engine, share, wheel
from trailbrake.world.gearbox import clockwork, couple, energise
from trailbrake.world.ground import foot, lie, settle, stand
from trailbrake.world.layout import Array, State
from trailbrake.world.wear import heat


def _pedals(block: Array, j: int, dt: float, period: float) -> None:
    pedals(block, j, dt)


def _clockwork(block: Array, j: int, dt: float, period: float) -> None:
    clockwork(block, j, period)


begin_all = vectors(_pedals, _clockwork)


def _couple(block: Array, j: int, maps: Array, dt: float, period: float) -> None:
    couple(block, j)
    energise(block, maps, j, period)


def _wheel_0(block: Array, j: int, maps: Array, dt: float, period: float) -> None:
    wheel(block, 0, 0, 1.0, j, dt)


def _wheel_1(block: Array, j: int, maps: Array, dt: float, period: float) -> None:
    wheel(block, 0, 1, -1.0, j, dt)


def _wheel_2(block: Array, j: int, maps: Array, dt: float, period: float) -> None:
    wheel(block, 1, 2, 1.0, j, dt)


def _wheel_3(block: Array, j: int, maps: Array, dt: float, period: float) -> None:
    wheel(block, 1, 3, -1.0, j, dt)


def _drive(block: Array, j: int, maps: Array, dt: float, period: float) -> None:
    share(block, 0, 0, 1, j, dt)
    share(block, 1, 2, 3, j, dt)
    drive(block, j, dt)


ready_all = vectors(_couple, _wheel_0, _wheel_1, _wheel_2, _wheel_3, _drive)


def _scale(block: Array, j: int, dt: float) -> None:
    scale(block, 0, j, dt)
    scale(block, 1, j, dt)
    scale_engine(block, j, dt)


scale_all = vectors(_scale)
settle_all = vectors(settle)


def _stand_0(block: Array, j: int, off_grip: float, off_soft: float, period: float, per_period: float) -> None:
    stand(block, 0, 0, 1.0, j, off_grip, off_soft, per_period)
    heat(block, 0, 0, j, period)


def _stand_1(block: Array, j: int, off_grip: float, off_soft: float, period: float, per_period: float) -> None:
    stand(block, 0, 1, -1.0, j, off_grip, off_soft, per_period)
    heat(block, 0, 1, j, period)


def _stand_2(block: Array, j: int, off_grip: float, off_soft: float, period: float, per_period: float) -> None:
    stand(block, 1, 2, 1.0, j, off_grip, off_soft, per_period)
    heat(block, 1, 2, j, period)


def _stand_3(block: Array, j: int, off_grip: float, off_soft: float, period: float, per_period: float) -> None:
    stand(block, 1, 3, -1.0, j, off_grip, off_soft, per_period)
    heat(block, 1, 3, j, period)


def _lie(block: Array, j: int, off_grip: float, off_soft: float, period: float, per_period: float) -> None:
    lie(block, j)
    put(block, State.CONTACT_DEPTH, j, 0.0)
    put(block, State.CONTACT_GAP, j, min(get(block, State.CONTACT_GAP, j) + period, 1e6))


foot_all = vectors(foot)
surface_all = vectors(_lie, _stand_0, _stand_1, _stand_2, _stand_3)
