"""`CameraWorld`: the embedded world with a camera on its first car."""

from collections.abc import Sequence
from typing import Any

from trailbrake.cars.params import CarParams
from trailbrake.state import CarState, Image
from trailbrake.tracks.track import Track
from trailbrake.world.conditions import WorldConditions
from trailbrake.world.pinhole_camera import PinholeCamera
from trailbrake.world.plant import PERIOD, UNCHANGED, World
from trailbrake.world.road_renderer import RoadRenderer


class CameraWorld(World):
    """A World whose first car carries a camera. A picture is rendered when its pixels are read.

    Args:
        track: the track.
        cars: as in World.
        seed: as in World.
        period: as in World.
        camera: as in `set_camera`.
        conditions: as in World.
    """

    def __init__(
        self,
        track: Track,
        cars: Sequence[CarParams],
        seed: int = 0,
        period: float = PERIOD,
        camera: dict[str, Any] | None = None,
        *,
        conditions: WorldConditions = UNCHANGED,
    ) -> None:
        self._renderer = RoadRenderer(track.road, PinholeCamera(**(camera or {})))
        super().__init__(track, cars, seed, period, conditions=conditions)

    def set_camera(self, camera: dict[str, Any]) -> None:
        """Replace the camera.

        Args:
            camera: fields of `pinhole_camera.PinholeCamera` by name; the others take the defaults
                of that class, which are the miniature car's: 5 cm above the ground.

        Raises:
            UsageError: a value out of its range.
        """
        self._renderer.camera = PinholeCamera(**camera)

    def car_state(self, car: int) -> CarState:
        """Return a fresh CarState; the first car's has a picture."""
        state = super().car_state(car)
        if car == 0:
            renderer, x, y, yaw = self._renderer, state.x, state.y, state.yaw
            # No encoded bytes: the picture is rendered when its pixels are first read.
            state.image = Image(b"", lambda _: renderer.render_frame(x, y, yaw))
        return state
