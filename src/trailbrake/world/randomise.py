"""Other cars out of one: mass, grip and tyre stiffness of single cars of a batch scaled, all rows that hang on them too.

What a row becomes is what `pack` would make of a car file with the scaled value:

* mass: the body and what it carries, wheels and links unchanged; the inertias grow with it.
* grip: friction of all tyres, along and across, at every load.
* stiffness: slips of the peak force of all tyres divided by it, so that the initial slope is multiplied.
"""

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels import jit
from trailbrake.kernels.lanes import LANES
from trailbrake.world.layout import Axle, Param

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


def _pairs(*rows: Axle) -> Ints:
    return np.array([row + axle for row in rows for axle in range(2)], np.int64)


_MASS = np.array([Param.MASS, Param.YAW_INERTIA, *_pairs(Axle.LOAD_AT_REST)], np.int64)
_PER_MASS = np.array([Param.INVERSE_YAW, Param.INVERSE_ROLL, Param.INVERSE_PITCH], np.int64)
_GRIP = _pairs(Axle.MU_X, Axle.MU_X_LOAD, Axle.MU_Y, Axle.MU_Y_LOAD)
_STIFF = _pairs(Axle.PER_SLIP_X, Axle.PER_SLIP_Y, Axle.CAMBER_SLIP)
_PER_STIFF = _pairs(Axle.HOLD_X, Axle.HOLD_Y)
_SPRING, _REST = _pairs(Axle.SPRING_AT_REST), _pairs(Axle.LOAD_AT_REST)
# All rows that change; `nominal` keeps these.
ROWS: Ints = np.concatenate([_MASS, _PER_MASS, _GRIP, _STIFF, _PER_STIFF, _SPRING])
_A = len(_MASS)
_B = _A + len(_PER_MASS)
_C = _B + len(_GRIP)
_D = _C + len(_STIFF)
_E = _D + len(_PER_STIFF)
_LOADS = 2  # place of LOAD_AT_REST in ROWS


@jit
def keep(blocks: Array, nominal: Array) -> None:
    """Copy the rows that change of all cars into `nominal` (cars, len(ROWS)): do it once, before anything is scaled."""
    for car in range(nominal.shape[0]):
        for k in range(ROWS.shape[0]):
            nominal[car, k] = blocks[car // LANES, ROWS[k] * LANES + car % LANES]


@jit
def scale(blocks: Array, nominal: Array, cars: Ints, mass: Array, grip: Array, stiffness: Array) -> None:
    """Give cars a share of their nominal mass, grip and tyre stiffness.

    Put the cars somewhere afterwards: their state still holds the loads of before.

    Args:
        blocks: of the batch.
        nominal: as `keep` filled it.
        cars: (k,) which.
        mass: (k,) of the nominal.
        grip: (k,) of the nominal.
        stiffness: (k,) of the nominal.
    """
    for i in range(cars.shape[0]):
        car = cars[i]
        block, lane = car // LANES, car % LANES
        for k in range(ROWS.shape[0]):
            value = nominal[car, k]
            if k < _A:
                value *= mass[i]
            elif k < _B:
                value /= mass[i]
            elif k < _C:
                value *= grip[i]
            elif k < _D:
                value *= stiffness[i]
            elif k < _E:
                value /= stiffness[i]
            else:  # springs carry what the wheels themselves do not weigh
                value += (mass[i] - 1.0) * nominal[car, _LOADS + k - _E]
            blocks[block, ROWS[k] * LANES + lane] = value
