"""Where things are kept on this machine."""

import os
from pathlib import Path

import platformdirs


def recordings_folder() -> Path:
    """Return the folder for recordings: TRAILBRAKE_RECORDINGS, else the user's data folder of the system."""
    chosen = os.environ.get("TRAILBRAKE_RECORDINGS")
    usual = Path(platformdirs.user_data_dir("trailbrake", appauthor=False)) / "recordings"
    return Path(chosen).expanduser() if chosen else usual


def driver_memory_file() -> Path:
    """Return the user's own file of what drivers have learned: in the user's data folder of the system."""
    return Path(platformdirs.user_data_dir("trailbrake", appauthor=False)) / "driver_memory.json"


def cache_folder() -> Path:
    """Return the folder for what can be made again: TRAILBRAKE_CACHE, else the user's cache folder."""
    chosen = os.environ.get("TRAILBRAKE_CACHE")
    return Path(chosen or platformdirs.user_cache_dir("trailbrake", appauthor=False)).expanduser()


def lines_folder() -> Path:
    """Return the folder of kept minimum-time lines: TRAILBRAKE_LINES, else `lines` in the user's cache folder."""
    chosen = os.environ.get("TRAILBRAKE_LINES")
    return Path(chosen).expanduser() if chosen else cache_folder() / "lines"


def logs_folder() -> Path:
    """Return the folder of lap logs of others that were converted: `logs` in the cache folder."""
    return cache_folder() / "logs"
