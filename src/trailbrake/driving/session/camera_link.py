"""Adds the pictures of a camera to the states of a link whose wire has none."""

from operator import attrgetter
from typing import Protocol, cast

from trailbrake.json_types import JsonObject
from trailbrake.roles import Link
from trailbrake.state import CarState, Image


class PictureSource(Protocol):
    """A camera."""

    def find_picture(self, state: CarState) -> Image | None:
        """Return the newest picture for a state that has just been read; None while there is none."""

    def summarise_pictures(self) -> JsonObject:
        """Return figures for the drive's summary."""

    def close(self) -> None:
        """End it."""


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
