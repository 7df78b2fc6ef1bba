"""What the rows of the world's arrays mean, and how cars lie in them.

Cars lie in blocks of LANES (`trailbrake.kernels.lanes`; twice as many in single precision). An array of state,
parameters or controls has one line per block: quantity `row` of car `c` is

    array[c // LANES, row * LANES + c % LANES]

What is kept of a car from call to call is its State and Control rows. Kernels copy them into a work block, where
Work, Param and Axle rows follow, and which stays in the first-level cache over the substeps; cars with the same
parameters share them. Rows marked "x4" are the first of four: front left,
front right, rear left, rear right.
"""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

GEARS = 12  # rows of ratios: reverse, neutral, 1 .. 10
TORQUES = 64  # points of an engine map, at equal steps of engine speed from 0


class State(IntEnum):
    """Rows of state. SI units; body axes x forward, y left, z up (ISO 8855); heave, roll and pitch from the road.

    "Look" is what is done once per call, after the substeps: see `look.py`.
    """

    VX = 0  # m/s, along body x, in the road's plane
    VY = 1  # m/s, along body y
    YAW_RATE = 2  # rad/s, about the road's normal
    HEAVE = 3  # m, centre of mass above its place at rest
    HEAVE_RATE = 4  # m/s
    ROLL = 5  # rad, body against the road, positive right side down
    ROLL_RATE = 6  # rad/s
    PITCH = 7  # rad, body against the road, positive nose down
    PITCH_RATE = 8  # rad/s
    STEER = 9  # rad, road-wheel angle, positive left
    ENGINE = 10  # rad/s, crankshaft
    RATIO = 11  # engine speed over wheel speed in the present gear, 0 in neutral
    GEAR = 12  # -1, 0, 1, 2, ...
    SHIFT_LEFT = 13  # s, until the shift under way is done; 0: none is
    HOP = 14  # x4, m, wheel above its place at rest
    HOP_RATE = 18  # x4, m/s
    SPIN = 22  # x4, rad/s, wheels
    SLIP_X = 26  # x4, longitudinal deflection of the tyre over that of the peak at nominal load
    SLIP_Y = 30  # x4, lateral deflection of the tyre over that of the peak at nominal load
    BUMP = 34  # x4, m, ground under the wheel above the road's plane at the car
    NEXT_GEAR = 38  # gear being shifted to; equal to GEAR when no shift is under way
    BUMP_RATE = 39  # x4, m/s
    GRIP = 43  # x4, friction factor: surface, temperature and wear
    FORWARD_X = 47  # share of VX that shows as forward speed seen from above: cos(pitch of the road)
    FORWARD_Y = 48  # the same of VY
    LEFT_Y = 49  # share of VY that shows as speed to the left seen from above
    TURN = 50  # yaw rate seen from above over YAW_RATE
    TURN_ROAD = 51  # rad/s, yaw rate seen from above by the road's own pitch rate
    PULL_X = 52  # m/s^2, gravity along body x
    PULL_Y = 53  # m/s^2, gravity along body y
    PRESS = 54  # m/s^2, gravity and the road's vertical curvature, into the road
    APPLIED = 55  # controls as applied, steer to handbrake in the order of `Control`
    THROTTLE = 56  # 0..1
    BRAKE = 57  # 0..1
    CLUTCH = 58  # 0..1, the pedal
    HANDBRAKE = 59  # 0..1
    SOFT = 60  # x4, m, rolling resistance torque over load
    AX = 64  # m/s^2, acceleration along body x, gravity counted as a force
    AY = 65  # m/s^2
    AZ = 66  # m/s^2, of the sprung mass against the road
    ENGAGED = 67  # 0..1, how far the clutch is closed
    TC = 68  # share of the engine's torque that TC leaves
    ABS = 69  # x4, share of brake torque that ABS leaves
    LOAD = 73  # x4, N
    FX = 77  # x4, N, in the wheel's own axes
    FY = 81  # x4, N, in the wheel's own axes
    SLIP = 85  # x4, combined slip, 1 = peak
    X = 89  # m, world, point of the road under the centre of mass
    X_LOW = 90  # m, what X lost by rounding
    Y = 91  # m, world
    Y_LOW = 92  # m
    YAW = 93  # rad, in [-pi, pi)
    COS_YAW = 94
    SIN_YAW = 95
    FUEL = 96  # l
    TURBO = 97  # 0..1, share of the boost that has built up
    CHARGE = 98  # J, in the battery
    TEMPERATURE = 99  # x4, degC, tyres
    WEAR = 103  # x4, 1 = worn out
    CONTACTS = 107  # count of contacts with walls and cars
    CONTACT_DEPTH = 108  # m, deepest overlap at the last look
    CONTACT_GAP = 109  # s, since something was last touched
    DAMAGE = 110  # J, energy lost in contacts
    INVERSE_MASS = 111  # 1/kg, of the whole car with its fuel
    S = 112  # m, along the road
    OFFSET = 113  # m, left of the centreline
    ROW = 114  # row of the road's table: the hint for the next search
    Z = 115  # m, world, of the road under the car
    ROAD_PITCH = 116  # sine of the road's angle along the car, positive nose down
    ROAD_ROLL = 117  # sine of the road's angle across the car, positive right side down
    ROAD_PITCH_RATE = 118  # rad/s, body y, from following the road
    ROAD_ROLL_RATE = 119  # rad/s, body x, from following the road
    HEADING = 120  # rad, yaw less the road's
    CURVATURE = 121  # 1/m, of the centreline, positive turning left
    ON_TRACK = 122  # x4, 1 on the road, 0 beyond its edge
    COUNT = 126


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


class Work(IntEnum):
    """Rows that live within one call only: what looks and acts hold for the substeps, what loops tell each other.

    Where "step" is said, a substep's length is folded in: how much it changes in one substep.
    """

    DX = Control.COUNT  # m, moved since the last look, along the heading at that look
    DY = Control.COUNT + 1  # m, the same to its left
    DYAW = Control.COUNT + 2  # rad, turned since the last look
    NEXT_RATIO = Control.COUNT + 3  # its ratio
    MATCH = Control.COUNT + 4  # 1/s, at which engine speed is matched to that ratio by cut or blip; 0: it is not
    FOLLOW = Control.COUNT + 5  # share of the way to that speed in a step
    CAMBER_SLIP = Control.COUNT + 6  # x4, lateral slip over that of the peak, by camber
    TURNED = Control.COUNT + 10  # x4, rad, by which the wheel is turned left of its axle's mean: toe and Ackermann
    GROUND = Control.COUNT + 14  # x4, N, load of the tyre if its wheel were at its place at rest
    GROUND_STEP = Control.COUNT + 18  # x4, N
    MU_X = Control.COUNT + 22  # x4, friction at no load, with the ground's grip; with the next row a line over the load
    MU_X_LOAD = Control.COUNT + 26  # x4, 1/N
    MU_Y = Control.COUNT + 30  # x4, the same across, less what camber takes; negative: force is against the slip
    MU_Y_LOAD = Control.COUNT + 34  # x4, 1/N
    DAMPING = Control.COUNT + 38  # steps of stretch rate that count as stretch at walking pace
    RACK = Control.COUNT + 39  # rad, most that the steer changes in a step
    WISH = Control.COUNT + 40  # rad, steer asked for
    DOWN = Control.COUNT + 41  # m/s, speed into the road that a step's weight gives
    INVERSE_SPRUNG = Control.COUNT + 42  # 1/kg
    LEAN_GAIN = Control.COUNT + 43  # N m/rad, of a rolled body's weight beside the roll axis
    DRAG = (
        Control.COUNT + 44
    )  # N s/m, drag per speed, as the flap stands, at rest along the tangent over the squared speed at the look
    DRAG_SLOPE = Control.COUNT + 45  # N s^3/m^3, the tangent's slope
    LIFT_REAR = Control.COUNT + 46  # N s^2/m^2, as the flap stands
    TORQUE = Control.COUNT + 47  # N m, full-throttle torque at engine speed 0 along the tangent of the map at the look
    TORQUE_SLOPE = Control.COUNT + 48  # N m s, the tangent's slope
    LEAST_THROTTLE = Control.COUNT + 49  # 0..1, what keeps the engine at idle
    IDLE_THROTTLE = Control.COUNT + 50  # throttle of the idle's control at engine speed 0
    MOTOR = Control.COUNT + 51  # N m, torque of the electric motor at the crankshaft
    PER_TORQUE = Control.COUNT + 52  # rad/(s N m), speed that a step's torque gives the free engine
    CLUTCH_AT = Control.COUNT + 53  # rad/s, engine speed at which the clutch begins to close
    CLUTCH_GAIN = Control.COUNT + 54  # s/rad, share of closing per engine speed
    CLUTCH_OPEN = Control.COUNT + 55  # share of closing that is missing at engine speed 0
    CLUTCH_MOST = Control.COUNT + 56  # 0..1, how far the pedal and the gearbox let it close
    CLUTCH_HOLD = Control.COUNT + 57  # N m s, impulse of the closed clutch in a step
    PER_CLUTCH = Control.COUNT + 58  # kg m^2, impulse per difference of speeds over the closed clutch
    PER_ABS_SLIP2 = Control.COUNT + 59  # as the parameter; 0 where ABS does not act
    PEDAL = Control.COUNT + 60  # x4, rad/s, what the brake takes from the wheel in a step, before ABS
    FIXED = Control.COUNT + 64  # x4, rad/s, the same of the handbrake, or of the torque asked for from outside
    ROLL = Control.COUNT + 68  # x4, rad/(s N), the same of rolling resistance per load
    OWN = Control.COUNT + 72  # x4, 1 where the drivetrain turns the wheel, 0 where torque is given from outside
    SHARE = Control.COUNT + 76  # x4, rad/(s N m s), what an impulse of the gearbox gives to the wheel
    ASKED = Control.COUNT + 80  # x4, rad/s, what drive torque from outside gives to the wheel in a step
    SPIN_STEP = Control.COUNT + 84  # x2, rad/(s N), what a longitudinal force takes from a wheel in a step
    SLIP_STEP_X = Control.COUNT + 86  # x2, SLIP_X per sliding speed in a step
    SLIP_STEP_Y = Control.COUNT + 88  # x2, SLIP_Y per sliding speed in a step
    FADE_X = Control.COUNT + 90  # x2, share of SLIP_X lost per speed in a step
    FADE_Y = Control.COUNT + 92  # x2, share of SLIP_Y lost per speed in a step
    AGILITY = Control.COUNT + 94  # x2, m/(s N), vertical speed that a force gives to a wheel in a step
    LOCK_LEAST = Control.COUNT + 96  # x2, rad/s, what the preload takes from the left for the right in a step
    LOCK_DRIVING = Control.COUNT + 98  # x2, rad/(s N m s), the same per impulse of the gearbox, driving
    LOCK_COASTING = Control.COUNT + 100  # x2, the same, coasting
    CENTRE_LEAST = (
        Control.COUNT + 102
    )  # N m s, what the centre's preload takes from a front wheel for a rear one in a step
    CENTRE_SHARE = Control.COUNT + 103  # the same per impulse of the gearbox
    SIN = Control.COUNT + 104  # of the mean angle of the front wheels
    COS = Control.COUNT + 105
    ABOVE = Control.COUNT + 106  # x2, m, displacement of the body over the axle
    ABOVE_RATE = Control.COUNT + 108  # x2, m/s
    LEANED = Control.COUNT + 110  # x2, m, of the body over the left wheel by roll
    LEANED_RATE = Control.COUNT + 112  # x2, m/s
    ANTI_ROLL = Control.COUNT + 114  # x2, N, on the body over the left wheel, up
    ASIDE = Control.COUNT + 116  # x2, m/s, of the axle's middle to the left
    RISE = Control.COUNT + 118  # x4, N, of spring and links on the body, up
    PUSH = Control.COUNT + 122  # x2, N, of an axle's tyres along body x
    TWIST = Control.COUNT + 124  # x2, N, how much more of it is on the right
    SHOVE = Control.COUNT + 126  # x2, N, of an axle's tyres along body y
    LIFTED = Control.COUNT + 128  # x2, N, of an axle's springs and links on the body, up
    TILT = Control.COUNT + 130  # x2, N, how much more of it is on the left
    HOLD_DRIVE = Control.COUNT + 132  # x4, share of drive torque that TC leaves by this wheel
    OUT = Control.COUNT + 136  # N m s, impulse of the gearbox on the wheels
    COS_HEADING = Control.COUNT + 137
    SIN_HEADING = Control.COUNT + 138
    FOUND = Control.COUNT + 139  # 1 where the car was found on the road by the hint of the last look
    CALLED = Control.COUNT + 140  # 1 where a shift may have to begin
    PER_SHRINK = Control.COUNT + 141  # m along the centreline per m along the road at the car
    NEAR_WALL = Control.COUNT + 142  # 1 where a corner of the car may touch a wall
    ROAD_GRADE = Control.COUNT + 143  # dz/ds
    ROAD_BANK = Control.COUNT + 144  # tan of it
    ROAD_GRADE_SLOPE = Control.COUNT + 145  # 1/m
    ROAD_BANK_SLOPE = Control.COUNT + 146  # 1/m, of the tan
    ROAD_YAW = Control.COUNT + 147  # rad
    ROAD_Z = Control.COUNT + 148  # m, of the centreline
    ROAD_GRIP = Control.COUNT + 149
    ROAD_LEFT = Control.COUNT + 150  # m, width
    ROAD_LEFT_SLOPE = Control.COUNT + 151  # change of it per m
    ROAD_RIGHT = Control.COUNT + 152  # m, width
    ROAD_RIGHT_SLOPE = Control.COUNT + 153
    ROAD_KERB_LEFT = Control.COUNT + 154  # m, width of the kerb
    ROAD_KERB_RIGHT = Control.COUNT + 155  # m
    ROAD_WALL_LEFT = Control.COUNT + 156  # m, from the centreline
    ROAD_WALL_RIGHT = Control.COUNT + 157  # m
    COUNT = Control.COUNT + 158  # of the rows up to here


class Param(IntEnum):
    """Rows of params; SI units, signs and meanings as in `trailbrake.cars.params`."""

    MASS = Work.COUNT  # kg, with half of the fuel
    UNSPRUNG = Work.COUNT + 1  # kg, all four
    SPRUNG_AHEAD = Work.COUNT + 2  # kg m, sprung mass times how far its centre is ahead of the whole car's
    INVERSE_YAW = Work.COUNT + 3  # 1/(kg m^2)
    INVERSE_ROLL = Work.COUNT + 4
    INVERSE_PITCH = Work.COUNT + 5
    HEIGHT = Work.COUNT + 6  # m, centre of mass
    ROLL_ARM = Work.COUNT + 7  # m, centre of mass above the roll axis
    ACKERMANN = Work.COUNT + 8  # 1/rad: half difference of the front wheels' angles per angle squared
    DRAG = Work.COUNT + 9  # N s^2/m^2
    DRS_DRAG = Work.COUNT + 10
    DRS_LIFT = Work.COUNT + 11
    IDLE = Work.COUNT + 12  # rad/s
    LIMITER = Work.COUNT + 13  # rad/s
    INVERSE_ENGINE = Work.COUNT + 14  # 1/(kg m^2)
    ENGINE_DRAG = Work.COUNT + 15  # N m, at engine speed 0 along the line through idle and limiter
    ENGINE_DRAG_SLOPE = Work.COUNT + 16  # N m s
    TORQUE_PER = Work.COUNT + 17  # s/rad, rows of the torque map per engine speed
    EFFICIENCY = Work.COUNT + 18
    SHIFT_TIME = Work.COUNT + 19
    BLIP = Work.COUNT + 20  # 1 where the box matches engine speed to the next gear
    UPSHIFT = Work.COUNT + 21  # rad/s
    DOWNSHIFT = Work.COUNT + 22  # rad/s
    CLUTCH_TORQUE = Work.COUNT + 23
    TOP_GEAR = Work.COUNT + 24
    CENTRE_PRELOAD = Work.COUNT + 25  # N m
    CENTRE_LOCK = Work.COUNT + 26
    PER_TC_SLIP2 = Work.COUNT + 27  # one over the squared target of TC and over the width of its band
    PER_ABS_SLIP2 = Work.COUNT + 28  # likewise of ABS; as good as 0 without
    STEER_MAX = Work.COUNT + 29
    STEER_RATE = Work.COUNT + 30
    FUEL_PER_JOULE = Work.COUNT + 31  # l/J at the crankshaft
    FUEL_START = Work.COUNT + 32  # l
    FUEL_DENSITY = Work.COUNT + 33  # kg/l
    TURBO_RATE = Work.COUNT + 34  # 1/s, 0 without
    TURBO_SHARE = Work.COUNT + 35
    BOOST_POWER = Work.COUNT + 36  # W
    BOOST_TORQUE = Work.COUNT + 37  # N m
    CHARGE_MOST = Work.COUNT + 38  # J
    CHARGE_START = Work.COUNT + 39  # J
    RECHARGE = Work.COUNT + 40  # W
    HALF_LENGTH = Work.COUNT + 41
    HALF_WIDTH = Work.COUNT + 42
    BOX_CENTRE = Work.COUNT + 43  # m, middle of the contact box ahead of the centre of mass
    PER_LIMITER = Work.COUNT + 44  # s/rad, one over LIMITER
    IDLE_SLOPE = Work.COUNT + 45  # s/rad, throttle that the control of idle gives away per engine speed
    CUT_SLOPE = Work.COUNT + 46  # s/rad, share of throttle that the limiter takes away per engine speed
    INVERSE_EFFICIENCY = Work.COUNT + 47
    DRIVE_FRONT = Work.COUNT + 48  # share of the drive torque
    DRIVE_REAR = Work.COUNT + 49  # share of the drive torque
    PER_CENTRE = Work.COUNT + 50  # kg m^2, one over the sum of the axles' inverse wheel inertias
    MODEL = Work.COUNT + 51  # row of the engine maps
    RATIOS = Work.COUNT + 52  # GEARS rows of overall ratios: row RATIOS + 1 + gear
    COUNT = Work.COUNT + 64  # of the rows up to here


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
    CURVE = Param.COUNT + 36  # 8 coefficients of the fit of the Magic Formula, each x2, see `cars.tyre_fit`
    CAMBER_SLIP = Param.COUNT + 52  # slip over that of the peak, per rad of camber
    CAMBER_LOSS = Param.COUNT + 54
    CAMBER = Param.COUNT + 56  # rad
    CAMBER_GAIN = Param.COUNT + 58  # rad/m
    TOE = Param.COUNT + 60  # rad, toe-in
    STIFFNESS = Param.COUNT + 62  # N/m, tyre
    TYRE_DAMPING = Param.COUNT + 64  # N s/m
    LOAD_AT_REST = Param.COUNT + 66  # N
    SPRING = Param.COUNT + 68  # N/m
    BUMP_DAMPING = Param.COUNT + 70
    REBOUND_DAMPING = Param.COUNT + 72
    ANTI_ROLL = Param.COUNT + 74  # N/m
    SPRING_AT_REST = Param.COUNT + 76  # N
    BUMP_STOP = Param.COUNT + 78  # N/m
    BUMP_TRAVEL = Param.COUNT + 80
    DROOP_TRAVEL = Param.COUNT + 82  # m, negative
    INVERSE_UNSPRUNG = Param.COUNT + 84  # 1/kg
    LINK_DRIVE = Param.COUNT + 86  # vertical force of the links on the body per longitudinal force, driving; signed
    LINK_BRAKE = Param.COUNT + 88  # the same, braking
    LINK_SIDE = Param.COUNT + 90  # vertical force of the links on the right of the body per lateral force of the axle
    LIFT = Param.COUNT + 92  # N s^2/m^2, downforce
    RIDE_GAIN = Param.COUNT + 94  # 1/m
    RIDE_CURVE = Param.COUNT + 96  # 1/m^2
    BRAKE = Param.COUNT + 98  # N m a wheel
    HANDBRAKE = Param.COUNT + 100
    LOCK_PRELOAD = Param.COUNT + 102  # N m of torque difference
    LOCK_POWER = Param.COUNT + 104
    LOCK_COAST = Param.COUNT + 106
    BEST_TEMPERATURE = Param.COUNT + 108  # degC
    START_TEMPERATURE = Param.COUNT + 110  # degC
    GRIP_LOSS = Param.COUNT + 112  # 1/K^2, 0 where temperature is not modelled
    PER_HEAT = Param.COUNT + 114  # K/J
    COOLING = Param.COUNT + 116  # 1/s
    COOLING_SPEED = Param.COUNT + 118  # 1/m
    WEAR = Param.COUNT + 120  # 1/J
    WEAR_LOSS = Param.COUNT + 122
    COUNT = Param.COUNT + 124  # of all rows
