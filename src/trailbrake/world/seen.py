"""`SeenWorld`: the embedded world with a camera on its first car."""

from collections.abc import Sequence
from typing import Any

from trailbrake.cars.params import CarParams
from trailbrake.state import CarState, Image
from trailbrake.tracks.track import Track
from trailbrake.world.camera.open_road import RoadRenderer
from trailbrake.world.camera.view import Camera
from trailbrake.world.plant import PERIOD, World


class SeenWorld(World):
    """A World whose first car carries a camera. Pictures are drawn when somebody looks at them.

    Args:
        track: where.
        cars: as in World.
        seed: as in World.
        period: as in World.
        camera: what `aim` takes.
    """

    def __init__(
        self,
        track: Track,
        cars: Sequence[CarParams],
        seed: int = 0,
        period: float = PERIOD,
        camera: dict[str, Any] | None = None,
    ) -> None:
        self._renderer = RoadRenderer(track.road, Camera(**(camera or {})))
        super().__init__(track, cars, seed, period)

    def aim(self, camera: dict[str, Any]) -> None:
        """Change the camera: fields of `view.Camera` by name, the others as they are by default; UsageError."""
        self._renderer.camera = Camera(**camera)

    def state(self, car: int) -> CarState:
        """Return a fresh CarState; the first car's has a picture."""
        state = super().state(car)
        if car == 0:
            renderer, x, y, yaw = self._renderer, state.x, state.y, state.yaw
            state.image = Image(b"", lambda _: renderer.frame(x, y, yaw))
        return state
