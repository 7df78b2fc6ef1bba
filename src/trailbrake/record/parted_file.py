"""A recording in several files of limited length, each of which opens by itself.

A file ends at the end of a lap once it is full, or a tenth later. The next one is NAME_part2.mcap, and so on; the road,
the plan and the description of the drive are in each, ticks are counted through all of them. Beyond a number of files,
the oldest is deleted, but for the first: by its name the whole is read (`scan_recording`).
"""

import io
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from trailbrake.errors import DataError, TrailbrakeError, UsageError
from trailbrake.record.file_names import create_file
from trailbrake.record.format import ABOUT, LAP, MAP, MESSAGE_HEAD, PART_KEY, PLAN, RECORD_HEAD, WIRE, Topic
from trailbrake.record.mcap_file import Chunk, McapFile, make_message_chunk
from trailbrake.record.mcap_scan import McapIndex, scan_file
from trailbrake.user_files import open_user_file, parse_json

MEGABYTE = 1_000_000  # bytes
FEWEST_KEPT = 3  # the first file, the one that is written, and the one before, since that may have just begun
LONGEST_SHARE = 1.1  # of a limit: a file without the end of a lap ends here
_LONGEST_STEP_NS = 10_000_000_000  # a longer step between chunks is a jump of the simulator's clock


class PartLimits(NamedTuple):
    """How long one file of a recording may become, and how many there may be; 0 = without a limit.

    Attributes:
        seconds: of simulator time.
        bytes: of the file.
        files: that are kept: the first, and the newest ones.
    """

    seconds: float = 3600.0
    bytes: int = 512 * MEGABYTE
    files: int = 0


ONE_FILE = PartLimits(0.0, 0)


def make_part_limits(minutes: float, megabytes: float, kept: int = 0) -> PartLimits:
    """Return the limits in the units of the flags; 0 = none.

    Raises:
        UsageError: one is below 0 or not finite; or fewer than three files are kept, or some of a single one.
    """
    for flag, value in (("--part-minutes", minutes), ("--part-megabytes", megabytes)):
        if not 0.0 <= value < math.inf:
            raise UsageError("no length of a file", where=flag, expected="0 or more", got=f"{value:g}")
    if kept < 0 or 0 < kept < FEWEST_KEPT:
        raise UsageError("no number of files", where="--keep-parts", expected=f"{FEWEST_KEPT} or more, or 0 for all",
                         got=str(kept), hint="the first file and the newest ones are kept")  # fmt: skip
    if kept and not minutes and not megabytes:
        raise UsageError("a recording without limits has one file", where="--keep-parts",
                         hint="leave it out, or set --part-minutes or --part-megabytes")  # fmt: skip
    return PartLimits(60.0 * minutes, int(megabytes * MEGABYTE), kept)


class PartedFile:
    """A RecordingSink that begins a new file when one is full.

    Args:
        path: the first file.
        stream: that file, open at its start.
        topics: what it may hold.
        limits: of each file.

    Attributes:
        paths: the files that are kept, in order.
    """

    lost_rows = 0

    def __init__(
        self, path: Path, stream: io.RawIOBase, topics: Sequence[Topic], limits: PartLimits | None = None
    ) -> None:
        self.paths = [path]
        self._topics, self._limits = topics, limits or PartLimits()
        self._file = McapFile(stream, topics)
        self._number = 1
        self._about = b""
        self._repeated: dict[int, bytes] = {}  # the message record of the road and of the plan
        self._driven = 0  # ns of simulator time in this file
        self._last_time = 0  # ns
        self._ends_with_lap = False

    def attach_file(self, name: str, media_type: str, data: bytes) -> None:
        """Store a file within the file. The description of the drive is repeated in every part."""
        if name == ABOUT:
            self._about = data
        self._file.attach_file(name, media_type, data)

    def append_chunk(self, chunk: Chunk) -> None:
        """Store a chunk, in a new file if this one is full."""
        first = int(chunk.times[0])
        if chunk.rows:
            if 0 < first - self._last_time < _LONGEST_STEP_NS:
                self._driven += first - self._last_time
            self._last_time = first
            if self._is_full():
                self._begin_part(chunk)
        for topic in (MAP, PLAN):
            if topic.number in chunk.offsets:
                at = int(chunk.offsets[topic.number][1][0])
                length = MESSAGE_HEAD.unpack_from(chunk.data, at)[1]
                self._repeated[topic.number] = chunk.data[at : at + RECORD_HEAD + length]
        self._file.append_chunk(chunk)
        # The chunk of a lap comes behind that of its last tick, and before the next ticks.
        self._ends_with_lap = LAP.number in chunk.offsets or (self._ends_with_lap and not chunk.rows)

    def _is_full(self) -> bool:
        allowed = 1.0 if self._ends_with_lap else LONGEST_SHARE
        seconds, size, _ = self._limits
        return bool(seconds and self._driven >= allowed * seconds * 1e9) or bool(
            size and self._file.position >= allowed * size
        )

    def _begin_part(self, chunk: Chunk) -> None:
        """Complete this file, and begin the next one with the road, the plan and the description."""
        self._file.close()  # first: a disk that is full leaves whole files
        self._delete_oldest_parts()
        first, self._number = self.paths[0], self._number + 1
        try:
            stream, path = create_file(first.with_name(f"{first.stem}_part{self._number}{first.suffix}"))
        except UsageError as error:
            raise OSError(0, str(error)) from error
        try:
            self._file = McapFile(stream, self._topics)
        except OSError:
            stream.close()
            raise
        self.paths.append(path)
        self._driven = 0
        if self._about:
            about = json.dumps({**json.loads(self._about), PART_KEY: self._number}, ensure_ascii=False, indent=1)
            self._file.attach_file(ABOUT, "application/json", about.encode("utf-8", "backslashreplace"))
        sequence, time = MESSAGE_HEAD.unpack_from(chunk.data)[3], int(chunk.times[0])
        if self._repeated:
            messages = []
            for channel, record in self._repeated.items():
                opcode, length, *_ = MESSAGE_HEAD.unpack_from(record)
                head = MESSAGE_HEAD.pack(opcode, length, channel, sequence, time, time)
                messages.append((channel, head + record[MESSAGE_HEAD.size :]))
            self._file.append_chunk(make_message_chunk(messages))

    def _delete_oldest_parts(self) -> None:
        """Make room for a file, behind the first."""
        while 0 < self._limits.files <= len(self.paths):
            try:
                self.paths[1].unlink(missing_ok=True)
            except OSError:  # another program reads it, on Windows: the next part tries again
                return
            del self.paths[1]

    def close(self) -> None:
        """Complete the last file."""
        self._file.close()

    def abandon(self) -> None:
        """Leave the last file incomplete; it reads as a cut one."""
        self._file.abandon()


def scan_recording(path: Path, *, join: bool) -> tuple[McapIndex, list[Path]]:
    """Return where the records of a recording are, and its files.

    Args:
        path: a file. The first one of several stands for all of them, a later one for itself.
        join: whether it does.

    Raises:
        UsageError: `path` cannot be opened, or is no regular file.
        OSError: it cannot be read.
        ValueError: it is not an MCAP file.
    """
    layout = _scan_path(path)
    paths = [path]
    about = load_attachment(layout, ABOUT)
    if not join or PART_KEY in about:
        return layout, paths
    for number, part in _list_parts(path):
        try:
            found = _scan_path(part)
        except (OSError, ValueError, TrailbrakeError):
            layout.complete = False
            continue
        described = load_attachment(found, ABOUT)
        # A name alone may be an accident; a recording without a description has no parts.
        if described.pop(PART_KEY, None) != number or described != about or not _same_channels(layout, found):
            continue
        # A part that is missing between two others is a damaged stretch.
        layout.complete = layout.complete and found.complete and number == len(paths) + 1
        layout.chunks += found.chunks
        if WIRE in found.attachments:
            layout.attachments[WIRE] = found.attachments[WIRE]
        paths.append(part)
    return layout, paths


def load_attachment(layout: McapIndex, name: str) -> dict[str, Any]:
    """Return an attached JSON object; an empty one where there is none that can be read."""
    try:
        values = parse_json(layout.attachments.get(name, b"{}"), name)
    except DataError:
        return {}
    return values if isinstance(values, dict) else {}


def _scan_path(path: Path) -> McapIndex:
    with open_user_file(path, "recording") as file:
        layout = scan_file(file)
    for chunk in layout.chunks:
        chunk.path = path
    return layout


def _list_parts(first: Path) -> list[tuple[int, Path]]:
    """Return (number, path) of the files that are named as parts of `first`, in order."""
    # -2 and so on behind the number: that name was taken when the part was made.
    name = re.compile(re.escape(first.stem) + r"_part(\d{1,6})(-\d{1,6})?" + re.escape(first.suffix))
    try:
        found = [(match, path) for path in first.parent.iterdir() if (match := name.fullmatch(path.name))]
    except OSError:
        return []
    return sorted((int(match[1]), path) for match, path in found)


def _same_channels(first: McapIndex, other: McapIndex) -> bool:
    return {c.id: c.topic for c in first.channels.values()} == {c.id: c.topic for c in other.channels.values()} and {
        s.id: s.data for s in first.schemas.values()
    } == {s.id: s.data for s in other.schemas.values()}
