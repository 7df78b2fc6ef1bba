"""From one car's column of the batch to a `CarState`."""

import math
from collections.abc import Callable
from operator import itemgetter
from typing import Any

from trailbrake.cars.params import CarParams
from trailbrake.state import CarState, Phase, WheelState
from trailbrake.units import G
from trailbrake.world.layout import State

NAN = math.nan
DRIVING = Phase.DRIVING

_SCALARS = itemgetter(
    State.X, State.Y, State.YAW, State.VX, State.VY, State.HEAVE_RATE, State.YAW_RATE, State.ENGINE, State.STEER,
    State.GEAR, State.FUEL, State.CONTACTS, State.CONTACT_DEPTH, State.Z, State.ROAD_PITCH, State.ROAD_ROLL,
    State.PITCH, State.ROLL, State.HEAVE, State.ROAD_ROLL_RATE, State.ROLL_RATE, State.ROAD_PITCH_RATE,
    State.PITCH_RATE, State.AX, State.AY, State.AZ, State.PRESS, State.ENGAGED, State.TC, State.THROTTLE,
    State.BRAKE, State.HANDBRAKE, State.ABS, State.ABS + 1, State.ABS + 2, State.ABS + 3,
)  # fmt: skip
_WHEELS = tuple(
    itemgetter(
        State.SPIN + i, State.SLIP_X + i, State.SLIP_Y + i, State.LOAD + i, State.SLIP + i, State.ON_TRACK + i,
        State.BUMP + i, State.HOP + i, State.TEMPERATURE + i, State.WEAR + i,
    )
    for i in range(4)
)  # fmt: skip


class Publisher:
    """Makes CarStates of one kind of car. Pressures and disc temperatures have no model: NaN."""

    def __init__(self, car: CarParams) -> None:
        body = car.body
        self._height = body.cg_height
        self._max_steer, self._ratio = car.steering.max_angle, car.steering.ratio
        self._wheels: list[tuple[Callable[[list[float]], tuple[float, ...]], tuple[Any, ...]]] = []
        for x, track, tyre, links in (
            (body.cg_to_front, body.track_front, car.tyre_front, car.suspension_front),
            (-body.cg_to_rear, body.track_rear, car.tyre_rear, car.suspension_rear),
        ):
            slips = tyre.peak_slip_ratio, math.tan(tyre.peak_slip_angle)
            for side in (1.0, -1.0):
                figures = (x, side * 0.5 * track, side, *slips, links.camber, links.camber_gain,
                           tyre.thermal is not None)  # fmt: skip
                self._wheels.append((_WHEELS[len(self._wheels)], figures))

    def state(self, row: list[float], time: float, sequence: int, laps: tuple[float, float, float, float]) -> CarState:
        """Return a fresh CarState.

        Args:
            row: the car's column of the batch, from State.X on.
            time: s.
            sequence: number of the step.
            laps: number of the lap, lap_time (s), best_lap_time (s) and lap_progress.
        """
        (x, y, yaw, vx, vy, vz, yaw_rate, engine, steer, gear, fuel, contacts, depth, z, road_pitch, road_roll,
         pitch_on, roll_on, heave, road_roll_rate, roll_rate, road_pitch_rate, pitch_rate, ax, ay, az, press, engaged,
         tc, throttle, brake, handbrake, *abs_hold) = _SCALARS(row)  # fmt: skip
        # The road's frame carries the contact points and the point under the centre of mass; the body leans on it.
        cy, sy, sp, sr = math.cos(yaw), math.sin(yaw), road_pitch, road_roll
        cp, cr = math.sqrt(1.0 - sp * sp), math.sqrt(1.0 - sr * sr)
        # Columns of the rotation Rz(yaw) Ry(pitch) Rx(roll), ISO 8855: the road's axes at the car in the world.
        xx, xy, xz = cy * cp, sy * cp, -sp
        yx, yy, yz = cy * sp * sr - sy * cr, sy * sp * sr + cy * cr, cp * sr
        zx, zy, zz = cy * sp * cr + sy * sr, sy * sp * cr - cy * sr, cp * cr
        wheels, wheel, n = [], WheelState, NAN
        for read, (bx, by, side, peak_x, peak_y, camber, camber_gain, warms) in self._wheels:
            spin, slip_x, slip_y, load, slip, on_track, bump, hop, temperature, wear = read(row)
            travel = hop - heave + bx * pitch_on - by * roll_on
            wheels.append(
                wheel(
                    x + bx * xx + by * yx + bump * zx, y + bx * xy + by * yy + bump * zy,
                    z + bx * xz + by * yz + bump * zz, spin,
                    slip_x * peak_x, math.atan(slip_y * peak_y), slip, load,
                    roll_on - side * (camber + camber_gain * travel), n,
                    temperature if warms else n, n, wear if warms else n, on_track,
                )
            )  # fmt: skip
        height = self._height + heave
        return CarState(
            time, sequence, 0.0, DRIVING,
            x + height * zx, y + height * zy, z + height * zz,
            yaw, math.asin(sp) + pitch_on, math.asin(sr) + roll_on,
            math.hypot(vx, vy), vx, vy, vz, ax, ay, az + press - G * cp * cr,
            road_roll_rate + roll_rate, road_pitch_rate + pitch_rate, yaw_rate,
            steer / self._max_steer, steer * self._ratio, throttle, brake, 1.0 - engaged, handbrake,
            int(gear), engine, fuel,
            1.0 if brake > 0.0 and min(abs_hold) < 1.0 else 0.0, 1.0 if throttle > 0.0 and tc < 1.0 else 0.0,
            *laps, NAN, contacts, depth, wheels,
        )  # fmt: skip
