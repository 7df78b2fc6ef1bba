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

    "Look" is what is done once per call, after the substeps: see `look.py`.
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
    SHIFT_LEFT = 16  # s, until the shift under way is done; 0: none is
    HOP = 17  # x4, m, wheel above its place at rest
    HOP_RATE = 21  # x4, m/s
    SPIN = 25  # x4, rad/s, wheels
    SLIP_X = 29  # x4, longitudinal deflection of the tyre over that of the peak at nominal load
    SLIP_Y = 33  # x4, lateral deflection of the tyre over that of the peak at nominal load
    BUMP = 37  # x4, m, ground under the wheel above the road's plane at the car
    # Set at a look, constant over the substeps that follow.
    NEXT_GEAR = 41  # gear being shifted to; equal to GEAR when no shift is under way
    NEXT_RATIO = 42  # its ratio
    MATCH = 43  # 1/s, at which engine speed is matched to that ratio by cut or blip; 0: it is not
    BUMP_RATE = 44  # x4, m/s
    GRIP = 48  # x4, friction factor: surface, temperature and wear
    GRIP_Y = 52  # x4, the same across, less what camber takes
    CAMBER_SLIP = 56  # x4, lateral slip over that of the peak, by camber
    TURNED = 60  # x4, rad, by which the wheel is turned left of its axle's mean: toe and Ackermann
    DAMPING = 64  # s, stretch rate that counts as stretch at walking pace
    FORWARD_X = 65  # share of VX that shows as forward speed seen from above: cos(pitch of the road)
    FORWARD_Y = 66  # the same of VY
    LEFT_Y = 67  # share of VY that shows as speed to the left seen from above
    TURN = 68  # yaw rate seen from above over YAW_RATE
    TURN_ROAD = 69  # rad/s, yaw rate seen from above by the road's own pitch rate
    PULL_X = 70  # m/s^2, gravity along body x
    PULL_Y = 71  # m/s^2, gravity along body y
    PRESS = 72  # m/s^2, gravity and the road's vertical curvature, into the road
    INVERSE_MASS = 73  # 1/kg, of the whole car with its fuel
    INVERSE_SPRUNG = 74  # 1/kg
    LEAN_GAIN = 75  # N m/rad, of a rolled body's weight beside the roll axis
    DRAG = 76  # N s^2/m^2, as the flap stands
    LIFT_REAR = 77  # N s^2/m^2, as the flap stands
    TORQUE = 78  # N m, full-throttle torque at engine speed 0 along the tangent of the map at the look
    TORQUE_SLOPE = 79  # N m s, the tangent's slope
    LEAST_THROTTLE = 80  # 0..1, what keeps the engine at idle
    MOTOR = 81  # N m, torque of the electric motor at the crankshaft
    CLUTCH_AT = 82  # rad/s, engine speed at which the clutch begins to close
    CLUTCH_GAIN = 83  # s/rad, share of closing per engine speed
    CLUTCH_MOST = 84  # 0..1, how far the pedal and the gearbox let it close
    PER_CLUTCH = 85  # kg m^2, impulse per difference of speeds over the closed clutch
    APPLIED = 86  # controls as applied, steer to handbrake in the order of `Control`
    THROTTLE = 87  # 0..1
    BRAKE = 88  # 0..1
    CLUTCH = 89  # 0..1, the pedal
    HANDBRAKE = 90  # 0..1
    ABS_SLIP2 = 91  # squared target of ABS, very large where it does not act
    PER_ABS_SLIP2 = 92
    PEDAL = 93  # x4, N m, of the brake before ABS
    FIXED = 97  # x4, N m, of the handbrake, or the torque asked for from outside
    SOFT = 101  # x4, m, rolling resistance torque over load
    OWN = 105  # x4, 1 where the drivetrain turns the wheel, 0 where torque is given from outside
    ASKED = 109  # x4, N m, drive torque given from outside
    # Written in every substep, for looks and for those who read the state.
    AX = 113  # m/s^2, acceleration along body x, gravity counted as a force
    AY = 114  # m/s^2
    AZ = 115  # m/s^2, of the sprung mass against the road
    ENGAGED = 116  # 0..1, how far the clutch is closed
    TC = 117  # share of the engine's torque that TC leaves
    ABS = 118  # x4, share of brake torque that ABS leaves
    LOAD = 122  # x4, N
    FX = 126  # x4, N, in the wheel's own axes
    FY = 130  # x4, N, in the wheel's own axes
    SLIP = 134  # x4, combined slip, 1 = peak
    # Between the loops of one substep.
    SIN = 138  # x2, of the mean angle of the axle's wheels
    COS = 140  # x2
    ABOVE = 142  # x2, m, displacement of the body over the axle
    ABOVE_RATE = 144  # x2, m/s
    LEANED = 146  # x2, m, of the body over the left wheel by roll
    LEANED_RATE = 148  # x2, m/s
    ANTI_ROLL = 150  # x2, N, on the body over the left wheel, up
    ASIDE = 152  # x2, m/s, of the axle's middle to the left
    RISE = 154  # x4, N, of spring and links on the body, up
    PUSH = 158  # x4, N, of the tyre along body x
    SHOVE = 162  # x4, N, of the tyre along body y
    HOLD_DRIVE = 166  # x4, share of drive torque that TC leaves by this wheel
    OUT = 170  # N m s, impulse of the gearbox on the wheels
    # Integrated or found at the looks.
    X = 171  # m, world, point of the road under the centre of mass
    X_LOW = 172  # m, what X lost by rounding
    Y = 173  # m, world
    Y_LOW = 174  # m
    YAW = 175  # rad, in [-pi, pi)
    COS_YAW = 176
    SIN_YAW = 177
    FUEL = 178  # l
    TURBO = 179  # 0..1, share of the boost that has built up
    CHARGE = 180  # J, in the battery
    TEMPERATURE = 181  # x4, degC, tyres
    WEAR = 185  # x4, 1 = worn out
    CONTACTS = 189  # count of contacts with walls and cars
    CONTACT_DEPTH = 190  # m, deepest overlap at the last look
    CONTACT_GAP = 191  # s, since something was last touched
    DAMAGE = 192  # J, energy lost in contacts
    S = 193  # m, along the road
    OFFSET = 194  # m, left of the centreline
    ROW = 195  # row of the road's table: the hint for the next search
    Z = 196  # m, world, of the road under the car
    ROAD_PITCH = 197  # sine of the road's angle along the car, positive nose down
    ROAD_ROLL = 198  # sine of the road's angle across the car, positive right side down
    ROAD_PITCH_RATE = 199  # rad/s, body y, from following the road
    ROAD_ROLL_RATE = 200  # rad/s, body x, from following the road
    COS_HEADING = 201
    SIN_HEADING = 202
    HEADING = 203  # rad, yaw less the road's
    CURVATURE = 204  # 1/m, of the centreline, positive turning left
    ON_TRACK = 205  # x4, 1 on the road, 0 beyond its edge
    NEAR_WALL = 209  # 1 where a corner of the car may touch a wall
    # What a look gathers from tables at the car's place and engine speed, for its own vector code.
    ROAD_GRADE = 210  # dz/ds
    ROAD_BANK = 211  # tan of it
    ROAD_GRADE_SLOPE = 212  # 1/m
    ROAD_BANK_SLOPE = 213  # 1/m, of the tan
    ROAD_YAW = 214  # rad
    ROAD_Z = 215  # m, of the centreline
    ROAD_GRIP = 216
    ROAD_LEFT = 217  # m, width
    ROAD_LEFT_SLOPE = 218  # change of it per m
    ROAD_RIGHT = 219  # m, width
    ROAD_RIGHT_SLOPE = 220
    ROAD_KERB_LEFT = 221  # m, width of the kerb
    ROAD_KERB_RIGHT = 222  # m
    ROAD_WALL_LEFT = 223  # m, from the centreline
    ROAD_WALL_RIGHT = 224  # m
    MAP_TORQUE = 225  # N m, the engine's map
    MAP_SLOPE = 226  # N m s
    COUNT = 227


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
    PER_CENTRE = Control.COUNT + 51  # kg m^2, one over the sum of the axles' inverse wheel inertias
    MODEL = Control.COUNT + 52  # row of the engine maps
    RATIOS = Control.COUNT + 53  # GEARS rows of overall ratios: row RATIOS + 1 + gear
    COUNT = Control.COUNT + 65  # of the rows up to here


class Axle(IntEnum):
    """Rows of the parameters of an axle's wheels, all x2: front, rear. SI units, meanings as in `cars.params`.

    Friction and inverse peak slip under load are lines, `MU_X + MU_X_LOAD * load` and so on, up to the load LOAD_MOST.
    """

    X = Param.COUNT + 0  # m ahead of the centre of mass
    HALF_TRACK = Param.COUNT + 2  # m
    RADIUS = Param.COUNT + 4
    INVERSE_INERTIA = Param.COUNT + 6  # 1/(kg m^2), one wheel
    ROLLING = Param.COUNT + 8
    PER_SIGMA_X = Param.COUNT + 10  # 1/m, one over relaxation length
    PER_SIGMA_Y = Param.COUNT + 12
    PER_SLIP_X = Param.COUNT + 14  # 1/m: SLIP_X per deflection
    PER_SLIP_Y = Param.COUNT + 16
    PEAK_SLIP_X = Param.COUNT + 18  # slip ratio of the peak at nominal load
    PEAK_SLIP_Y = Param.COUNT + 20  # tan of the slip angle of the peak at nominal load
    LOAD_MOST = Param.COUNT + 22  # N
    MU_X = Param.COUNT + 24
    MU_X_LOAD = Param.COUNT + 26  # 1/N
    MU_Y = Param.COUNT + 28
    MU_Y_LOAD = Param.COUNT + 30  # 1/N
    PER_PEAK = Param.COUNT + 32  # peak slip at nominal load over peak slip
    PER_PEAK_LOAD = Param.COUNT + 34  # 1/N
    CURVE_AT = Param.COUNT + 36  # slip that the fit of the Magic Formula maps to the middle, see `cars.tyre_fit`
    CURVE = Param.COUNT + 38  # 12 coefficients of that fit, each x2
    CAMBER_SLIP = Param.COUNT + 62  # slip over that of the peak, per rad of camber
    CAMBER_LOSS = Param.COUNT + 64
    CAMBER = Param.COUNT + 66  # rad
    CAMBER_GAIN = Param.COUNT + 68  # rad/m
    TOE = Param.COUNT + 70  # rad, toe-in
    STIFFNESS = Param.COUNT + 72  # N/m, tyre
    TYRE_DAMPING = Param.COUNT + 74  # N s/m
    LOAD_AT_REST = Param.COUNT + 76  # N
    SPRING = Param.COUNT + 78  # N/m
    BUMP_DAMPING = Param.COUNT + 80
    REBOUND_DAMPING = Param.COUNT + 82
    ANTI_ROLL = Param.COUNT + 84  # N/m
    SPRING_AT_REST = Param.COUNT + 86  # N
    BUMP_STOP = Param.COUNT + 88  # N/m
    BUMP_TRAVEL = Param.COUNT + 90
    DROOP_TRAVEL = Param.COUNT + 92  # m, negative
    INVERSE_UNSPRUNG = Param.COUNT + 94  # 1/kg
    LINK_DRIVE = Param.COUNT + 96  # vertical force of the links on the body per longitudinal force, driving; signed
    LINK_BRAKE = Param.COUNT + 98  # the same, braking
    LINK_SIDE = Param.COUNT + 100  # vertical force of the links on the right of the body per lateral force of the axle
    LIFT = Param.COUNT + 102  # N s^2/m^2, downforce
    RIDE_GAIN = Param.COUNT + 104  # 1/m
    RIDE_CURVE = Param.COUNT + 106  # 1/m^2
    BRAKE = Param.COUNT + 108  # N m a wheel
    HANDBRAKE = Param.COUNT + 110
    LOCK_PRELOAD = Param.COUNT + 112  # N m of torque difference
    LOCK_POWER = Param.COUNT + 114
    LOCK_COAST = Param.COUNT + 116
    BEST_TEMPERATURE = Param.COUNT + 118  # degC
    START_TEMPERATURE = Param.COUNT + 120  # degC
    GRIP_LOSS = Param.COUNT + 122  # 1/K^2, 0 where temperature is not modelled
    PER_HEAT = Param.COUNT + 124  # K/J
    COOLING = Param.COUNT + 126  # 1/s
    COOLING_SPEED = Param.COUNT + 128  # 1/m
    WEAR = Param.COUNT + 130  # 1/J
    WEAR_LOSS = Param.COUNT + 132
    COUNT = Param.COUNT + 134  # of all rows
