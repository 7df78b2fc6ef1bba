"""Tracks by name or by file: the library, CSV files of centreline points, TOML files of segments, random circuits."""

import os
import re
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from trailbrake.errors import DataError, UsageError, near
from trailbrake.tracks import layout as layouts
from trailbrake.tracks import points, road_file
from trailbrake.tracks.build import build
from trailbrake.tracks.generate import generate
from trailbrake.tracks.smooth import smooth
from trailbrake.tracks.track import SURFACES, Track

CSV_RUNOFF = 8.0  # m from a CSV's road edge to the wall, both sides: the format has no walls
GENERATED = "gen:"  # before the seed of a random circuit
_MAX_TOML = 1_000_000  # bytes
_SEED_DIGITS = 18
_WET = re.compile(r"wet(=.*)?")


def _library() -> dict[str, Traversable]:
    folder = resources.files("trailbrake.tracks") / "library"
    files = [entry for entry in folder.iterdir() if entry.name.endswith(".toml")]
    return {entry.name.removesuffix(".toml"): entry for entry in sorted(files, key=lambda entry: entry.name)}


def names() -> list[str]:
    """Return the names in the library, sorted: every TOML file in its folder."""
    return list(_library())


def load(name_or_path: "str | os.PathLike[str]") -> Track:
    """Load a track.

    Args:
        name_or_path: a name of `names()`; or a file: `.csv` with x_m,y_m,w_tr_right_m,w_tr_left_m round a loop, world
            x and y the file's, or a road that `trailbrake learn` wrote (`road_file.py`); or `.toml` with straights
            and arcs (`layout.py`); or `gen:SEED`, a random circuit
            (`generate.py`). Any of these with `@wet` behind it is the same track in the wet, with `@wet=0.5` one with
            half its grip (`Track.wet`).

    Returns:
        The track; `smoothing` set for points from a file.

    Raises:
        UsageError: no such name and no such file; a seed or a grip that cannot be.
        DataError: a file that is no track, naming file and line.
    """
    asked = os.fspath(name_or_path)
    base, mark, condition = asked.rpartition("@")
    if mark and base and _WET.fullmatch(condition) and not _exists(Path(asked).expanduser()):
        return _wet(base, condition)
    if asked.startswith(GENERATED):
        return _generated(asked)
    library = _library()
    if asked in library:
        return _from_layout(library[asked].read_text("utf-8"), asked, f"{asked}.toml", "library")
    path = Path(asked).expanduser()
    suffix = path.suffix.lower()
    if not _exists(path):
        hint = near(asked, list(library))
        wanted = "a name, a .csv or .toml file, or gen:SEED; each may end in @wet"
        raise UsageError("no such track", where=repr(asked), expected=wanted, hint=hint)
    if suffix == ".toml":
        return _from_layout(_read_toml(path), path.stem, str(path), str(path))
    if suffix != ".csv":
        raise DataError(
            "unknown kind of track file", where=str(path), expected=".csv or .toml", got=suffix or "no suffix"
        )
    data = points.read_bytes(path)
    if road_file.is_road(data):
        learned = road_file.parse(points.text_of(data, str(path)), str(path))
        return Track(path.stem, path.stem, (learned,), source=f"road learned by driving, from {path}")
    found = points.parse(data, str(path))
    road, report = smooth(found.x, found.y, found.right, found.left, CSV_RUNOFF, str(path))
    return Track(path.stem, path.stem, (road,), source=f"centreline points from {path}", smoothing=report)


def _wet(base: str, condition: str) -> Track:
    track = load(base)
    _, given, value = condition.partition("=")
    if not given:
        return track.wet()
    try:
        return track.wet(float(value))
    except ValueError:
        raise UsageError("no grip of a road", where=f"{base}@{condition}", expected="@wet or @wet=0.6") from None


def _generated(asked: str) -> Track:
    seed = asked.removeprefix(GENERATED)
    if not (seed.isascii() and seed.isdigit() and len(seed) <= _SEED_DIGITS):
        wanted = f"{GENERATED}SEED, a whole number of {_SEED_DIGITS} digits at most"
        raise UsageError("no such seed", where=repr(asked), expected=wanted, hint=f"try {GENERATED}1")
    return generate(int(seed))


def _exists(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name too long, or with a NUL
        return False


def _read_toml(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read the track: {error.strerror}", where=str(path)) from None
    if len(data) > _MAX_TOML:
        raise DataError("file too large", where=str(path), expected=f"{_MAX_TOML} bytes at most", got=str(len(data)))
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise DataError("not UTF-8 text", where=str(path), hint="save it as UTF-8") from None


def _from_layout(text: str, name: str, where: str, origin: str) -> Track:
    layout = layouts.parse(text, where)
    road = build(layout, where)
    source = f"{layout.text} ({origin})" if layout.text else origin
    return Track(name, layout.title or name, (road,), source=source, off_road=SURFACES[layout.off_road])
