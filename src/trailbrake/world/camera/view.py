"""`Camera` and `Renderer`: pictures of a scene from the poses of cars, many at a time."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import UsageError
from trailbrake.kernels import jit
from trailbrake.tracks.miniature.obstacles import CAR_LENGTH
from trailbrake.world.camera.boards import draw_quad, draw_walls, sort_by_depth, walls_by_column
from trailbrake.world.camera.look import BLOCK
from trailbrake.world.camera.road import draw_ground, ground_rows
from trailbrake.world.camera.scene import Scene

Array = NDArray[np.float64]
Shorts = NDArray[np.int16]
Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]

WIDTH, HEIGHT = 320, 240
FOCAL = 274.5  # pixels at that size (protocol page formula-trend, section 5)
ABOVE = 0.05  # m over the ground
_SMALLEST, _LARGEST = 8, 4096  # pixels


@dataclass(frozen=True, kw_only=True)
class Camera:
    """A pinhole camera on a car: the principal point is the middle of the picture.

    Attributes:
        width, height: pixels.
        fov: horizontal field of view, rad.
        forward, left, above: place, m from the car's middle on the ground; the default is the middle of the bumper.
        yaw: rad, to the left of straight ahead.
        pitch: rad, positive down; between walls only 0 can be drawn.
        roll: rad; only 0 can be drawn.
    """

    width: int = WIDTH
    height: int = HEIGHT
    fov: float = 2.0 * math.atan(0.5 * WIDTH / FOCAL)
    forward: float = 0.5 * CAR_LENGTH
    left: float = 0.0
    above: float = ABOVE
    yaw: float = 0.0
    pitch: float = 0.0
    roll: float = 0.0

    def __post_init__(self) -> None:
        for name, value in (("width", self.width), ("height", self.height)):
            if not _SMALLEST <= value <= _LARGEST:
                raise UsageError("no such picture", where=f"camera.{name}", expected=f"{_SMALLEST} .. {_LARGEST}",
                                 got=str(value))  # fmt: skip
        if not 0.05 < self.fov < 2.8:
            raise UsageError("no such lens", where="camera.fov", expected="0.05 .. 2.8 rad", got=f"{self.fov:g}")
        if self.roll or not abs(self.pitch) < 1.5:
            raise UsageError("no camera hangs so", where="camera.pitch, camera.roll", expected="-1.5 .. 1.5 rad and 0",
                             got=f"{self.pitch:g}, {self.roll:g}")  # fmt: skip
        if not (math.isfinite(self.forward + self.left + self.yaw) and self.above > 0.0):
            raise UsageError("no such place for a camera", where="camera", expected="above > 0 m", got=repr(self))

    @property
    def focal(self) -> float:
        """Focal length, pixels."""
        return 0.5 * self.width / math.tan(0.5 * self.fov)


class Renderer:
    """Draws a scene through a camera.

    Args:
        scene: what is there.
        camera: None for the car's own.

    Raises:
        UsageError: a camera that looks over the walls, behind which nothing is drawn, or up or down.
    """

    def __init__(self, scene: Scene, camera: Camera | None = None) -> None:
        self.scene, self.camera = scene, camera or Camera()
        camera = self.camera
        if camera.pitch:
            raise UsageError("the camera is level", where="camera.pitch", expected="0", got=f"{camera.pitch:g}",
                             hint="change height or field of view")  # fmt: skip
        if not camera.above < scene.wall_height:
            raise UsageError("the camera looks over the walls", where="camera.above",
                             expected=f"less than {scene.wall_height:g} m", got=f"{camera.above:g} m")  # fmt: skip
        self._lens = np.array([camera.focal, 0.5 * (camera.width - 1), 0.5 * (camera.height - 1)])
        self._mount = np.array([camera.forward, camera.left, camera.yaw, camera.above])
        self._sky = self._painted_sky()

    def _painted_sky(self) -> Bytes:
        # The upper part of the picture, flat: it is the same in every frame.
        rows = np.arange(math.floor(self._lens[2]) + 1)
        rise = (self._lens[2] - rows) / self._lens[0]
        table = self.scene.sky_rows[::-1]
        colours = [np.interp(rise, table, self.scene.sky[::-1, channel]) for channel in range(3)]
        sky = np.rint(np.column_stack(colours)).astype(np.uint8)
        return np.ascontiguousarray(np.repeat(sky[:, None, :], self.camera.width, axis=1)).reshape(-1)

    def frames(self, poses: Array, out: Bytes | None = None) -> Bytes:
        """Return pictures (n, height, width, 3) uint8 RGB of cars at `poses` (n, 3) x, y (m) and heading (rad).

        Safe from several threads at once. `out`: an array to draw into, C-contiguous.
        """
        poses = np.ascontiguousarray(poses, np.float64)
        camera, scene = self.camera, self.scene
        shape = (len(poses), camera.height, camera.width, 3)
        if out is None:
            out = np.empty(shape, np.uint8)
        if poses.ndim != 2 or poses.shape[1] != 3 or out.shape != shape or not out.flags.c_contiguous:
            raise ValueError(f"Renderer.frames: expected poses (n, 3) and out {shape}, got {poses.shape}, {out.shape}")
        ground, paint = scene.ground, scene.paint
        _frames(
            poses, self._mount, self._lens, camera.width, camera.height, ground.left, ground.right, ground.near,
            ground.corner, paint.lanes, paint.same, paint.plain, paint.solid, self._sky,
            scene.walls, scene.wall_height, scene.wall_colours, scene.chevron,
            scene.chevron_colour, scene.quads, scene.arts, scene.colours, np.empty(camera.width),
            np.empty(camera.width, np.int64), np.empty(-(-camera.width // BLOCK), np.int64),
            np.empty(len(scene.quads), np.int64), np.empty(len(scene.quads)), np.empty(5),
            out.reshape(len(poses), -1),
        )  # fmt: skip
        return out

    def frame(self, x: float, y: float, yaw: float) -> Bytes:
        """Return the picture (height, width, 3) of a car at x, y (m) and yaw (rad)."""
        picture: Bytes = self.frames(np.array([[x, y, yaw]]))[0]
        return picture


@jit
def _frames(
    poses: Array, mount: Array, lens: Array, width: int, height: int, left: Array, right: Array, near: Shorts,
    corner: Array, lanes: Bytes, same: Shorts, plain: Bytes, solid: Bytes, sky: Bytes,
    walls: Array, tall: float, wall_colours: Bytes, chevron: Array,
    chevron_colour: Bytes, quads: Array, arts: Bytes, colours: Bytes, nearness: Array, kind: Ints, first: Ints,
    order: Ints, depth: Array, eye: Array, out: Bytes,
) -> None:  # fmt: skip
    for i in range(poses.shape[0]):
        cos, sin = math.cos(poses[i, 2]), math.sin(poses[i, 2])
        eye[0] = poses[i, 0] + mount[0] * cos - mount[1] * sin
        eye[1] = poses[i, 1] + mount[0] * sin + mount[1] * cos
        eye[2], eye[3] = math.cos(poses[i, 2] + mount[2]), math.sin(poses[i, 2] + mount[2])
        eye[4] = mount[3]
        picture = out[i]
        for k in range(sky.shape[0]):
            picture[k] = sky[k]
        walls_by_column(walls, eye, lens, nearness, kind)
        ground_rows(height, eye, lens, nearness, first)
        draw_ground(
            picture,
            width,
            height,
            left,
            right,
            near,
            corner,
            lanes,
            same,
            plain,
            solid,
            chevron,
            chevron_colour,
            eye,
            lens,
            first,
        )
        draw_walls(picture, height, tall, wall_colours, eye, lens, nearness, kind)
        count = sort_by_depth(quads, eye, order, depth)
        for k in range(count):
            draw_quad(picture, height, tall, quads, order[k], arts, colours, eye, lens, nearness)
