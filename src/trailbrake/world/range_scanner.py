"""`RangeScanner`: a planar lidar on any number of cars, with ranges to walls and other cars."""

import math
from typing import Any, NamedTuple

import numpy as np

from trailbrake.arrays import Array
from trailbrake.errors import UsageError
from trailbrake.kernels import internal_jit, jit
from trailbrake.tracks.ray_grid import CellLists, SegmentGrid
from trailbrake.tracks.walls import Walls
from trailbrake.world.wall_rays import BeamFan, Ranges, SensorPose, scan_walls

_TURN = 2.0 * math.pi
_MARGIN = 3e-5  # rad, more than the error of `approximate_bearing`


@internal_jit
def approximate_bearing(x: float, y: float) -> float:
    """Return atan2(y, x) to 1e-5 rad: 4.4.49 of M. Abramowitz, I. A. Stegun, Handbook of Mathematical Functions.

    It is much cheaper than the exact function, and enough to choose the beams that may hit a box.
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


class BoxPose(NamedTuple):
    """The box of a car in the frame of a sensor.

    Attributes:
        x: m, of the car's centre of mass.
        y: m.
        yaw: rad, of the car.
        ahead: m, middle of the box ahead of the centre of mass.
        half_length: m.
        half_width: m.
    """

    x: float
    y: float
    yaw: float
    ahead: float
    half_length: float
    half_width: float


class CarBoxes(NamedTuple):
    """Poses and boxes of the cars that carry a scanner.

    Attributes:
        poses: (n, 3) x, y (m) and yaw (rad) of the centres of mass, world.
        boxes: (n, 3) half length, half width and the middle's distance ahead of the centre of mass, m.
        group_size: number of consecutive cars that see each other; 1: none.
    """

    poses: Array
    boxes: Array
    group_size: int


@internal_jit
def scan_box(box: BoxPose, fan: BeamFan, out: Ranges) -> None:
    """Shorten the ranges of the beams that hit a box; 0 for all beams if the sensor is inside it.

    Args:
        box: in the frame of the sensor.
        fan: the beams.
        out: (beams,) changed, m.
    """
    x, y, yaw, ahead, half_length, half_width = box
    cosine, sine, first, step = fan.cosine, fan.sine, fan.first, fan.step
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
    lower = (approximate_bearing(ax, ay) - _MARGIN - first) * turn
    upper = (approximate_bearing(bx, by) + _MARGIN - first) * turn
    if upper < lower:
        upper += 1.0
    period = _TURN / step
    upper = (upper - math.floor(lower)) * period
    lower = (lower - math.floor(lower)) * period
    for _ in range(2):
        lo = max(0, int(np.ceil(lower)))
        hi = min(n - 1, int(np.floor(upper)))
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
def scan_cars(walls: Walls, fan: BeamFan, mount: Array, cars: CarBoxes, out: Ranges, lo: int, hi: int) -> None:
    """Scan from the cars `lo`..`hi` - 1; several threads may each scan a part of the cars.

    Args:
        walls: of the track.
        fan: the beams.
        mount: (3,) x, y (m) and yaw (rad) of the sensor in the body frame.
        cars: their poses and boxes.
        out: (n, beams) written, m; NaN where the pose is not finite.
        lo: first car.
        hi: one past the last car.
    """
    poses, boxes, group_size = cars
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
        scan_walls(walls, fan, SensorPose(x, y, c, s), line)
        if group_size <= 1:
            continue
        begin = car // group_size * group_size
        for other in range(begin, min(begin + group_size, poses.shape[0])):
            gx, gy = poses[other, 0] - x, poses[other, 1] - y
            far = fan.max_range + boxes[other, 0] + boxes[other, 1] + abs(boxes[other, 2])
            if other != car and gx * gx + gy * gy < far * far and abs(poses[other, 2]) < math.inf:
                yaw = poses[other, 2] - poses[car, 2] - mount[2]
                box = BoxPose(c * gx + s * gy, c * gy - s * gx, yaw, boxes[other, 2], boxes[other, 0], boxes[other, 1])
                scan_box(box, fan, line)


@jit
def scan_arrays(
    walls: tuple[Any, ...], fan: tuple[Any, ...], mount: Array, cars: tuple[Any, ...], out: Ranges, lo: int, hi: int
) -> None:
    """Call `scan_cars` with plain tuples: from Python they cost a third of what NamedTuples cost.

    Args:
        walls: `Walls.kernel_arrays`.
        fan: the values of a `BeamFan`.
        mount: as in `scan_cars`.
        cars: the values of `CarBoxes`.
        out: as in `scan_cars`.
        lo: first car.
        hi: one past the last car.
    """
    sections, links, segments, frame, free, starts, items, quad_starts, quad_items = walls
    grid, quads = SegmentGrid(segments, frame, free, starts, items), CellLists(quad_starts, quad_items)
    scan_cars(Walls(sections, links, grid, quads), BeamFan(*fan), mount, CarBoxes(*cars), out, lo, hi)


class RangeScanner:
    """A planar range scanner (lidar), mounted alike on all cars.

    Args:
        beams: number of beams, at least 1.
        field_of_view: rad, in (0, 2 pi]. Beams are spread evenly from its right end to its left end, both included;
            with 2 pi they are 2 pi / beams apart and the first points backwards. A single beam points ahead.
        max_range: m, the range of a beam that hits nothing.
        x: m, sensor ahead of the centre of mass.
        y: m, sensor left of it.
        yaw: rad, of the sensor's axis, positive to the left.

    Attributes:
        angles: (beams,) directions in the sensor frame, rad, ascending.
        max_range: m.
        mount: (3,) x, y, yaw.

    Raises:
        UsageError: a value out of its range.
    """

    def __init__(
        self, beams: int, field_of_view: float, max_range: float, x: float = 0.0, y: float = 0.0, yaw: float = 0.0
    ) -> None:
        if beams < 1:
            raise UsageError("no beams", where="RangeScanner.beams", expected=">= 1", got=str(beams))
        if not 0.0 < field_of_view <= _TURN + 1e-9:
            raise UsageError(
                "no such field of view",
                where="RangeScanner.field_of_view",
                expected="0..2 pi rad",
                got=f"{field_of_view:g}",
            )
        if not 0.0 < max_range < math.inf:
            raise UsageError(
                "no such range", where="RangeScanner.max_range", expected="> 0 m, finite", got=f"{max_range:g}"
            )
        if not all(math.isfinite(value) for value in (x, y, yaw)):
            raise UsageError(
                "the mount is not finite", where="RangeScanner", expected="finite x, y, yaw", got=f"{x:g} {y:g} {yaw:g}"
            )
        first = -0.5 * field_of_view
        if beams == 1:
            first, step = 0.0, _TURN
        elif field_of_view >= _TURN - 1e-9:
            first, step = -math.pi, _TURN / beams
        else:
            step = field_of_view / (beams - 1)
        self.angles: Array = first + step * np.arange(beams, dtype=np.float64)
        self.max_range = float(max_range)
        self.mount: Array = np.array([x, y, yaw], np.float64)
        round_ = np.tile(self.angles, 2) if beams * step > _TURN - 1e-9 else self.angles
        self._walls: tuple[Walls | None, tuple[Any, ...]] = None, ()  # the last ones, and their arrays
        self.fan = BeamFan(np.cos(round_), np.sin(round_), first, step, self.max_range)

    def scan_cars(
        self, walls: Walls, poses: Array, out: Ranges, boxes: Array | None = None, group: int = 1,
        lo: int = 0, hi: int | None = None,
    ) -> None:  # fmt: skip
        """Write the ranges (m) of the cars `lo`..`hi` - 1 into `out` (n, beams); releases the GIL.

        Args:
            walls: of the track.
            poses: (n, 3) C-contiguous x, y (m), yaw (rad) of the centres of mass, world.
            out: (n, beams) float32 or float64, C-contiguous. NaN where the pose is not finite.
            boxes: (n, 3) half length, half width, middle ahead of the centre of mass (m); needed if `group` > 1.
            group: number of consecutive cars that see each other.
            lo: first car.
            hi: one past the last car; by default all.

        Raises:
            UsageError: arrays whose shapes do not match.
        """
        n, hi = len(poses), len(poses) if hi is None else hi
        if poses.shape != (n, 3) or out.shape != (n, len(self.angles)) or not 0 <= lo <= hi <= n:
            expected, got = f"(n, 3) and (n, {len(self.angles)})", f"{poses.shape} and {out.shape}, cars {lo} to {hi}"
            raise UsageError(
                "arrays do not fit the scanner", where="RangeScanner.scan_cars", expected=expected, got=got
            )
        if (boxes is None and group > 1) or (boxes is not None and boxes.shape != (n, 3)):
            got = "none" if boxes is None else str(boxes.shape)
            raise UsageError("boxes do not fit the cars", where="RangeScanner.scan_cars", expected=f"({n}, 3)", got=got)
        cars = poses, poses if boxes is None else boxes, group
        if self._walls[0] is not walls:
            self._walls = walls, walls.kernel_arrays
        scan_arrays(self._walls[1], tuple(self.fan), self.mount, cars, out, lo, hi)
