"""A scene: a track in a look, with gantries and parked cars, as the arrays that the renderer draws."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from trailbrake.tracks.miniature.layout import HALF_WIDTH
from trailbrake.tracks.miniature.obstacles import CAR_LENGTH, CAR_WIDTH, Parked
from trailbrake.tracks.miniature.track import MiniatureTrack
from trailbrake.world.camera import art
from trailbrake.world.camera.look import Look, Paint
from trailbrake.world.camera.raster import Ground

Array = NDArray[np.float64]
Bytes = NDArray[np.uint8]

# Protocol page formula-trend, section 5: signs 0.868 m apart at 1/4 and 3/4 of the span, their middle 0.21 m above the
# camera, which is 0.05 m high, the red part 0.10 m wide.
SPAN = 2.0 * 0.868  # m between the posts
SIGN_HEIGHT = 0.26  # m above the ground
SIGN_WIDTH = 0.115  # m; the widest symbols fill nine tenths of it
_SIGN_TALL = SIGN_WIDTH * art.HEIGHT / art.WIDTH
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


class Quad(IntEnum):
    """Columns of upright boards: from (X0, Y0) to (X1, Y1), left to right as seen from its face."""

    X0 = 0  # m
    Y0 = 1
    X1 = 2
    Y1 = 3
    LOW = 4  # m above the ground
    HIGH = 5
    ART = 6  # texture, -1 for none
    FACE = 7  # colours by number: where the texture is 0, where it is full, and the back; -1: the back is not drawn
    INK = 8
    BACK = 9


@dataclass(frozen=True, eq=False)
class Scene:
    """What the renderer draws.

    Attributes:
        ground: of the track.
        paint: the road's.
        sky_rows: (k,) tangent of the angle above the horizon, falling.
        sky: (k, 3) colours there.
        walls: (m, 5) segments and kinds, as the track's.
        wall_height: m.
        wall_colours: (2, 3) of outer and inner walls.
        chevron: (5,) every, width, length, sweep (m, m, m, 1), and how far apart they are on the right half; every 0
            for none.
        chevron_colour: (3,).
        quads: (n, len(Quad)).
        arts: (textures, levels, 32, 64) coverage, each level in its upper left corner.
        colours: (c, 3) that quads name.
    """

    ground: Ground
    paint: Paint
    sky_rows: Array
    sky: Array
    walls: Array
    wall_height: float
    wall_colours: Bytes
    chevron: Array
    chevron_colour: Bytes
    quads: Array
    arts: Bytes
    colours: Bytes


_ROWS_ABOVE = 119.5  # the reference camera's principal row, and its focal length in pixels (section 5)
_FOCAL = 274.5


def build(track: MiniatureTrack, look: Look, parked: Sequence[Parked] = ()) -> Scene:
    """Return the scene of a track in a look, with parked cars and the signs that announce them."""
    names = list(art.SYMBOLS)
    colours: list[tuple[int, int, int]] = [_PIPE_COLOUR, _BOX, _RED, look.gantry.back, _BODY, _DARK]
    pipe, box, red, back, body, dark = range(6)
    quads: list[list[float]] = []
    boards = [(board.sign, board.s) for board in track.boards] + [(car.sign, car.sign_s) for car in parked if car.sign]
    for sign, s in boards:
        quads += _gantry(track.place(s, HALF_WIDTH), look, names.index(sign), (pipe, box, red, back))
    for car in parked:
        quads += _car(car, len(names), body, dark)
    arts = np.zeros((len(names) + 2, len(art.SIZES), art.SIZES[0][1], art.SIZES[0][0]), np.uint8)
    for k, levels in enumerate([*(art.coverage(name) for name in names), *_car_art()]):
        for level, texture in enumerate(levels):
            arts[k, level, : texture.shape[0], : texture.shape[1]] = texture
    chevron = look.chevron
    spacing = np.zeros(5)
    if chevron is not None:
        even = [length / round(length / chevron.every) for length in track.lengths]
        spacing[:] = even[0], chevron.width, chevron.length, chevron.sweep, even[1]
    return Scene(
        ground=Ground.of(track),
        paint=Paint.of(look),
        sky_rows=(_ROWS_ABOVE - np.array(look.sky.rows, np.float64)) / _FOCAL,
        sky=np.array(look.sky.colours, np.float64),
        walls=track.walls,
        wall_height=look.walls.height,
        wall_colours=np.array([look.walls.outer, look.walls.inner], np.uint8),
        chevron=spacing,
        chevron_colour=np.array(chevron.colour if chevron else (0, 0, 0), np.uint8),
        quads=np.array(quads, np.float64).reshape(-1, len(Quad)),
        arts=arts,
        colours=np.array(colours, np.uint8),
    )


def _gantry(
    middle: tuple[float, float, float], look: Look, sign: int, colours: tuple[int, int, int, int]
) -> list[list[float]]:
    # Pipe and posts first: what has the same depth is drawn in this order. `middle`: of the left half.
    x, y, yaw = middle
    ax, ay = -math.sin(yaw), math.cos(yaw)  # to the left
    x, y = x - HALF_WIDTH * ax, y - HALF_WIDTH * ay
    pipe, box, red, back = colours
    top, low, end = _PIPE_BOTTOM + _PIPE, SIGN_HEIGHT - 0.5 * _SIGN_TALL, 0.5 * SPAN

    def board(at: float, width: float, low: float, high: float, art: int, *faces: int) -> list[float]:
        left, right = at + 0.5 * width, at - 0.5 * width
        return [x + left * ax, y + left * ay, x + right * ax, y + right * ay, low, high, art, *faces]

    return [
        board(0.0, SPAN, _PIPE_BOTTOM, top, -1, pipe, pipe, pipe),
        *(board(at, _PIPE, 0.0, top, -1, pipe, pipe, pipe) for at in (end, -end)),
        *(board(at, SIGN_WIDTH, low, _PIPE_BOTTOM, sign, box, red, back) for at in look.gantry.signs),
        *(board(at, _BLANK_WIDTH, low, _PIPE_BOTTOM, -1, box, box, back) for at in look.gantry.blanks),
    ]


def _car(car: Parked, first_art: int, body: int, dark: int) -> list[list[float]]:
    # Four sides, each seen from outside only; left to right as seen from there.
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


def _car_art() -> list[list[Bytes]]:
    # Ends: window and tyres. Sides: windows and wheels. Full is the dark colour.
    x, y = np.meshgrid((np.arange(64) + 0.5) / 64.0, (np.arange(32) + 0.5) / 32.0)
    end = ((y > 0.1) & (y < 0.42) & (np.abs(x - 0.5) < 0.36)) | ((y > 0.72) & (np.abs(x - 0.5) > 0.34))
    wheels = (np.abs(np.abs(x - 0.5) - 0.3) < 0.11) & (y > 0.6)
    side = wheels | ((y > 0.1) & (y < 0.4) & (np.abs(x - 0.45) < 0.27))
    drawn = []
    for texture in (end, side):
        levels = []
        for w, h in art.SIZES:
            blocks = (255.0 * texture).reshape(h, 32 // h, w, 64 // w)
            levels.append(np.rint(blocks.mean(axis=(1, 3))).astype(np.uint8))
        drawn.append(levels)
    return drawn
