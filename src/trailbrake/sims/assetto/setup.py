"""`setup assetto`: switches Custom AI on and permits it on tracks; each change can be undone byte for byte.

Source: protocol page assetto-custom-ai, sections 3, 7 and 8.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from trailbrake.errors import UsageError, suggest_names
from trailbrake.sims.assetto.install import content, ini, installation, surfaces
from trailbrake.sims.assetto.install.file_edits import (
    BACKUP_SUFFIX,
    FileEdit,
    apply_edits,
    preview_edits,
    read_if_exists,
    undo_edits,
)
from trailbrake.sims.assetto.install.installation import Installation
from trailbrake.sims.assetto.proton import bridge_process
from trailbrake.simulator_tools import SetupTool

MAX_CARS = 64  # to bridge
KNOWN_SETTINGS = ("DISABLE_AUDIO", "DISABLE_PYTHON_APPS", "DISABLE_TEXTURES")  # of [CUSTOM_AI]; 1 or 0, shipped as 0
SWITCHES = (("BASIC", "ENABLED"), ("CUSTOM_AI", "ENABLED"))  # of new_behaviour.ini: the module's own, and ours
DEFAULTS = {"BASIC": 1.0, "CUSTOM_AI": 0.0}  # of a file without the key: the module is shipped switched on


@dataclass(slots=True)
class SetupOptions:
    """Make Assetto Corsa ready for other programs to drive its cars.

    Attributes:
        root: the game's folder; else TRAILBRAKE_ASSETTO, else where Steam has it.
        track: tracks to permit driving on: a folder of content/tracks, or NAME/LAYOUT; default: all layouts.
        set: settings of Custom AI, KEY=VALUE, as DISABLE_AUDIO=1 for a quicker game.
        extended_physics: request extended physics too; without the patch the game then does not start.
        undo: restore the files as they were.
        dry_run: show the changes, and make none.
        proton: change no file; run the bridge to the game under Proton. Start it before the game.
        clients: with --proton: the programs in the prefix are clients of `trailbrake serve assetto`.
        cars: with --proton: most cars.
        python: with --proton: a Windows python.exe; default in the user's data folder.
        prefix: with --proton: a prefix of another wine than Steam's.
        wine: with --prefix: its program.
    """

    root: Path | None = None
    track: tuple[str, ...] = ()
    set: tuple[str, ...] = ()
    extended_physics: bool = False
    undo: bool = False
    dry_run: bool = False
    proton: bool = False
    clients: bool = False
    cars: int = 32
    python: Path | None = None
    prefix: Path | None = None
    wine: Path | None = None


def run(options: SetupOptions) -> Iterator[str]:
    """Change the files, undo the changes, or run the bridge; yield lines for the user.

    Raises:
        UsageError: no game, no such track.
        DataError: a file that cannot be read or written; then nothing is changed.
    """
    if options.proton:
        yield from _run_bridge(options)
        return
    found = installation.find_installation(options.root)
    yield f"Assetto Corsa in {found.root}"
    if not found.has_patch and not options.undo:
        yield "The Custom Shaders Patch is not there (dwrite.dll, extension): without it there is no Custom AI."
    edits = [switch_edit(found, _find_changed_settings(found) if options.undo else parse_settings(found, options.set))]
    paths = [path for name in options.track for path in _find_surfaces_files(found, name)]
    if options.undo:
        # The file shows which request was made then.
        edits += [track_edit(path, _is_extended(path)) for path in paths or _find_permitted_files(found)]
    else:
        edits += [track_edit(path, options.extended_physics) for path in paths]
    if options.dry_run:
        yield from preview_edits(edits)
        return
    if options.undo:
        yield from undo_edits(edits)
        return
    yield from apply_edits(edits)
    if not options.track:
        yield "No track named: where a car is not to be had, permit its track by --track NAME."
    yield "Start the session anew: the game reads these files when it loads one."


def _run_bridge(options: SetupOptions) -> Iterator[str]:
    if sys.platform == "win32":
        raise UsageError("there is no bridge on Windows: its programs share pages by themselves", where="--proton")
    if not 1 <= options.cars <= MAX_CARS:
        raise UsageError("so many cars cannot be bridged", where=f"--cars {options.cars}", expected=f"1 to {MAX_CARS}")
    runs = bridge_process.find_prefix_runner(options.root, options.prefix, options.wine)
    yield from bridge_process.run_bridge(
        runs, bridge_process.find_windows_python(options.python), options.cars, clients=options.clients
    )


def parse_settings(found: Installation, texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the keys and values of `--set`.

    Raises:
        UsageError: no KEY=VALUE, or a key that Custom AI is not known to have.
    """
    shipped = ini.parse_ini(read_if_exists(found.root / content.CONFIG) or b"").get("CUSTOM_AI", {})
    known = sorted({*KNOWN_SETTINGS, *shipped} - {"ENABLED"})
    settings = []
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        key = key.upper()
        if not equals or not value or any(mark in value for mark in ";[]\r\n"):
            raise UsageError("no setting", where="--set", expected="KEY=VALUE, as in DISABLE_AUDIO=1", got=text)
        if key not in known:
            raise UsageError("Custom AI has no such setting", where="--set", got=key, hint=suggest_names(key, known))
        settings.append((key, value))
    return tuple(settings)


def _settings_path(found: Installation) -> Path:
    """Return the file to change: the user's own settings, which win, if their folder is known."""
    shipped = found.root / content.CONFIG
    return found.overrides_folder / content.CONFIG.name if found.overrides_folder else shipped


def _find_changed_settings(found: Installation) -> tuple[tuple[str, str], ...]:
    """Return the settings of [CUSTOM_AI] that differ from those before the first `setup`, to undo them."""
    path = _settings_path(found)
    backup = path.with_name(path.name + BACKUP_SUFFIX)
    now, before = (
        ini.parse_ini(read_if_exists(file) or b"", str(file)).get("CUSTOM_AI", {}) for file in (path, backup)
    )
    return tuple((key, value) for key, value in now.items() if key != "ENABLED" and before.get(key) != value)


def switch_edit(found: Installation, settings: Sequence[tuple[str, str]] = ()) -> FileEdit:
    """Return the edit that switches Custom AI on.

    Args:
        found: the game.
        settings: further keys of [CUSTOM_AI] and their values.
    """
    shipped, path = found.root / content.CONFIG, _settings_path(found)
    below = {} if path == shipped else ini.parse_ini(read_if_exists(shipped) or b"", str(shipped))

    def change(data: bytes) -> bytes:
        for section, key in SWITCHES:
            default = ini.read_number(below, section, key, DEFAULTS[section])
            if ini.read_number(ini.parse_ini(data, str(path)), section, key, default) == 0.0:
                data = ini.set_value(data, section, key, "1", str(path))
        for key, value in settings:
            data = ini.set_value(data, "CUSTOM_AI", key, value, str(path))
        return data

    return FileEdit(path, change, ", ".join(["Custom AI on", *(f"{key}={value}" for key, value in settings)]))


def track_edit(path: Path, extended: bool) -> FileEdit:
    """Return the edit that permits Custom AI in the existing surfaces.ini at `path`."""

    def change(data: bytes) -> bytes:
        return surfaces.permit_custom_ai(data, extended=extended, where=str(path))

    folder = path.parent.parent
    parts = folder.parts[folder.parts.index("tracks") + 1 :] if "tracks" in folder.parts else folder.parts[-1:]
    return FileEdit(path, change, f"Custom AI permitted on {'/'.join(parts)}")


def _find_surfaces_files(found: Installation, name: str) -> list[Path]:
    """Return the surfaces.ini of a track with all its layouts, or of one layout (`name` TRACK/LAYOUT)."""
    tracks = found.root / "content" / "tracks"
    track, _, layout = name.replace("\\", "/").strip("/").partition("/")
    folder = tracks / track
    if not track or track in (".", "..") or ".." in layout or not folder.is_dir():
        known = sorted(p.name for p in tracks.iterdir() if p.is_dir()) if tracks.is_dir() else []
        raise UsageError("no such track", where=f"--track {name}", expected=f"a folder in {tracks}",
                         hint=suggest_names(name, known))  # fmt: skip
    pattern = "data/surfaces.ini" if layout else "*/data/surfaces.ini"
    base = folder / layout if layout else folder
    own = folder / "data" / "surfaces.ini"
    files = sorted(base.glob(pattern)) + ([own] if not layout and own.is_file() else [])
    if not files:
        raise UsageError("this track has no data/surfaces.ini", where=f"--track {name}", got=str(base),
                         hint="its data may be packed: unpack it with the game's own tools")  # fmt: skip
    return files


def _find_permitted_files(found: Installation) -> list[Path]:
    tracks = found.root / "content" / "tracks"
    backups = [path for depth in ("*/", "*/*/") for path in tracks.glob(f"{depth}data/surfaces.ini{BACKUP_SUFFIX}")]
    return sorted(path.with_name("surfaces.ini") for path in backups)


def _is_extended(path: Path) -> bool:
    return surfaces.decode_surfaces(read_if_exists(path) or b"", str(path)).extended


SETUP = SetupTool(SetupOptions, run)
