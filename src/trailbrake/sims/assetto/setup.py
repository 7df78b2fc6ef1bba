"""`setup assetto`: switches Custom AI on and permits it on tracks, so that it can be taken back byte for byte.

Source: protocol page assetto-custom-ai, sections 3, 7 and 8.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trailbrake.errors import UsageError, near
from trailbrake.sims.assetto import install, proton
from trailbrake.sims.assetto.edits import BACKUP, Edit, apply, read, show, undo
from trailbrake.sims.assetto.files import content, ini, surfaces
from trailbrake.sims.assetto.install import Installation

MOST_CARS = 64  # to bridge
SWITCHES = (("BASIC", "ENABLED"), ("CUSTOM_AI", "ENABLED"))  # of new_behaviour.ini: the module's own, and ours
DEFAULTS = {"BASIC": 1.0, "CUSTOM_AI": 0.0}  # of a file that does not tell: the module is shipped switched on


@dataclass(slots=True)
class Options:
    """Make Assetto Corsa ready for other programs to drive its cars.

    Attributes:
        root: the game's folder; else TRAILBRAKE_ASSETTO, else where Steam has it.
        track: tracks to permit driving on: the name of a folder in content/tracks, NAME/LAYOUT for one layout of it.
            A track with layouts and none named: all of them.
        extended_physics: ask for extended physics too. The patch's document wants it; one user's car could not be
            taken with it, and the game without the patch does not start with it.
        undo: put the files back as they were.
        dry_run: show what would change, and change nothing.
        proton: change no file; run the bridge to the game under Proton until interrupted. Start it before the game.
        clients: with --proton: the programs in the prefix are clients, and the game is `trailbrake serve assetto`.
        cars: with --proton: how many cars may be bridged.
        python: with --proton: a Windows Python, python.exe; else windows-python/python.exe in our folder of user data.
        prefix: with --proton: a prefix of another wine than Steam's.
        wine: with --prefix: the program that runs it.
    """

    root: Path | None = None
    track: tuple[str, ...] = ()
    extended_physics: bool = False
    undo: bool = False
    dry_run: bool = False
    proton: bool = False
    clients: bool = False
    cars: int = 32
    python: Path | None = None
    prefix: Path | None = None
    wine: Path | None = None


def run(options: Options) -> Iterator[str]:
    """Do it; the values are lines for the user.

    Raises:
        UsageError: no game, no such track.
        DataError: a file that cannot be read or written; then nothing is changed.
    """
    if options.proton:
        yield from _bridge(options)
        return
    found = install.find(options.root)
    yield f"Assetto Corsa in {found.root}"
    if not found.has_patch and not options.undo:
        yield "The Custom Shaders Patch is not there (dwrite.dll, extension): without it there is no Custom AI."
    edits = [switch_edit(found)]
    paths = [path for name in options.track for path in _surfaces_of(found, name)]
    if options.undo:
        # What was asked for then is seen in the file.
        edits += [track_edit(path, _is_extended(path)) for path in paths or _permitted_by_us(found)]
    else:
        edits += [track_edit(path, options.extended_physics) for path in paths]
    if options.dry_run:
        yield from show(edits)
        return
    if options.undo:
        yield from undo(edits)
        return
    yield from apply(edits)
    if not options.track:
        yield "No track named: where a car is not to be had, permit its track by --track NAME."
    yield "Start the session anew: the game reads these files when it loads one."


def _bridge(options: Options) -> Iterator[str]:
    if sys.platform == "win32":
        raise UsageError("there is no bridge on Windows: its programs share pages by themselves", where="--proton")
    if not 1 <= options.cars <= MOST_CARS:
        raise UsageError("so many cars cannot be bridged", where=f"--cars {options.cars}", expected=f"1 to {MOST_CARS}")
    runs = proton.runner(options.root, options.prefix, options.wine)
    yield from proton.run(runs, proton.windows_python(options.python), options.cars, clients=options.clients)


def switch_edit(found: Installation) -> Edit:
    """Return the edit that switches Custom AI on: in the user's own settings, which win, where they are known."""
    shipped = found.root / content.CONFIG
    path = found.overrides / content.CONFIG.name if found.overrides else shipped
    below = {} if path == shipped else ini.parse(read(shipped) or b"", str(shipped))

    def change(data: bytes) -> bytes:
        for section, key in SWITCHES:
            default = ini.number(below, section, key, DEFAULTS[section])
            if ini.number(ini.parse(data, str(path)), section, key, default) == 0.0:
                data = ini.with_value(data, section, key, "1", str(path))
        return data

    return Edit(path, change, "Custom AI on")


def track_edit(path: Path, extended: bool) -> Edit:
    """Return the edit that permits Custom AI in the surfaces.ini at `path`, which must be there."""

    def change(data: bytes) -> bytes:
        return surfaces.permitted(data, extended=extended, where=str(path))

    folder = path.parent.parent
    parts = folder.parts[folder.parts.index("tracks") + 1 :] if "tracks" in folder.parts else folder.parts[-1:]
    return Edit(path, change, f"Custom AI permitted on {'/'.join(parts)}")


def _surfaces_of(found: Installation, name: str) -> list[Path]:
    """Return the surfaces.ini of a track, or of a layout; of all its layouts where it has some and none is named."""
    tracks = found.root / "content" / "tracks"
    track, _, layout = name.replace("\\", "/").strip("/").partition("/")
    folder = tracks / track
    if not track or track in (".", "..") or ".." in layout or not folder.is_dir():
        known = sorted(p.name for p in tracks.iterdir() if p.is_dir()) if tracks.is_dir() else []
        raise UsageError("no such track", where=f"--track {name}", expected=f"a folder in {tracks}",
                         hint=near(name, known))  # fmt: skip
    pattern = "data/surfaces.ini" if layout else "*/data/surfaces.ini"
    base = folder / layout if layout else folder
    own = folder / "data" / "surfaces.ini"
    files = sorted(base.glob(pattern)) + ([own] if not layout and own.is_file() else [])
    if not files:
        raise UsageError("this track has no data/surfaces.ini", where=f"--track {name}", got=str(base),
                         hint="its data may be packed: unpack it with the game's own tools")  # fmt: skip
    return files


def _permitted_by_us(found: Installation) -> list[Path]:
    tracks = found.root / "content" / "tracks"
    backups = [path for depth in ("*/", "*/*/") for path in tracks.glob(f"{depth}data/surfaces.ini{BACKUP}")]
    return sorted(path.with_name("surfaces.ini") for path in backups)


def _is_extended(path: Path) -> bool:
    return surfaces.decode(read(path) or b"", str(path)).extended
