"""Tracks by name or file: the library, CSV files of centreline points, TOML files of segments, random circuits."""

import os
import re
from pathlib import Path

from trailbrake.errors import DataError, UsageError, suggest_names
from trailbrake.name_lists import SEED_DIGITS
from trailbrake.tracks import centreline_csv, geo_lines, road_file
from trailbrake.tracks import layout as layouts
from trailbrake.tracks.geo_lines import measure_geo_lines
from trailbrake.tracks.measured_road import build_measured_track
from trailbrake.tracks.random_circuit import generate_circuit
from trailbrake.tracks.road_builder import build_road, find_named_bends
from trailbrake.tracks.track import SURFACES, Track
from trailbrake.user_files import decode_user_text, is_regular_file, read_user_file, read_user_text

CSV_RUNOFF = 8.0  # m from the road edge to the wall on both sides of a CSV's road: the format has no walls
_LIBRARY = Path(__file__).with_name("library")
GENERATED_PREFIX = "gen:"  # before the seed of a random circuit
_MAX_TOML = 1_000_000  # bytes
_WET = re.compile(r"wet(=.*)?")


def track_names() -> list[str]:
    """Return the names in the library, sorted: those of all TOML files in its folder."""
    return sorted(path.stem for path in _LIBRARY.glob("*.toml"))


def load_track(name_or_path: "str | os.PathLike[str]") -> Track:
    """Load a track.

    Args:
        name_or_path: a name of `track_names()`; or a file: `.csv` with x_m,y_m,w_tr_right_m,w_tr_left_m round a loop
            (x and y are world coordinates), or a road that `trailbrake learn` wrote (`road_file.py`); `.gpx` or `.kml`
            with a line of latitude and longitude (`geo_lines.py`); `.toml` with straights and arcs (`layout.py`); or
            `gen:SEED`, a random circuit (`random_circuit.py`). With `@wet` at its end, each is the same track in the
            wet; with `@wet=0.5` one with half its grip (`Track.with_grip`).

    Returns:
        The track; `smoothing` is set for points from a file.

    Raises:
        UsageError: no such name and no such file; a seed or a grip out of range.
        DataError: a file that is no track, naming file and line.
    """
    text = os.fspath(name_or_path)
    base, mark, condition = text.rpartition("@")
    if mark and base and _WET.fullmatch(condition) and not is_regular_file(Path(text).expanduser()):
        return _load_wet(base, condition)
    if text.startswith(GENERATED_PREFIX):
        return _generate_by_name(text)
    library = track_names()
    if text in library:
        return _from_layout((_LIBRARY / f"{text}.toml").read_text("utf-8"), text, f"{text}.toml", "library")
    path = Path(text).expanduser()
    suffix = path.suffix.lower()
    if not is_regular_file(path):
        if suffix:
            raise UsageError("no such track file", where=text)
        hint = suggest_names(text, library)
        wanted = "a name, a .csv, .toml, .gpx or .kml file, or gen:SEED; each may end in @wet"
        raise UsageError("no such track", where=repr(text), expected=wanted, hint=hint)
    if suffix == ".toml":
        return _from_layout(read_user_text(path, "track", _MAX_TOML), path.stem, str(path), str(path))
    if suffix in geo_lines.SUFFIXES:
        lines = geo_lines.parse_geo_lines(read_user_file(path, "track", geo_lines.MAX_BYTES), str(path))
        return build_measured_track(measure_geo_lines(lines, str(path)), path.stem, CSV_RUNOFF, str(path))
    if suffix != ".csv":
        wanted = ", ".join((".csv", ".toml", *geo_lines.SUFFIXES))
        raise DataError("unknown kind of track file", where=str(path), expected=wanted, got=suffix or "no suffix")
    data = read_user_file(path, "track", centreline_csv.MAX_BYTES)
    if road_file.is_road_file(data):
        learned = road_file.parse_road(decode_user_text(data, str(path)), str(path))
        return Track(path.stem, path.stem, (learned,), source=f"road learned by driving, from {path}")
    points = centreline_csv.parse_measured_points(data, str(path))
    return build_measured_track(points, path.stem, CSV_RUNOFF, str(path))


def _load_wet(base: str, condition: str) -> Track:
    track = load_track(base)
    _, given, value = condition.partition("=")
    if not given:
        return track.with_grip()
    try:
        return track.with_grip(float(value))
    except ValueError:
        raise UsageError("no grip of a road", where=f"{base}@{condition}", expected="@wet or @wet=0.6") from None


def _generate_by_name(name: str) -> Track:
    seed = name.removeprefix(GENERATED_PREFIX)
    if not (seed.isascii() and seed.isdigit() and len(seed) <= SEED_DIGITS):
        wanted = f"{GENERATED_PREFIX}SEED, a whole number of {SEED_DIGITS} digits at most"
        raise UsageError("no such seed", where=repr(name), expected=wanted, hint=f"try {GENERATED_PREFIX}1")
    return generate_circuit(int(seed))


def _from_layout(text: str, name: str, where: str, origin: str) -> Track:
    layout = layouts.parse_layout(text, where)
    road = build_road(layout, where)
    source = f"{layout.text} ({origin})" if layout.text else origin
    for zone in layout.drs_zones or ():
        if max(zone) >= road.length:
            raise DataError("a DRS zone is beyond the road", where=where, expected=f"m, less than {road.length:.1f}",
                            got=f"{max(zone):g}")  # fmt: skip
    return Track(
        name, layout.title or name, (road,), source=source, off_road=SURFACES[layout.off_road],
        bends=find_named_bends(layout, where), stated_drs_zones=layout.drs_zones,
    )  # fmt: skip
