"""Lines in the game, by the patch's debug lines: the plan (accelerate, brake, the way ahead), and those of a driver.

Source: protocol page assetto-custom-ai, section 2.6. The byte order of colours is not known. The plan's are the same in
both: opaque green, magenta, grey, white. A driver's have Direct3D's usual one: red lowest, alpha highest.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from trailbrake.arrays import Array
from trailbrake.errors import WireError
from trailbrake.planning.course import Course
from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.axes import assetto_from_iso
from trailbrake.simulator_tools import Doors
from trailbrake.state import CarState, Controls, DebugLine
from trailbrake.tracks.road import RoadColumn
from trailbrake.transport.shm import SharedMemory, SharedPage

WHITE, GREEN, MAGENTA, GREY = 0xFFFFFFFF, 0xFF00FF00, 0xFFFF00FF, 0xFF808080
PREVIEW_S = 2.0  # s ahead of the car that are drawn white
_PREVIEW_COUNT = 40
_DRAW_EVERY = 33  # samples between drawings: ten per second
_PLAN_HEIGHT = 0.15  # m above the road, so that the road does not hide the lines
_PREVIEW_HEIGHT = 0.3  # m
_COAST_LIMIT = 0.5  # m/s^2: a smaller acceleration counts as neither driving nor braking

DebugLines = list[codec.LineRecord]


def plan_lines(course: Course, max_lines: int = codec.MAX_DEBUG_LINES - _PREVIEW_COUNT) -> DebugLines:
    """Return the whole planned line in at most `most` pieces: green driving, magenta braking, grey in between."""
    line = course.line
    rows = len(line.table) + int(line.closed)
    corners = np.linspace(0, rows - 1, min(max_lines, rows - 1) + 1).round().astype(int) % len(line.table)
    places = line.table[:, [RoadColumn.X, RoadColumn.Y, RoadColumn.Z]][corners]
    acceleration = course.profile.acceleration[corners[:-1]]
    colours = np.where(
        acceleration > _COAST_LIMIT, GREEN, np.where(acceleration < -_COAST_LIMIT, MAGENTA, GREY)
    ).tolist()
    return _connect_points(places, _PLAN_HEIGHT, colours)


def preview_lines(course: Course, s: float, speed: float, car: tuple[float, float, float]) -> DebugLines:
    """Return the next PREVIEW_S of the line in white, from the car at `car` (m, world) on, which is at s (m) of it."""
    line = course.line
    ahead = s + np.linspace(0.0, max(speed * PREVIEW_S, 10.0), _PREVIEW_COUNT)
    places = line.points(ahead if line.closed else np.minimum(ahead, line.length))[:, :3]
    places[0] = car
    return _connect_points(places, _PREVIEW_HEIGHT, [WHITE] * (_PREVIEW_COUNT - 1))


def _connect_points(points: Array, height: float, colours: list[int]) -> DebugLines:
    corners = [assetto_from_iso((x, y, z + height)) for x, y, z in points.tolist()]
    return [codec.LineRecord(a, b, c) for a, b, c in zip(corners, corners[1:], colours, strict=False)]


class PlanDrawing:
    """A Tap that draws while the car drives, and removes the drawing at the end.

    Args:
        course: the course with its plan.
        doors: folder of the pages; None = the public names.
    """

    def __init__(self, course: Course, doors: Doors = None) -> None:
        self._course, self._writer = course, DebugLinesWriter(SharedMemory(doors))
        self._road_row, self._samples_left = -1, 0
        self._plan: DebugLines = []

    def start(self, about: dict[str, Any]) -> None:
        """Create the page and the lines of the whole plan."""
        self._plan = plan_lines(self._course)
        self._writer.write_lines(())

    def tick(self, state: CarState, controls: Controls) -> None:
        """Draw, ten times per second."""
        self._samples_left -= 1
        if self._samples_left > 0:
            return
        self._samples_left = _DRAW_EVERY
        line = self._course.line
        s, _, self._road_row = line.locate(state.x, state.y, self._road_row)
        self._writer.write_lines(preview_lines(self._course, s, state.speed, (state.x, state.y, state.z)) + self._plan)

    def close(self) -> None:
        """Remove the lines."""
        self._writer.close()


def encode_line(line: DebugLine) -> codec.LineRecord:
    """Return a line of the state in the wire's axes, opaque."""
    red, green, blue = line.color >> 16 & 0xFF, line.color >> 8 & 0xFF, line.color & 0xFF
    color = 0xFF000000 | blue << 16 | green << 8 | red
    return codec.LineRecord(assetto_from_iso(line.start), assetto_from_iso(line.end), color)


class DebugLinesWriter:
    """Writes lines beside those of other writers, opens the page with the first ones, and removes its own at the end.

    Args:
        memory: where the pages are.
    """

    def __init__(self, memory: SharedMemory) -> None:
        self._memory = memory
        self._page: SharedPage | None = None
        self._written: list[bytes] = []

    def write_lines(self, lines: Sequence[codec.LineRecord]) -> None:
        """Draw `lines` instead of this writer's last ones; none removes them. WireError above MAX_DEBUG_LINES.

        Where the lines of several writers fill the page, the newest writer gets half of it; the first lines stay.
        """
        mine = _split_lines(codec.encode_debug_lines(lines))
        if self._page is not None and not self._page.is_current():  # another program has removed it
            self._page.close()
            self._page = None
        if self._page is None:
            self._page = self._memory.create_page(spec.DEBUG_LINES, codec.DEBUG_SIZE)
        others = self._read_other_lines(mine)
        self._written = mine[: max(codec.MAX_DEBUG_LINES - len(others), codec.MAX_DEBUG_LINES // 2)]
        drawn = [*others[: codec.MAX_DEBUG_LINES - len(self._written)], *self._written]
        # The count last: a reader never counts lines that are not yet written.
        self._page.write(b"".join(drawn), codec.LINE_COUNT_SIZE)
        self._page.write(codec.encode_line_count(len(drawn)))

    def _read_other_lines(self, mine: list[bytes]) -> list[bytes]:
        """Return the lines on the page that are neither this writer's last ones nor among its next ones."""
        assert self._page is not None
        known = {*self._written, *mine}
        return [line for line in _split_lines(self._page.read(codec.DEBUG_SIZE)) if line not in known]

    def close(self) -> None:
        """Remove this writer's lines, and the page if it did not exist before and no other writer draws."""
        if self._page is not None:
            self.write_lines(())
            self._page.close(remove=self._page.created and not self._read_other_lines([]))
            self._page = None


def _split_lines(page: bytes) -> list[bytes]:
    """Return the single lines of a page, encoded; none where it cannot be read."""
    try:
        count = len(codec.decode_debug_lines(page))
    except WireError:
        return []
    starts = range(codec.LINE_COUNT_SIZE, codec.LINE_COUNT_SIZE + count * codec.LINE_SIZE, codec.LINE_SIZE)
    return [page[start : start + codec.LINE_SIZE] for start in starts]
