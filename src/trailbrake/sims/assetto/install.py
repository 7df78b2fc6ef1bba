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

from trailbrake.errors import UsageError

ENVIRONMENT = "TRAILBRAKE_ASSETTO"
APP_ID = "244210"
PROGRAM = "acs.exe"
_GAME = Path("steamapps", "common", "assettocorsa")
_PREFIX = Path("steamapps", "compatdata", APP_ID, "pfx")
_DOCUMENTS = Path("drive_c", "users", "steamuser", "Documents")
_STEAM_ON_LINUX = (
    ".steam/steam", ".steam/root", ".local/share/Steam", ".var/app/com.valvesoftware.Steam/.local/share/Steam",
    "snap/steam/common/.local/share/Steam",
)  # fmt: skip
_LISTS = (Path("steamapps", "libraryfolders.vdf"), Path("config", "libraryfolders.vdf"))
_PATH = re.compile(r'^\s*"(?:path|\d+)"\s+"((?:[^"\\]|\\.)*)"\s*$', re.M)  # "0" "path" in the format of before 2021
_MOST_VDF = 1_000_000  # bytes


@dataclass(frozen=True)
class Installation:
    """Where the game is.

    Attributes:
        root: its folder, with `content` and, where the patch is there, `extension`.
        documents: the user's `Documents/Assetto Corsa`; None where it is not known. It may not be there yet.
    """

    root: Path
    documents: Path | None

    @property
    def overrides(self) -> Path | None:
        """Where the user's own settings of the patch are; None where it is not known."""
        return self.documents / "cfg" / "extension" if self.documents else None

    @property
    def has_patch(self) -> bool:
        """Whether the Custom Shaders Patch is installed."""
        return (self.root / "dwrite.dll").is_file() and (self.root / "extension").is_dir()


def find(
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
        steam: folders of Steam; None for the usual ones of this system.

    Raises:
        UsageError: the game is not there.
    """
    home = Path.home() if home is None else home
    named = environ.get(ENVIRONMENT)
    where = "--root" if root is not None else ENVIRONMENT
    chosen = root if root is not None else Path(named) if named else None
    if chosen is not None:
        chosen = chosen.expanduser()
        if not ((chosen / PROGRAM).is_file() or (chosen / "content" / "tracks").is_dir()):
            raise UsageError("no Assetto Corsa here", where=f"{where} {chosen}",
                             expected=f"a folder with {PROGRAM} or content/tracks")  # fmt: skip
        return Installation(chosen, _documents(chosen, home))
    looked = list(steam) if steam is not None else _steam_folders(home)
    for library in _libraries(looked):
        game = library / _GAME
        if (game / PROGRAM).is_file():
            return Installation(game, _documents(game, home))
    places = ", ".join(map(str, looked)) or "no Steam at all"
    raise UsageError("Assetto Corsa is not installed where Steam keeps its games", expected=f"{_GAME.as_posix()}",
                     got=places, hint=f"name its folder by --root, or set {ENVIRONMENT}")  # fmt: skip


def _libraries(steam: Iterable[Path]) -> list[Path]:
    """Return Steam's folders and the libraries that its lists name, each once."""
    found: dict[Path, None] = {}
    for folder in steam:
        found.setdefault(folder)
        for name in _LISTS:
            for text in _PATH.findall(_text(folder / name)):
                found.setdefault(Path(re.sub(r"\\(.)", r"\1", text)))
    return list(found)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_VDF).decode("utf-8", "replace")
    except OSError:
        return ""


def _documents(game: Path, home: Path) -> Path | None:
    """Return the user's folder of the game, inside of the Proton prefix on Linux."""
    if sys.platform == "win32":
        return Path(platformdirs.user_documents_dir()) / "Assetto Corsa"
    prefix = game.parent.parent.parent / _PREFIX  # of the library that the game is in
    return prefix / _DOCUMENTS / "Assetto Corsa" if prefix.is_dir() else None


def _steam_folders(home: Path) -> list[Path]:
    """Return the folders of Steam that are there."""
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
