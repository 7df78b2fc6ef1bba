"""A scene: a track in a look, with gantries and parked cars, as the arrays that the renderer draws."""

import math
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array, Bytes
from trailbrake.world.miniature.camera import sign_art
from trailbrake.world.miniature.camera.track_look import LanePaint, TrackLook
from trailbrake.world.miniature.camera.track_raster import TrackRaster
from trailbrake.world.miniature.layout import HALF_WIDTH
from trailbrake.world.miniature.parked_cars import CAR_LENGTH, CAR_WIDTH, ParkedCar
from trailbrake.world.miniature.track import MiniatureTrack

# Protocol page formula-trend, section 5: signs 0.868 m apart at 1/4 and 3/4 of the span, their middle 0.21 m above the
# camera, which is 0.05 m high, the red part 0.10 m wide.
GANTRY_SPAN = 2.0 * 0.868  # m between the posts
SIGN_HEIGHT = 0.26  # m above the ground
SIGN_WIDTH = 0.115  # m; the widest symbols fill nine tenths of it
_SIGN_TALL = SIGN_WIDTH * sign_art.HEIGHT / sign_art.WIDTH
_BLANK_WIDTH = 0.06  # m
_PIPE = 0.026  # m, of pipe and posts
_PIPE_BOTTOM = SIGN_HEIGHT + 0.5 * _SIGN_TALL
_PIPE_COLOUR = (3, 3, 3)
_BOX = (7, 4, 4)  # the sign's box and its red as the camera shows them, darker than the art
_RED = (175, 25, 32)
_BODY = (64, 59, 51)
_DARK = (14, 12, 10)
_CAR_TALL = 0.1  # m
_CLEARANCE = 0.012  # m under a parked car


class BoardColumn(IntEnum):
    """Columns of upright boards, from (X0, Y0) to (X1, Y1), left to right as seen from the front."""

    X0 = 0  # m
    Y0 = 1
    X1 = 2
    Y1 = 3
    LOW = 4  # m above the ground, lower and upper edge
    HIGH = 5
    ART = 6  # number of the texture, -1 for none
    FACE = 7  # number of the colour where the texture is 0
    INK = 8  # number of the colour where it is full
    BACK = 9  # number of the colour of the back; -1: the back is not drawn


class Picture(NamedTuple):
    """A picture being drawn.

    Attributes:
        pixels: (height * width * 3,) RGB, row by row.
        width, height: pixels.
    """

    pixels: Bytes
    width: int
    height: int


class SceneWalls(NamedTuple):
    """The walls of a scene.

    Attributes:
        segments: (m, 5) x0, y0, x1, y1 (m, world), and 1 for an inner wall, 0 for an outer one.
        height: m.
        colours: (2, 3) of outer and inner walls.
    """

    segments: Array
    height: float
    colours: Bytes


class Chevrons(NamedTuple):
    """The arrow heads on the middle lane of each half.

    Attributes:
        spacing_left, spacing_right: m along the half from one to the next; 0 for none.
        width: m across the road.
        length: m along the road, of one arm.
        sweep: m that the arms lie back per m to the side.
        colour: (3,).
    """

    spacing_left: float
    spacing_right: float
    width: float
    length: float
    sweep: float
    colour: Bytes


class SceneBoards(NamedTuple):
    """Upright boards: gantries, signs, the sides of parked cars.

    Attributes:
        rows: (n, len(BoardColumn)).
        textures: (textures, levels, 32, 64) coverage 0..255; each level fills its upper left corner.
        colours: (c, 3) to which the rows refer.
    """

    rows: Array
    textures: Bytes
    colours: Bytes


class Scene(NamedTuple):
    """What the renderer draws, as kernels take it.

    Attributes:
        raster: of the track.
        paint: of the road.
        sky_tangents: (k,) tangent of the angle above the horizon, falling.
        sky_colours: (k, 3) there.
        walls: along the road.
        chevrons: on the road.
        boards: over and on the road.
    """

    raster: TrackRaster
    paint: LanePaint
    sky_tangents: Array
    sky_colours: Array
    walls: SceneWalls
    chevrons: Chevrons
    boards: SceneBoards


_ROWS_ABOVE = 119.5  # the reference camera's principal row, and its focal length in pixels (section 5)
_FOCAL = 274.5


def build_scene(track: MiniatureTrack, look: TrackLook, parked: Sequence[ParkedCar] = ()) -> Scene:
    """Return the scene of a track in a look, with parked cars and the signs that announce them."""
    names = list(sign_art.SYMBOLS)
    colours: list[tuple[int, int, int]] = [_PIPE_COLOUR, _BOX, _RED, look.gantry.back, _BODY, _DARK]
    pipe, box, red, back, body, dark = range(6)
    boards: list[list[float]] = []
    signs = [(sign.symbol, sign.s) for sign in track.signs] + [(car.sign, car.sign_s) for car in parked if car.sign]
    for symbol, s in signs:
        boards += _gantry_boards(track.pose_at(s, HALF_WIDTH), look, names.index(symbol), (pipe, box, red, back))
    for car in parked:
        boards += _parked_car_boards(car, len(names), body, dark)
    textures = np.zeros((len(names) + 2, len(sign_art.SIZES), sign_art.SIZES[0][1], sign_art.SIZES[0][0]), np.uint8)
    for k, levels in enumerate([*(sign_art.sign_coverage(name) for name in names), *_car_textures()]):
        for level, texture in enumerate(levels):
            textures[k, level, : texture.shape[0], : texture.shape[1]] = texture
    return Scene(
        raster=TrackRaster.from_track(track),
        paint=LanePaint.from_look(look),
        sky_tangents=(_ROWS_ABOVE - np.array(look.sky.rows, np.float64)) / _FOCAL,
        sky_colours=np.array(look.sky.colours, np.float64),
        walls=SceneWalls(
            np.ascontiguousarray(track.walls, np.float64),
            float(look.walls.height),
            np.array([look.walls.outer, look.walls.inner], np.uint8),
        ),
        chevrons=_chevrons(track, look),
        boards=SceneBoards(
            np.array(boards, np.float64).reshape(-1, len(BoardColumn)), textures, np.array(colours, np.uint8)
        ),
    )


def _chevrons(track: MiniatureTrack, look: TrackLook) -> Chevrons:
    chevron = look.chevron
    if chevron is None:
        return Chevrons(0.0, 0.0, 0.0, 0.0, 0.0, np.zeros(3, np.uint8))
    left, right = (float(length / round(length / chevron.every)) for length in track.lengths)  # whole numbers of them
    shape = float(chevron.width), float(chevron.length), float(chevron.sweep)
    return Chevrons(left, right, *shape, np.array(chevron.colour, np.uint8))


def _gantry_boards(
    middle: tuple[float, float, float], look: TrackLook, sign: int, colours: tuple[int, int, int, int]
) -> list[list[float]]:
    # The rows of a gantry at `middle` (x, y, yaw of the left half's middle). Boards of one depth are drawn in this
    # order: pipe and posts first.
    x, y, yaw = middle
    ax, ay = -math.sin(yaw), math.cos(yaw)  # to the left
    x, y = x - HALF_WIDTH * ax, y - HALF_WIDTH * ay
    pipe, box, red, back = colours
    top, low, end = _PIPE_BOTTOM + _PIPE, SIGN_HEIGHT - 0.5 * _SIGN_TALL, 0.5 * GANTRY_SPAN

    def board(at: float, width: float, low: float, high: float, art: int, *faces: int) -> list[float]:
        left, right = at + 0.5 * width, at - 0.5 * width
        return [x + left * ax, y + left * ay, x + right * ax, y + right * ay, low, high, art, *faces]

    return [
        board(0.0, GANTRY_SPAN, _PIPE_BOTTOM, top, -1, pipe, pipe, pipe),
        *(board(at, _PIPE, 0.0, top, -1, pipe, pipe, pipe) for at in (end, -end)),
        *(board(at, SIGN_WIDTH, low, _PIPE_BOTTOM, sign, box, red, back) for at in look.gantry.signs),
        *(board(at, _BLANK_WIDTH, low, _PIPE_BOTTOM, -1, box, box, back) for at in look.gantry.blanks),
    ]


def _parked_car_boards(car: ParkedCar, first_art: int, body: int, dark: int) -> list[list[float]]:
    # Four sides, each seen from outside only, left to right as seen from there.
    cos, sin = math.cos(car.yaw), math.sin(car.yaw)
    corners = [
        (car.x + along * cos - aside * sin, car.y + along * sin + aside * cos)
        for along, aside in (
            (0.5 * CAR_LENGTH, 0.5 * CAR_WIDTH), (-0.5 * CAR_LENGTH, 0.5 * CAR_WIDTH),
            (-0.5 * CAR_LENGTH, -0.5 * CAR_WIDTH), (0.5 * CAR_LENGTH, -0.5 * CAR_WIDTH),
        )
    ]  # fmt: skip
    sides = []
    for k, (a, b) in enumerate(zip(corners, [*corners[1:], corners[0]], strict=True)):
        texture = first_art + (k % 2 == 0)  # the ends and the long sides
        sides.append([*a, *b, _CLEARANCE, _CAR_TALL, texture, body, dark, -1])
    return sides


def _car_textures() -> list[list[Bytes]]:
    # Front and back: window and tyres. Sides: windows and wheels. Full coverage is the dark colour.
    x, y = np.meshgrid((np.arange(64) + 0.5) / 64.0, (np.arange(32) + 0.5) / 32.0)
    end = ((y > 0.1) & (y < 0.42) & (np.abs(x - 0.5) < 0.36)) | ((y > 0.72) & (np.abs(x - 0.5) > 0.34))
    wheels = (np.abs(np.abs(x - 0.5) - 0.3) < 0.11) & (y > 0.6)
    side = wheels | ((y > 0.1) & (y < 0.4) & (np.abs(x - 0.45) < 0.27))
    drawn = []
    for texture in (end, side):
        levels = []
        for w, h in sign_art.SIZES:
            blocks = (255.0 * texture).reshape(h, 32 // h, w, 64 // w)
            levels.append(np.rint(blocks.mean(axis=(1, 3))).astype(np.uint8))
        drawn.append(levels)
    return drawn
