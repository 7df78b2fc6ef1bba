"""Miniature tracks by name, by file, or `gen:SEED`."""

import os
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from trailbrake.errors import UsageError, suggest_names
from trailbrake.tracks.miniature import layout as layouts
from trailbrake.tracks.miniature.random_track import generate_miniature_track
from trailbrake.tracks.miniature.track import MiniatureTrack, assemble_track
from trailbrake.user_files import is_regular_file, read_user_text

GENERATED_PREFIX = "gen:"  # before the seed of a random track
_SEED_DIGITS = 18
_MAX_TOML = 100_000  # bytes


def _library_files() -> dict[str, Traversable]:
    folder = resources.files("trailbrake.tracks.miniature") / "library"
    files = [entry for entry in folder.iterdir() if entry.name.endswith(".toml")]
    return {entry.name.removesuffix(".toml"): entry for entry in sorted(files, key=lambda entry: entry.name)}


def miniature_track_names() -> list[str]:
    """Return the names in the library, sorted: those of all TOML files in its folder."""
    return list(_library_files())


def load_miniature_track(name_or_path: "str | os.PathLike[str]") -> MiniatureTrack:
    """Load a miniature track.

    Args:
        name_or_path: a name of `miniature_track_names()`, a `.toml` file (`layout.py`), or `gen:SEED`
            (`random_track.py`).

    Raises:
        UsageError: no such name and no such file; a seed out of range.
        DataError: a file that is no miniature track.
    """
    requested = os.fspath(name_or_path)
    if requested.startswith(GENERATED_PREFIX):
        seed = requested.removeprefix(GENERATED_PREFIX)
        if not (seed.isascii() and seed.isdigit() and len(seed) <= _SEED_DIGITS):
            raise UsageError("no such seed", where=repr(requested), expected=f"{GENERATED_PREFIX}SEED, a whole number",
                             hint=f"try {GENERATED_PREFIX}1")  # fmt: skip
        return generate_miniature_track(int(seed))
    library = _library_files()
    if requested in library:
        return _track_from_text(library[requested].read_text("utf-8"), requested, f"{requested}.toml", "library")
    path = Path(requested).expanduser()
    if path.suffix.lower() != ".toml" or not is_regular_file(path):
        raise UsageError(
            "no such miniature track", where=repr(requested), expected="a name, a .toml file or gen:SEED",
            hint=suggest_names(requested, list(library)),
        )  # fmt: skip
    text = read_user_text(path, "track", _MAX_TOML)
    return _track_from_text(text, path.stem, str(path), str(path))


def _track_from_text(text: str, name: str, where: str, origin: str) -> MiniatureTrack:
    layout = layouts.parse_layout(text, where)
    return assemble_track(layout, name, f"{layout.text} ({origin})" if layout.text else origin, where)
