"""What the rows of the world's arrays hold, and where each car is in them.

Cars are stored in blocks of LANES (`trailbrake.kernels.lane_blocks`; twice as many in single precision). An array of
state, controls or parameters has one line per block: quantity `row` of car `c` is

    array[c // LANES, row * LANES + c % LANES]

A car keeps its StateRow and ControlRow rows from call to call. Kernels copy them into a work block, where WorkRow,
ParamRow and AxleRow rows follow. The work block stays in the first-level cache during the substeps; cars with equal
parameters share their ParamRow and AxleRow rows.

A row with 4 numbers holds front left, front right, rear left, rear right, in four consecutive rows; one with 2 holds
front, rear. Body axes: x forward, y left, z up (ISO 8855). An *outer step* is what a call does once, after its
substeps (`integration`).
"""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

GEAR_ROWS = 12  # rows of ratios: reverse, neutral, 1 .. 10
MAP_POINTS = 64  # points of an engine map, at equal steps of engine speed from 0


class RowEnum(IntEnum):
    """Rows that follow each other: each member declares how many rows it takes, its unit and its meaning.

    The last member, COUNT, is the row after all others. The first may name the row at which the enumeration begins.
    """

    width: int
    unit: str
    meaning: str

    def __new__(cls, width: int, unit: str = "", meaning: str = "", first: int = 0) -> "RowEnum":
        """Make a member whose row is the one after the member before it."""
        before = list(cls.__members__.values())
        row = int(before[-1]) + before[-1].width if before else int(first)
        member = int.__new__(cls, row)
        member._value_, member.width, member.unit, member.meaning = row, width, unit, meaning
        return member


class StateRow(RowEnum):
    """Rows of state. Heave, roll and pitch are those of the body against the plane of the road under the car."""

    VX = 1, "m/s", "velocity along body x, in the plane of the road"
    VY = 1, "m/s", "velocity along body y"
    YAW_RATE = 1, "rad/s", "about the normal of the road"
    HEAVE = 1, "m", "centre of mass above its height at rest"
    HEAVE_RATE = 1, "m/s"
    ROLL = 1, "rad", "positive right side down"
    ROLL_RATE = 1, "rad/s"
    PITCH = 1, "rad", "positive nose down"
    PITCH_RATE = 1, "rad/s"
    STEER = 1, "rad", "mean angle of the front wheels, positive left"
    ENGINE_SPEED = 1, "rad/s", "crankshaft"
    RATIO = 1, "1", "engine speed over wheel speed in the present gear; 0 in neutral"
    GEAR = 1, "1", "-1, 0, 1, 2, ..."
    SHIFT_TIME_LEFT = 1, "s", "until the present shift ends; 0 without one"
    HOP = 4, "m", "wheel above its height at rest"
    HOP_RATE = 4, "m/s"
    SPIN = 4, "rad/s", "wheel speed"
    SLIP_X = 4, "1", "longitudinal deflection of the tyre over that of the peak at nominal load"
    SLIP_Y = 4, "1", "lateral deflection of the tyre over that of the peak at nominal load"
    GROUND_HEIGHT = 4, "m", "ground under the wheel above the plane of the road at the car"
    NEXT_GEAR = 1, "1", "gear that the present shift ends in; GEAR without one"
    GROUND_HEIGHT_RATE = 4, "m/s"
    GRIP = 4, "1", "friction factor: surface, temperature and wear"
    FORWARD_PER_VX = 1, "1", "horizontal forward velocity per VX: cosine of the road's pitch"
    FORWARD_PER_VY = 1, "1", "horizontal forward velocity per VY"
    LEFT_PER_VY = 1, "1", "horizontal velocity to the left per VY"
    YAW_RATE_FACTOR = 1, "1", "derivative of yaw per YAW_RATE"
    ROAD_YAW_RATE = 1, "rad/s", "derivative of yaw by the road's own pitch rate"
    GRAVITY_X = 1, "m/s^2", "gravity along body x"
    GRAVITY_Y = 1, "m/s^2", "gravity along body y"
    NORMAL_GRAVITY = 1, "m/s^2", "gravity plus the road's vertical curvature, into the road"
    APPLIED_STEER = 1, "1", "-1..1, steer after clamping"
    THROTTLE = 1, "1", "0..1, after clamping"
    BRAKE = 1, "1", "0..1, after clamping"
    CLUTCH = 1, "1", "0..1, pedal, after clamping"
    HANDBRAKE = 1, "1", "0..1, after clamping"
    ROLLING_ARM = 4, "m", "rolling resistance torque over wheel load"
    AX = 1, "m/s^2", "acceleration along body x, gravity counted as a force"
    AY = 1, "m/s^2", "acceleration along body y, gravity counted as a force"
    AZ = 1, "m/s^2", "of the sprung mass against the road"
    CLUTCH_ENGAGEMENT = 1, "1", "0 open .. 1 closed"
    TC_FACTOR = 1, "1", "share of engine torque that traction control leaves"
    ABS_FACTOR = 4, "1", "share of brake torque that ABS leaves"
    LOAD = 4, "N", "vertical load of the tyre"
    FX = 4, "N", "tyre force along the wheel's own x axis"
    FY = 4, "N", "tyre force along the wheel's own y axis"
    SLIP = 4, "1", "combined slip, 1 at the peak"
    X = 1, "m", "world, point of the road under the centre of mass"
    X_COMPENSATION = 1, "m", "rounding error of X (compensated summation)"
    Y = 1, "m", "world"
    Y_COMPENSATION = 1, "m", "rounding error of Y"
    YAW = 1, "rad", "world, in [-pi, pi)"
    COS_YAW = 1, "1"
    SIN_YAW = 1, "1"
    FUEL = 1, "l"
    TURBO = 1, "1", "0..1, share of the boost pressure that has built up"
    CHARGE = 1, "J", "energy in the battery"
    TEMPERATURE = 4, "degC", "tyre"
    WEAR = 4, "1", "tyre, 1 = worn out"
    CONTACTS = 1, "1", "count of contacts with walls and cars"
    CONTACT_DEPTH = 1, "m", "deepest overlap at the last outer step"
    TIME_SINCE_CONTACT = 1, "s"
    DAMAGE = 1, "J", "energy lost in contacts"
    CONTACT_CAR = 1, "1", "place in the group, from 1, of the car touched hardest at the last outer step; 0: none"
    CONTACT_SPEED = 1, "m/s", "at which the two closed, along the normal"
    CONTACT_IMPULSE = 1, "N s", "on each of the two"
    WAKE_DRAG = 1, "1", "share of drag lost behind another car; 0 without slipstream"
    WAKE_LIFT = 1, "1", "share of downforce lost behind another car"
    INVERSE_MASS = 1, "1/kg", "of the whole car with its fuel"
    S = 1, "m", "along the road"
    OFFSET = 1, "m", "left of the centreline"
    ROAD_ROW = 1, "1", "row of the road's table: the hint for the next projection"
    Z = 1, "m", "world, road under the car"
    ROAD_PITCH = 1, "1", "sine of the road's angle along the car, positive nose down"
    ROAD_ROLL = 1, "1", "sine of the road's angle across the car, positive right side down"
    ROAD_PITCH_RATE = 1, "rad/s", "about body y, by driving along the road"
    ROAD_ROLL_RATE = 1, "rad/s", "about body x, by driving along the road"
    HEADING = 1, "rad", "yaw minus the yaw of the road"
    CURVATURE = 1, "1/m", "of the centreline, positive turning left"
    ON_TRACK = 4, "1", "1 on the road, 0 beyond its edge"
    GEARBOX_IMPULSE = 1, "N m s", "impulse of the gearbox on the wheels in the last substep"
    COUNT = 0


class ControlRow(RowEnum):
    """Rows of controls, as in `trailbrake.state.Controls`. NaN in GEAR: automatic; in torques: the car's own."""

    STEER = 1, "1", "-1..1, positive left", StateRow.COUNT
    THROTTLE = 1, "1", "0..1"
    BRAKE = 1, "1", "0..1"
    CLUTCH = 1, "1", "0..1, pedal"
    HANDBRAKE = 1, "1", "0..1"
    GEAR = 1, "1"
    DRS = 1, "1", "0..1"
    BOOST = 1, "1", "0..1"
    DRIVE_TORQUE = 4, "N m", "at the wheel"
    BRAKE_TORQUE = 4, "N m", "at the wheel, positive"
    COUNT = 0


class WorkRow(RowEnum):
    """Rows that live within one call: what the outer step holds constant, and what phases pass to each other.

    "Per step" rows contain the length of a substep: they are changes in one substep.
    """

    DX = 1, "m", "way since the last outer step, along the yaw at that step", ControlRow.COUNT
    DY = 1, "m", "way since the last outer step, to the left"
    DYAW = 1, "rad", "change of yaw since the last outer step"
    NEXT_RATIO = 1, "1", "overall ratio of NEXT_GEAR"
    REV_MATCH_RATE = 1, "1/s", "rate at which a shift matches the engine speed to NEXT_RATIO; 0 without"
    REV_MATCH_STEP = 1, "1", "the same per step"
    CAMBER_SLIP = 4, "1", "lateral slip over that of the peak, by camber"
    STEER_OFFSET = 4, "rad", "angle of the wheel left of the mean of its axle: toe and Ackermann"
    GROUND_LOAD = 4, "N", "load of the tyre if its wheel were at its height at rest"
    GROUND_LOAD_STEP = 4, "N", "change of GROUND_LOAD per step"
    MU_X = 4, "1", "longitudinal friction at no load, with the grip of the ground"
    MU_X_LOAD = 4, "1/N", "slope of the same over the load"
    MU_Y = 4, "1", "lateral friction at no load, less the loss by camber; negative: force is against the slip"
    MU_Y_LOAD = 4, "1/N", "slope of the same over the load"
    DEFLECTION_DAMPING = 1, "1", "deflection change per step that counts as deflection at walking pace"
    STEER_STEP_MAX = 1, "rad", "largest change of STEER per step"
    STEER_TARGET = 1, "rad", "STEER that the control demands"
    GRAVITY_STEP = 1, "m/s", "velocity into the road per step by NORMAL_GRAVITY"
    INVERSE_SPRUNG = 1, "1/kg", "of the sprung mass"
    ROLL_GRAVITY_STIFFNESS = 1, "N m/rad", "roll moment of the body's weight beside the roll axis"
    DRAG = 1, "N s/m", "drag per speed with the present DRS, tangent over squared speed: value at 0"
    DRAG_SLOPE = 1, "N s^3/m^3", "slope of that tangent"
    LIFT = 2, "N s^2/m^2", "downforce coefficient of an axle with the present DRS, in the wake"
    ENGINE_TORQUE = 1, "N m", "full-throttle torque, tangent of the map over engine speed: value at 0"
    ENGINE_TORQUE_SLOPE = 1, "N m s", "slope of that tangent"
    IDLE_HOLD_THROTTLE = 1, "1", "0..1, throttle that holds the engine at idle"
    IDLE_CONTROL_OFFSET = 1, "1", "throttle of the idle control at engine speed 0"
    MOTOR_TORQUE = 1, "N m", "of the electric motor at the crankshaft"
    ENGINE_STEP_PER_TORQUE = 1, "rad/(s N m)", "speed of the free engine per torque and step"
    CLUTCH_BITE_SPEED = 1, "rad/s", "engine speed at which the clutch begins to close"
    CLUTCH_GAIN = 1, "s/rad", "clutch engagement per engine speed"
    CLUTCH_OFFSET = 1, "1", "missing engagement at engine speed 0"
    CLUTCH_LIMIT = 1, "1", "0..1, largest engagement that pedal and gearbox allow"
    CLUTCH_IMPULSE_MAX = 1, "N m s", "impulse that the closed clutch can carry per step"
    CLUTCH_INERTIA = 1, "kg m^2", "impulse per speed difference over the closed clutch"
    INVERSE_ABS_SLIP2 = 1, "1", "as the parameter; 0 where ABS does not act"
    SERVICE_BRAKE_STEP = 4, "rad/s", "wheel speed that the brake takes per step, before ABS"
    FIXED_BRAKE_STEP = 4, "rad/s", "wheel speed that handbrake or external brake torque takes per step"
    ROLLING_STEP_PER_LOAD = 4, "rad/(s N)", "wheel speed that rolling resistance takes per load and step"
    ENGINE_DRIVEN = 4, "1", "1 where the drivetrain drives the wheel, 0 where the control gives a drive torque"
    SPIN_PER_IMPULSE = 4, "rad/(s N m s)", "wheel speed per impulse of the gearbox"
    EXTERNAL_DRIVE_STEP = 4, "rad/s", "wheel speed that a drive torque from the control adds per step"
    SPIN_STEP = 2, "rad/(s N)", "wheel speed that a longitudinal force takes per step"
    SLIP_STEP_X = 2, "s/m", "SLIP_X per sliding speed and step"
    SLIP_STEP_Y = 2, "s/m", "SLIP_Y per sliding speed and step"
    SLIP_DECAY_X = 2, "s/m", "share of SLIP_X lost per speed and step"
    SLIP_DECAY_Y = 2, "s/m", "share of SLIP_Y lost per speed and step"
    HOP_STEP_PER_FORCE = 2, "m/(s N)", "vertical speed of a wheel per force and step"
    LOCK_PRELOAD_STEP = 2, "rad/s", "wheel speed that the differential's preload moves from left to right per step"
    LOCK_DRIVING = 2, "rad/(s N m s)", "the same per impulse of the gearbox, driving"
    LOCK_COASTING = 2, "rad/(s N m s)", "the same per impulse of the gearbox, coasting"
    CENTRE_PRELOAD_STEP = 1, "N m s", "impulse that the centre preload moves from a front to a rear wheel per step"
    CENTRE_LOCK_GAIN = 1, "1", "the same per impulse of the gearbox"
    SIN_STEER = 1, "1"
    COS_STEER = 1, "1"
    AXLE_HEAVE = 2, "m", "displacement of the body over the axle"
    AXLE_HEAVE_RATE = 2, "m/s"
    ROLL_HEAVE = 2, "m", "displacement of the body over the left wheel by roll"
    ROLL_HEAVE_RATE = 2, "m/s"
    ANTI_ROLL_FORCE = 2, "N", "on the body over the left wheel, up"
    AXLE_VY = 2, "m/s", "lateral velocity of the middle of the axle"
    SUSPENSION_FORCE = 4, "N", "of spring, damper, bar and stop on the body, up"
    AXLE_FX = 2, "N", "force of the axle's tyres along body x"
    AXLE_FX_DIFFERENCE = 2, "N", "right minus left"
    AXLE_FY = 2, "N", "force of the axle's tyres along body y"
    AXLE_LIFT = 2, "N", "force of the axle's springs and links on the body, up"
    AXLE_LIFT_DIFFERENCE = 2, "N", "left minus right"
    TC_WHEEL_FACTOR = 4, "1", "share of drive torque that traction control leaves by this wheel's slip"
    COS_HEADING = 1, "1"
    SIN_HEADING = 1, "1"
    PROJECTION_VALID = 1, "1", "1 where `project_fast` has found the car on the road"
    SHIFT_DUE = 1, "1", "1 where a shift may have to begin"
    S_PER_DISTANCE = 1, "1", "m along the centreline per m along the road at the car's offset"
    NEAR_WALL = 1, "1", "1 where a corner of the car may touch a wall"
    ROAD_GRADE = 1, "1", "dz/ds of the centreline"
    ROAD_BANK = 1, "1", "tangent of the bank angle"
    ROAD_GRADE_SLOPE = 1, "1/m"
    ROAD_BANK_SLOPE = 1, "1/m"
    ROAD_YAW = 1, "rad"
    ROAD_Z = 1, "m", "of the centreline"
    ROAD_GRIP = 1, "1", "left of the centreline"
    ROAD_GRIP_RIGHT = 1, "1"
    ROAD_WIDTH_LEFT = 1, "m"
    ROAD_WIDTH_LEFT_SLOPE = 1, "1"
    ROAD_WIDTH_RIGHT = 1, "m"
    ROAD_WIDTH_RIGHT_SLOPE = 1, "1"
    ROAD_KERB_LEFT = 1, "m", "width"
    ROAD_KERB_RIGHT = 1, "m", "width"
    ROAD_WALL_LEFT = 1, "m", "from the centreline"
    ROAD_WALL_RIGHT = 1, "m", "from the centreline"
    COUNT = 0


class ParamRow(RowEnum):
    """Rows of parameters; signs and meanings as in `trailbrake.cars.params`."""

    MASS = 1, "kg", "with half of the fuel", WorkRow.COUNT
    UNSPRUNG = 1, "kg", "all four corners"
    SPRUNG_AHEAD = 1, "kg m", "sprung mass times the distance of its centre ahead of the whole car's"
    INVERSE_YAW = 1, "1/(kg m^2)"
    INVERSE_ROLL = 1, "1/(kg m^2)"
    INVERSE_PITCH = 1, "1/(kg m^2)"
    HEIGHT = 1, "m", "centre of mass"
    ROLL_ARM = 1, "m", "centre of mass above the roll axis"
    ACKERMANN = 1, "1/rad", "half difference of the front wheels' angles per squared angle"
    DRAG = 1, "N s^2/m^2"
    DRS_DRAG = 1, "1", "share of drag that open DRS takes away"
    DRS_LIFT = 1, "1", "share of rear downforce that open DRS takes away"
    IDLE = 1, "rad/s"
    LIMITER = 1, "rad/s"
    INVERSE_ENGINE = 1, "1/(kg m^2)"
    ENGINE_DRAG = 1, "N m", "at engine speed 0 on the line through idle and limiter"
    ENGINE_DRAG_SLOPE = 1, "N m s"
    MAP_POINTS_PER_SPEED = 1, "s/rad", "points of the engine map per engine speed"
    EFFICIENCY = 1, "1"
    SHIFT_TIME = 1, "s"
    HAS_BLIP = 1, "1", "1 where the gearbox matches the engine speed on downshifts and controls launches"
    UPSHIFT = 1, "rad/s"
    DOWNSHIFT = 1, "rad/s"
    CLUTCH_TORQUE = 1, "N m"
    TOP_GEAR = 1, "1"
    CENTRE_PRELOAD = 1, "N m"
    CENTRE_LOCK = 1, "1"
    INVERSE_TC_SLIP2 = 1, "1", "one over the squared slip target of TC and over the width of its band"
    INVERSE_ABS_SLIP2 = 1, "1", "the same of ABS; nearly 0 without"
    STEER_MAX = 1, "rad"
    STEER_RATE = 1, "rad/s"
    FUEL_PER_JOULE = 1, "l/J", "at the crankshaft"
    FUEL_START = 1, "l"
    FUEL_DENSITY = 1, "kg/l"
    TURBO_RATE = 1, "1/s", "0 without a turbocharger"
    TURBO_SHARE = 1, "1"
    BOOST_POWER = 1, "W"
    BOOST_TORQUE = 1, "N m"
    CHARGE_MAX = 1, "J"
    CHARGE_START = 1, "J"
    RECHARGE = 1, "W"
    RECHARGE_FORCE = 1, "N", "of the brakes that work against the motor; 0 without"
    HALF_LENGTH = 1, "m"
    HALF_WIDTH = 1, "m"
    BOX_CENTRE = 1, "m", "middle of the contact box ahead of the centre of mass"
    INVERSE_LIMITER = 1, "s/rad", "one over LIMITER"
    IDLE_SLOPE = 1, "s/rad", "throttle that the idle control gives away per engine speed"
    CUT_SLOPE = 1, "s/rad", "share of throttle that the limiter takes away per engine speed"
    INVERSE_EFFICIENCY = 1, "1"
    DRIVE_FRONT = 1, "1", "share of the drive torque"
    DRIVE_REAR = 1, "1", "share of the drive torque"
    CENTRE_INERTIA = 1, "kg m^2", "one over the sum of the axles' inverse wheel inertias"
    MODEL = 1, "1", "row of the engine maps"
    RATIOS = GEAR_ROWS, "1", "overall ratios: row RATIOS + 1 + gear"
    COUNT = 0


class AxleRow(RowEnum):
    """Rows of the parameters of an axle's wheels: front, rear; meanings as in `trailbrake.cars.params`.

    Friction and inverse peak slip under load are lines, `MU_X + MU_X_LOAD * load` and so on, up to the load LOAD_MAX.
    """

    X = 2, "m", "ahead of the centre of mass", ParamRow.COUNT
    HALF_TRACK = 2, "m"
    RADIUS = 2, "m"
    INVERSE_INERTIA = 2, "1/(kg m^2)", "one wheel"
    ROLLING = 2, "1", "rolling resistance coefficient"
    INVERSE_SIGMA_X = 2, "1/m", "one over relaxation length"
    INVERSE_SIGMA_Y = 2, "1/m"
    SLIP_PER_DEFLECTION_X = 2, "1/m", "SLIP_X per deflection"
    SLIP_PER_DEFLECTION_Y = 2, "1/m"
    PEAK_SLIP_X = 2, "1", "slip ratio of the peak at nominal load"
    PEAK_SLIP_Y = 2, "1", "tangent of the slip angle of the peak at nominal load"
    LOAD_MAX = 2, "N"
    MU_X = 2, "1"
    MU_X_LOAD = 2, "1/N"
    MU_Y = 2, "1"
    MU_Y_LOAD = 2, "1/N"
    INVERSE_PEAK = 2, "1", "peak slip at nominal load over peak slip"
    INVERSE_PEAK_LOAD = 2, "1/N"
    CURVE = 2 * 8, "1", "coefficients of the fit of the Magic Formula, see `cars.tyre_fit`"
    CAMBER_SLIP = 2, "1/rad", "slip over that of the peak, per camber"
    CAMBER_LOSS = 2, "1/rad^2"
    CAMBER = 2, "rad"
    CAMBER_GAIN = 2, "rad/m"
    TOE = 2, "rad", "toe-in"
    STIFFNESS = 2, "N/m", "vertical, of the tyre"
    TYRE_DAMPING = 2, "N s/m"
    LOAD_AT_REST = 2, "N"
    SPRING = 2, "N/m"
    BUMP_DAMPING = 2, "N s/m"
    REBOUND_DAMPING = 2, "N s/m"
    ANTI_ROLL = 2, "N/m"
    SPRING_AT_REST = 2, "N"
    BUMP_STOP = 2, "N/m"
    BUMP_TRAVEL = 2, "m"
    DROOP_TRAVEL = 2, "m", "negative"
    INVERSE_UNSPRUNG = 2, "1/kg"
    LINK_DRIVE = 2, "1", "vertical force of the links on the body per longitudinal force, driving; signed"
    LINK_BRAKE = 2, "1", "the same, braking"
    LINK_SIDE = 2, "1", "vertical force of the links on the right of the body per lateral force of the axle"
    LIFT = 2, "N s^2/m^2", "downforce"
    RIDE_GAIN = 2, "1/m"
    RIDE_CURVE = 2, "1/m^2"
    BRAKE = 2, "N m", "per wheel"
    HANDBRAKE = 2, "N m", "per wheel"
    LOCK_PRELOAD = 2, "N m", "torque difference"
    LOCK_POWER = 2, "1"
    LOCK_COAST = 2, "1"
    OPTIMAL_TEMPERATURE = 2, "degC"
    START_TEMPERATURE = 2, "degC"
    GRIP_LOSS = 2, "1/K^2", "0 where temperature is not modelled"
    INVERSE_HEAT_CAPACITY = 2, "K/J"
    COOLING = 2, "1/s"
    COOLING_SPEED = 2, "1/m"
    WEAR = 2, "1/J"
    WEAR_LOSS = 2, "1"
    COUNT = 0
