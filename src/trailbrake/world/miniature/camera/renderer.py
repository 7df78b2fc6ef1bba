"""`Renderer`: pictures of a scene from the poses of cars, many at a time."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from trailbrake.arrays import Array, Bytes, Ints
from trailbrake.errors import UsageError
from trailbrake.kernels import bind_entry, jit
from trailbrake.world.miniature.camera.ground_kernels import draw_ground, first_ground_rows
from trailbrake.world.miniature.camera.scene import Picture, Scene
from trailbrake.world.miniature.camera.track_look import BLOCK_PIXELS
from trailbrake.world.miniature.camera.upright_kernels import (
    WallHits,
    draw_board,
    draw_walls,
    project_walls,
    sort_boards,
)
from trailbrake.world.pinhole_camera import PinholeCamera, View


class MountedCamera(NamedTuple):
    """A camera on a car, as `_draw_frames` takes it.

    Attributes:
        mount: the view from a car at x = y = 0 with heading 0.
        yaw: rad, of the camera, to the left of straight ahead.
        width, height: pixels.
        sky: the picture down to the horizon, flat; the same in every frame.
    """

    mount: View
    yaw: float
    width: int
    height: int
    sky: Bytes


class Scratch(NamedTuple):
    """Arrays for the time of a call.

    Attributes:
        hits: the walls.
        first_rows: (blocks,) as in `first_ground_rows`.
        order, depth: (boards,) as in `sort_boards`.
    """

    hits: WallHits
    first_rows: Ints
    order: Ints
    depth: Array


class Renderer:
    """Draws a scene through a camera.

    Args:
        scene: what to draw.
        camera: None for the car's own.

    Raises:
        UsageError: a camera above the walls, behind which nothing is drawn, or one that is not level.
    """

    def __init__(self, scene: Scene, camera: PinholeCamera | None = None) -> None:
        self.scene, self.camera = scene, camera or PinholeCamera()
        camera = self.camera
        if camera.pitch:
            raise UsageError("the camera is level", where="camera.pitch", expected="0", got=f"{camera.pitch:g}",
                             hint="change height or field of view")  # fmt: skip
        if not camera.above < scene.walls.height:
            raise UsageError("the camera looks over the walls", where="camera.above",
                             expected=f"less than {scene.walls.height:g} m", got=f"{camera.above:g} m")  # fmt: skip
        self._camera = MountedCamera(
            camera.view_from(0.0, 0.0, 0.0), float(camera.yaw), int(camera.width), int(camera.height), self._paint_sky()
        )

    def _paint_sky(self) -> Bytes:
        camera, scene = self.camera, self.scene
        horizon = 0.5 * (camera.height - 1)
        rise = (horizon - np.arange(math.floor(horizon) + 1)) / camera.focal_length
        table = scene.sky_tangents[::-1]
        colours = [np.interp(rise, table, scene.sky_colours[::-1, channel]) for channel in range(3)]
        sky = np.rint(np.column_stack(colours)).astype(np.uint8)
        return np.ascontiguousarray(np.repeat(sky[:, None, :], camera.width, axis=1)).reshape(-1)

    def render_frames(self, poses: Array, out: Bytes | None = None) -> Bytes:
        """Return the pictures (n, height, width, 3) uint8 RGB of cars at `poses`.

        Safe from several threads at once.

        Args:
            poses: (n, 3) x, y (m) and heading (rad) of the cars.
            out: the array to draw into, C-contiguous; None for a new one.

        Raises:
            ValueError: arrays of another shape or type.
        """
        poses = np.ascontiguousarray(poses, np.float64)
        camera, boards = self.camera, len(self.scene.boards.rows)
        shape = (len(poses), camera.height, camera.width, 3)
        if out is None:
            out = np.empty(shape, np.uint8)
        fits = out.shape == shape and out.dtype == np.uint8 and out.flags.c_contiguous and out.flags.writeable
        if poses.ndim != 2 or poses.shape[1] != 3 or not fits:
            got = f"{poses.shape}, {out.shape}"
            raise ValueError(f"Renderer.render_frames: expected poses (n, 3) and out {shape}, got {got}")
        scratch = Scratch(
            WallHits(np.empty(camera.width), np.empty(camera.width, np.int64)),
            np.empty(-(-camera.width // BLOCK_PIXELS), np.int64),
            np.empty(boards, np.int64),
            np.empty(boards),
        )
        flat = out.reshape(len(poses), -1)
        _compiled_draw_frames(self.scene, self._camera, scratch)(self.scene, self._camera, scratch, poses, flat)
        return out

    def render_frame(self, x: float, y: float, yaw: float) -> Bytes:
        """Return the picture (height, width, 3) uint8 RGB of a car at `x`, `y` (m) with heading `yaw` (rad)."""
        picture: Bytes = self.render_frames(np.array([[x, y, yaw]]))[0]
        return picture


@jit
def _draw_frames(scene: Scene, camera: MountedCamera, scratch: Scratch, poses: Array, out: Bytes) -> None:
    # Draw the picture of each of `poses` (n, 3) into its row of `out` (n, height * width * 3).
    mount, width, height, sky, hits = camera.mount, camera.width, camera.height, camera.sky, scratch.hits
    for i in range(poses.shape[0]):
        cos, sin = math.cos(poses[i, 2]), math.sin(poses[i, 2])
        view = View(
            poses[i, 0] + mount.x * cos - mount.y * sin,
            poses[i, 1] + mount.x * sin + mount.y * cos,
            math.cos(poses[i, 2] + camera.yaw),
            math.sin(poses[i, 2] + camera.yaw),
            mount.height,
            mount.focal_length,
            mount.column,
            mount.row,
        )
        pixels = out[i]
        for k in range(sky.shape[0]):
            pixels[k] = sky[k]
        picture = Picture(pixels, width, height)
        project_walls(scene.walls.segments, view, hits)
        first_ground_rows(height, view, hits.nearness, scratch.first_rows)
        draw_ground(picture, scene, view, scratch.first_rows)
        draw_walls(picture, scene.walls, view, hits)
        count = sort_boards(scene.boards.rows, view, scratch.order, scratch.depth)
        for k in range(count):
            draw_board(picture, scene, scratch.order[k], view, hits.nearness)


_entry: list[Callable[..., Any]] = []


def _compiled_draw_frames(scene: Scene, camera: MountedCamera, scratch: Scratch) -> Callable[..., Any]:
    # The compiled `_draw_frames`, bound to the types of its arguments, which are the same for all renderers.
    if not _entry:
        poses, out = np.empty((0, 3)), np.empty((0, 3 * camera.width * camera.height), np.uint8)
        _entry.append(bind_entry(_draw_frames, scene, camera, scratch, poses, out))
    return _entry[0]
