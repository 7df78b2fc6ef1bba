"""The files of a recording that was written in several parts, joined for reading."""

import re
from pathlib import Path
from typing import Any

from trailbrake.errors import DataError, TrailbrakeError
from trailbrake.record.format import ABOUT, PART_KEY, WIRE
from trailbrake.record.mcap_scan import McapIndex, scan_file
from trailbrake.user_files import open_user_file, parse_json


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
