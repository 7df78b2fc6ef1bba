"""The delay from a command to the car's answer, by the deceleration under braking.

Forces cannot be echoed by a wire as a pedal can. The mean deceleration between two samples is that of the speeds, so a
delay shows to a part of the wire's period. An echo of the pedal that comes as late as the force makes it surer.
"""

import math

import numpy as np

from trailbrake.cars.params import CarParams
from trailbrake.identification.actuator_response import find_response
from trailbrake.identification.braking import Braking
from trailbrake.identification.drive_table import GAP, DriveTable
from trailbrake.identification.learned_value import LearnedValue, identified
from trailbrake.identification.powertrain import Powertrain, drive_matrix, wheel_inertia_share

MAX_THROTTLE = 0.3  # commanded beside the brake: what the engine adds is known well enough
MAX_SIDE = 4.0  # m/s^2
MIN_SPEED = 6.0  # m/s
TYRE_SHARE = 0.7  # of the hardest deceleration, below which the tyres follow the pedal
LAG_SHARE = 0.3  # standard deviation of the tyres' lag
PERIOD_SHARE = 0.15  # of the wire's period: systematic error


def find_loop_delay(
    table: DriveTable, car: CarParams, braking: Braking | None, powertrain: Powertrain | None
) -> LearnedValue | None:
    """Return the delay (s) from a brake command to the deceleration; None where too little was braked.

    Args:
        table: the drive.
        car: what is known of it: drag and gears.
        braking: its brakes.
        powertrain: its engine.
    """
    if braking is None or powertrain is None:
        return None
    others = drive_matrix(table, car, powertrain.speeds) @ powertrain.fit.value
    step = np.diff(table.time, prepend=table.time[0] - 1.0)
    near = (step > 0.0) & (step < GAP)
    # The mean acceleration since the row before, instead of that of the moment.
    mean = np.diff(table.vx, prepend=table.vx[0]) / np.where(near, step, 1.0) - table.vy * table.yaw_rate
    share = wheel_inertia_share(car)
    held = others - (table.fx + share * table.ax) - (1.0 + share) * (mean - table.ax)
    gentle = (
        near & (table.throttle_command < MAX_THROTTLE) & (np.abs(table.fy) < MAX_SIDE) & (table.vx > MIN_SPEED)
        & (table.gear_age > 0.3) & (held < TYRE_SHARE * braking.peak) & (table.assisted < 0.5)
    )  # fmt: skip
    if not gentle.any():
        return None
    applied = np.where(gentle, held, 0.0)
    # A tyre's force follows its slip by the relaxation length.
    lag = 0.5 * (car.tyre_front.relaxation_x + car.tyre_rear.relaxation_x) / float(np.median(table.vx[gentle]))
    response = find_response(
        table.time, table.brake_command, applied, usual_rate=math.inf, counted=gentle, averaged=True,
        usual_lag=(lag, LAG_SHARE * lag),
    )  # fmt: skip
    if response is None:
        return None
    period = float(np.median(np.diff(table.time)))
    sigma = math.hypot(min(response.delay.sigma, period), PERIOD_SHARE * period)
    return identified(response.delay.value, sigma, "brake steps")
