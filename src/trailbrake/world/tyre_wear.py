"""Heat and wear of the tyres, once per outer step; lane code (docs/kernels.md)."""

from trailbrake.cars.tyre_params import MIN_THERMAL_GRIP
from trailbrake.kernels import inline_jit
from trailbrake.kernels.lane_blocks import get, put
from trailbrake.world.row_layout import Array, AxleRow, StateRow

AIR_TEMPERATURE = 25.0  # degC, what cools a tyre


@inline_jit
def heat_and_wear_tyre(block: Array, axle: int, wheel: int, lane: int, period: float) -> None:
    """Heat and wear a tyre by its sliding work over `period` (s); multiply its GRIP by the thermal and wear factors.

    Sliding power is force times slip speed, along and across. The model is that of `cars.tyre_params.Thermal`.
    """
    along = abs(get(block, StateRow.FX + wheel, lane) * get(block, StateRow.SLIP_X + wheel, lane)) * get(
        block, AxleRow.PEAK_SLIP_X + axle, lane
    )
    across = abs(get(block, StateRow.FY + wheel, lane) * get(block, StateRow.SLIP_Y + wheel, lane)) * get(
        block, AxleRow.PEAK_SLIP_Y + axle, lane
    )
    speed = abs(get(block, StateRow.VX, lane))
    work = (along + across) * speed * period
    temperature = get(block, StateRow.TEMPERATURE + wheel, lane)
    cooling = get(block, AxleRow.COOLING + axle, lane) + get(block, AxleRow.COOLING_SPEED + axle, lane) * speed
    temperature += work * get(block, AxleRow.INVERSE_HEAT_CAPACITY + axle, lane) - cooling * period * (
        temperature - AIR_TEMPERATURE
    )
    put(block, StateRow.TEMPERATURE + wheel, lane, temperature)
    wear = min(get(block, StateRow.WEAR + wheel, lane) + work * get(block, AxleRow.WEAR + axle, lane), 1.0)
    put(block, StateRow.WEAR + wheel, lane, wear)
    deviation = temperature - get(block, AxleRow.OPTIMAL_TEMPERATURE + axle, lane)
    warm = max(1.0 - get(block, AxleRow.GRIP_LOSS + axle, lane) * (deviation * deviation), MIN_THERMAL_GRIP)
    worn_factor = 1.0 - get(block, AxleRow.WEAR_LOSS + axle, lane) * wear
    put(block, StateRow.GRIP + wheel, lane, get(block, StateRow.GRIP + wheel, lane) * warm * worn_factor)
