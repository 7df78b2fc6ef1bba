"""Adds the pictures of a camera to the states of a link whose wire has none; the camera of a world in this process."""

from operator import attrgetter
from typing import TYPE_CHECKING, TypeAlias, cast

from trailbrake.errors import UsageError
from trailbrake.json_types import JsonObject
from trailbrake.roles import Link, Plant, RoadPlant
from trailbrake.state import CarState
from trailbrake.transport.capture.camera_option import CameraOption
from trailbrake.transport.capture.picture_scaling import CapturedImage

if TYPE_CHECKING:
    from trailbrake.transport.capture.live_camera import LiveCamera

EARLY_S = 1e-6  # s of simulator time by which a picture may come before it is due: times are sums of periods


class RenderedCamera:
    """The embedded world's view, for a world in this process: a picture whenever simulator time is due for one.

    The driver receives it as it receives a window's: compressed and at the camera's own rate, not the wire's.

    Args:
        plant: the world; its first car carries the camera.
        option: size and rate.

    Raises:
        UsageError: a world without a road of full size.
    """

    def __init__(self, plant: Plant, option: CameraOption) -> None:
        from trailbrake.world.road_renderer import DashCamera

        if not isinstance(plant, RoadPlant):
            raise UsageError("this world has no road to show", where="--camera world")
        self._plant, self._period = plant, 1.0 / option.rate
        self._camera = DashCamera(plant.track.road, option.width, option.height)
        self._picture: CapturedImage | None = None
        self._drawn_at = self._due_at = 0.0  # s of simulator time
        self._count = 0

    def find_picture(self, state: CarState) -> CapturedImage | None:
        """Return the newest picture at the simulator time of `state`."""
        now = state.time
        again = self._picture is None or now < self._drawn_at  # a restart
        if again or now >= self._due_at - EARLY_S:
            seen = self._plant.car_state(0)
            self._count += 1
            pixels = self._camera.render_frame(seen.x, seen.y, seen.yaw)
            self._picture = CapturedImage(pixels, self._count, now)
            self._drawn_at = now
            self._due_at = now + self._period if again else max(self._due_at + self._period, now)
        return self._picture

    def summarise_pictures(self) -> JsonObject:
        """Return how many pictures there were."""
        return {"pictures": self._count}

    def close(self) -> None:
        """Nothing to close."""


PictureSource: TypeAlias = "RenderedCamera | LiveCamera"


class _CameraLink:
    """A link whose states have pictures; `add_camera` makes it.

    Args:
        link: an open link.
        camera: where the pictures come from.
    """

    def __init__(self, link: Link, camera: PictureSource) -> None:
        self._wrapped, self._read_state = link, link.read
        self._find_picture = camera.find_picture
        self.SUPPLIES = link.SUPPLIES | {"image"}

    def read(self, now: float) -> CarState:
        """Return the newest sample, with the newest picture."""
        state = self._read_state(now)
        state.image = self._find_picture(state)
        return state


def add_camera(link: Link, camera: PictureSource) -> Link:
    """Return `link` with the pictures of `camera` in its states; every ability of the link stays.

    Args:
        link: an open link.
        camera: where the pictures come from.
    """
    # Abilities are protocols, and a protocol looks at the class: the wrapper's class has what the link has.
    names = [name for name in dir(link) if not name.startswith("_") and name not in ("read", "SUPPLIES")]
    kind = type("CameraLink", (_CameraLink,), {name: _forward_attribute(name) for name in names})
    return cast(Link, kind(link, camera))


def _forward_attribute(name: str) -> property:
    def write_attribute(link: _CameraLink, value: object) -> None:
        setattr(link._wrapped, name, value)

    return property(attrgetter(f"_wrapped.{name}"), write_attribute)
