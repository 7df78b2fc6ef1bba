"""Paths below an installation, and the files that the game would have for one of our tracks and cars.

Source: protocol page assetto-custom-ai, sections 7 and 8.

`map.png`: a track seen from above, white on transparent, and its position in the world.

Source: gro-ove/actools, AcTools.Render/Kn5SpecificSpecial/TrackMapRenderer.cs, the tool that most tracks' maps are made
with: the picture is WIDTH + 2 MARGIN by HEIGHT + 2 MARGIN px, the game's x goes to the right and its z down.

`data/map.ini`: position and scale of that picture. Section 7 of the page infers the rule from metres to pixels; the
tool writes files by the same rule, and its WIDTH and HEIGHT are without the margins.
"""

import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from io import BytesIO
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.cars.params import CarParams
from trailbrake.errors import SimulatorError
from trailbrake.sims.assetto.axes import assetto_points_from_iso
from trailbrake.sims.assetto.install import fast_lane, surfaces, ui_json
from trailbrake.sims.assetto.install.fast_lane import FastLane
from trailbrake.sims.assetto.install.surfaces import SurfaceSection, SurfacesFile
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track import SURFACES, SurfaceProperties, Track
from trailbrake.units import RPM

MAX_NAME_LENGTH = 32  # characters; acpmf_static has room for no more
CONFIG = Path("extension", "config", "new_behaviour.ini")
SIZE = 1000.0  # px, the longer side of the track
MARGIN = 20.0  # px around it
_MIN_ROAD_PX = 3.0  # px: a narrower road is drawn so wide, to be seen
_SUPERSAMPLING = 4  # a pixel is so many by so many while the road is drawn, so that its edges come out soft

Strip = tuple[Array, Array]  # left and right edge of a road, (n, 2) x and z each, m, the game's world
SECTION = "PARAMETERS"
Metres = TypeVar("Metres", float, NDArray[np.float64])


@dataclass(frozen=True)
class MapParameters:
    """The parameters, named as in the file.

    Attributes:
        width: of the picture without its margins, px.
        height: of the picture without its margins, px.
        x_offset: m, added to the game's x.
        z_offset: m, added to the game's z.
        margin: px around the track, on every side.
        scale_factor: m per px.
        drawing_size: px, of the dots that the game draws.
    """

    width: float
    height: float
    x_offset: float
    z_offset: float
    margin: float = 20.0
    scale_factor: float = 1.0
    drawing_size: float = 10.0

    def to_pixel(self, x: Metres, z: Metres) -> tuple[Metres, Metres]:
        """Return the pixel (from the left and the top edge) of the point x, z (m, the game's world)."""
        return (x + self.x_offset) / self.scale_factor, (z + self.z_offset) / self.scale_factor


def encode_map_ini(parameters: MapParameters) -> bytes:
    """Return the text of a file, with the line ends of Windows."""
    pairs = zip(fields(MapParameters), astuple(parameters), strict=True)
    lines = [f"[{SECTION}]", *(f"{field.name.upper()}={value:.6g}" for field, value in pairs), ""]
    return "\r\n".join(lines).encode()


def fit_map(strips: Sequence[Strip]) -> MapParameters:
    """Return the parameters of a map that shows all roads."""
    places = np.concatenate([edge for strip in strips for edge in strip])
    (x0, z0), (x1, z1) = places.min(axis=0).tolist(), places.max(axis=0).tolist()
    scale = max(x1 - x0, z1 - z0, 1.0) / SIZE
    width, height = (float(np.ceil((high - low) / scale - 1e-6)) for low, high in ((x0, x1), (z0, z1)))
    edge = MARGIN * scale
    return MapParameters(width, height, x_offset=edge - x0, z_offset=edge - z0, margin=MARGIN, scale_factor=scale)


def encode_map_png(parameters: MapParameters, strips: Sequence[Strip]) -> bytes:
    """Return the picture, as a PNG.

    Args:
        parameters: its size, and where in the world it lies.
        strips: the roads; the last row of a circuit is its first.
    """
    from PIL import Image, ImageDraw

    size = tuple(round(side + 2.0 * parameters.margin) for side in (parameters.width, parameters.height))
    fine = Image.new("L", (_SUPERSAMPLING * size[0], _SUPERSAMPLING * size[1]))
    draw = ImageDraw.Draw(fine)
    for left, right in strips:
        corners = [
            _SUPERSAMPLING * np.column_stack(parameters.to_pixel(edge[:, 0], edge[:, 1])) for edge in (left, right)
        ]
        quads = np.column_stack([corners[0][:-1], corners[0][1:], corners[1][1:], corners[1][:-1]])
        for quad in quads.tolist():
            draw.polygon(quad, fill=255)
        middle = (0.5 * (corners[0] + corners[1])).tolist()
        draw.line(
            [tuple(place) for place in middle], fill=255, width=round(_SUPERSAMPLING * _MIN_ROAD_PX), joint="curve"
        )
        for place in (middle[0], middle[-1]):
            draw.circle(place, 0.5 * _SUPERSAMPLING * _MIN_ROAD_PX, fill=255)
    picture = Image.new("RGBA", (size[0], size[1]), (255, 255, 255, 0))
    picture.putalpha(fine.reduce(_SUPERSAMPLING))
    data = BytesIO()
    picture.save(data, "PNG")
    return data.getvalue()


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
    parameters = fit_map(strips)
    files = {
        lane_path(root, track_name): fast_lane.encode_fast_lane(lane),
        surfaces_path(root, track_name): surfaces.encode_surfaces(_build_surfaces(track, permitted=permitted)),
        folder / "data" / "map.ini": encode_map_ini(parameters),
        folder / "map.png": encode_map_png(parameters, strips),
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


def _edge_strip(road: Road) -> Strip:
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
