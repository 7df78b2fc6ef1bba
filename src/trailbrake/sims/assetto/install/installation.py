"""Finds the game on this machine: Steam's libraries on Windows and Linux, the Proton prefix, the user's documents.

Source: protocol page assetto-custom-ai, section 8.
"""

import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from trailbrake.errors import TrailbrakeError, UsageError
from trailbrake.user_files import is_regular_file, read_user_file

ENVIRONMENT_VARIABLE = "TRAILBRAKE_ASSETTO"
APP_ID = "244210"
PROGRAM = "acs.exe"
_GAME = Path("steamapps", "common", "assettocorsa")
_PREFIX = Path("steamapps", "compatdata", APP_ID, "pfx")
_DOCUMENTS = Path("drive_c", "users", "steamuser", "Documents")
_STEAM_ON_LINUX = (
    ".steam/steam", ".steam/root", ".local/share/Steam", ".var/app/com.valvesoftware.Steam/.local/share/Steam",
    "snap/steam/common/.local/share/Steam",
)  # fmt: skip
_LIBRARY_LISTS = (Path("steamapps", "libraryfolders.vdf"), Path("config", "libraryfolders.vdf"))
# "0" "path" in the format of before 2021
_PATH = re.compile(r'^[ \t]*"(?:path|\d+)"[ \t]+"((?:[^"\\\n]|\\.)*+)"[ \t\r]*$', re.M)
_MAX_VDF_BYTES = 1_000_000  # bytes


@dataclass(frozen=True)
class Installation:
    """Where the game is.

    Attributes:
        root: its folder, with `content` and, with the patch, `extension`.
        documents: the user's `Documents/Assetto Corsa`, which need not exist; None where it is unknown.
    """

    root: Path
    documents: Path | None

    @property
    def overrides_folder(self) -> Path | None:
        """The folder of the user's own settings of the patch; None where it is unknown."""
        return self.documents / "cfg" / "extension" if self.documents else None

    @property
    def has_patch(self) -> bool:
        """Whether the Custom Shaders Patch is installed."""
        return (self.root / "dwrite.dll").is_file() and (self.root / "extension").is_dir()


def find_installation(
    root: Path | None = None,
    *,
    home: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    steam: Iterable[Path] | None = None,
) -> Installation:
    """Return the installation: in `root`, else where TRAILBRAKE_ASSETTO says, else where Steam says.

    Args:
        root: the game's folder, or a folder that `serve assetto --ac-root` made.
        home: the user's home.
        environ: the environment.
        steam: Steam's folders; None for the usual ones of this system.

    Raises:
        UsageError: the game is not installed there.
    """
    home = Path.home() if home is None else home
    named = environ.get(ENVIRONMENT_VARIABLE)
    where = "--root" if root is not None else ENVIRONMENT_VARIABLE
    chosen = root if root is not None else Path(named) if named else None
    if chosen is not None:
        chosen = chosen.expanduser()
        if not ((chosen / PROGRAM).is_file() or (chosen / "content" / "tracks").is_dir()):
            raise UsageError("no Assetto Corsa here", where=f"{where} {chosen}",
                             expected=f"a folder with {PROGRAM} or content/tracks")  # fmt: skip
        return Installation(chosen, _documents_folder(chosen, home))
    folders = list(steam) if steam is not None else _steam_folders(home)
    for library in _list_libraries(folders):
        game = library / _GAME
        if is_regular_file(game / PROGRAM):
            return Installation(game, _documents_folder(game, home))
    places = ", ".join(map(str, folders)) or "no Steam at all"
    raise UsageError("Assetto Corsa is not installed where Steam keeps its games", expected=f"{_GAME.as_posix()}",
                     got=places, hint=f"name its folder by --root, or set {ENVIRONMENT_VARIABLE}")  # fmt: skip


def _list_libraries(steam: Iterable[Path]) -> list[Path]:
    """Return Steam's folders and the libraries in its lists, each once."""
    found: dict[Path, None] = {}
    for folder in steam:
        found.setdefault(folder)
        for name in _LIBRARY_LISTS:
            for text in _PATH.findall(_read_text(folder / name)):
                found.setdefault(Path(re.sub(r"\\(.)", r"\1", text)))
    return list(found)


def _read_text(path: Path) -> str:
    try:
        return read_user_file(path, "list of libraries", _MAX_VDF_BYTES).decode("utf-8", "replace")
    except TrailbrakeError:
        return ""


def _documents_folder(game: Path, home: Path) -> Path | None:
    """Return the user's folder of the game, on Linux inside the Proton prefix."""
    if sys.platform == "win32":
        return Path(platformdirs.user_documents_dir()) / "Assetto Corsa"
    prefix = game.parent.parent.parent / _PREFIX  # of the library that the game is in
    return prefix / _DOCUMENTS / "Assetto Corsa" if prefix.is_dir() else None


def _steam_folders(home: Path) -> list[Path]:
    """Return Steam's folders that exist."""
    if sys.platform != "win32":
        candidates = [home / name for name in _STEAM_ON_LINUX]
    else:
        candidates = _steam_on_windows()
    return [folder for folder in candidates if folder.is_dir()]


def _steam_on_windows() -> list[Path]:
    found = [Path(os.environ.get("PROGRAMFILES(X86)", "C:\\Program Files (x86)")) / "Steam"]
    if sys.platform == "win32":
        import winreg

        for hive, key, name in (
            (winreg.HKEY_CURRENT_USER, r"Software\Valve\Steam", "SteamPath"),
            (winreg.HKEY_LOCAL_MACHINE, r"SOFTWARE\WOW6432Node\Valve\Steam", "InstallPath"),
            (winreg.HKEY_LOCAL_MACHINE, r"SOFTWARE\Valve\Steam", "InstallPath"),
        ):
            try:
                with winreg.OpenKey(hive, key) as opened:
                    found.insert(0, Path(winreg.QueryValueEx(opened, name)[0]))
            except OSError:
                continue
        for view in (winreg.KEY_WOW64_64KEY, winreg.KEY_WOW64_32KEY):
            uninstall = rf"SOFTWARE\Microsoft\Windows\CurrentVersion\Uninstall\Steam App {APP_ID}"
            try:
                with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, uninstall, 0, winreg.KEY_READ | view) as opened:
                    game = Path(winreg.QueryValueEx(opened, "InstallLocation")[0])
                    found.insert(0, game.parent.parent.parent)
            except OSError:
                continue
    return found
