"""Other cars out of one: single cars of a batch with another mass, grip or tyre stiffness, as if another file was read.

`scaled` says what that means for a car file. Which of the packed rows change with it, and how, is found by packing a
few scaled files: every row, or one over it, is a straight line over the factor. So a batch changes thousands of cars
without packing one, and no list of rows has to follow the world's.
"""

import math
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from trailbrake.arrays import Array, Ints
from trailbrake.cars.params import CarParams
from trailbrake.cars.tyre_params import Tyre
from trailbrake.errors import DataError
from trailbrake.kernels import exact_inline_jit, jit
from trailbrake.kernels.lane_blocks import LANES
from trailbrake.world.batch import Batch
from trailbrake.world.param_packing import pack_car

_SAMPLES = (1.0, 0.75, 1.5)  # factors packed; the third checks the line through the others
_MIN_CHANGE = 1e-12  # of a row that counts as a change


def scale_car(car: CarParams, mass: float = 1.0, grip: float = 1.0, stiffness: float = 1.0) -> CarParams:
    """Return `car` with shares of its own values.

    Args:
        car: as it is.
        mass: of its mass and inertias; wheels and links stay as they are.
        grip: of the friction of all tyres, along and across.
        stiffness: of the initial slope of force over slip of all tyres: the slips of the peaks are divided by it.
    """
    body = car.body

    def tyre(own: Tyre) -> Tyre:
        return replace(
            own, mu_x=own.mu_x * grip, mu_y=own.mu_y * grip, peak_slip_ratio=own.peak_slip_ratio / stiffness,
            peak_slip_angle=math.atan(math.tan(own.peak_slip_angle) / stiffness),
        )  # fmt: skip

    return replace(
        car,
        body=replace(
            body, mass=body.mass * mass, yaw_inertia=body.yaw_inertia * mass, roll_inertia=body.roll_inertia * mass,
            pitch_inertia=body.pitch_inertia * mass,
        ),
        tyre_front=tyre(car.tyre_front),
        tyre_rear=tyre(car.tyre_rear),
    )  # fmt: skip


class CarScaling:
    """The packed rows of a car as functions of mass, grip and stiffness.

    Args:
        car: the nominal car.
        heat: whether its tyres warm and wear: see `Batch`.

    Attributes:
        laws: these functions, as kernels take them.

    Raises:
        DataError: a row that is no such function.
    """

    def __init__(self, car: CarParams, *, tyre_heat: bool = False) -> None:
        rows: list[int] = []
        laws: list[tuple[float, float, float, float]] = []
        for factor, name in enumerate(("mass", "grip", "stiffness")):
            own, less, more = (pack_car(scale_car(car, **{name: share}), tyre_heat=tyre_heat) for share in _SAMPLES)
            for row in np.flatnonzero(np.abs(less - own) > _MIN_CHANGE * np.abs(own)).tolist():
                values = [float(column[row]) for column in (own, less, more)]
                law = _fit_line(values)
                if law is None or row in rows:
                    raise DataError("a row that does not scale", where="car", got=f"row {row} by {name}")
                rows.append(row)
                laws.append((float(factor), *law))
        self.laws = ScalingLaws(np.array(rows, np.int64), np.array(laws, np.float64).reshape(-1, 4))

    def scale_cars(self, batch: Batch, cars: Ints, mass: Array, grip: Array, stiffness: Array) -> None:
        """Write the rows of `cars` for these factors; place the cars afterwards, their state holds the old loads.

        Args:
            batch: of cars like the nominal one; its blocks get parameters of their own.
            cars: (k,) which.
            mass: (k,) shares of the nominal.
            grip: (k,) the same.
            stiffness: (k,) the same.
        """
        if len(batch.params) < len(batch.kinds):
            batch.separate_params()
        write_scaled_rows(batch.params, batch.kinds, self.laws, cars, np.stack([mass, grip, stiffness]))


def _fit_line(values: list[float]) -> tuple[float, float, float] | None:
    # a, b, power so that a row is (a + b factor)**power at all samples; None where it is not.
    for power in (1.0, -1.0):
        if power < 0.0 and 0.0 in values:
            continue
        y0, y1, y2 = (value**power for value in values)
        x0, x1, x2 = _SAMPLES
        slope = (y1 - y0) / (x1 - x0)
        if abs(y0 + slope * (x2 - x0) - y2) <= 1e-9 * max(abs(y0), abs(y1), abs(y2)):
            return y0 - slope * x0, slope, power
    return None


class ScalingLaws(NamedTuple):
    """How the packed rows of a car follow from its mass, grip and stiffness.

    Attributes:
        rows: (m,) which rows, counted from WorkRow.COUNT.
        laws: (m, 4) number of the factor, a, b and power of each: (a + b factor)**power.
    """

    rows: Ints
    laws: Array


@exact_inline_jit
def scale_car_rows(
    params: Array, kinds: Ints, scaling: ScalingLaws, car: int, factors: tuple[float, float, float]
) -> None:
    """Write the rows of a car that follow from its factors.

    Args:
        params: of the batch.
        kinds: of the batch, no two alike.
        scaling: of the nominal car.
        car: which car.
        factors: mass, grip, stiffness.
    """
    rows, laws = scaling
    mass, grip, stiffness = factors
    block, lane = car // LANES, car % LANES
    for k in range(rows.shape[0]):
        factor = mass if laws[k, 0] < 0.5 else grip if laws[k, 0] < 1.5 else stiffness
        value = laws[k, 1] + laws[k, 2] * factor
        params[kinds[block], rows[k] * LANES + lane] = value if laws[k, 3] > 0.0 else 1.0 / value


@jit
def write_scaled_rows(params: Array, kinds: Ints, scaling: ScalingLaws, cars: Ints, factors: Array) -> None:
    """Write the rows of `cars` (k,) by `factors` (3, k); the rest as `scale_car_rows`."""
    for i in range(cars.shape[0]):
        scale_car_rows(params, kinds, scaling, cars[i], (factors[0, i], factors[1, i], factors[2, i]))
