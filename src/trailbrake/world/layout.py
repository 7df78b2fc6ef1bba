"""What the rows of the world's arrays mean: `state[State, car]`, `params[Param, car]`, `controls[Control, car]`.

Structure of arrays, float64: a row holds one quantity of all cars, so that a kernel may run over any range of
cars. Rows marked "x4" are the first of four: front left, front right, rear left, rear right.
"""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from trailbrake.cars.params import CarParams, Differential, Tyre, interpolate
from trailbrake.units import RPM

Array = NDArray[np.float64]

GEARS = 12  # rows of ratios: reverse, neutral, 1 .. 10
TRANSFER_LAG = 0.05  # s, first-order lag of roll and pitch load transfer
OPEN = Differential(kind="open")
TORQUES = 64  # rows of the torque curve, at equal steps of engine speed from 0


class State(IntEnum):
    """Rows of `state`. SI units; body axes x forward, y left; the reference point is on the road under the CM."""

    X = 0  # m, world
    Y = 1  # m, world
    YAW = 2  # rad, in [-pi, pi)
    VX = 3  # m/s, along the body's x axis, which lies in the road surface
    VY = 4  # m/s, along y
    YAW_RATE = 5  # rad/s, about the road's normal
    ENGINE = 6  # rad/s, crankshaft
    STEER = 7  # rad, road-wheel angle, positive left
    TRANSFER_X = 8  # N, lagged longitudinal force of all tyres: what makes longitudinal load transfer
    TRANSFER_FRONT = 9  # N, lagged lateral force of the front tyres
    TRANSFER_REAR = 10  # N, lagged lateral force of the rear tyres
    GEAR = 11  # -1, 0, 1, 2, ...
    NEXT_GEAR = 12  # gear being shifted to; equal to GEAR when no shift is under way
    SHIFT_LEFT = 13  # s, until the shift under way is done
    FUEL = 14  # l
    CONTACTS = 15  # count of wall contacts
    CONTACT_DEPTH = 16  # m, deepest corner of the box in a wall after the last step
    CONTACT_GAP = 17  # s, since a wall was last touched
    SPIN = 18  # x4, rad/s, wheels
    STRETCH_X = 22  # x4, m, longitudinal deflection of the tyres
    STRETCH_Y = 26  # x4, m, lateral deflection of the tyres
    # What follows is worked out anew in every step; kept for publication and for the next phase of the step.
    S = 30  # m, along the road
    OFFSET = 31  # m, left of the centreline
    ROW = 32  # row of the road's table: the hint for the next search
    Z = 33  # m, world, of the road under the car
    PITCH = 34  # rad, of the road surface along the car, positive nose down
    ROLL = 35  # rad, of the road surface across the car, positive right side down
    ROLL_RATE = 36  # rad/s, body x, from following the road
    PITCH_RATE = 37  # rad/s, body y, from following the road
    AX = 38  # m/s^2, acceleration along body x, gravity counted as a force
    AY = 39  # m/s^2
    AZ = 40  # m/s^2, from the road's vertical curvature and bank
    ENGAGED = 41  # 0..1, how far the clutch is closed
    ABS = 42  # 1 while ABS holds a brake back
    TC = 43  # 1 while TC holds the engine back
    APPLIED = 44  # controls as applied, steer to handbrake in the order of `Control`
    THROTTLE = 45  # 0..1
    BRAKE = 46  # 0..1
    CLUTCH = 47  # 0..1, the pedal
    HANDBRAKE = 48  # 0..1
    HEADING = 49  # rad, yaw less the road's
    CURVATURE = 50  # 1/m, of the centreline, positive turning left
    GRIP = 51  # x4, friction factor under the wheel
    SOFT = 55  # x4, extra rolling resistance under the wheel
    ON_TRACK = 59  # x4, 1 on the road, 0 beyond its edge
    LOAD = 63  # x4, N
    FX = 67  # x4, N, in the wheel's own axes
    FY = 71  # x4, N, in the wheel's own axes
    SLIP = 75  # x4, combined slip, 1 = peak
    COUNT = 79


class Control(IntEnum):
    """Rows of `controls`, as `trailbrake.state.Controls`; GEAR is NaN for the automatic."""

    STEER = 0
    THROTTLE = 1
    BRAKE = 2
    CLUTCH = 3
    HANDBRAKE = 4
    GEAR = 5
    COUNT = 6


class Wheel(IntEnum):
    """Rows of one axle's block in `params`; the 11 rows from NOMINAL_LOAD are `Tyre.law()`."""

    RADIUS = 0
    INERTIA = 1
    ROLLING = 2
    RELAXATION_X = 3
    RELAXATION_Y = 4
    NOMINAL_LOAD = 5
    MU_X = 6
    MU_Y = 7
    MU_X_LOAD = 8
    MU_Y_LOAD = 9
    PEAK_X = 10
    PEAK_Y = 11
    SLIP_LOAD = 12
    B = 13
    C = 14
    E = 15
    COUNT = 16


class Param(IntEnum):
    """Rows of `params`; SI units, signs and meanings as in `trailbrake.cars.params`."""

    MASS = 0
    YAW_INERTIA = 1
    CG_HEIGHT = 2
    CG_TO_FRONT = 3
    CG_TO_REAR = 4
    HALF_TRACK_FRONT = 5
    HALF_TRACK_REAR = 6
    ROLL_SHARE = 7
    ROLL_CENTRE_FRONT = 8
    ROLL_CENTRE_REAR = 9
    TRANSFER_LAG = 10
    HALF_LENGTH = 11
    HALF_WIDTH = 12
    DRAG = 13  # N s^2/m^2: half density times area; the next two likewise
    LIFT_FRONT = 14
    LIFT_REAR = 15
    BOX_CENTRE = 16  # m, middle of the contact box ahead of the centre of mass
    IDLE = 17  # rad/s
    LIMITER = 18  # rad/s
    ENGINE_INERTIA = 19
    ENGINE_DRAG_IDLE = 20
    ENGINE_DRAG_LIMITER = 21
    TORQUE_STEP = 22  # rad/s, between the rows of TORQUE
    EFFICIENCY = 23
    SHIFT_TIME = 24
    UPSHIFT = 25  # rad/s
    DOWNSHIFT = 26  # rad/s
    CLUTCH = 27
    TOP_GEAR = 28
    FRONT_DRIVE = 29  # share of the drive torque
    DIFF_PRELOAD = 30  # N m of torque difference; infinite when locked
    DIFF_POWER = 31
    DIFF_COAST = 32
    BRAKE_FRONT = 33  # N m a wheel; the next two likewise
    BRAKE_REAR = 34
    HANDBRAKE = 35
    ABS_SLIP = 36  # infinite without ABS
    TC_SLIP = 37  # infinite without TC
    STEER_MAX = 38
    STEER_RATE = 39
    STEER_RATIO = 40
    FUEL_PER_JOULE = 41  # l/J at the crankshaft
    FUEL_START = 42  # l
    FRONT = 43  # Wheel.COUNT rows
    REAR = 59  # Wheel.COUNT rows
    RATIO = 75  # GEARS rows of overall ratios: row RATIO + 1 + gear
    TORQUE = 87  # TORQUES rows, N m
    COUNT = 151


def pack(car: CarParams) -> Array:
    """Return the column (Param.COUNT,) of `params` that holds `car`."""
    body, aero, engine, gearbox, brakes = car.body, car.aero, car.engine, car.gearbox, car.brakes
    diff = (car.drive.differential_front if car.drive.layout == "fwd" else car.drive.differential_rear) or OPEN
    steering, fuel = car.steering, car.fuel
    half_density = 0.5 * aero.air_density
    top_speed = 1.05 * engine.limiter_rpm
    step = top_speed / (TORQUES - 1)
    locked, inf = diff.rigid, float("inf")
    lsd = diff.kind == "lsd"
    values = [
        body.mass, body.yaw_inertia, body.cg_height, body.cg_to_front, body.cg_to_rear,
        0.5 * body.track_front, 0.5 * body.track_rear, car.roll_stiffness_front_share,
        car.suspension_front.roll_centre, car.suspension_rear.roll_centre, TRANSFER_LAG,
        0.5 * body.length, 0.5 * body.width, half_density * aero.drag_area,
        half_density * aero.lift_area_front, half_density * aero.lift_area_rear,
        0.5 * (body.cg_to_front - body.cg_to_rear),  # the box is centred between the axles
        engine.idle_rpm * RPM, engine.limiter_rpm * RPM, engine.inertia,
        engine.braking_torque_idle, engine.braking_torque_limiter, step * RPM,
        gearbox.efficiency, gearbox.shift_time, gearbox.upshift_rpm * RPM, gearbox.downshift_rpm * RPM,
        gearbox.clutch_torque, float(gearbox.top_gear), car.drive.front_share,
        inf if locked else diff.preload if lsd else 0.0,
        diff.lock_power if lsd else 0.0, diff.lock_coast if lsd else 0.0,
        0.5 * brakes.torque_front, 0.5 * brakes.torque_rear, 0.5 * brakes.handbrake_torque,
        brakes.abs_slip if brakes.abs else inf, brakes.tc_slip if brakes.tc else inf,
        steering.max_angle, steering.max_rate, steering.ratio,
        fuel.specific_consumption / 1000.0 / 3.6e6 / fuel.density, 0.5 * fuel.capacity,
        *_pack_tyre(car.tyre_front), *_pack_tyre(car.tyre_rear),
        gearbox.overall(-1), 0.0, *(gearbox.overall(gear) for gear in range(1, gearbox.top_gear + 1)),
        *[0.0] * (GEARS - 2 - gearbox.top_gear),
        *(interpolate(i * step, engine.rpm, engine.torque) for i in range(TORQUES)),
    ]  # fmt: skip
    return np.array(values, np.float64)


def _pack_tyre(tyre: Tyre) -> tuple[float, ...]:
    return (tyre.radius, tyre.inertia, tyre.rolling_resistance, tyre.relaxation_x, tyre.relaxation_y, *tyre.law())
