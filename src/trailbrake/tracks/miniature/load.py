"""Miniature tracks by name, by file, or `gen:SEED`."""

import os
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from trailbrake.errors import DataError, UsageError, near
from trailbrake.tracks.miniature import layout as layouts
from trailbrake.tracks.miniature.generate import generate
from trailbrake.tracks.miniature.track import MiniatureTrack, assemble

GENERATED = "gen:"  # before the seed of a random track
_SEED_DIGITS = 18
_MAX_TOML = 100_000  # bytes


def _library() -> dict[str, Traversable]:
    folder = resources.files("trailbrake.tracks.miniature") / "library"
    files = [entry for entry in folder.iterdir() if entry.name.endswith(".toml")]
    return {entry.name.removesuffix(".toml"): entry for entry in sorted(files, key=lambda entry: entry.name)}


def names() -> list[str]:
    """Return the names in the library, sorted: every TOML file in its folder."""
    return list(_library())


def load(name_or_path: "str | os.PathLike[str]") -> MiniatureTrack:
    """Load a miniature track: a name of `names()`, a `.toml` file (`layout.py`), or `gen:SEED` (`generate.py`).

    Raises:
        UsageError: no such name and no such file; a seed that cannot be.
        DataError: a file that is no miniature track.
    """
    asked = os.fspath(name_or_path)
    if asked.startswith(GENERATED):
        seed = asked.removeprefix(GENERATED)
        if not (seed.isascii() and seed.isdigit() and len(seed) <= _SEED_DIGITS):
            raise UsageError("no such seed", where=repr(asked), expected=f"{GENERATED}SEED, a whole number",
                             hint=f"try {GENERATED}1")  # fmt: skip
        return generate(int(seed))
    library = _library()
    if asked in library:
        return _from_text(library[asked].read_text("utf-8"), asked, f"{asked}.toml", "library")
    path = Path(asked).expanduser()
    try:
        is_file = path.is_file()
    except (OSError, ValueError):  # a name too long, or with a NUL
        is_file = False
    if path.suffix.lower() != ".toml" or not is_file:
        raise UsageError(
            "no such miniature track", where=repr(asked), expected="a name, a .toml file or gen:SEED",
            hint=near(asked, list(library)),
        )  # fmt: skip
    data = path.read_bytes()
    if len(data) > _MAX_TOML:
        raise DataError("file too large", where=str(path), expected=f"{_MAX_TOML} bytes at most", got=str(len(data)))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("not UTF-8 text", where=str(path), hint="save it as UTF-8") from None
    return _from_text(text, path.stem, str(path), str(path))


def _from_text(text: str, name: str, where: str, origin: str) -> MiniatureTrack:
    layout = layouts.parse(text, where)
    return assemble(layout, name, f"{layout.text} ({origin})" if layout.text else origin, where)
