"""The cache of minimum-time lines: one line file for each road and car, in the user's cache folder."""

import contextlib
import hashlib
from pathlib import Path

import numpy as np

from trailbrake.cars.params import CarParams
from trailbrake.config import lines_folder
from trailbrake.planning.line_file import car_digest
from trailbrake.tracks.road import Road

KEPT_LINES = 200  # files; the oldest are deleted


def road_digest(road: Road) -> str:
    """Return the SHA-256 of a road's geometry and surface."""
    digest = hashlib.sha256(f"{road.spacing!r} {road.closed} ".encode())
    digest.update(np.ascontiguousarray(road.table, np.float64).tobytes())
    return digest.hexdigest()


def cached_line_path(road: Road, car: CarParams) -> Path:
    """Return the path of the cached line of a road and a car; the file need not exist."""
    key = hashlib.sha256(f"{road_digest(road)} {car_digest(car)}".encode()).hexdigest()
    return lines_folder() / f"{key[:32]}.csv"


def prune_cache() -> None:
    """Delete the oldest cached lines, so that `KEPT_LINES` remain; a file that cannot be deleted stays."""
    with contextlib.suppress(OSError):
        files = sorted(lines_folder().glob("*.csv"), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in files[KEPT_LINES:]:
            with contextlib.suppress(OSError):
                old.unlink()
