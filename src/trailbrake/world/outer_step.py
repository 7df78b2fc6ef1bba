"""The outer step: what a call does once instead of in every substep, as vector code; `integration` has the order.

It updates what changes little within a few milliseconds (the ground, gears, the tangent of the engine map, camber,
tyre heat and wear, fuel); the substeps hold these constant. A call must not advance the cars by more than 10 ms.
"""

from trailbrake.cars.tyre_params import MIN_THERMAL_GRIP
from trailbrake.kernels import inline_jit
from trailbrake.kernels.lane_blocks import get, put
from trailbrake.kernels.simd import vectorize
from trailbrake.world.contact import age_contact
from trailbrake.world.gearbox import set_ratios_and_clutch, update_engine_and_motor, update_shift
from trailbrake.world.ground import compute_road_plane, compute_wheel_ground, integrate_pose, project_fast
from trailbrake.world.row_layout import Array, AxleRow, StateRow
from trailbrake.world.substep_inputs import (
    apply_controls,
    prepare_axle_gains,
    prepare_differential,
    prepare_drivetrain,
    prepare_engine_gains,
    prepare_wheel,
)

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


# Constants of a phase: axle (0 front), wheel or left and right wheel, and side (1 left, -1 right).
apply_inputs = vectorize(apply_controls, update_shift, inputs=("dt", "period"))
prepare_substeps = vectorize(
    [set_ratios_and_clutch, update_engine_and_motor],
    (prepare_wheel, 0, 0, 1.0),
    (prepare_wheel, 0, 1, -1.0),
    (prepare_wheel, 1, 2, 1.0),
    (prepare_wheel, 1, 3, -1.0),
    [(prepare_differential, 0, 0, 1), (prepare_differential, 1, 2, 3), prepare_drivetrain],
    inputs=("maps", "dt", "period"),
)
prepare_gains = vectorize([(prepare_axle_gains, 0), (prepare_axle_gains, 1), prepare_engine_gains], inputs=("dt",))
integrate_poses = vectorize(integrate_pose, inputs=("period",))
project_cars = vectorize(project_fast, inputs=("segments", "spacing", "rows", "closed"))
update_surfaces = vectorize(
    [compute_road_plane, age_contact],
    [(compute_wheel_ground, 0, 0, 1.0), (heat_and_wear_tyre, 0, 0)],
    [(compute_wheel_ground, 0, 1, -1.0), (heat_and_wear_tyre, 0, 1)],
    [(compute_wheel_ground, 1, 2, 1.0), (heat_and_wear_tyre, 1, 2)],
    [(compute_wheel_ground, 1, 3, -1.0), (heat_and_wear_tyre, 1, 3)],
    inputs=("off_grip", "off_rolling", "period", "per_period"),
)
