"""What the rows of the world's arrays mean, and how cars lie in them.

Cars lie in blocks of LANES (`trailbrake.kernels.lanes`). An array of state, parameters or controls has one line per
block: quantity `row` of car `c` is

    array[c // LANES, row * LANES + c % LANES]

and a block's whole state stays in the first-level cache over the substeps. Rows marked "x4" are the first of four: front left,
front right, rear left, rear right.
"""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

GEARS = 12  # rows of ratios: reverse, neutral, 1 .. 10
TORQUES = 64  # points of an engine map, at equal steps of engine speed from 0


class State(IntEnum):
    """Rows of state. SI units; body axes x forward, y left, z up (ISO 8855); heave, roll and pitch from the road.

    "Look" is what is done once per call, after the substeps: `ground`, `gearbox`, `tyre_state`.
    """

    # Integrated in every substep.
    DX = 0  # m, moved since the last look, along the heading at that look
    DY = 1  # m, the same to its left
    DYAW = 2  # rad, turned since the last look
    VX = 3  # m/s, along body x, in the road's plane
    VY = 4  # m/s, along body y
    YAW_RATE = 5  # rad/s, about the road's normal
    HEAVE = 6  # m, centre of mass above its place at rest
    HEAVE_RATE = 7  # m/s
    ROLL = 8  # rad, body against the road, positive right side down
    ROLL_RATE = 9  # rad/s
    PITCH = 10  # rad, body against the road, positive nose down
    PITCH_RATE = 11  # rad/s
    STEER = 12  # rad, road-wheel angle, positive left
    ENGINE = 13  # rad/s, crankshaft
    RATIO = 14  # engine speed over wheel speed in the present gear, 0 in neutral
    GEAR = 15  # -1, 0, 1, 2, ...
    SHIFT_LEFT = 16  # s, until the shift under way is done; 0 or less: none is
    HOP = 17  # x4, m, wheel above its place at rest
    HOP_RATE = 21  # x4, m/s
    SPIN = 25  # x4, rad/s, wheels
    STRETCH_X = 29  # x4, m, longitudinal deflection of the tyres
    STRETCH_Y = 33  # x4, m, lateral deflection of the tyres
    BUMP = 37  # x4, m, ground under the wheel above the road's plane at the car
    # Set at a look, constant over the substeps that follow.
    NEXT_GEAR = 41  # gear being shifted to; equal to GEAR when no shift is under way
    NEXT_RATIO = 42  # its ratio
    BUMP_RATE = 43  # x4, m/s
    GRIP = 47  # x4, friction factor: surface, temperature and wear
    SOFT = 51  # x4, extra rolling resistance under the wheel
    FORWARD_X = 55  # share of VX that shows as forward speed seen from above: cos(pitch of the road)
    FORWARD_Y = 56  # the same of VY
    LEFT_Y = 57  # share of VY that shows as speed to the left seen from above
    TURN = 58  # yaw rate seen from above over YAW_RATE
    TURN_ROAD = 59  # rad/s, yaw rate seen from above by the road's own pitch rate
    PULL_X = 60  # m/s^2, gravity along body x
    PULL_Y = 61  # m/s^2, gravity along body y
    PRESS = 62  # m/s^2, gravity and the road's vertical curvature, into the road
    INVERSE_MASS = 63  # 1/kg, of the whole car with its fuel
    INVERSE_SPRUNG = 64  # 1/kg
    DRAG = 65  # N s^2/m^2, as the flap stands
    LIFT_REAR = 66  # N s^2/m^2, as the flap stands
    TORQUE = 67  # N m, full-throttle torque at engine speed 0 along the tangent of the map at the look
    TORQUE_SLOPE = 68  # N m s, the tangent's slope
    LEAST_THROTTLE = 69  # 0..1, what keeps the engine at idle
    CLUTCH_AT = 70  # rad/s, engine speed at which the clutch begins to close
    CLUTCH_GAIN = 71  # s/rad, share of closing per engine speed
    APPLIED = 72  # controls as applied, steer to handbrake in the order of `Control`
    THROTTLE = 73  # 0..1
    BRAKE = 74  # 0..1
    CLUTCH = 75  # 0..1, the pedal
    HANDBRAKE = 76  # 0..1
    BOOST = 77  # N m, torque of the electric motor at the crankshaft
    # Written in every substep, for looks and for those who read the state.
    AX = 78  # m/s^2, acceleration along body x, gravity counted as a force
    AY = 79  # m/s^2
    AZ = 80  # m/s^2, of the sprung mass against the road
    ENGAGED = 81  # 0..1, how far the clutch is closed
    TC = 83  # 1 while TC holds the engine back
    LOAD = 84  # x4, N
    FX = 88  # x4, N, in the wheel's own axes
    FY = 92  # x4, N, in the wheel's own axes
    SLIP = 96  # x4, combined slip, 1 = peak
    # Integrated or found at the looks.
    X = 100  # m, world, point of the road under the centre of mass
    X_LOW = 101  # m, what X lost by rounding
    Y = 102  # m, world
    Y_LOW = 103  # m
    YAW = 104  # rad, in [-pi, pi)
    COS_YAW = 105
    SIN_YAW = 106
    FUEL = 107  # l
    TURBO = 108  # 0..1, share of the boost that has built up
    CHARGE = 109  # J, in the battery
    TEMPERATURE = 110  # x4, degC, tyres
    WEAR = 114  # x4, 1 = worn out
    CONTACTS = 118  # count of contacts with walls and cars
    CONTACT_DEPTH = 119  # m, deepest overlap at the last look
    CONTACT_GAP = 120  # s, since something was last touched
    DAMAGE = 121  # J, energy lost in contacts
    S = 122  # m, along the road
    OFFSET = 123  # m, left of the centreline
    ROW = 124  # row of the road's table: the hint for the next search
    Z = 125  # m, world, of the road under the car
    ROAD_PITCH = 126  # rad, of the road along the car, positive nose down
    ROAD_ROLL = 127  # rad, of the road across the car, positive right side down
    ROAD_PITCH_RATE = 128  # rad/s, body y, from following the road
    ROAD_ROLL_RATE = 129  # rad/s, body x, from following the road
    HEADING = 130  # rad, yaw less the road's
    CURVATURE = 131  # 1/m, of the centreline, positive turning left
    ON_TRACK = 132  # x4, 1 on the road, 0 beyond its edge
    NEAR_WALL = 136  # 1 where a corner of the car may touch a wall
    # The road's table at the car, gathered for the look's vector code.
    ROAD_GRADE = 137  # dz/ds
    ROAD_BANK = 138  # rad
    ROAD_GRADE_SLOPE = 139  # 1/m
    ROAD_BANK_SLOPE = 140  # rad/m
    ROAD_YAW = 141  # rad
    ROAD_Z = 142  # m, of the centreline
    ROAD_GRIP = 143
    ROAD_LEFT = 144  # m, width
    ROAD_LEFT_SLOPE = 145  # change of it per m
    ROAD_RIGHT = 146  # m, width
    ROAD_RIGHT_SLOPE = 147
    ROAD_KERB_LEFT = 148  # m, width of the kerb
    ROAD_KERB_RIGHT = 149  # m
    ROAD_WALL = 150  # m, distance of the nearer wall from the centreline
    MAP_TORQUE = 151  # N m, the engine's map at the look
    MAP_SLOPE = 152  # N m s
    UP_RATIO = 153  # ratio of the next gear up, 0 where there is none
    DOWN_RATIO = 154  # ratio of the next gear down
    WISH_RATIO = 155  # ratio of the gear asked for
    # Between the loops of one substep.
    ANTI_ROLL = 156  # x4, N, on the body, up
    RISE = 160  # x4, N, of spring and links on the body, up
    PUSH = 164  # x4, N, of the tyre along body x
    SHOVE = 168  # x4, N, of the tyre along body y
    HOLD_DRIVE = 172  # x4, share of drive torque that TC leaves
    LEAN = 176  # x4, rad, of the wheel's top to the right against the road
    HOLD_BRAKE = 180  # x4, share of brake torque that ABS leaves
    ABS = 184  # x4, 1 while ABS holds the brake back
    SPRUNG = 188  # kg
    SIN = 189  # x2, of the mean angle of the axle's wheels
    COS = 191  # x2
    INWARD = 193  # x2, rad, half of what the left wheel is turned further left than the right one
    COUNT = 195


class Control(IntEnum):
    """Rows of controls, as `trailbrake.state.Controls`. NaN: GEAR automatic, torques the car's own."""

    STEER = State.COUNT + 0
    THROTTLE = State.COUNT + 1
    BRAKE = State.COUNT + 2
    CLUTCH = State.COUNT + 3
    HANDBRAKE = State.COUNT + 4
    GEAR = State.COUNT + 5
    DRS = State.COUNT + 6
    BOOST = State.COUNT + 7
    DRIVE_TORQUE = State.COUNT + 8  # x4, N m at the wheel
    BRAKE_TORQUE = State.COUNT + 12  # x4, N m at the wheel, positive
    COUNT = State.COUNT + 16  # of the rows up to here


class Param(IntEnum):
    """Rows of params; SI units, signs and meanings as in `trailbrake.cars.params`."""

    MASS = Control.COUNT  # kg, with half of the fuel
    UNSPRUNG = Control.COUNT + 1  # kg, all four
    YAW_INERTIA = Control.COUNT + 2
    INVERSE_YAW = Control.COUNT + 3  # 1/(kg m^2)
    INVERSE_ROLL = Control.COUNT + 4
    INVERSE_PITCH = Control.COUNT + 5
    HEIGHT = Control.COUNT + 6  # m, centre of mass
    ROLL_ARM = Control.COUNT + 7  # m, centre of mass above the roll axis
    ACKERMANN = Control.COUNT + 8  # 1/rad: half difference of the front wheels' angles per angle squared
    DRAG = Control.COUNT + 9  # N s^2/m^2
    DRS_DRAG = Control.COUNT + 10
    DRS_LIFT = Control.COUNT + 11
    IDLE = Control.COUNT + 12  # rad/s
    LIMITER = Control.COUNT + 13  # rad/s
    INVERSE_ENGINE = Control.COUNT + 14  # 1/(kg m^2)
    ENGINE_DRAG = Control.COUNT + 15  # N m, at engine speed 0 along the line through idle and limiter
    ENGINE_DRAG_SLOPE = Control.COUNT + 16  # N m s
    TORQUE_PER = Control.COUNT + 17  # s/rad, rows of the torque map per engine speed
    EFFICIENCY = Control.COUNT + 18
    SHIFT_TIME = Control.COUNT + 19
    BLIP = Control.COUNT + 20  # 1 where the box matches engine speed to the next gear
    UPSHIFT = Control.COUNT + 21  # rad/s
    DOWNSHIFT = Control.COUNT + 22  # rad/s
    CLUTCH_TORQUE = Control.COUNT + 23
    TOP_GEAR = Control.COUNT + 24
    CENTRE_PRELOAD = Control.COUNT + 25  # N m
    CENTRE_LOCK = Control.COUNT + 26
    TC_SLIP2 = Control.COUNT + 27  # squared target of TC
    PER_TC_SLIP2 = Control.COUNT + 28
    PER_ABS_SLIP2 = Control.COUNT + 29
    ABS_SLIP2 = Control.COUNT + 30  # squared target of ABS, very large without
    STEER_MAX = Control.COUNT + 31
    STEER_RATE = Control.COUNT + 32
    FUEL_PER_JOULE = Control.COUNT + 33  # l/J at the crankshaft
    FUEL_START = Control.COUNT + 34  # l
    FUEL_DENSITY = Control.COUNT + 35  # kg/l
    TURBO_RATE = Control.COUNT + 36  # 1/s, 0 without
    TURBO_SHARE = Control.COUNT + 37
    BOOST_POWER = Control.COUNT + 38  # W
    BOOST_TORQUE = Control.COUNT + 39  # N m
    CHARGE_MOST = Control.COUNT + 40  # J
    CHARGE_START = Control.COUNT + 41  # J
    RECHARGE = Control.COUNT + 42  # W
    HALF_LENGTH = Control.COUNT + 43
    HALF_WIDTH = Control.COUNT + 44
    BOX_CENTRE = Control.COUNT + 45  # m, middle of the contact box ahead of the centre of mass
    PER_LIMITER = Control.COUNT + 46  # s/rad, one over LIMITER
    PER_IDLE = Control.COUNT + 47  # s/rad, one over IDLE
    INVERSE_EFFICIENCY = Control.COUNT + 48
    DRIVE_FRONT = Control.COUNT + 49  # share of the drive torque
    DRIVE_REAR = Control.COUNT + 50  # share of the drive torque
    MODEL = Control.COUNT + 51  # row of the engine maps
    RATIOS = Control.COUNT + 52  # GEARS rows of overall ratios: row RATIOS + 1 + gear
    COUNT = Control.COUNT + 64  # of the rows up to here


class Axle(IntEnum):
    """Rows of the parameters of an axle's wheels, all x2: front, rear. SI units, meanings as in `cars.params`.

    Friction and peak slip under load are lines, `MU_X + MU_X_LOAD * load` and so on, up to the load LOAD_MOST.
    """

    X = Param.COUNT + 0  # m ahead of the centre of mass
    HALF_TRACK = Param.COUNT + 2  # m
    RADIUS = Param.COUNT + 4
    INVERSE_INERTIA = Param.COUNT + 6  # 1/(kg m^2), one wheel
    ROLLING = Param.COUNT + 8
    SIGMA_X = Param.COUNT + 10  # m, relaxation lengths
    SIGMA_Y = Param.COUNT + 12
    PER_SLIP_X = Param.COUNT + 14  # 1/m: stretch over that of the peak at nominal load
    HOLD_X = Param.COUNT + 16  # m, stretch of the peak at nominal load
    HOLD_Y = Param.COUNT + 18
    PER_SLIP_Y = Param.COUNT + 20
    LOAD_MOST = Param.COUNT + 22  # N
    MU_X = Param.COUNT + 24
    MU_X_LOAD = Param.COUNT + 26  # 1/N
    MU_Y = Param.COUNT + 28
    MU_Y_LOAD = Param.COUNT + 30  # 1/N
    PEAK = Param.COUNT + 32  # peak slip over that at nominal load
    PEAK_LOAD = Param.COUNT + 34  # 1/N
    B = Param.COUNT + 36
    C = Param.COUNT + 38
    E = Param.COUNT + 40
    CAMBER_SLIP = Param.COUNT + 42  # 1: stretch_y slip over that of the peak, per rad of camber
    CAMBER_LOSS = Param.COUNT + 44
    CAMBER = Param.COUNT + 46  # rad
    CAMBER_GAIN = Param.COUNT + 48  # rad/m
    TOE = Param.COUNT + 50  # rad, toe-in
    STIFFNESS = Param.COUNT + 52  # N/m, tyre
    TYRE_DAMPING = Param.COUNT + 54  # N s/m
    LOAD_AT_REST = Param.COUNT + 56  # N
    SPRING = Param.COUNT + 58  # N/m
    BUMP_DAMPING = Param.COUNT + 60
    REBOUND_DAMPING = Param.COUNT + 62
    ANTI_ROLL = Param.COUNT + 64  # N/m
    SPRING_AT_REST = Param.COUNT + 66  # N
    BUMP_STOP = Param.COUNT + 68  # N/m
    BUMP_TRAVEL = Param.COUNT + 70
    DROOP_TRAVEL = Param.COUNT + 72  # m, negative
    INVERSE_UNSPRUNG = Param.COUNT + 74  # 1/kg
    LINK_DRIVE = Param.COUNT + 76  # vertical force of the links on the body per longitudinal force, driving; signed
    LINK_BRAKE = Param.COUNT + 78  # the same, braking
    LINK_SIDE = Param.COUNT + 80  # vertical force of the links on the right of the body per lateral force of the axle
    LIFT = Param.COUNT + 82  # N s^2/m^2, downforce
    RIDE_GAIN = Param.COUNT + 84  # 1/m
    RIDE_CURVE = Param.COUNT + 86  # 1/m^2
    BRAKE = Param.COUNT + 88  # N m a wheel
    HANDBRAKE = Param.COUNT + 90
    DRIVE = Param.COUNT + 92  # share of the drive torque
    LOCK_PRELOAD = Param.COUNT + 94  # N m of torque difference
    LOCK_POWER = Param.COUNT + 96
    LOCK_COAST = Param.COUNT + 98
    BEST_TEMPERATURE = Param.COUNT + 100  # degC
    GRIP_LOSS = Param.COUNT + 102  # 1/K^2, 0 where temperature is not modelled
    PER_HEAT = Param.COUNT + 104  # K/J
    COOLING = Param.COUNT + 106  # 1/s
    COOLING_SPEED = Param.COUNT + 108  # 1/m
    WEAR = Param.COUNT + 110  # 1/J
    WEAR_LOSS = Param.COUNT + 112
    START_TEMPERATURE = Param.COUNT + 114  # degC
    COUNT = Param.COUNT + 116  # of all rows
