"""The independent model's BMW 320i as a car of ours: what its parameters become in a car file's terms.

The tyre. Theirs is the Magic Formula of PAC2002 with friction and stiffness in proportion to the load:
D = p_d1 Fz and B C D = p_k1 Fz. Ours is one curve for both directions over the combined slip. So

    mu_x, mu_y          = p_dx1, p_dy1
    shape, curvature    = p_cy1, p_ey1: those of the lateral curve, which steers the car
    tan peak slip angle = B_n C mu_y / |p_ky1|, with B_n that puts the peak at 1: the same cornering stiffness
    peak slip ratio     = B_n C mu_x / p_kx1: the same longitudinal stiffness
    no loss with load, slip_load 0.

Their offsets by conicity and ply steer (p_h*, p_v*, r_h*, r_v*) and their camber terms are set to 0 in their model:
ours has no conicity, and theirs pushes to the side by 4 % of the load the moment the camber changes its sign. Their
unsprung masses are split over the axles as the weight is, sum unchanged: their multi-body model lets the whole mass act
at the sprung mass's centre, which is true of a car only where the two centres are one.

The chassis. Rates and inertias are the same numbers; their bar is given per angle, ours per metre of difference between
two wheels' travel: K_t / track^2. The height of our centre of mass gives the same roll moment: (m_s h_s + m_u R_w) / m.
"""

import copy
import math
from typing import Any

from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.cars.params import Aero, Body, CarParams, Suspension, Tyre

OFFSETS = ["p_hx1", "p_vx1", "p_hy1", "p_hy3", "p_vy1", "p_vy3", "p_dx3", "p_dy3", "r_hx1", "r_hy1", "r_vy1", "r_vy3"]
NO_LAG = 0.03  # m: their tyres have no relaxation length; ours must have one, so a very short one
NEVER = 1.0  # m of travel: they have no stops


def parameters(*, as_published: bool = False) -> Any:
    """Return the parameters of their vehicle 2, without offsets and camber terms unless `as_published`."""
    from vehiclemodels.parameters_vehicle2 import parameters_vehicle2

    theirs = copy.deepcopy(parameters_vehicle2())
    if not as_published:
        for key in OFFSETS:
            setattr(theirs.tire, key, 0.0)
        unsprung, base = theirs.m_uf + theirs.m_ur, theirs.a + theirs.b
        theirs.m_uf, theirs.m_ur = unsprung * theirs.b / base, unsprung * theirs.a / base
    return theirs


def car(theirs: Any) -> CarParams:
    """Return the same car in our terms; engine and gearbox are the hatchback's and stay in neutral."""
    base = theirs.a + theirs.b
    unsprung = theirs.m_uf + theirs.m_ur
    height = (theirs.m_s * theirs.h_s + unsprung * theirs.R_w) / theirs.m

    def corner(spring: float, damper: float, torsion: float, track: float, mass: float) -> Suspension:
        return Suspension(
            source="CommonRoad vehicle 2", spring_rate=spring, bump_damping=damper, rebound_damping=damper,
            anti_roll_rate=-torsion / track**2, roll_centre=0.0, anti_dive=0.0, anti_squat=0.0,
            unsprung_mass=0.5 * mass, bump_travel=NEVER, droop_travel=NEVER, bump_stop_rate=1.0, camber=0.0,
            camber_gain=0.0, toe=0.0,
        )  # fmt: skip

    law = theirs.tire
    shape = Tyre(
        source="CommonRoad tyre", radius=theirs.R_w, inertia=theirs.I_y_w, nominal_load=2700.0, mu_x=law.p_dx1,
        mu_y=law.p_dy1, mu_x_load=0.0, mu_y_load=0.0, peak_slip_ratio=0.1, peak_slip_angle=0.1, slip_load=0.0,
        shape=law.p_cy1, curvature=law.p_ey1, rolling_resistance=0.0, relaxation_x=NO_LAG, relaxation_y=NO_LAG,
        vertical_stiffness=theirs.K_zt, vertical_damping=0.0, camber_thrust=0.0, camber_loss=0.0,
    )  # fmt: skip
    steep = shape.stiffness_factor * shape.shape
    tyre = replace(shape, peak_slip_angle=math.atan(steep * law.p_dy1 / -law.p_ky1),
                   peak_slip_ratio=steep * law.p_dx1 / law.p_kx1)  # fmt: skip
    base_car = load_car("hatchback")
    body = Body(
        source="CommonRoad vehicle 2", mass=theirs.m, yaw_inertia=theirs.I_z, roll_inertia=1.0, pitch_inertia=1.0,
        cg_height=height, wheelbase=base, cg_to_front=theirs.a, track_front=theirs.T_f, track_rear=theirs.T_r,
        length=theirs.l, width=theirs.w,
    )  # fmt: skip
    made = replace(
        base_car, name="bmw320i", body=body, tyre_front=tyre, tyre_rear=tyre,
        suspension_front=corner(theirs.K_sf, theirs.K_sdf, theirs.K_tsf, theirs.T_f, theirs.m_uf),
        suspension_rear=corner(theirs.K_sr, theirs.K_sdr, theirs.K_tsr, theirs.T_r, theirs.m_ur),
        aero=Aero(source="none", air_density=1.2, drag_area=0.0, lift_area_front=0.0, lift_area_rear=0.0),
        steering=replace(base_car.steering, max_angle=theirs.steering.max, max_rate=1000.0, ackermann=0.0),
    )  # fmt: skip
    # Theirs are the sprung mass's own inertias; ours are the whole car's, the corners as points.
    roll, pitch, _ = made.unsprung_inertia
    body = replace(body, roll_inertia=theirs.I_Phi_s + roll, pitch_inertia=theirs.I_y_s + pitch)
    return replace(made, body=body)
