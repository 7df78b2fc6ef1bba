"""`PinholeCamera`: a camera on a car, and `View`: where it is and how it projects, as kernels take it.

The camera frame of a picture: columns count to the right, rows count down, and pixel (0, 0) is the upper left one.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from trailbrake.errors import UsageError
from trailbrake.world.miniature.parked_cars import CAR_LENGTH

WIDTH, HEIGHT = 320, 240
FOCAL_LENGTH = 274.5  # pixels at that size (protocol page formula-trend, section 5)
CAMERA_HEIGHT = 0.05  # m above the ground
_SMALLEST, _LARGEST = 8, 4096  # pixels


class View(NamedTuple):
    """A level camera in the world.

    Attributes:
        x, y: m, world.
        cos, sin: of the camera's heading.
        height: m above the ground.
        focal_length: pixels.
        column, row: of the principal point, pixels; `row` is the horizon's, too.
    """

    x: float
    y: float
    cos: float
    sin: float
    height: float
    focal_length: float
    column: float
    row: float


@dataclass(frozen=True, kw_only=True)
class PinholeCamera:
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
    fov: float = 2.0 * math.atan(0.5 * WIDTH / FOCAL_LENGTH)
    forward: float = 0.5 * CAR_LENGTH
    left: float = 0.0
    above: float = CAMERA_HEIGHT
    yaw: float = 0.0
    pitch: float = 0.0
    roll: float = 0.0

    def __post_init__(self) -> None:
        for name, value in (("width", self.width), ("height", self.height)):
            if not _SMALLEST <= value <= _LARGEST:
                raise UsageError("no such picture", where=f"camera.{name}", expected=f"{_SMALLEST} .. {_LARGEST}",
                                 got=str(value))  # fmt: skip
        if not 0.05 < self.fov < 2.8:
            raise UsageError(
                "field of view out of range", where="camera.fov", expected="0.05 .. 2.8 rad", got=f"{self.fov:g}"
            )
        if self.roll or not abs(self.pitch) < 1.5:
            raise UsageError("pitch or roll out of range", where="camera.pitch, camera.roll",
                             expected="-1.5 .. 1.5 rad and 0", got=f"{self.pitch:g}, {self.roll:g}")  # fmt: skip
        if not (math.isfinite(self.forward + self.left + self.yaw) and self.above > 0.0):
            raise UsageError("no such place for a camera", where="camera", expected="above > 0 m", got=repr(self))

    @property
    def focal_length(self) -> float:
        """Focal length, pixels."""
        return 0.5 * self.width / math.tan(0.5 * self.fov)

    def view_from(self, x: float, y: float, yaw: float) -> View:
        """Return the view from a car at `x`, `y` (m, world) with heading `yaw` (rad)."""
        cos, sin = math.cos(yaw), math.sin(yaw)
        return View(
            x=x + self.forward * cos - self.left * sin,
            y=y + self.forward * sin + self.left * cos,
            cos=math.cos(yaw + self.yaw),
            sin=math.sin(yaw + self.yaw),
            height=self.above,
            focal_length=self.focal_length,
            column=0.5 * (self.width - 1),
            row=0.5 * (self.height - 1),
        )
