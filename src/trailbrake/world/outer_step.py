"""The outer step: what a call does once instead of in every substep, as vector code; `integration` has the order.

It updates what changes little within a few milliseconds (the ground, gears, the tangent of the engine map, camber,
tyre heat, fuel); the substeps hold these constant. A call must not advance the cars by more than 10 ms.
"""

from trailbrake.kernels.simd import vectorize
from trailbrake.world.contact import age_contact
from trailbrake.world.gearbox import set_ratios_and_clutch, update_engine_and_motor, update_shift
from trailbrake.world.ground import compute_road_plane, compute_wheel_ground, integrate_pose, project_fast
from trailbrake.world.substep_inputs import (
    apply_controls,
    prepare_axle_gains,
    prepare_differential,
    prepare_drivetrain,
    prepare_engine_gains,
    prepare_wheel,
)
from trailbrake.world.tyre_wear import heat_and_wear_tyre

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
