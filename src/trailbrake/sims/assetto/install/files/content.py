"""Paths below an installation, and the files that the game would have for one of our tracks and cars.

Source: protocol page assetto-custom-ai, sections 7 and 8.
"""

import re
from pathlib import Path

import numpy as np

from trailbrake.cars.params import CarParams
from trailbrake.errors import SimulatorError
from trailbrake.sims.assetto.axes import assetto_points_from_iso
from trailbrake.sims.assetto.install.files import fast_lane, map_ini, map_png, surfaces, ui_json
from trailbrake.sims.assetto.install.files.fast_lane import FastLane
from trailbrake.sims.assetto.install.files.surfaces import SurfaceSection, SurfacesFile
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track import SURFACES, SurfaceProperties, Track
from trailbrake.units import RPM

MAX_NAME_LENGTH = 32  # characters; acpmf_static has room for no more
CONFIG = Path("extension", "config", "new_behaviour.ini")


def track_folder(root: Path, track: str, layout: str = "") -> Path:
    """Return the folder of a track, or of one of its layouts, with `ai` and `data`."""
    folder = root / "content" / "tracks" / track
    return folder / layout if layout else folder


def lane_path(root: Path, track: str, layout: str = "") -> Path:
    """Return the path of a track's line."""
    return track_folder(root, track, layout) / "ai" / "fast_lane.ai"


def surfaces_path(root: Path, track: str, layout: str = "") -> Path:
    """Return the path of a track's surfaces."""
    return track_folder(root, track, layout) / "data" / "surfaces.ini"


def car_ui_path(root: Path, car: str) -> Path:
    """Return the path of a car's description."""
    return root / "content" / "cars" / car / "ui" / "ui_car.json"


def track_ui_path(root: Path, track: str, layout: str = "") -> Path:
    """Return the path of a track's description: below `ui`, in a folder of the layout's name if it has one."""
    folder = root / "content" / "tracks" / track / "ui"
    return (folder / layout if layout else folder) / "ui_track.json"


def folder_name(name: str) -> str:
    """Return one of our names as a folder name of the game: lower case, digits, underscores, 32 at most."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:MAX_NAME_LENGTH] or "unnamed"


# new_behaviour.ini, with the sections that count here
_SETTINGS = (
    "[BASIC]\r\nENABLED=1 ; Active ; boolean\r\n\r\n"
    "[CUSTOM_AI]\r\nENABLED={enabled}\r\nDISABLE_AUDIO=0\r\nDISABLE_PYTHON_APPS=0\r\nDISABLE_TEXTURES=0\r\n"
)


def write_content(
    root: Path, track: Track, car: CarParams, lane: FastLane, *, enabled: bool = True, permitted: bool = True
) -> list[Path]:
    """Write the files that the game would have for a served track and car; return their paths, sorted.

    Files of other tracks and cars stay; those of the same name are replaced.

    Args:
        root: stands in for the installation's folder; created if it is missing.
        track: its files go to `content/tracks/` and its `folder_name`.
        car: its file goes to `content/cars/` and its `folder_name`.
        lane: the line that the game's own drivers follow, from `lane_conversion.lane_from_line`.
        enabled: whether Custom AI is switched on in the settings.
        permitted: whether the track permits it.

    Raises:
        SimulatorError: a file cannot be written.
    """
    track_name, car_name = folder_name(track.name), folder_name(car.name)
    folder = track_folder(root, track_name)
    strips = [_edge_strip(road) for road in track.roads]
    parameters = map_png.fit_map(strips)
    files = {
        lane_path(root, track_name): fast_lane.encode_fast_lane(lane),
        surfaces_path(root, track_name): surfaces.encode_surfaces(_build_surfaces(track, permitted=permitted)),
        folder / "data" / "map.ini": map_ini.encode_map_ini(parameters),
        folder / "map.png": map_png.encode_map_png(parameters, strips),
        track_ui_path(root, track_name): ui_json.encode_track_ui(_build_track_ui(track)),
        car_ui_path(root, car_name): ui_json.encode_car_ui(build_car_ui(car)),
        root / CONFIG: _SETTINGS.format(enabled=int(enabled)).encode(),
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


def find_ignoring_case(path: Path) -> Path | None:
    """Return `path`, or an existing file that differs only in the case of its letters; None if there is none."""
    if path.is_file():
        return path
    found = Path(path.anchor)
    for part in path.parts[1:] if path.anchor else path.parts:
        if (found / part).exists():
            found = found / part
            continue
        try:
            same = [entry for entry in found.iterdir() if entry.name.lower() == part.lower()]
        except OSError:
            return None
        if not same:
            return None
        found = same[0]
    return found if found.is_file() else None


def build_car_ui(car: CarParams) -> ui_json.CarUi:
    """Return the description of one of our cars, without its top speed, which is a result."""
    engine = car.engine
    curve = tuple(zip(engine.rpm, engine.torque, strict=True))
    return ui_json.CarUi(
        name=car.title, brand="trailbrake", car_class="race" if car.aero.lift_area_rear > 1.0 else "street",
        tags=(car.drive.layout,), description=f"{car.title}; a car of the embedded world.", power=engine.peak_power,
        torque=max(engine.torque), mass=car.body.mass,
        power_curve=tuple((rpm, rpm * RPM * torque) for rpm, torque in curve), torque_curve=curve,
    )  # fmt: skip


def _build_surfaces(track: Track, *, permitted: bool) -> SurfacesFile:
    def section(key: str, ground: SurfaceProperties, *, valid: bool = True, pit_lane: bool = False) -> SurfaceSection:
        return SurfaceSection(key, ground.grip, valid, pit_lane, ground.rolling)

    road = SURFACES["asphalt"]
    return SurfacesFile(
        (
            section("ROAD", road),
            section("KERB", SURFACES["kerb"]),
            section("GRASS", track.off_road, valid=False),
            section("PITS", road, pit_lane=True),
        ),
        allows_custom_ai=permitted,
        extended=False,
    )


def _edge_strip(road: Road) -> map_png.Strip:
    # x and z of the game's world. A circuit repeats its first row at the end.
    left, right = (assetto_points_from_iso(edge)[:, [0, 2]] for edge in road.edge_lines())
    return (np.vstack([left, left[:1]]), np.vstack([right, right[:1]])) if road.closed else (left, right)


def _build_track_ui(track: Track) -> ui_json.TrackUi:
    road = track.road
    left, right = (edge[:, :2] for edge in road.edge_lines())
    yaw = road.column(RoadColumn.YAW)
    return ui_json.TrackUi(
        name=track.title, description=track.source, tags=("circuit" if road.closed else "a to b",),
        length=round(road.length), width=round(float(np.hypot(*(left - right).T).min()), 1), pitboxes=1,
        run="anticlockwise" if yaw[-1] > yaw[0] else "clockwise",
    )  # fmt: skip
