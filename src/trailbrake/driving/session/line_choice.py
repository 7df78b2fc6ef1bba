"""Which line a driver gets: that of a file, a kept minimum-time line where the driver declares it, or its own."""

import base64
import hashlib
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from trailbrake.driving.spec import CarSpec
from trailbrake.errors import DataError, TrailbrakeError
from trailbrake.json_types import JsonObject
from trailbrake.planning.course import Course, has_plan
from trailbrake.planning.line_file import MAX_BYTES, cached_line_path, load_line_course
from trailbrake.roles import Driver, FollowsMinimumTimeLine, UsesKerbs
from trailbrake.user_files import read_user_file

OWN, MINIMUM_TIME, FROM_FILE = "own", "minimum time", "file"
MOST_PACKED = 4_000_000  # characters of a packed line


class ChosenLine(NamedTuple):
    """The line of a drive.

    Attributes:
        kind: OWN, MINIMUM_TIME or FROM_FILE.
        path: of the line's file; None for the driver's own.
        data: the file's content.
    """

    kind: str = OWN
    path: Path | None = None
    data: bytes = b""

    def describe(self) -> JsonObject:
        """Return what recordings and summaries say."""
        if self.path is None:
            return {"kind": self.kind}
        return {"kind": self.kind, "path": str(self.path), "sha256": hashlib.sha256(self.data).hexdigest()}


def choose_line(
    course: Course, driver: Driver, car: CarSpec, say: Callable[[str], None], packed: "tuple[str, str] | None" = None
) -> tuple[Course, ChosenLine]:
    """Return the course along the driver's line, and which line that is.

    Args:
        course: the road and the car, without a line.
        driver: of the first car, before its reset.
        car: what the user names.
        say: takes a line for a minimum-time line.
        packed: kind and content of the line of a drive that is driven again.

    Raises:
        TrailbrakeError: a line that is named cannot be used.
    """
    if packed is not None:
        followed = _follow_packed_line(course, *packed)
    elif not has_plan(course):
        followed = None
    elif car.line:
        followed = _follow_line(course, FROM_FILE, Path(car.line))
    else:
        followed = find_kept_line(course, driver, say) if car.cached_line else None
        if followed is not None:
            say("minimum-time line of `trailbrake line`; --no-cached-line plans without it")
    if followed is not None:
        return followed
    return course.with_kerbs() if isinstance(driver, UsesKerbs) and driver.uses_kerbs else course, ChosenLine()


def find_kept_line(course: Course, driver: Driver, say: Callable[[str], None]) -> tuple[Course, ChosenLine] | None:
    """Return the course along the minimum-time line that this machine keeps for it, if the driver follows that.

    Args:
        course: the road and the car.
        driver: who would follow it.
        say: takes a line for one that cannot be used: what is kept never prevents a drive.
    """
    wants = isinstance(driver, FollowsMinimumTimeLine) and driver.follows_minimum_time_line
    path = cached_line_path(course.track.road, course.known_car())
    if not (wants and path.is_file()):
        return None
    try:
        return _follow_line(course, MINIMUM_TIME, path)
    except TrailbrakeError as error:
        say(f"the cached line is not used: {error}")
        return None


def _follow_line(course: Course, kind: str, path: Path) -> tuple[Course, ChosenLine]:
    followed = load_line_course(path, course.track, course.known_car())
    return followed, ChosenLine(kind, path, read_user_file(path, "line", MAX_BYTES))


def _follow_packed_line(course: Course, kind: str, packed: str) -> tuple[Course, ChosenLine] | None:
    if kind == OWN:
        return None
    with tempfile.TemporaryDirectory(prefix="trailbrake-line-") as folder:
        path = Path(folder) / "line.csv"
        path.write_bytes(unpack_content(packed))
        return _follow_line(course, kind, path)


def pack_content(data: bytes) -> str:
    """Return the content of a file as text for a recording."""
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")


def unpack_content(text: str) -> bytes:
    """Return the content behind `pack_content`'s text; DataError if there is none."""
    try:
        if len(text) > MOST_PACKED:
            raise ValueError(f"{len(text)} characters")
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(base64.b64decode(text, validate=True), 8 * MOST_PACKED)
    except (ValueError, zlib.error) as error:
        raise DataError(f"no content of a file: {error}", where="inputs of the recording") from None
    return data
