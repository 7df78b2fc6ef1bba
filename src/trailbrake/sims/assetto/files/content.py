"""Where things lie below an installation, and a tree of such files for a track and a car of ours.

Source: protocol page assetto-custom-ai, sections 7 and 8.
"""

import re
from pathlib import Path

import numpy as np

from trailbrake.cars.params import CarParams
from trailbrake.errors import SimulatorError
from trailbrake.sims.assetto.files import fast_lane, map_ini, map_png, surfaces, ui
from trailbrake.sims.assetto.files.fast_lane import FastLane
from trailbrake.sims.assetto.files.surfaces import Surface, Surfaces
from trailbrake.tracks.columns import Column
from trailbrake.tracks.road import Road
from trailbrake.tracks.track import SURFACES, Track
from trailbrake.tracks.track import Surface as Ground
from trailbrake.units import RPM

MOST_NAME = 32  # characters of a name: acpmf_static has room for no more
CONFIG = Path("extension", "config", "new_behaviour.ini")


def track_folder(root: Path, track: str, layout: str = "") -> Path:
    """Return the folder with `ai` and `data` of a track, or of one of its layouts."""
    folder = root / "content" / "tracks" / track
    return folder / layout if layout else folder


def lane_path(root: Path, track: str, layout: str = "") -> Path:
    """Return where the line of a track is."""
    return track_folder(root, track, layout) / "ai" / "fast_lane.ai"


def surfaces_path(root: Path, track: str, layout: str = "") -> Path:
    """Return where the ground of a track is described."""
    return track_folder(root, track, layout) / "data" / "surfaces.ini"


def car_ui_path(root: Path, car: str) -> Path:
    """Return where a car is described."""
    return root / "content" / "cars" / car / "ui" / "ui_car.json"


def track_ui_path(root: Path, track: str, layout: str = "") -> Path:
    """Return where a track is described: beside the layouts' folders, in one of the layout's name."""
    folder = root / "content" / "tracks" / track / "ui"
    return (folder / layout if layout else folder) / "ui_track.json"


def folder_name(name: str) -> str:
    """Return a name of ours as the game would have it as a folder: lower case, digits, underscores, 32 at most."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:MOST_NAME] or "unnamed"


def write(root: Path, track: Track, car: CarParams, lane: FastLane) -> list[Path]:
    """Write what the game would have on disk for a served track and car; return the files, sorted.

    Files of other tracks and cars stay; those of the same name are replaced.

    Args:
        root: stands in for the installation's folder; made where it is missing.
        track: its files go to `content/tracks/` and its `folder_name`.
        car: its file goes to `content/cars/` and its `folder_name`.
        lane: the line that the game's own drivers follow, `road.lane_from_line`.

    Raises:
        SimulatorError: a file cannot be written.
    """
    track_name, car_name = folder_name(track.name), folder_name(car.name)
    folder = track_folder(root, track_name)
    strips = [_strip(road) for road in track.roads]
    parameters = map_png.fit(strips)
    files = {
        lane_path(root, track_name): fast_lane.encode(lane),
        surfaces_path(root, track_name): surfaces.encode(_surfaces(track)),
        folder / "data" / "map.ini": map_ini.encode(parameters),
        folder / "map.png": map_png.encode(parameters, strips),
        track_ui_path(root, track_name): ui.encode_track(_track_ui(track)),
        car_ui_path(root, car_name): ui.encode_car(car_ui(car)),
        root / CONFIG: b"[BASIC]\r\nENABLED=1 ; Active ; boolean\r\n\r\n[CUSTOM_AI]\r\nENABLED=1\r\n",
    }
    for path, content in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except OSError as error:
            raise SimulatorError(
                f"cannot write the game's files: {error.strerror}", where=str(path), hint="choose another --ac-root"
            ) from None
    return sorted(files)


def car_ui(car: CarParams) -> ui.CarUi:
    """Return what the game would show of one of our cars; the top speed is left out, being a result."""
    engine = car.engine
    curve = tuple(zip(engine.rpm, engine.torque, strict=True))
    return ui.CarUi(
        name=car.title, brand="trailbrake", car_class="race" if car.aero.lift_area_rear > 1.0 else "street",
        tags=(car.drive.layout,), description=f"{car.title}; a car of the embedded world.", power=engine.peak_power,
        torque=max(engine.torque), mass=car.body.mass,
        power_curve=tuple((rpm, rpm * RPM * torque) for rpm, torque in curve), torque_curve=curve,
    )  # fmt: skip


def _surfaces(track: Track) -> Surfaces:
    def ground(key: str, told: Ground, *, valid: bool = True, pit_lane: bool = False) -> Surface:
        return Surface(key, told.grip, valid, pit_lane, told.rolling)

    road = SURFACES["asphalt"]
    return Surfaces(
        (
            ground("ROAD", road),
            ground("KERB", SURFACES["kerb"]),
            ground("GRASS", track.off_road, valid=False),
            ground("PITS", road, pit_lane=True),
        ),
        allows_custom_ai=True,
        extended=False,
    )


def _strip(road: Road) -> map_png.Strip:
    # The game's x is our y, its z our x. A circuit comes round to its first row again.
    left, right = (edge[:, [1, 0]] for edge in road.edges())
    return (np.vstack([left, left[:1]]), np.vstack([right, right[:1]])) if road.closed else (left, right)


def _track_ui(track: Track) -> ui.TrackUi:
    road = track.road
    left, right = (edge[:, :2] for edge in road.edges())
    yaw = road.column(Column.YAW)
    return ui.TrackUi(
        name=track.title, description=track.source, tags=("circuit" if road.closed else "a to b",),
        length=round(road.length), width=round(float(np.hypot(*(left - right).T).min()), 1), pitboxes=1,
        run="anticlockwise" if yaw[-1] > yaw[0] else "clockwise",
    )  # fmt: skip
