"""From one car's column of the state array to a `CarState`."""

import math
from operator import itemgetter

from trailbrake.cars.params import CarParams
from trailbrake.state import CarState, Phase, WheelState
from trailbrake.world.layout import State

NAN = math.nan

_SCALARS = itemgetter(
    State.X, State.Y, State.YAW, State.VX, State.VY, State.YAW_RATE, State.ENGINE, State.STEER, State.GEAR,
    State.FUEL, State.CONTACTS, State.CONTACT_DEPTH, State.Z, State.PITCH, State.ROLL, State.ROLL_RATE,
    State.PITCH_RATE, State.AX, State.AY, State.AZ, State.ENGAGED, State.ABS, State.TC, State.THROTTLE,
    State.BRAKE, State.HANDBRAKE,
)  # fmt: skip
_WHEELS = tuple(
    itemgetter(
        State.SPIN + i, State.STRETCH_X + i, State.STRETCH_Y + i, State.LOAD + i, State.SLIP + i, State.ON_TRACK + i
    )
    for i in range(4)
)


class Publisher:
    """Makes CarStates of one kind of car. Temperatures, pressure, camber and wear have no model: NaN."""

    def __init__(self, car: CarParams) -> None:
        body, front, rear = car.body, car.tyre_front, car.tyre_rear
        self._height = body.cg_height
        self._max_steer, self._ratio = car.steering.max_angle, car.steering.ratio
        left, right = (body.cg_to_front, 0.5 * body.track_front), (-body.cg_to_rear, 0.5 * body.track_rear)
        # Place (m, forward and left of the centre of mass) and relaxation lengths (m) of each wheel.
        self._wheels = [
            (x, side * half_track, tyre.relaxation_x, tyre.relaxation_y)
            for (x, half_track), tyre in ((left, front), (right, rear))
            for side in (1.0, -1.0)
        ]

    def state(self, row: list[float], time: float, sequence: int, laps: tuple[float, float, float]) -> CarState:
        """Return a fresh CarState.

        Args:
            row: the car's column of the state array, (State.COUNT,).
            time: s.
            sequence: number of the step.
            laps: lap_time (s), best_lap_time (s) and lap_progress.
        """
        (x, y, yaw, vx, vy, yaw_rate, engine, steer, gear, fuel, contacts, depth, z, pitch, roll, roll_rate, pitch_rate,
         ax, ay, az, engaged, abs_active, tc_active, throttle, brake, handbrake) = _SCALARS(row)  # fmt: skip
        cy, sy, cp, sp = math.cos(yaw), math.sin(yaw), math.cos(pitch), math.sin(pitch)
        cr, sr, height = math.cos(roll), math.sin(roll), self._height
        # Columns of the rotation Rz(yaw) Ry(pitch) Rx(roll), ISO 8855: the body's axes in the world.
        xx, xy, xz = cy * cp, sy * cp, -sp
        yx, yy, yz = cy * sp * sr - sy * cr, sy * sp * sr + cy * cr, cp * sr
        zx, zy, zz = cy * sp * cr + sy * sr, sy * sp * cr - cy * sr, cp * cr
        wheels = []
        for read, (bx, by, sigma_x, sigma_y) in zip(_WHEELS, self._wheels, strict=True):
            spin, stretch_x, stretch_y, load, slip, on_track = read(row)
            wheels.append(
                WheelState(
                    x + bx * xx + by * yx, y + bx * xy + by * yy, z + bx * xz + by * yz, spin,
                    stretch_x / sigma_x, math.atan(stretch_y / sigma_y), slip, load,
                    NAN, NAN, NAN, NAN, NAN, on_track,
                )
            )  # fmt: skip
        return CarState(
            time, sequence, 0.0, Phase.DRIVING,
            x + height * zx, y + height * zy, z + height * zz, yaw, pitch, roll,
            math.hypot(vx, vy), vx, vy, 0.0, ax, ay, az, roll_rate, pitch_rate, yaw_rate,
            steer / self._max_steer, steer * self._ratio, throttle, brake, 1.0 - engaged, handbrake,
            int(gear), engine, fuel, abs_active, tc_active, *laps, contacts, depth, wheels,
        )  # fmt: skip
