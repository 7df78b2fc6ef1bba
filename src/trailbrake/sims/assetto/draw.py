"""Draws the plan in the game, by the patch's debug lines: where to be quick, where to brake, what is ahead now.

Source: protocol page assetto-custom-ai, section 2.6. The order of the colours' bytes is not known, so only colours
are used that read alike both ways: opaque green, magenta, grey and white.
"""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.frames import assetto_from_iso
from trailbrake.planning.course import Course
from trailbrake.sims.assetto import codec, spec
from trailbrake.state import CarState, Controls
from trailbrake.tracks.frenet import locate
from trailbrake.tracks.road import Column
from trailbrake.transport.shm import Page, SharedMemory

WHITE, GREEN, MAGENTA, GREY = 0xFFFFFFFF, 0xFF00FF00, 0xFFFF00FF, 0xFF808080
PREVIEW_S = 2.0  # s ahead of the car that are drawn white
_PREVIEW_LINES = 40
_EVERY = 33  # samples between drawings: ten a second
_ABOVE = 0.15  # m above the road, so that it does not hide the lines
_PREVIEW_ABOVE = 0.3  # m
_GENTLE = 0.5  # m/s^2: less than this is neither drive nor brake

Array = NDArray[np.float64]
Lines = list[codec.DebugLine]


def plan_lines(course: Course, most: int = codec.DEBUG_MOST - _PREVIEW_LINES) -> Lines:
    """Return the whole planned line in at most `most` pieces: green driving, magenta braking, grey in between."""
    line = course.line
    rows = len(line.table) + int(line.closed)
    corners = np.linspace(0, rows - 1, min(most, rows - 1) + 1).round().astype(int) % len(line.table)
    places = line.table[:, [Column.X, Column.Y, Column.Z]][corners]
    acceleration = course.profile.acceleration[corners[:-1]]
    colours = np.where(acceleration > _GENTLE, GREEN, np.where(acceleration < -_GENTLE, MAGENTA, GREY)).tolist()
    return _joined(places, _ABOVE, colours)


def preview_lines(course: Course, s: float, speed: float, car: tuple[float, float, float]) -> Lines:
    """Return the next PREVIEW_S of the line in white, from the car at `car` (m, world) on, which is at s (m) of it."""
    line = course.line
    ahead = s + np.linspace(0.0, max(speed * PREVIEW_S, 10.0), _PREVIEW_LINES)
    places = line.points(ahead if line.closed else np.minimum(ahead, line.length))[:, :3]
    places[0] = car
    return _joined(places, _PREVIEW_ABOVE, [WHITE] * (_PREVIEW_LINES - 1))


def _joined(places: Array, above: float, colours: list[int]) -> Lines:
    corners = [assetto_from_iso((x, y, z + above)) for x, y, z in places.tolist()]
    return [codec.DebugLine(a, b, c) for a, b, c in zip(corners, corners[1:], colours, strict=False)]


class Drawing:
    """A Tap that draws while the car drives, and wipes it all away at the end.

    Args:
        course: with the plan.
        doors: where the pages are; None = the public names.
    """

    def __init__(self, course: Course, doors: "str | os.PathLike[str] | None" = None) -> None:
        self._course, self._memory = course, SharedMemory(doors)
        self._page: Page | None = None
        self._row, self._left = -1, 0
        self._plan: Lines = []

    def start(self, about: dict[str, Any]) -> None:
        """Make the page and the lines that stay."""
        self._plan = plan_lines(self._course)
        self._page = self._memory.create(spec.DEBUG_LINES, codec.DEBUG_SIZE)

    def tick(self, state: CarState, controls: Controls) -> None:
        """Draw ten times a second."""
        self._left -= 1
        if self._left > 0 or self._page is None:
            return
        self._left = _EVERY
        line = self._course.line
        s, _, self._row = locate(line.table, line.spacing, line.closed, state.x, state.y, self._row)
        self._store(self._plan + preview_lines(self._course, s, state.speed, (state.x, state.y, state.z)))

    def _store(self, lines: Lines) -> None:
        assert self._page is not None
        data = codec.encode_debug_lines(lines)
        # The lines first and their count last: a reader never counts lines that are not there yet.
        self._page.write(data[4:], 4)
        self._page.write(data[:4])

    def close(self) -> None:
        """Wipe the lines away."""
        if self._page is not None:
            self._store([])
            self._page.close(remove=self._page.created)
            self._page = None
