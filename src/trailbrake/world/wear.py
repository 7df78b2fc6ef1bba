"""Heat and wear of the tyres, once per look, one lane at a time; loops over it become vector code."""

from trailbrake.cars.tyre_params import LEAST_THERMAL
from trailbrake.kernels import inline
from trailbrake.kernels.lanes import get, put
from trailbrake.world.layout import Array, Axle, State

AIR = 25.0  # degC, what cools a tyre


@inline
def heat(block: Array, a: int, i: int, j: int, period: float) -> None:
    """Warm and wear tyre `i` by `period` (s) of its sliding work; multiply its GRIP by what that leaves.

    Sliding power is force times slip speed, along and across. The model is that of `cars.tyre_params.Thermal`.
    """
    along = abs(get(block, State.FX + i, j) * get(block, State.SLIP_X + i, j)) * get(block, Axle.PEAK_SLIP_X + a, j)
    across = abs(get(block, State.FY + i, j) * get(block, State.SLIP_Y + i, j)) * get(block, Axle.PEAK_SLIP_Y + a, j)
    speed = abs(get(block, State.VX, j))
    work = (along + across) * speed * period
    temperature = get(block, State.TEMPERATURE + i, j)
    cooling = get(block, Axle.COOLING + a, j) + get(block, Axle.COOLING_SPEED + a, j) * speed
    temperature += work * get(block, Axle.PER_HEAT + a, j) - cooling * period * (temperature - AIR)
    put(block, State.TEMPERATURE + i, j, temperature)
    wear = min(get(block, State.WEAR + i, j) + work * get(block, Axle.WEAR + a, j), 1.0)
    put(block, State.WEAR + i, j, wear)
    off = temperature - get(block, Axle.BEST_TEMPERATURE + a, j)
    warm = max(1.0 - get(block, Axle.GRIP_LOSS + a, j) * (off * off), LEAST_THERMAL)
    left = 1.0 - get(block, Axle.WEAR_LOSS + a, j) * wear
    put(block, State.GRIP + i, j, get(block, State.GRIP + i, j) * warm * left)
