"""Miniature tracks by name, by file, or `gen:SEED`.

Random miniature tracks from a seed: the way round a random tree, which turns both ways and never crosses itself.

Cells of a grid grow into a tree; the road runs round it, through the four quarters of every cell, on grid lines with
random distances. A dead end of the tree is a U-turn, a branch of it a bend the other way. Straights of sufficient
length, and U-turns with room behind them, become forks. Half of all seeds are driven the other way round.

The only random numbers are those of `Generator.random` of NumPy's PCG64, whose stream is fixed: a seed is the same
track everywhere.
"""

import math
import os
from pathlib import Path

import numpy as np

from trailbrake.errors import DataError, UsageError, suggest_names
from trailbrake.name_lists import SEED_DIGITS
from trailbrake.user_files import is_regular_file, read_user_text
from trailbrake.world.miniature import layout as layouts
from trailbrake.world.miniature.layout import Fork, MiniatureLayout, check_layout
from trailbrake.world.miniature.track import MiniatureTrack, assemble_track

_LIBRARY = Path(__file__).with_name("library")
GENERATED_PREFIX = "gen:"  # before the seed of a random track
_MAX_TOML = 100_000  # bytes
Cell = tuple[int, int]

LENGTH_RANGE = (60.0, 90.0)  # m, of the road (protocol page formula-trend, section 6)
_CELLS = (5, 6)
_GRID = (2.7, 3.5)  # m between grid lines
_RADIUS = (1.2, 1.34)  # m: two make a U-turn between the nearest grid lines
_SPAN = (1.6, 2.4)  # m of straight along which a half is apart
_OUT = (0.6, 1.1)  # m between the halves beside a straight
_FURTHER = (1.0, 1.8)  # m by which the outer half of a U-turn is longer
_LEAD = 2.2  # m from the bend before to where the halves of a straight part
_DRAFTS = 200
_STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))


def _random_between(rng: np.random.Generator, lo: float, hi: float) -> float:
    return lo + (hi - lo) * float(rng.random())


def _random_tree(rng: np.random.Generator, cells: int) -> set[frozenset[Cell]]:
    # The links of a random tree of grid cells.
    grown: list[Cell] = [(0, 0)]
    links: set[frozenset[Cell]] = set()
    while len(grown) < cells:
        x, y = grown[int(rng.random() * len(grown))]
        dx, dy = _STEPS[int(rng.random() * 4)]
        cell = (x + dx, y + dy)
        if cell not in grown:
            grown.append(cell)
            links.add(frozenset([(x, y), cell]))
    return links


def _walk_around_tree(links: set[frozenset[Cell]]) -> list[Cell]:
    # The corners, in grid lines, of the way round the tree: a wall follower in the quarters, with the tree on its left.
    cells = {cell for link in links for cell in link}
    low = min(cells)  # its right neighbour may be linked, its left and lower left are not there
    place, way = (2 * low[0], 2 * low[1]), 3  # lower left quarter, going down
    first = (place, way)
    corners: list[Cell] = []
    while True:
        # Follow the tree with the left hand: try left, straight, right, back.
        for turn in (1, 0, 3, 2):
            toward = (way + turn) % 4
            dx, dy = _STEPS[toward]
            then = (place[0] + dx, place[1] + dy)
            here, there = (place[0] // 2, place[1] // 2), (then[0] // 2, then[1] // 2)
            along_wall = here == there and not _is_divided(links, place, then)
            through = here != there and frozenset([here, there]) in links
            if along_wall or through:
                break
        if toward != way and (place not in corners[-1:]):
            corners.append(place)
        place, way = then, toward
        if (place, way) == first:
            return corners


def _is_divided(links: set[frozenset[Cell]], a: Cell, b: Cell) -> bool:
    # Whether a branch of the tree runs between two quarters of one cell.
    cell = (a[0] // 2, a[1] // 2)
    step = (b[0] - a[0], b[1] - a[1])
    side = (0, 1 if a[1] % 2 else -1) if step[0] else (1 if a[0] % 2 else -1, 0)
    return frozenset([cell, (cell[0] + side[0], cell[1] + side[1])]) in links


def _draft_layout(rng: np.random.Generator) -> MiniatureLayout:
    cells = _CELLS[0] + int(rng.random() * (_CELLS[1] - _CELLS[0] + 1))
    grid = _walk_around_tree(_random_tree(rng, cells))
    lines = [np.cumsum([0.0] + [_random_between(rng, *_GRID) for _ in range(4 * cells)]) for _ in range(2)]
    middle = 2 * cells
    corners = np.array([[lines[0][x + middle], lines[1][y + middle]] for x, y in grid])
    if rng.random() < 0.5:
        corners = corners[::-1]
    edge = np.roll(corners, -1, axis=0) - corners
    first = int(np.argmax(np.hypot(*edge.T) * (0.6 + 0.4 * rng.random(len(edge)))))  # the start is on a long straight
    corners = np.roll(corners, -first, axis=0)
    tilt = _random_between(rng, -math.pi, math.pi)
    turned = corners @ np.array([[math.cos(tilt), math.sin(tilt)], [-math.sin(tilt), math.cos(tilt)]])
    turned -= turned[0]
    radii = [_random_between(rng, *_RADIUS) for _ in turned]
    rows = [(round(x, 3), round(y, 3), round(r, 3)) for (x, y), r in zip(turned.tolist(), radii, strict=True)]
    length = math.dist(rows[0][:2], rows[1][:2])
    return MiniatureLayout(corners=rows, start=round(radii[0] + 0.35 * (length - radii[0] - radii[1]), 3))


def _candidate_forks(rng: np.random.Generator, layout: MiniatureLayout) -> list[Fork]:
    # Possible forks, in random order.
    places = np.array([corner[:2] for corner in layout.corners])
    radii = [corner[2] for corner in layout.corners]
    edge = np.roll(places, -1, axis=0) - places
    length = np.hypot(*edge.T)
    turn = np.sign(np.roll(edge[:, 0], 1) * edge[:, 1] - np.roll(edge[:, 1], 1) * edge[:, 0])
    found = []
    for k in range(1, len(places)):
        n = (k + 1) % len(places)
        clear = length[k] - radii[k] - radii[n]
        if clear < 0.8 and turn[k] == turn[n]:  # a U-turn
            half = "right" if turn[k] > 0.0 else "left"
            found.append(Fork(edge=k + 1, half=half, out=round(_random_between(rng, *_FURTHER), 3)))
        out, span = round(_random_between(rng, *_OUT), 3), _random_between(rng, *_SPAN)
        first = radii[k] + _LEAD
        last = first + 2.0 * out + span
        if last < length[k] - radii[n] - 0.6:
            half = "left" if rng.random() < 0.5 else "right"
            found.append(Fork(edge=k + 1, half=half, out=out, between=(round(first, 3), round(last, 3))))
    order = np.argsort(rng.random(len(found)))
    return [found[k] for k in order]


def generate_miniature_track(seed: int) -> MiniatureTrack:
    """Return the random miniature track of `seed`, which has at least two forks.

    Raises:
        UsageError: a negative seed.
    """
    if seed < 0:
        raise UsageError("no such seed", where=f"gen:{seed}", expected="0 or more")
    rng = np.random.default_rng(seed)
    name = f"gen:{seed}"
    for _ in range(_DRAFTS):
        layout = _draft_layout(rng)
        try:
            check_layout(layout, name)
            track = assemble_track(layout, name, "", name)
        except DataError:
            continue
        if not LENGTH_RANGE[0] <= track.length <= LENGTH_RANGE[1]:
            continue
        forks: list[Fork] = []
        for fork in _candidate_forks(rng, layout):
            wanted = MiniatureLayout(corners=layout.corners, start=layout.start, forks=[*forks, fork])
            try:
                drawn = assemble_track(wanted, name, f"random track with seed {seed}", name)
            except DataError:
                continue
            announced = sum(board.symbol.startswith("fork") for board in drawn.signs)
            if len(drawn.forks) == len(forks) + 1 == announced:
                forks.append(fork)
                track = drawn
        if len(forks) >= 2:
            return track
    raise UsageError("no track comes of this seed", where=name, hint="try another")


def miniature_track_names() -> list[str]:
    """Return the names in the library, sorted: those of all TOML files in its folder."""
    return sorted(path.stem for path in _LIBRARY.glob("*.toml"))


def load_miniature_track(name_or_path: "str | os.PathLike[str]") -> MiniatureTrack:
    """Load a miniature track.

    Args:
        name_or_path: a name of `miniature_track_names()`, a `.toml` file (`layout.py`), or `gen:SEED`.

    Raises:
        UsageError: no such name and no such file; a seed out of range.
        DataError: a file that is no miniature track.
    """
    requested = os.fspath(name_or_path)
    if requested.startswith(GENERATED_PREFIX):
        seed = requested.removeprefix(GENERATED_PREFIX)
        if not (seed.isascii() and seed.isdigit() and len(seed) <= SEED_DIGITS):
            raise UsageError("no such seed", where=repr(requested), expected=f"{GENERATED_PREFIX}SEED, a whole number",
                             hint=f"try {GENERATED_PREFIX}1")  # fmt: skip
        return generate_miniature_track(int(seed))
    library = miniature_track_names()
    if requested in library:
        file = f"{requested}.toml"
        return _track_from_text((_LIBRARY / file).read_text("utf-8"), requested, file, "library")
    path = Path(requested).expanduser()
    if path.suffix.lower() == ".toml" and not path.exists():
        raise UsageError("no such track file", where=requested)
    if path.suffix.lower() != ".toml" or not is_regular_file(path):
        raise UsageError(
            "no such miniature track", where=repr(requested), expected="a name, a .toml file or gen:SEED",
            hint=suggest_names(requested, library),
        )  # fmt: skip
    text = read_user_text(path, "track", _MAX_TOML)
    return _track_from_text(text, path.stem, str(path), str(path))


def _track_from_text(text: str, name: str, where: str, origin: str) -> MiniatureTrack:
    layout = layouts.parse_layout(text, where)
    return assemble_track(layout, name, f"{layout.text} ({origin})" if layout.text else origin, where)
