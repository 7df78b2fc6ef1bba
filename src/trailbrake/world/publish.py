"""From one car's column of the batch to a `CarState`."""

import math
from struct import Struct
from typing import Any

import numpy as np

from trailbrake.cars.params import CarParams
from trailbrake.kernels import jit
from trailbrake.state import CarState, Phase, WheelState
from trailbrake.units import G
from trailbrake.world.layout import Array, State

NAN = math.nan
DRIVING = Phase.DRIVING

# What `tell` writes: the fields of CarState from x on as far as TO_GEAR, the gear, those as far as TO_TC, contacts and
# their depth, then those of each WheelState.
_TO_GEAR, _TO_TC, _FIRST_WHEEL, _PER_WHEEL = 22, 27, 29, 14
_W0, _W1, _W2, _W3, _END = (_FIRST_WHEEL + _PER_WHEEL * wheel for wheel in range(5))
_UNPACK = Struct(f"@{_END}d").unpack


@jit
def tell(column: Array, height: float, max_steer: float, ratio: float, figures: Array, told: Array) -> None:
    """Write what a CarState says of one car.

    Args:
        column: the car's of the batch.
        height: m, of the centre of mass at rest.
        max_steer: rad, of the road wheels.
        ratio: of the steering.
        figures: (4, 8), of each wheel: place x, y (m), side (1 left), slip ratio and tangent of the slip angle at the
            peak, camber (rad) and its gain (rad/m), 1 where the tyre has a temperature.
        told: out, see above.
    """
    x, y, z, yaw, heave = column[State.X], column[State.Y], column[State.Z], column[State.YAW], column[State.HEAVE]
    vx, vy, pitch_on, roll_on = column[State.VX], column[State.VY], column[State.PITCH], column[State.ROLL]
    # The road's frame carries the contact points and the point under the centre of mass; the body leans on it.
    cy, sy, sp, sr = math.cos(yaw), math.sin(yaw), column[State.ROAD_PITCH], column[State.ROAD_ROLL]
    cp, cr = math.sqrt(1.0 - sp * sp), math.sqrt(1.0 - sr * sr)
    # Columns of the rotation Rz(yaw) Ry(pitch) Rx(roll), ISO 8855: the road's axes at the car in the world.
    xx, xy, xz = cy * cp, sy * cp, -sp
    yx, yy, yz = cy * sp * sr - sy * cr, sy * sp * sr + cy * cr, cp * sr
    zx, zy, zz = cy * sp * cr + sy * sr, sy * sp * cr - cy * sr, cp * cr
    up = height + heave
    told[0], told[1], told[2] = x + up * zx, y + up * zy, z + up * zz
    told[3], told[4], told[5] = yaw, math.asin(sp) + pitch_on, math.asin(sr) + roll_on
    told[6], told[7], told[8], told[9] = math.hypot(vx, vy), vx, vy, column[State.HEAVE_RATE]
    told[10], told[11], told[12] = (
        column[State.AX],
        column[State.AY],
        column[State.AZ] + column[State.PRESS] - G * cp * cr,
    )
    told[13] = column[State.ROAD_ROLL_RATE] + column[State.ROLL_RATE]
    told[14], told[15] = column[State.ROAD_PITCH_RATE] + column[State.PITCH_RATE], column[State.YAW_RATE]
    steer, throttle, brake = column[State.STEER], column[State.THROTTLE], column[State.BRAKE]
    told[16], told[17], told[18], told[19] = steer / max_steer, steer * ratio, throttle, brake
    told[20], told[21] = 1.0 - column[State.ENGAGED], column[State.HANDBRAKE]
    told[22], told[23], told[24] = column[State.GEAR], column[State.ENGINE], column[State.FUEL]
    hold = min(min(column[State.ABS], column[State.ABS + 1]), min(column[State.ABS + 2], column[State.ABS + 3]))
    told[25] = 1.0 if brake > 0.0 and hold < 1.0 else 0.0
    told[26] = 1.0 if throttle > 0.0 and column[State.TC] < 1.0 else 0.0
    told[27], told[28] = column[State.CONTACTS], column[State.CONTACT_DEPTH]
    for wheel in range(4):
        bx, by, side = figures[wheel, 0], figures[wheel, 1], figures[wheel, 2]
        bump, warms = column[State.BUMP + wheel], figures[wheel, 7] > 0.0
        travel = column[State.HOP + wheel] - heave + bx * pitch_on - by * roll_on
        at = _FIRST_WHEEL + _PER_WHEEL * wheel
        told[at] = x + bx * xx + by * yx + bump * zx
        told[at + 1] = y + bx * xy + by * yy + bump * zy
        told[at + 2] = z + bx * xz + by * yz + bump * zz
        told[at + 3] = column[State.SPIN + wheel]
        told[at + 4] = column[State.SLIP_X + wheel] * figures[wheel, 3]
        told[at + 5] = math.atan(column[State.SLIP_Y + wheel] * figures[wheel, 4])
        told[at + 6], told[at + 7] = column[State.SLIP + wheel], column[State.LOAD + wheel]
        told[at + 8] = roll_on - side * (figures[wheel, 5] + figures[wheel, 6] * travel)
        told[at + 9] = told[at + 11] = NAN
        told[at + 10] = column[State.TEMPERATURE + wheel] if warms else NAN
        told[at + 12] = column[State.WEAR + wheel] if warms else NAN
        told[at + 13] = column[State.ON_TRACK + wheel]


class Publisher:
    """Makes CarStates of one kind of car. Pressures and disc temperatures have no model: NaN."""

    def __init__(self, car: CarParams) -> None:
        body = car.body
        figures: list[tuple[float, ...]] = []
        for x, track, tyre, links in (
            (body.cg_to_front, body.track_front, car.tyre_front, car.suspension_front),
            (-body.cg_to_rear, body.track_rear, car.tyre_rear, car.suspension_rear),
        ):
            slips = tyre.peak_slip_ratio, math.tan(tyre.peak_slip_angle)
            figures += [
                (x, side * 0.5 * track, side, *slips, links.camber, links.camber_gain, float(tyre.thermal is not None))
                for side in (1.0, -1.0)
            ]
        self._told: Any = np.zeros(_END)
        self._known = (float(body.cg_height), float(car.steering.max_angle), float(car.steering.ratio),
                       np.array(figures, dtype=np.float64), self._told)  # fmt: skip

    def state(self, column: Array, time: float, sequence: int, laps: tuple[float, float, float, float]) -> CarState:
        """Return a fresh CarState.

        Args:
            column: the car's of the batch, from State.X on, float64.
            time: s.
            sequence: number of the step.
            laps: number of the lap, lap_time (s), best_lap_time (s) and lap_progress.
        """
        tell(column, *self._known)
        # Tuples all the way: from a list a call with a star takes twice as long.
        v: tuple[Any, ...] = _UNPACK(self._told)
        wheel = WheelState
        fields: tuple[Any, ...] = (
            time, sequence, 0.0, DRIVING, *v[:_TO_GEAR], int(v[_TO_GEAR]), *v[_TO_GEAR + 1 : _TO_TC], *laps, NAN,
            v[_TO_TC], v[_TO_TC + 1], [wheel(*v[_W0:_W1]), wheel(*v[_W1:_W2]), wheel(*v[_W2:_W3]), wheel(*v[_W3:_END])],
        )  # fmt: skip
        return CarState(*fields)
