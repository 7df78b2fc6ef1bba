"""What people call the corners of a lap, where the recording's track is one of ours."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from trailbrake.analysis.corners import Corner
from trailbrake.analysis.lap_location import CommonLine
from trailbrake.tracks.track import Track
from trailbrake.tracks.track_library import load_track, track_names

NEAR_ROAD = 20.0  # m off the road beyond which a place is on another one
NEAR_BEND = 30.0  # m before and behind a named bend that an apex may lie: transitions move it


def find_recorded_track(name: object) -> Track | None:
    """Return the track of the library that a recording names; None where it is none: files may have changed since."""
    plain = str(name).partition("@")[0]
    return load_track(plain) if plain in track_names() else None


def title_corners(corners: Sequence[Corner], line: CommonLine, track: Track | None) -> list[Corner]:
    """Return corners with the names of the track's bends; each name is given once, to the nearest corner.

    Args:
        corners: in driving order.
        line: what their places are along.
        track: None where it is not known.
    """
    if track is None or line.line is None or not track.bends:
        return list(corners)
    places = line.line
    offers: list[tuple[float, int, str]] = []  # m from the middle of the bend, index of the corner, name
    for index, corner in enumerate(corners):
        if not corner.number:
            continue
        x, y = (float(np.interp(corner.apex, places.s, values)) for values in (places.x, places.y))
        s, offset, _ = track.road.locate(x, y, -1)
        if abs(offset) > NEAR_ROAD:
            continue
        offers.extend(
            (abs(s - 0.5 * (bend.start + bend.end)), index, bend.name)
            for bend in track.bends
            if bend.start - NEAR_BEND <= s <= bend.end + NEAR_BEND
        )
    titles: dict[int, str] = {}
    for _, index, name in sorted(offers):
        if index not in titles and name not in titles.values():
            titles[index] = name
    return [replace(corner, title=titles.get(index, "")) for index, corner in enumerate(corners)]
