"""One substep of a block of cars: 14 degrees of freedom, four tyres with relaxation, the drivetrain.

Semi-implicit Euler: velocities first, positions with the new velocities; stiff couplings implicit or as impulses.
The length of the phases was found by trial: a processor looks ahead over about 250 instructions, so a long phase is
one chain of operations that wait for each other, and a short one stores what it could have kept in registers.
"""

from trailbrake.kernels.simd import vectorize
from trailbrake.world.body import integrate_body
from trailbrake.world.powertrain import advance_engine, brake_wheel, drive_wheels
from trailbrake.world.row_layout import WorkRow
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
