"""An inertial measurement unit on a car: specific force and angular rate where it is mounted, with bias and noise.

Rigid-body kinematics: a point at r from the centre of mass accelerates by a + dw/dt x r + w x (w x r). What an
accelerometer shows is that less gravity (specific force): a car at rest on level ground shows +9.81 m/s^2 along z.
"""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels import jit
from trailbrake.units import G
from trailbrake.world.noise import normal, philox

Array = NDArray[np.float64]


@jit
def measure(
    acceleration: Array, rate: Array, rate_change: Array, tilt: Array, mount: Array, out: Array, lo: int, hi: int
) -> None:
    """Write what perfect sensors on the cars `lo`..`hi` - 1 show. Body axes: x forward, y left, z up.

    Args:
        acceleration: (n, 3) of the centre of mass, m/s^2, without gravity.
        rate: (n, 3) angular rate, rad/s.
        rate_change: (n, 3) its derivative, rad/s^2.
        tilt: (n, 2) pitch (positive nose down) and roll (positive right side down), rad.
        mount: (6,) x, y, z of the sensor from the centre of mass (m), its yaw, pitch and roll in the body (rad).
        out: (n, 6) written: specific force (m/s^2) and angular rate (rad/s) in the axes of the sensor.
        lo: first car.
        hi: one past the last.
    """
    rx, ry, rz = mount[0], mount[1], mount[2]
    cy, sy = math.cos(mount[3]), math.sin(mount[3])
    cp, sp = math.cos(mount[4]), math.sin(mount[4])
    cr, sr = math.cos(mount[5]), math.sin(mount[5])
    for k in range(lo, hi):
        wx, wy, wz = rate[k, 0], rate[k, 1], rate[k, 2]
        ux, uy, uz = rate_change[k, 0], rate_change[k, 1], rate_change[k, 2]
        along = wx * rx + wy * ry + wz * rz
        square = wx * wx + wy * wy + wz * wz
        # w x (w x r) = w (w . r) - r (w . w). Gravity points down: (sin p, -cos p sin r, -cos p cos r) g in the body.
        sin_pitch, cos_pitch = math.sin(tilt[k, 0]), math.cos(tilt[k, 0])
        fx = acceleration[k, 0] + uy * rz - uz * ry + wx * along - rx * square
        fy = acceleration[k, 1] + uz * rx - ux * rz + wy * along - ry * square
        fz = acceleration[k, 2] + ux * ry - uy * rx + wz * along - rz * square
        fx -= G * sin_pitch
        fy += G * cos_pitch * math.sin(tilt[k, 1])
        fz += G * cos_pitch * math.cos(tilt[k, 1])
        for part in range(2):
            # Undo the mounting's yaw, then its pitch, then its roll.
            x, y, z = (fx, fy, fz) if part == 0 else (wx, wy, wz)
            x, y = cy * x + sy * y, cy * y - sy * x
            x, z = cp * x - sp * z, sp * x + cp * z
            y, z = cr * y + sr * z, cr * z - sr * y
            out[k, 3 * part] = x
            out[k, 3 * part + 1] = y
            out[k, 3 * part + 2] = z


@jit
def disturb(
    out: Array, bias: Array, density: Array, dt: float, seed: int, stream: int, tick: int, lo: int, hi: int
) -> None:
    """Add bias and white noise to what the sensors of the cars `lo`..`hi` - 1 show.

    Args:
        out: (n, 6) specific force and angular rate, changed.
        bias: (n, 6) m/s^2 and rad/s, kept by the caller; `wander` moves it.
        density: (6,) noise density, m/s^2/sqrt(Hz) and rad/s/sqrt(Hz); a sample every dt has density / sqrt(dt).
        dt: between samples, s.
        seed: 0 .. 2**63 - 1.
        stream: tells sensors with the same seed apart.
        tick: number of the sample, 0 .. 2**32 - 1.
        lo: first car.
        hi: one past the last.
    """
    scale = 1.0 / math.sqrt(dt)
    for k in range(lo, hi):
        for part in range(2):
            a, b, c, _ = philox(4 * part, k, tick, stream, seed)
            for i in range(3 * part, 3 * part + 3):
                out[k, i] += bias[k, i] + scale * density[i] * normal(a, i, k, tick, stream, seed)
                a, b = b, c


@jit
def wander(bias: Array, walk: Array, dt: float, seed: int, stream: int, tick: int, lo: int, hi: int) -> None:
    """Move the biases of the cars `lo`..`hi` - 1 on by a random walk.

    Args:
        bias: (n, 6) m/s^2 and rad/s, changed.
        walk: (6,) m/s^2 and rad/s per sqrt(s): a step of dt has the standard deviation walk * sqrt(dt).
        dt: s since the last call.
        seed: 0 .. 2**63 - 1.
        stream: tells sensors with the same seed apart.
        tick: number of the step, 0 .. 2**32 - 1.
        lo: first car.
        hi: one past the last.
    """
    scale = math.sqrt(dt)
    for k in range(lo, hi):
        for part in range(2):
            a, b, c, _ = philox(16 + 4 * part, k, tick, stream, seed)  # below 16 is the white noise of the same tick
            for i in range(3 * part, 3 * part + 3):
                bias[k, i] += scale * walk[i] * normal(a, 16 + i, k, tick, stream, seed)
                a, b = b, c
