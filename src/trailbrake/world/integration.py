"""Kernels that advance blocks of cars: controls, substeps, outer step, contacts.

A substep: 14 degrees of freedom, four tyres with relaxation, the drivetrain. Semi-implicit Euler: velocities first,
positions with the new velocities; stiff couplings implicit or as impulses. The length of the phases was found by trial:
a processor looks ahead over about 250 instructions, so a long phase is one chain of operations that wait for each
other, and a short one stores what it could have kept in registers.

The outer step is what a call does once instead of in every substep. It updates what changes little within a few
milliseconds (the ground, gears, the tangent of the engine map, camber, tyre heat and wear, fuel); the substeps hold
these constant. A call must not advance the cars by more than 10 ms.
"""

from trailbrake.cars.tyre_params import MIN_THERMAL_GRIP
from trailbrake.kernels import inline_jit, lane_jit
from trailbrake.kernels.atomics import COUNTER_STRIDE, fetch_add
from trailbrake.kernels.lane_blocks import LANES, get, put
from trailbrake.kernels.simd import vectorize
from trailbrake.world.body import integrate_body
from trailbrake.world.contact import age_contact, collide_cars, collide_with_walls
from trailbrake.world.gearbox import begin_shift, set_ratios_and_clutch, update_engine_and_motor, update_shift
from trailbrake.world.ground import (
    compute_road_plane,
    compute_wheel_ground,
    integrate_pose,
    project_fast,
    project_search,
)
from trailbrake.world.kernel_arguments import BlockShare, CarBlocks, RoadTables, StepPlan
from trailbrake.world.powertrain import advance_engine, brake_wheel, drive_wheels
from trailbrake.world.row_layout import Array, AxleRow, ControlRow, Ints, StateRow, WorkRow
from trailbrake.world.substep_inputs import (
    apply_controls,
    prepare_axle_gains,
    prepare_differential,
    prepare_drivetrain,
    prepare_engine_gains,
    prepare_wheel,
)
from trailbrake.world.suspension import compute_spring_forces, distribute_axle_forces, move_rack, update_axle
from trailbrake.world.tyres import advance_deflection, compute_tyre_forces

# Constants of a phase: axle (0 front), wheel or left and right wheel, and side (1 left, -1 right).
advance_substep = vectorize(
    [
        move_rack,
        (update_axle, 0, 0, 1),
        (compute_spring_forces, 0, 0, 1.0),
        (compute_spring_forces, 0, 1, -1.0),
    ],
    [
        (update_axle, 1, 2, 3),
        (compute_spring_forces, 1, 2, 1.0),
        (compute_spring_forces, 1, 3, -1.0),
    ],
    [(advance_deflection, 0, 0, 1.0), (advance_deflection, 0, 1, -1.0)],
    [(advance_deflection, 1, 2, 1.0), (advance_deflection, 1, 3, -1.0)],
    (compute_tyre_forces, 0, 0),
    (compute_tyre_forces, 0, 1),
    (compute_tyre_forces, 1, 2),
    (compute_tyre_forces, 1, 3),
    (distribute_axle_forces, 0, 0, 1),
    (distribute_axle_forces, 1, 2, 3),
    integrate_body,
    advance_engine,
    [drive_wheels, *((brake_wheel, wheel) for wheel in range(4))],
    inputs=("dt",),
    scratch=range(WorkRow.SIN_STEER, WorkRow.COS_HEADING),
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


@inline_jit
def load_params(work: Array, params: Array, kind: int) -> None:
    """Copy the parameters of a kind of block into the work block."""
    param = params[kind]
    for k in range(param.shape[0]):
        work[WorkRow.COUNT * LANES + k] = param[k]


@inline_jit
def load_block(work: Array, cars: Array, b: int) -> None:
    """Copy block `b` into the work block."""
    car = cars[b]
    for k in range(ControlRow.COUNT * LANES):
        work[k] = car[k]


@inline_jit
def store_block(work: Array, cars: Array, b: int) -> None:
    """Copy the state in the work block to block `b`."""
    car = cars[b]
    for k in range(StateRow.COUNT * LANES):
        car[k] = work[k]


@lane_jit
def advance_blocks(
    blocks: CarBlocks, work: Array, road: RoadTables, step: StepPlan, group_size: int, lo: int, hi: int, kind: int
) -> int:
    """Advance the cars of blocks `lo`..`hi` - 1 under constant controls, then do their outer step.

    The range must contain whole groups. Then its blocks do not depend on others, and threads may share the work.

    Args:
        blocks: cars and parameters; controls out of range are clamped, NaN counts as 0.
        work: (AxleRow.COUNT * LANES,), the work block of this thread.
        road: the road.
        step: substeps and their length.
        group_size: number of consecutive cars that can touch each other; 1: none.
        lo: first block.
        hi: one past the last block.
        kind: row of `params` that the work block holds from a call before; -1: none.

    Returns:
        the row of `params` that the work block holds now.
    """
    dt, period, substeps = step.dt, step.period, step.substeps
    per_period = 1.0 / period if period > 0.0 else 0.0
    rows, closed = float(road.segments.shape[0]), 1.0 if road.table.closed else 0.0
    collided = -(-lo * LANES // group_size)
    for b in range(lo, hi):
        lanes = min(LANES, blocks.n - b * LANES)
        if blocks.kinds[b] != kind:
            kind = blocks.kinds[b]
            load_params(work, blocks.params, kind)
            prepare_gains(work, lanes, dt)
        load_block(work, blocks.cars, b)
        if substeps > 0:
            apply_inputs(work, lanes, dt, period)
            for lane in range(lanes):
                if get(work, WorkRow.SHIFT_DUE, lane) > 0.0:
                    begin_shift(work, lane)
            prepare_substeps(work, lanes, blocks.maps, dt, period)
            for _ in range(substeps):
                advance_substep(work, lanes, dt)
            integrate_poses(work, lanes, period)
        project_cars(work, lanes, road.segments, road.table.spacing, rows, closed)
        for lane in range(lanes):
            if get(work, WorkRow.PROJECTION_VALID, lane) == 0.0:
                project_search(work, road, lane)
        update_surfaces(work, lanes, road.off_grip, road.off_rolling, period, per_period)
        for lane in range(lanes):
            if get(work, WorkRow.NEAR_WALL, lane) > 0.0:
                collide_with_walls(work, road, lane)
        store_block(work, blocks.cars, b)
        if group_size > 1 and substeps > 0:  # the groups whose last car was in this block, while they are in the cache
            complete = min((b + 1) * LANES, blocks.n) // group_size
            collide_cars(blocks, group_size, collided, complete)
            collided = complete
    return kind


@lane_jit
def advance_shared_blocks(
    blocks: CarBlocks, work: Array, road: RoadTables, next_blocks: Ints, step: StepPlan, group_size: int,
    share: BlockShare,
) -> None:  # fmt: skip
    """Advance blocks as `advance_blocks` does, together with other threads that call this function.

    Each thread owns a part of the blocks. It takes chunks of its own part first, which it had in the last call and
    still has in its cache, then chunks that other threads have not begun: another process may hold up a processor.

    Args:
        blocks: cars and parameters.
        work: (AxleRow.COUNT * LANES,), the work block of this thread.
        road: the road.
        next_blocks: (parts * COUNTER_STRIDE,) at `part * COUNTER_STRIDE` the next block of each part that no thread
            has begun.
        step: substeps and their length.
        group_size: number of consecutive cars that can touch each other; 1: none.
        share: the part of this thread.
    """
    kind = -1
    for k in range(share.parts):
        part = (share.part + k) % share.parts
        end = min((part + 1) * share.part_blocks, share.blocks)
        lo = fetch_add(next_blocks, part * COUNTER_STRIDE, share.chunk)
        while lo < end:
            hi = min(lo + share.chunk, end)
            kind = advance_blocks(blocks, work, road, step, group_size, lo, hi, kind)
            lo = fetch_add(next_blocks, part * COUNTER_STRIDE, share.chunk)
