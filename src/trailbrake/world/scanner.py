"""`Scanner`: a 2-D range scanner (lidar) on any number of cars: distances to walls and other cars along n beams."""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import UsageError
from trailbrake.kernels import jit, part
from trailbrake.tracks.grid import Bytes, Ints
from trailbrake.tracks.walls import Walls
from trailbrake.world.funnel import Ranges, scan_walls

Array = NDArray[np.float64]

_TURN = 2.0 * math.pi
_MARGIN = 3e-5  # rad by which the beams that may meet a box are chosen too widely


@part
def bearing(x: float, y: float) -> float:
    """Return atan2(y, x) to 1e-5 rad: 4.4.49 of M. Abramowitz, I. A. Stegun, Handbook of Mathematical Functions.

    Much cheaper than the exact one, and enough to tell which beams may meet a box.
    """
    wide, high = abs(x), abs(y)
    z = min(wide, high) / max(wide, high)
    q = z * z
    angle = z * (0.9998660 + q * (-0.3302995 + q * (0.1801410 + q * (-0.0851330 + q * 0.0208351))))
    if high > wide:
        angle = 0.5 * math.pi - angle
    if x < 0.0:
        angle = math.pi - angle
    return angle if y >= 0.0 else -angle


@part
def scan_box(
    x: float, y: float, yaw: float, ahead: float, half_length: float, half_width: float,
    cosine: Array, sine: Array, first: float, step: float, out: Ranges,
) -> None:  # fmt: skip
    """Shorten the ranges in `out` (beams,) that meet a box; 0 everywhere if the sensor stands in it.

    Args:
        x: of the car in the sensor frame, m.
        y: of the car in the sensor frame, m.
        yaw: of the car in the sensor frame, rad.
        ahead: middle of the box ahead of the car, m.
        half_length: half the length of the box, m.
        half_width: half its width, m.
        cosine: of the directions in the sensor frame, as in `scan_walls`.
        sine: of the same.
        first: direction of the first beam, rad.
        step: between beams, rad.
        out: (beams,) changed, m.
    """
    c = math.cos(yaw)
    s = math.sin(yaw)
    x += c * ahead
    y += s * ahead
    n = out.shape[0]
    # The sensor in the frame of the box, and the two faces that it can see.
    ox = -(c * x + s * y)
    oy = s * x - c * y
    if abs(ox) <= half_length and abs(oy) <= half_width:
        for i in range(n):
            out[i] = 0.0
        return
    face_x = math.copysign(half_length, ox)
    face_y = math.copysign(half_width, oy)
    # The two corners between which the box is seen: the ends of one face, or the far ends of two.
    px, py, qx, qy = face_x, -face_y, face_x, face_y
    if abs(ox) <= half_length:
        px, py, qx = -face_x, face_y, face_x
    elif abs(oy) > half_width:
        qx = -face_x
    ax, ay = x + c * px - s * py, y + s * px + c * py
    bx, by = x + c * qx - s * qy, y + s * qx + c * qy
    if ax * by - ay * bx < 0.0:
        ax, ay, bx, by = bx, by, ax, ay
    turn = 1.0 / _TURN
    lower = (bearing(ax, ay) - _MARGIN - first) * turn
    upper = (bearing(bx, by) + _MARGIN - first) * turn
    if upper < lower:
        upper += 1.0
    period = _TURN / step
    upper = (upper - math.floor(lower)) * period
    lower = (lower - math.floor(lower)) * period
    for _ in range(2):
        lo = max(0, math.ceil(lower))
        hi = min(n - 1, math.floor(upper))
        lower -= period
        upper -= period
        for i in range(lo, hi + 1):
            ux = c * cosine[i] + s * sine[i]
            uy = c * sine[i] - s * cosine[i]
            r = (face_x - ox) / ux
            if 0.0 < r < out[i] and abs(oy + r * uy) <= half_width and abs(ox) > half_length:
                out[i] = r
            r = (face_y - oy) / uy
            if 0.0 < r < out[i] and abs(ox + r * ux) <= half_length and abs(oy) > half_width:
                out[i] = r


@jit
def scan(
    strip: Array, links: Ints, segments: Array, frame: Array, free: Bytes, starts: Ints, items: Ints,
    quad_starts: Ints, quad_items: Ints, cosine: Array, sine: Array, first: float, step: float,
    mount: Array, limit: float, poses: Array, boxes: Array, group: int, out: Ranges, lo: int, hi: int,
) -> None:  # fmt: skip
    """Scan from the cars `lo`..`hi` - 1; ranges of cars may go to threads.

    Args:
        strip: this and the next eight are `Walls.arrays`.
        links: see `Walls`.
        segments: see `Walls`.
        frame: see `Walls`.
        free: see `Walls`.
        starts: see `Walls`.
        items: see `Walls`.
        quad_starts: see `Walls`.
        quad_items: see `Walls`.
        cosine: of the directions in the sensor frame; (beams,), or twice over, (2 beams,), for a full circle.
        sine: of the same.
        first: direction of the first beam, rad.
        step: between beams, rad.
        mount: (3,) x, y (m) and yaw (rad) of the sensor in the body frame.
        limit: range, m: what is written where nothing is hit.
        poses: (n, 3) x, y (m) and yaw (rad) of the centres of mass, world.
        boxes: (n, 3) half length, half width and the middle's distance ahead of the centre of mass, m.
        group: cars 0 .. group - 1 see each other, the next `group` cars each other, and so on; 1 for none.
        out: (n, beams) written, m; NaN where the pose is not finite.
        lo: first car.
        hi: one past the last car.
    """
    turn_c, turn_s = math.cos(mount[2]), math.sin(mount[2])
    for car in range(lo, hi):
        line = out[car]
        if not abs(poses[car, 0]) + abs(poses[car, 1]) + abs(poses[car, 2]) < math.inf:
            for i in range(line.shape[0]):
                line[i] = math.nan
            continue
        c, s = math.cos(poses[car, 2]), math.sin(poses[car, 2])
        x = poses[car, 0] + c * mount[0] - s * mount[1]
        y = poses[car, 1] + s * mount[0] + c * mount[1]
        c, s = c * turn_c - s * turn_s, s * turn_c + c * turn_s
        scan_walls(strip, links, segments, frame, free, starts, items, quad_starts, quad_items,
                   cosine, sine, first, step, x, y, c, s, limit, line)  # fmt: skip
        if group <= 1:
            continue
        begin = car // group * group
        for other in range(begin, min(begin + group, poses.shape[0])):
            gx, gy = poses[other, 0] - x, poses[other, 1] - y
            far = limit + boxes[other, 0] + boxes[other, 1] + abs(boxes[other, 2])
            if other != car and gx * gx + gy * gy < far * far and abs(poses[other, 2]) < math.inf:
                yaw = poses[other, 2] - poses[car, 2] - mount[2]
                scan_box(c * gx + s * gy, c * gy - s * gx, yaw, boxes[other, 2],
                         boxes[other, 0], boxes[other, 1], cosine, sine, first, step, line)  # fmt: skip


class Scanner:
    """A range scanner, the same on all cars.

    Args:
        beams: how many, 1 at least.
        field: field of view, rad, in (0, 2 pi]. Beams are spread evenly from the right end to the left end of it, both
            included; with 2 pi they are 2 pi / beams apart and the first points backwards. A single beam points ahead.
        limit: range, m: what a beam that meets nothing reads.
        x: of the sensor ahead of the centre of mass, m.
        y: of the sensor left of it, m.
        yaw: of the sensor's axis, rad, positive to the left.

    Attributes:
        angles: (beams,) directions in the sensor frame, rad, ascending.
        limit: range, m.
        mount: (3,) x, y, yaw.

    Raises:
        UsageError: a value out of its range.
    """

    def __init__(
        self, beams: int, field: float, limit: float, x: float = 0.0, y: float = 0.0, yaw: float = 0.0
    ) -> None:
        if beams < 1:
            raise UsageError("no beams", where="Scanner.beams", expected=">= 1", got=str(beams))
        if not 0.0 < field <= _TURN + 1e-9:
            raise UsageError("no such field of view", where="Scanner.field", expected="0..2 pi rad", got=f"{field:g}")
        if not 0.0 < limit < math.inf:
            raise UsageError("no such range", where="Scanner.limit", expected="> 0 m, finite", got=f"{limit:g}")
        if not all(math.isfinite(value) for value in (x, y, yaw)):
            raise UsageError("no such place", where="Scanner", expected="finite x, y, yaw", got=f"{x:g} {y:g} {yaw:g}")
        first = -0.5 * field
        if beams == 1:
            first, step = 0.0, _TURN
        elif field >= _TURN - 1e-9:
            first, step = -math.pi, _TURN / beams
        else:
            step = field / (beams - 1)
        self.angles: Array = first + step * np.arange(beams, dtype=np.float64)
        self.limit = float(limit)
        self.mount: Array = np.array([x, y, yaw], np.float64)
        round_ = np.tile(self.angles, 2) if beams * step > _TURN - 1e-9 else self.angles
        self._beams = np.cos(round_), np.sin(round_), first, step

    def scan(
        self, walls: Walls, poses: Array, out: Ranges, boxes: Array | None = None, group: int = 1,
        lo: int = 0, hi: int | None = None,
    ) -> None:  # fmt: skip
        """Write the ranges (m) of the cars `lo`..`hi` - 1 into `out` (n, beams); releases the GIL.

        Args:
            walls: of the track.
            poses: (n, 3) C-contiguous x, y (m), yaw (rad) of the centres of mass, world.
            out: (n, beams) float32 or float64, C-contiguous. NaN where the pose is not finite.
            boxes: (n, 3) half length, half width, middle ahead of the centre of mass (m); needed if `group` > 1.
            group: so many consecutive cars see each other.
            lo: first car.
            hi: one past the last, default all.

        Raises:
            UsageError: arrays that do not fit together.
        """
        n, hi = len(poses), len(poses) if hi is None else hi
        if poses.shape != (n, 3) or out.shape != (n, len(self.angles)) or not 0 <= lo <= hi <= n:
            expected, got = f"(n, 3) and (n, {len(self.angles)})", f"{poses.shape} and {out.shape}, cars {lo} to {hi}"
            raise UsageError("arrays do not fit the scanner", where="Scanner.scan", expected=expected, got=got)
        if (boxes is None and group > 1) or (boxes is not None and boxes.shape != (n, 3)):
            got = "none" if boxes is None else str(boxes.shape)
            raise UsageError("boxes do not fit the cars", where="Scanner.scan", expected=f"({n}, 3)", got=got)
        scan(
            *walls.arrays, *self._beams, self.mount, self.limit, poses,
            poses if boxes is None else boxes, group, out, lo, hi,
        )  # fmt: skip
