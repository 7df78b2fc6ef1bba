"""The first guess: the minimum-curvature line at the speeds of a point mass."""

import numpy as np
from numpy.typing import NDArray

from trailbrake.optimal.stage import StageParameter
from trailbrake.optimal.transcription import Mesh
from trailbrake.optimal.vehicle_model import VehicleModel
from trailbrake.units import G

Array = NDArray[np.float64]

GUESS_SHARE = 0.85  # share of the tyres' friction that the first guess uses
MIN_GUESS_SPEED = 4.0  # m/s


def guess_motion(car: VehicleModel, mesh: Mesh, offset: Array, share: float = GUESS_SHARE) -> dict[str, Array]:
    """Return a first guess of all unknowns, (n,) each, along offsets (n,) m.

    A point mass on the friction circle, with the steering of a bicycle without slip.
    """
    n, steps = len(mesh.s), mesh.steps
    bend = mesh.parameters[StageParameter.CURVATURE]
    slope, turn = _path_slopes(mesh, offset)
    stretch = np.hypot(1.0 - offset * bend, slope)
    heading = np.arctan2(slope, 1.0 - offset * bend)
    curvature = (bend + turn) / stretch
    length = stretch[: len(steps)] * steps
    body = car.body
    grip = share * car.grip_guess * mesh.parameters[StageParameter.GRIP]
    lift = (body.lift_front + body.lift_rear) / body.mass

    def grip_at(k: int, v: float) -> float:
        return float(grip[k] * (G + lift * v * v))

    # Cornering: v^2 k = grip (g + lift v^2).
    room = np.abs(curvature) - grip * lift
    speed = np.minimum(np.sqrt(grip * G / np.maximum(room, 1e-4)), 0.97 * car.top_speed)
    laps = 2 if mesh.closed else 1
    if not mesh.closed:
        speed[0] = MIN_GUESS_SPEED
    for k in range(laps * n - 1):
        i, j = k % n, (k + 1) % n
        if j == 0 and not mesh.closed:
            continue
        v = speed[i]
        left = np.sqrt(max(grip_at(i, v) ** 2 - (v * v * curvature[i]) ** 2, 0.0))
        push = min(float(limit(v)) for limit in car.drive_limits) / body.mass - car.drag * v * v / body.mass
        speed[j] = min(speed[j], np.sqrt(max(v * v + 2.0 * min(0.7 * left, push) * length[i], 9.0)))
    for k in range(laps * n - 1, 0, -1):
        i, j = k % n, (k - 1) % n
        if i == 0 and not mesh.closed:
            continue
        v = speed[i]
        left = np.sqrt(max(grip_at(i, v) ** 2 - (v * v * curvature[i]) ** 2, 0.0))
        speed[j] = min(speed[j], np.sqrt(v * v + 2.0 * left * length[j]))
    speed = np.maximum(speed, MIN_GUESS_SPEED)
    following = np.roll(speed, -1)[: len(steps)]
    accel = (following**2 - speed[: len(steps)] ** 2) / (2.0 * length)
    accel = accel if mesh.closed else np.append(accel, accel[-1])
    pedal = np.clip((accel + car.drag * speed**2 / body.mass) / G, -2.0, 1.0)
    zero = np.zeros(n)
    to_rear = body.wheelbase - body.cg_to_front
    return {
        "offset": offset,
        "heading": heading - to_rear * curvature,
        "speed": speed,
        "side_speed": speed * to_rear * curvature,
        "yaw_rate": speed * curvature,
        "steer": np.clip(body.wheelbase * curvature, -0.9 * car.max_steer, 0.9 * car.max_steer),
        "pedal": pedal,
        "slip_fl": zero, "slip_fr": zero, "slip_rl": zero, "slip_rr": zero,
        "accel_x": accel / G,
        "accel_y": speed**2 * curvature / G,
    }  # fmt: skip


def _path_slopes(mesh: Mesh, offset: Array) -> tuple[Array, Array]:
    """Return d(offset)/ds and its change of direction, 1/m, (n,) each."""
    if mesh.closed:
        step = mesh.steps
        ahead = (np.roll(offset, -1) - offset) / step
        behind = np.roll(ahead, 1)
        mean = 0.5 * (step + np.roll(step, 1))
        return 0.5 * (ahead + behind), (ahead - behind) / mean
    slope = np.gradient(offset, mesh.s)
    return slope, np.gradient(slope, mesh.s)
