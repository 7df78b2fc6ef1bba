"""`DashCamera`: the view over the bonnet of a full-size car, for simulators whose wire has no camera."""

import math
from typing import Any

from trailbrake.tracks.road import Road
from trailbrake.world.pinhole_camera import PinholeCamera
from trailbrake.world.road_renderer import RoadRenderer

# Behind the windscreen at a driver's eye, level, with the view that games show by default. All estimates.
VERTICAL_FOV = math.radians(50.0)
FORWARD, ABOVE = 0.4, 1.2  # m, from the car's middle on the ground


class DashCamera:
    """Draws a road as a driver sees it: asphalt, lines, grass and sky on one level; no other cars, no walls.

    Args:
        road: the road.
        width, height: of the picture, pixels.
    """

    def __init__(self, road: Road, width: int, height: int) -> None:
        fov = 2.0 * math.atan(width / height * math.tan(0.5 * VERTICAL_FOV))
        camera = PinholeCamera(width=width, height=height, fov=fov, forward=FORWARD, above=ABOVE)
        self._renderer = RoadRenderer(road, camera)

    def render_frame(self, x: float, y: float, yaw: float) -> Any:
        """Return the picture (height, width, 3) uint8 RGB from a car at `x`, `y` (m) with heading `yaw` (rad)."""
        return self._renderer.render_frame(x, y, yaw)
