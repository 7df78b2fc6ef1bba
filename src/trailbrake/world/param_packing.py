"""From a car file's values to rows of ParamRow and AxleRow: what kernels would else compute in every substep."""

import math

import numpy as np

from trailbrake.cars.params import CarParams, Differential, Suspension, Tyre
from trailbrake.cars.tyre import MIN_LOAD_FACTOR
from trailbrake.cars.tyre_fit import fit_curve
from trailbrake.units import RPM, G
from trailbrake.world.powertrain import IDLE_GAIN, LIMITER_BAND
from trailbrake.world.row_layout import GEAR_ROWS, MAP_POINTS, Array, AxleRow, ParamRow, WorkRow
from trailbrake.world.tyres import SLIP_BAND

RIGID_TORQUE = 1e9  # N m: what a spool carries; enough for any car, and no infinity to make NaN of
NO_ASSIST_SLIP = 1e3  # of the peak slip: target of an assistant that is not there
MAP_REACH = 1.05  # of the limiter: where engine maps end


def pack_car(car: CarParams, *, tyre_heat: bool) -> Array:
    """Return the parameters of a car: the rows from WorkRow.COUNT on, (AxleRow.COUNT - WorkRow.COUNT,).

    Args:
        car: the car.
        tyre_heat: whether tyres lose friction by temperature and wear where the car's file describes it.
    """
    values = _body_rows(car) | _drive_rows(car)
    for place in (0, 1):
        axle = _axle_rows(car, is_front=place == 0)
        if not tyre_heat:
            axle[AxleRow.GRIP_LOSS] = axle[AxleRow.WEAR_LOSS] = 0.0
        values |= {row + place: value for row, value in axle.items()}
    column = np.zeros(AxleRow.COUNT - WorkRow.COUNT)
    for row, value in values.items():
        column[row - WorkRow.COUNT] = value
    return column


def _body_rows(car: CarParams) -> dict[int, float]:
    """Return the rows of the body, its air, its steering and the assistants of its wheels."""
    body, aero, brakes, steering = car.body, car.aero, car.brakes, car.steering
    front, rear = car.suspension_front, car.suspension_rear
    to_front, to_rear, base = body.cg_to_front, body.cg_to_rear, body.wheelbase
    unsprung = 2.0 * (front.unsprung_mass + rear.unsprung_mass)
    roll_axis = (front.roll_centre * to_rear + rear.roll_centre * to_front) / base
    roll, pitch, _ = car.unsprung_inertia  # of the corners, which move by themselves
    half_density = 0.5 * aero.air_density
    abs_slip = brakes.abs_slip if brakes.abs else NO_ASSIST_SLIP
    tc_slip = brakes.tc_slip if brakes.tc else NO_ASSIST_SLIP
    return {
        ParamRow.MASS: body.mass,
        ParamRow.UNSPRUNG: unsprung,
        ParamRow.SPRUNG_AHEAD: 2.0 * (rear.unsprung_mass * to_rear - front.unsprung_mass * to_front),
        ParamRow.INVERSE_YAW: 1.0 / body.yaw_inertia,
        ParamRow.INVERSE_ROLL: 1.0 / (body.roll_inertia - roll),
        ParamRow.INVERSE_PITCH: 1.0 / (body.pitch_inertia - pitch),
        ParamRow.HEIGHT: body.cg_height,
        ParamRow.ROLL_ARM: body.cg_height - roll_axis,
        # cot(outer) - cot(inner) = track / wheelbase makes half the difference track / (2 wheelbase) * angle^2.
        ParamRow.ACKERMANN: steering.ackermann * 0.5 * body.track_front / base,
        ParamRow.DRAG: half_density * aero.drag_area,
        ParamRow.DRS_DRAG: aero.drs_drag,
        ParamRow.DRS_LIFT: aero.drs_lift_rear,
        ParamRow.INVERSE_ABS_SLIP2: 1.0 / (4.0 * SLIP_BAND * abs_slip**2),  # (1 + BAND)^2 - (1 - BAND)^2 = 4 BAND
        ParamRow.INVERSE_TC_SLIP2: 1.0 / (4.0 * SLIP_BAND * tc_slip**2),
        ParamRow.STEER_MAX: steering.max_angle,
        ParamRow.STEER_RATE: steering.max_rate,
        ParamRow.HALF_LENGTH: 0.5 * body.length,
        ParamRow.HALF_WIDTH: 0.5 * body.width,
        ParamRow.BOX_CENTRE: 0.5 * (to_front - to_rear),  # the box is centred between the axles
    }


def _drive_rows(car: CarParams) -> dict[int, float]:
    """Return the rows of the powertrain: engine, gearbox, fuel, hybrid, and the drive between the axles."""
    engine, gearbox, fuel, hybrid = car.engine, car.gearbox, car.fuel, car.hybrid
    idle, limiter = engine.idle_rpm * RPM, engine.limiter_rpm * RPM
    drag_slope = (engine.braking_torque_limiter - engine.braking_torque_idle) / (limiter - idle)
    step = MAP_REACH * engine.limiter_rpm / (MAP_POINTS - 1)
    centre_preload, centre_lock, _ = _differential_lock(car.drive.centre)
    values: dict[int, float] = {
        ParamRow.IDLE: idle,
        ParamRow.LIMITER: limiter,
        ParamRow.INVERSE_ENGINE: 1.0 / engine.inertia,
        ParamRow.ENGINE_DRAG: engine.braking_torque_idle - drag_slope * idle,
        ParamRow.ENGINE_DRAG_SLOPE: drag_slope,
        ParamRow.MAP_POINTS_PER_SPEED: 1.0 / (step * RPM),
        ParamRow.EFFICIENCY: gearbox.efficiency,
        ParamRow.INVERSE_EFFICIENCY: 1.0 / gearbox.efficiency,
        ParamRow.SHIFT_TIME: max(gearbox.shift_time, 1e-6),
        ParamRow.HAS_BLIP: float(gearbox.blip),
        ParamRow.UPSHIFT: gearbox.upshift_rpm * RPM,
        ParamRow.DOWNSHIFT: gearbox.downshift_rpm * RPM,
        ParamRow.CLUTCH_TORQUE: gearbox.clutch_torque,
        ParamRow.TOP_GEAR: float(gearbox.top_gear),
        ParamRow.CENTRE_PRELOAD: centre_preload,
        ParamRow.CENTRE_LOCK: centre_lock,
        ParamRow.FUEL_PER_JOULE: fuel.specific_consumption / 1000.0 / 3.6e6 / fuel.density,
        ParamRow.FUEL_START: 0.5 * fuel.capacity,
        ParamRow.FUEL_DENSITY: fuel.density,
        ParamRow.TURBO_RATE: 1.0 / engine.turbo_lag if engine.turbo_lag > 0.0 else 0.0,
        ParamRow.TURBO_SHARE: engine.turbo_share,
        ParamRow.BOOST_POWER: hybrid.power if hybrid else 0.0,
        ParamRow.BOOST_TORQUE: hybrid.torque if hybrid else 0.0,
        ParamRow.CHARGE_MAX: hybrid.capacity if hybrid else 0.0,
        ParamRow.CHARGE_START: hybrid.capacity * hybrid.start if hybrid else 0.0,
        ParamRow.RECHARGE: hybrid.recharge if hybrid else 0.0,
        ParamRow.RECHARGE_FORCE: car.driven_brake_force if hybrid else 0.0,
        ParamRow.INVERSE_LIMITER: 1.0 / limiter,
        ParamRow.IDLE_SLOPE: IDLE_GAIN / idle,
        ParamRow.CUT_SLOPE: LIMITER_BAND / limiter,
        ParamRow.RATIOS: gearbox.overall_ratio(-1),
        ParamRow.CENTRE_INERTIA: 1.0 / (1.0 / car.tyre_front.inertia + 1.0 / car.tyre_rear.inertia),
        ParamRow.DRIVE_FRONT: car.drive.front_share,
        ParamRow.DRIVE_REAR: 1.0 - car.drive.front_share,
    }
    for gear in range(1, min(gearbox.top_gear, GEAR_ROWS - 2) + 1):
        values[ParamRow.RATIOS + 1 + gear] = gearbox.overall_ratio(gear)
    return values


def _axle_rows(car: CarParams, *, is_front: bool) -> dict[int, float]:
    """Return the rows of one axle."""
    body, aero, brakes, drive = car.body, car.aero, car.brakes, car.drive
    links = car.suspension_front if is_front else car.suspension_rear
    track = body.track_front if is_front else body.track_rear
    weight = 0.5 * body.mass * G * (body.cg_to_rear if is_front else body.cg_to_front) / body.wheelbase
    reach = body.cg_height / body.wheelbase  # axle load moved per longitudinal force at the road
    preload, power, coast = _differential_lock(drive.differential_front if is_front else drive.differential_rear)
    axle: dict[int, float] = {
        AxleRow.X: body.cg_to_front if is_front else -body.cg_to_rear,
        AxleRow.HALF_TRACK: 0.5 * track,
        AxleRow.LOAD_AT_REST: weight,
        AxleRow.SPRING_AT_REST: weight - links.unsprung_mass * G,
        # A force to the left presses the right wheel down and lifts the body over it.
        AxleRow.LINK_SIDE: links.roll_centre / track,
        AxleRow.LIFT: 0.5 * aero.air_density * (aero.lift_area_front if is_front else aero.lift_area_rear),
        AxleRow.RIDE_GAIN: aero.ride_gain_front if is_front else aero.ride_gain_rear,
        AxleRow.RIDE_CURVE: aero.ride_curve_front if is_front else aero.ride_curve_rear,
        AxleRow.BRAKE: 0.5 * (brakes.torque_front if is_front else brakes.torque_rear),
        AxleRow.HANDBRAKE: 0.0 if is_front else 0.5 * brakes.handbrake_torque,
        AxleRow.LOCK_PRELOAD: preload,
        AxleRow.LOCK_POWER: power,
        AxleRow.LOCK_COAST: coast,
    }
    return (
        axle
        | _tyre_rows(car.tyre_front if is_front else car.tyre_rear)
        | _suspension_rows(
            links,
            reach if is_front else -reach,
            drive.front_share if is_front else 1.0 - drive.front_share,
            brakes.front_share if is_front else 1.0 - brakes.front_share,
        )
    )


def engine_map(car: CarParams) -> Array:
    """Return the full-throttle torque (N m), (MAP_POINTS,), at equal steps of engine speed from 0 to MAP_REACH."""
    step = MAP_REACH * car.engine.limiter_rpm / (MAP_POINTS - 1)
    return np.array([car.engine.full_torque(i * step) for i in range(MAP_POINTS)])


def _differential_lock(differential: Differential | None) -> tuple[float, float, float]:
    """Return preload (N m) and the shares of driving and braking torque that a differential locks with."""
    if differential is None or differential.kind == "open":
        return 0.0, 0.0, 0.0
    if differential.is_rigid:
        return RIGID_TORQUE, 0.0, 0.0
    return differential.preload, differential.lock_power, differential.lock_coast


def _suspension_rows(links: Suspension, reach: float, drive_share: float, brake_share: float) -> dict[int, float]:
    """Return the rows of an axle's springs and links.

    Args:
        links: the suspension.
        reach: height of the centre of mass over wheelbase; negative for the rear axle.
        drive_share: the axle's share of the drive torque.
        brake_share: of the brake torque.
    """
    return {
        AxleRow.CAMBER: links.camber,
        AxleRow.CAMBER_GAIN: links.camber_gain,
        AxleRow.TOE: links.toe,
        AxleRow.SPRING: links.spring_rate,
        AxleRow.BUMP_DAMPING: links.bump_damping,
        AxleRow.REBOUND_DAMPING: links.rebound_damping,
        AxleRow.ANTI_ROLL: links.anti_roll_rate,
        AxleRow.BUMP_STOP: links.bump_stop_rate,
        AxleRow.BUMP_TRAVEL: links.bump_travel,
        AxleRow.DROOP_TRAVEL: -links.droop_travel,
        AxleRow.INVERSE_UNSPRUNG: 1.0 / links.unsprung_mass,
        # Links that carry the share `anti_*` of the axle's load change, which is `reach` times the force of all
        # wheels, of which this axle makes its share. Braking (fx < 0) lifts the body in front and holds it behind.
        AxleRow.LINK_DRIVE: -links.anti_squat * reach / drive_share if drive_share > 0.0 else 0.0,
        AxleRow.LINK_BRAKE: -links.anti_dive * reach / brake_share if brake_share > 0.0 else 0.0,
    }


def _tyre_rows(tyre: Tyre) -> dict[int, float]:
    """Return the rows of an axle's tyres."""
    slip_x, slip_y = tyre.peak_slip_ratio, math.tan(tyre.peak_slip_angle)
    curve = fit_curve(tyre.stiffness_factor, tyre.shape, tyre.curvature)
    steepest = max(tyre.mu_x_load, tyre.mu_y_load, abs(tyre.slip_load))
    values: dict[int, float] = {
        AxleRow.RADIUS: tyre.radius,
        AxleRow.INVERSE_INERTIA: 1.0 / tyre.inertia,
        AxleRow.ROLLING: tyre.rolling_resistance,
        AxleRow.INVERSE_SIGMA_X: 1.0 / tyre.relaxation_x,
        AxleRow.INVERSE_SIGMA_Y: 1.0 / tyre.relaxation_y,
        AxleRow.SLIP_PER_DEFLECTION_X: 1.0 / (tyre.relaxation_x * slip_x),
        AxleRow.SLIP_PER_DEFLECTION_Y: 1.0 / (tyre.relaxation_y * slip_y),
        AxleRow.PEAK_SLIP_X: slip_x,
        AxleRow.PEAK_SLIP_Y: slip_y,
        # `at_load` as lines, which end where the first of them would leave its bounds.
        AxleRow.LOAD_MAX: tyre.nominal_load * (1.0 + (1.0 - MIN_LOAD_FACTOR) / max(steepest, 0.01)),
        AxleRow.MU_X: tyre.mu_x * (1.0 + tyre.mu_x_load),
        AxleRow.MU_X_LOAD: -tyre.mu_x * tyre.mu_x_load / tyre.nominal_load,
        AxleRow.MU_Y: tyre.mu_y * (1.0 + tyre.mu_y_load),
        AxleRow.MU_Y_LOAD: -tyre.mu_y * tyre.mu_y_load / tyre.nominal_load,
        AxleRow.INVERSE_PEAK: 1.0 + tyre.slip_load,
        AxleRow.INVERSE_PEAK_LOAD: -tyre.slip_load / tyre.nominal_load,
        AxleRow.CAMBER_SLIP: tyre.camber_thrust / slip_y,
        AxleRow.CAMBER_LOSS: tyre.camber_loss,
        AxleRow.STIFFNESS: tyre.vertical_stiffness,
        AxleRow.TYRE_DAMPING: tyre.vertical_damping,
    }
    values |= {AxleRow.CURVE + 2 * power: float(c) for power, c in enumerate(curve.coefficients)}
    thermal = tyre.thermal
    if thermal is not None:
        values |= {
            AxleRow.OPTIMAL_TEMPERATURE: thermal.optimal_temperature,
            AxleRow.START_TEMPERATURE: thermal.start_temperature,
            AxleRow.GRIP_LOSS: thermal.grip_loss,
            AxleRow.INVERSE_HEAT_CAPACITY: 1.0 / thermal.heat_capacity,
            AxleRow.COOLING: thermal.cooling / thermal.heat_capacity,
            AxleRow.COOLING_SPEED: thermal.cooling_speed / thermal.heat_capacity,
            AxleRow.WEAR: thermal.wear_per_joule,
            AxleRow.WEAR_LOSS: thermal.wear_loss,
        }
    return values
