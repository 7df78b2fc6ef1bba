"""From a car file's values to the rows of `Param`: what kernels would else work out again in every substep."""

import math

import numpy as np

from trailbrake.cars.params import CarParams, Differential, Suspension, Tyre, interpolate
from trailbrake.cars.tyre import LEAST
from trailbrake.cars.tyre_fit import fit
from trailbrake.units import RPM, G
from trailbrake.world.layout import GEARS, TORQUES, Array, Axle, Param, Work
from trailbrake.world.powertrain import IDLE_GAIN, LIMITER_BAND
from trailbrake.world.tyres import BAND

RIGID = 1e9  # N m: what a spool carries; enough for any car, and no infinity to make NaN of
NEVER = 1e3  # of the peak slip: target of an assistant that is not there
MAP_REACH = 1.05  # of the limiter: where engine maps end


def pack(car: CarParams, *, heat: bool) -> Array:
    """Return the parameters of `car`: the rows from Work.COUNT on, (Axle.COUNT - Work.COUNT,).

    With `heat`, tyres lose friction by temperature and wear where the car file describes it; without, they keep it.
    """
    body, aero, engine, gearbox, brakes = car.body, car.aero, car.engine, car.gearbox, car.brakes
    steering, fuel, hybrid, centre = car.steering, car.fuel, car.hybrid, car.drive.centre
    front, rear = car.suspension_front, car.suspension_rear
    half_density = 0.5 * aero.air_density
    to_front, to_rear, base = body.cg_to_front, body.cg_to_rear, body.wheelbase
    unsprung = 2.0 * (front.unsprung_mass + rear.unsprung_mass)
    roll_axis = (front.roll_centre * to_rear + rear.roll_centre * to_front) / base
    roll, pitch, _ = car.unsprung_inertia  # of the corners, which move by themselves
    idle, limiter = engine.idle_rpm * RPM, engine.limiter_rpm * RPM
    drag_slope = (engine.braking_torque_limiter - engine.braking_torque_idle) / (limiter - idle)
    step = MAP_REACH * engine.limiter_rpm / (TORQUES - 1)
    abs_slip = brakes.abs_slip if brakes.abs else NEVER
    tc_slip = brakes.tc_slip if brakes.tc else NEVER
    centre_preload, centre_lock, _ = _lock(centre)
    values: dict[int, float] = {
        Param.MASS: body.mass,
        Param.UNSPRUNG: unsprung,
        Param.SPRUNG_AHEAD: 2.0 * (rear.unsprung_mass * to_rear - front.unsprung_mass * to_front),
        Param.INVERSE_YAW: 1.0 / body.yaw_inertia,
        Param.INVERSE_ROLL: 1.0 / (body.roll_inertia - roll),
        Param.INVERSE_PITCH: 1.0 / (body.pitch_inertia - pitch),
        Param.HEIGHT: body.cg_height,
        Param.ROLL_ARM: body.cg_height - roll_axis,
        # cot(outer) - cot(inner) = track / wheelbase makes half the difference track / (2 wheelbase) * angle^2.
        Param.ACKERMANN: steering.ackermann * 0.5 * body.track_front / base,
        Param.DRAG: half_density * aero.drag_area,
        Param.DRS_DRAG: aero.drs_drag,
        Param.DRS_LIFT: aero.drs_lift_rear,
        Param.IDLE: idle,
        Param.LIMITER: limiter,
        Param.INVERSE_ENGINE: 1.0 / engine.inertia,
        Param.ENGINE_DRAG: engine.braking_torque_idle - drag_slope * idle,
        Param.ENGINE_DRAG_SLOPE: drag_slope,
        Param.TORQUE_PER: 1.0 / (step * RPM),
        Param.EFFICIENCY: gearbox.efficiency,
        Param.INVERSE_EFFICIENCY: 1.0 / gearbox.efficiency,
        Param.SHIFT_TIME: max(gearbox.shift_time, 1e-6),
        Param.BLIP: float(gearbox.blip),
        Param.UPSHIFT: gearbox.upshift_rpm * RPM,
        Param.DOWNSHIFT: gearbox.downshift_rpm * RPM,
        Param.CLUTCH_TORQUE: gearbox.clutch_torque,
        Param.TOP_GEAR: float(gearbox.top_gear),
        Param.CENTRE_PRELOAD: centre_preload,
        Param.CENTRE_LOCK: centre_lock,
        Param.PER_ABS_SLIP2: 1.0 / (4.0 * BAND * abs_slip**2),  # (1 + BAND)^2 - (1 - BAND)^2 = 4 BAND
        Param.PER_TC_SLIP2: 1.0 / (4.0 * BAND * tc_slip**2),
        Param.STEER_MAX: steering.max_angle,
        Param.STEER_RATE: steering.max_rate,
        Param.FUEL_PER_JOULE: fuel.specific_consumption / 1000.0 / 3.6e6 / fuel.density,
        Param.FUEL_START: 0.5 * fuel.capacity,
        Param.FUEL_DENSITY: fuel.density,
        Param.TURBO_RATE: 1.0 / engine.turbo_lag if engine.turbo_lag > 0.0 else 0.0,
        Param.TURBO_SHARE: engine.turbo_share,
        Param.BOOST_POWER: hybrid.power if hybrid else 0.0,
        Param.BOOST_TORQUE: hybrid.torque if hybrid else 0.0,
        Param.CHARGE_MOST: hybrid.capacity if hybrid else 0.0,
        Param.CHARGE_START: hybrid.capacity * hybrid.start if hybrid else 0.0,
        Param.RECHARGE: hybrid.recharge if hybrid else 0.0,
        Param.HALF_LENGTH: 0.5 * body.length,
        Param.HALF_WIDTH: 0.5 * body.width,
        Param.BOX_CENTRE: 0.5 * (to_front - to_rear),  # the box is centred between the axles
        Param.PER_LIMITER: 1.0 / limiter,
        Param.IDLE_SLOPE: IDLE_GAIN / idle,
        Param.CUT_SLOPE: LIMITER_BAND / limiter,
        Param.RATIOS: gearbox.overall(-1),
    }
    for gear in range(1, min(gearbox.top_gear, GEARS - 2) + 1):
        values[Param.RATIOS + 1 + gear] = gearbox.overall(gear)
    drive_share = car.drive.front_share
    brake_share = brakes.front_share
    values[Param.PER_CENTRE] = 1.0 / (1.0 / car.tyre_front.inertia + 1.0 / car.tyre_rear.inertia)
    values[Param.DRIVE_FRONT], values[Param.DRIVE_REAR] = drive_share, 1.0 - drive_share
    reach = body.cg_height / base  # axle load moved per longitudinal force at the road
    for a, links, tyre, x, track in (
        (0, front, car.tyre_front, to_front, body.track_front),
        (1, rear, car.tyre_rear, -to_rear, body.track_rear),
    ):
        ahead = a == 0
        weight = 0.5 * body.mass * G * (to_rear if ahead else to_front) / base
        axle: dict[int, float] = {
            Axle.X: x,
            Axle.HALF_TRACK: 0.5 * track,
            Axle.LOAD_AT_REST: weight,
            Axle.SPRING_AT_REST: weight - links.unsprung_mass * G,
            # A force to the left presses the right wheel down and lifts the body over it.
            Axle.LINK_SIDE: links.roll_centre / track,
            Axle.LIFT: half_density * (aero.lift_area_front if ahead else aero.lift_area_rear),
            Axle.RIDE_GAIN: aero.ride_gain_front if ahead else aero.ride_gain_rear,
            Axle.RIDE_CURVE: aero.ride_curve_front if ahead else aero.ride_curve_rear,
            Axle.BRAKE: 0.5 * (brakes.torque_front if ahead else brakes.torque_rear),
            Axle.HANDBRAKE: 0.0 if ahead else 0.5 * brakes.handbrake_torque,
        }
        axle |= _tyre(tyre) | _links(
            links,
            reach if ahead else -reach,
            drive_share if ahead else 1.0 - drive_share,
            brake_share if ahead else 1.0 - brake_share,
        )
        if not heat:
            axle[Axle.GRIP_LOSS] = axle[Axle.WEAR_LOSS] = 0.0
        differential = car.drive.differential_front if ahead else car.drive.differential_rear
        axle[Axle.LOCK_PRELOAD], axle[Axle.LOCK_POWER], axle[Axle.LOCK_COAST] = _lock(differential)
        values |= {row + a: value for row, value in axle.items()}
    column = np.zeros(Axle.COUNT - Work.COUNT)
    for row, value in values.items():
        column[row - Work.COUNT] = value
    return column


def engine_map(car: CarParams) -> Array:
    """Return the full-throttle torque (N m), (TORQUES,), at engine speeds 0, 1 / Param.TORQUE_PER, ... (rad/s)."""
    step = MAP_REACH * car.engine.limiter_rpm / (TORQUES - 1)
    return np.array([interpolate(i * step, car.engine.rpm, car.engine.torque) for i in range(TORQUES)])


def _lock(differential: Differential | None) -> tuple[float, float, float]:
    """Return preload (N m) and the shares of driving and braking torque that a differential locks with."""
    if differential is None or differential.kind == "open":
        return 0.0, 0.0, 0.0
    if differential.rigid:
        return RIGID, 0.0, 0.0
    return differential.preload, differential.lock_power, differential.lock_coast


def _links(links: Suspension, reach: float, drive_share: float, brake_share: float) -> dict[int, float]:
    """Return the rows of an axle's springs and links.

    Args:
        links: the suspension.
        reach: height of the centre of mass over wheelbase; negative for the rear axle.
        drive_share: the axle's share of the drive torque.
        brake_share: of the brake torque.
    """
    return {
        Axle.CAMBER: links.camber,
        Axle.CAMBER_GAIN: links.camber_gain,
        Axle.TOE: links.toe,
        Axle.SPRING: links.spring_rate,
        Axle.BUMP_DAMPING: links.bump_damping,
        Axle.REBOUND_DAMPING: links.rebound_damping,
        Axle.ANTI_ROLL: links.anti_roll_rate,
        Axle.BUMP_STOP: links.bump_stop_rate,
        Axle.BUMP_TRAVEL: links.bump_travel,
        Axle.DROOP_TRAVEL: -links.droop_travel,
        Axle.INVERSE_UNSPRUNG: 1.0 / links.unsprung_mass,
        # Links that carry the share `anti_*` of the axle's load change, which is `reach` times the force of all
        # wheels, of which this axle makes its share. Braking (fx < 0) lifts the body in front and holds it behind.
        Axle.LINK_DRIVE: -links.anti_squat * reach / drive_share if drive_share > 0.0 else 0.0,
        Axle.LINK_BRAKE: -links.anti_dive * reach / brake_share if brake_share > 0.0 else 0.0,
    }


def _tyre(tyre: Tyre) -> dict[int, float]:
    """Return the rows of an axle's tyres."""
    slip_x, slip_y = tyre.peak_slip_ratio, math.tan(tyre.peak_slip_angle)
    curve = fit(tyre.stiffness, tyre.shape, tyre.curvature)
    steepest = max(tyre.mu_x_load, tyre.mu_y_load, abs(tyre.slip_load))
    values: dict[int, float] = {
        Axle.RADIUS: tyre.radius,
        Axle.INVERSE_INERTIA: 1.0 / tyre.inertia,
        Axle.ROLLING: tyre.rolling_resistance,
        Axle.PER_SIGMA_X: 1.0 / tyre.relaxation_x,
        Axle.PER_SIGMA_Y: 1.0 / tyre.relaxation_y,
        Axle.PER_SLIP_X: 1.0 / (tyre.relaxation_x * slip_x),
        Axle.PER_SLIP_Y: 1.0 / (tyre.relaxation_y * slip_y),
        Axle.PEAK_SLIP_X: slip_x,
        Axle.PEAK_SLIP_Y: slip_y,
        # `at_load` as lines, which end where the first of them would leave its bounds.
        Axle.LOAD_MOST: tyre.nominal_load * (1.0 + (1.0 - LEAST) / max(steepest, 0.01)),
        Axle.MU_X: tyre.mu_x * (1.0 + tyre.mu_x_load),
        Axle.MU_X_LOAD: -tyre.mu_x * tyre.mu_x_load / tyre.nominal_load,
        Axle.MU_Y: tyre.mu_y * (1.0 + tyre.mu_y_load),
        Axle.MU_Y_LOAD: -tyre.mu_y * tyre.mu_y_load / tyre.nominal_load,
        Axle.PER_PEAK: 1.0 + tyre.slip_load,
        Axle.PER_PEAK_LOAD: -tyre.slip_load / tyre.nominal_load,
        Axle.CAMBER_SLIP: tyre.camber_thrust / slip_y,
        Axle.CAMBER_LOSS: tyre.camber_loss,
        Axle.STIFFNESS: tyre.vertical_stiffness,
        Axle.TYRE_DAMPING: tyre.vertical_damping,
    }
    values |= {Axle.CURVE + 2 * power: float(c) for power, c in enumerate(curve.coefficients)}
    thermal = tyre.thermal
    if thermal is not None:
        values |= {
            Axle.BEST_TEMPERATURE: thermal.optimal_temperature,
            Axle.START_TEMPERATURE: thermal.start_temperature,
            Axle.GRIP_LOSS: thermal.grip_loss,
            Axle.PER_HEAT: 1.0 / thermal.heat_capacity,
            Axle.COOLING: thermal.cooling / thermal.heat_capacity,
            Axle.COOLING_SPEED: thermal.cooling_speed / thermal.heat_capacity,
            Axle.WEAR: thermal.wear_per_joule,
            Axle.WEAR_LOSS: thermal.wear_loss,
        }
    return values
