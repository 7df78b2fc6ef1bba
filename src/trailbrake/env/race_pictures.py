"""`RacePictures`: what an environment shows of itself: the road around the learner's car, and the whole road."""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.driving.world_view import encode_ppm, open_picture_window
from trailbrake.env.map_frames import HEIGHT, WIDTH, CarPlace, MapFrames
from trailbrake.errors import UsageError
from trailbrake.tracks.track import Track

MODES = ("rgb_array", "human")


def check_render_mode(mode: str | None, known: tuple[str, ...] = MODES) -> str | None:
    """Return `mode`; UsageError where it is neither None nor among the known ones."""
    if mode not in (None, *known):
        raise UsageError("no such pictures", where="render_mode", expected=f"None, {', '.join(known)}", got=repr(mode))
    return mode


class RaceView(NamedTuple):
    """An environment at a moment.

    Attributes:
        track: the road.
        time: s since the start of the episode.
        cars: the learner's first.
    """

    track: Track
    time: float
    cars: list[CarPlace]


class RacePictures:
    """Draws an environment; a new episode or another road begins a new map.

    Args:
        view_race: returns the environment as it is now.
    """

    def __init__(self, view_race: Callable[[], RaceView]) -> None:
        self._view_race = view_race
        self._frames: MapFrames | None = None
        self._track: Track | None = None
        self._time = 0.0
        self._window: tuple[Any, Any] | None = None
        self._has_no_window = False

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_window": None, "_frames": None}  # handles of the system

    def draw_picture(self) -> NDArray[np.uint8]:
        """Return the picture (480, 720, 3) uint8 of now."""
        view = self._view_race()
        if self._frames is None or view.track is not self._track or view.time < self._time:
            road = view.track.road
            self._frames, self._track = MapFrames(*road.edge_lines(), road.closed, view.track.name), view.track
        self._time = view.time
        return self._frames.draw_frame(view.time, view.cars)

    def show_picture(self) -> None:
        """Show now in a window; warn once where none can be opened, as on a machine without a screen."""
        if self._window is None and not self._has_no_window:
            try:
                self._window = open_picture_window("trailbrake", WIDTH, HEIGHT)
            except OSError as error:
                self._has_no_window = True
                warnings.warn(f'no window: {error}; render_mode="rgb_array" needs none', stacklevel=4)
        if self._window is not None:
            window, picture = self._window
            picture.configure(data=encode_ppm(self.draw_picture()), format="ppm")
            window.update()

    def close(self) -> None:
        """Close the window."""
        if self._window is not None:
            self._window[0].destroy()
            self._window = None
