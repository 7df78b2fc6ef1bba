"""`Track`: roads with a name, their surfaces, and a report of how they were made.

Whether a car fits on it, and the region around it in which a car may be placed.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from trailbrake.errors import DataError, UsageError
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn

SIDE_MARGIN = 0.2  # m, the least room on either side of the car
NEAR_TRACK = 1000.0  # m around the box of all roads
STRAIGHT_CURVATURE = 1.0 / 800.0  # 1/m, of a road below which a car may drive with an open rear wing
DRS_ZONES, DRS_LEAST = 2, 300.0  # most zones of a track that states none, and m of a straight that gets one
DRS_AFTER, DRS_BEFORE = 60.0, 150.0  # m from where such a straight begins: on to its zone, back to the detection


@dataclass(frozen=True)
class SurfaceProperties:
    """The properties of a surface that act on a tyre.

    Attributes:
        grip: friction factor, 1 = dry asphalt; multiplies the tyre's own friction.
        rolling: extra rolling resistance, drag force over wheel load, added to the tyre's own.
    """

    grip: float
    rolling: float


# Friction relative to dry asphalt, and the extra rolling resistance of soft ground (Wong, Theory of Ground
# Vehicles, 4th ed., tables 1.3 and 3.1: dry asphalt 0.8-0.9, gravel 0.6, earth road 0.65 peak friction; 0.013 on
# asphalt against 0.1-0.35 on medium soil to sand). The grass and gravel figures are chosen within those ranges.
# Wet asphalt has 0.5-0.7 in the same table 1.3, that is 0.7 of the dry road's. A kerb is painted concrete: its grip
# counts relative to the road it belongs to, so that it gets wet with the road; its rolling resistance is an estimate.
SURFACES: dict[str, SurfaceProperties] = {
    "asphalt": SurfaceProperties(1.0, 0.0),
    "concrete": SurfaceProperties(0.95, 0.0),
    "old-asphalt": SurfaceProperties(0.9, 0.002),
    "grass": SurfaceProperties(0.6, 0.08),
    "gravel": SurfaceProperties(0.65, 0.25),
    "kerb": SurfaceProperties(0.95, 0.005),
    "wet": SurfaceProperties(0.7, 0.0),
}


@dataclass(frozen=True)
class CurvatureReport:
    """What smoothing changed on a centreline from a file. Lengths in m, curvature in 1/m.

    Attributes:
        points: usable points in the file.
        max_shift: largest distance from a point of the file to the road's centreline.
        rms_shift: its root mean square.
        max_curvature_before: largest |curvature| of the file's points (circle through three).
        max_curvature_after: largest |curvature| of the road.
        roughness_before: root mean square of d(curvature)/ds, 1/m^2, of the file's points.
        roughness_after: the same of the road.
        folded: rows where an edge lay beyond the centre of its bend, so that the width was cut.
    """

    points: int
    max_shift: float
    rms_shift: float
    max_curvature_before: float
    max_curvature_after: float
    roughness_before: float
    roughness_after: float
    folded: int

    @property
    def min_radius(self) -> float:
        """Tightest radius of the road's centreline, m."""
        return 1.0 / max(self.max_curvature_after, 1e-9)

    def __str__(self) -> str:
        text = (
            f"{self.points} points, moved by {self.max_shift:.2f} m at most ({self.rms_shift:.3f} m rms); tightest "
            f"radius {self.min_radius:.1f} m; curvature at most {self.max_curvature_before:.4f} -> "
            f"{self.max_curvature_after:.4f} 1/m, roughness {self.roughness_before:.1e} -> "
            f"{self.roughness_after:.1e} 1/m^2"
        )
        return f"{text}; width cut in {self.folded} rows where an edge folded" if self.folded else text


class NamedBend(NamedTuple):
    """A bend with a name for people: where it begins and ends, m along the road."""

    name: str
    start: float
    end: float


class DrsZone(NamedTuple):
    """Where rear wings may be opened, m along the road; where the gap is measured, and where they open and close."""

    detection: float
    begin: float
    end: float

    def contains(self, s: float) -> bool:
        """Return whether a place (m along the road) is inside; the zone may contain the line."""
        return self.begin <= s < self.end or (self.end < self.begin and not self.end <= s < self.begin)


@dataclass(frozen=True, eq=False)
class Track:
    """A place to drive.

    Attributes:
        name: by which `load_track` finds it.
        title: its name for people.
        roads: its roads; a circuit or a pass has one.
        source: one line: where it comes from and what it is.
        off_road: the surface between a road's edge and its wall.
        smoothing: what smoothing changed on a file's points; None for roads built from straights and arcs.
        bends: those that have a name, in driving order.
        stated_drs_zones: those of its file; None: it states none.
    """

    name: str
    title: str
    roads: tuple[Road, ...]
    source: str = ""
    off_road: SurfaceProperties = SURFACES["grass"]
    smoothing: CurvatureReport | None = None
    bends: tuple[NamedBend, ...] = ()
    stated_drs_zones: tuple[DrsZone, ...] | None = None

    @property
    def road(self) -> Road:
        """The road with the start line at s = 0."""
        return self.roads[0]

    @cached_property
    def drs_zones(self) -> tuple[DrsZone, ...]:
        """Where rear wings may be opened: the zones of its file, else those of its longest straights."""
        return find_drs_zones(self.road) if self.stated_drs_zones is None else self.stated_drs_zones

    def with_grip(self, grip: float = SURFACES["wet"].grip) -> "Track":
        """Return the same track with another grip: everywhere `grip` times its own, road, kerbs and ground alike.

        `@wet` is added to the name (`@wet=GRIP` where it is not the usual grip of a wet road), by which `load_track`
        finds it.

        Raises:
            UsageError: a factor outside 0.05 .. 1.5.
        """
        if not 0.05 <= grip <= 1.5:
            raise UsageError("no grip of a road", where=f"{self.name}@wet", expected="0.05 .. 1.5", got=f"{grip:g}")
        roads = []
        for road in self.roads:
            table = road.table.copy()
            table[:, RoadColumn.GRIP] *= grip
            roads.append(Road(table, road.spacing, road.closed))
        off = SurfaceProperties(self.off_road.grip * grip, self.off_road.rolling)
        mark = "@wet" if grip == SURFACES["wet"].grip else f"@wet={grip:g}"
        return replace(self, name=self.name + mark, title=f"{self.title}, wet", roads=tuple(roads), off_road=off)


def find_drs_zones(road: Road) -> tuple[DrsZone, ...]:
    """Return zones on the DRS_ZONES longest straights of a circuit of DRS_LEAST m or more, along the road."""
    bends = np.flatnonzero(np.abs(road.column(RoadColumn.CURVATURE)) > STRAIGHT_CURVATURE)
    if not road.closed or not len(bends):
        return ()
    lengths = (np.diff(bends, append=bends[0] + len(road.table)) - 1) * road.spacing
    longest = [k for k in np.argsort(-lengths, kind="stable")[:DRS_ZONES].tolist() if lengths[k] >= DRS_LEAST]
    starts = [(float(bends[k] * road.spacing), float(lengths[k])) for k in longest]
    return tuple(sorted((
        DrsZone(*((start + way) % road.length for way in (-DRS_BEFORE, DRS_AFTER, length))) for start, length in starts
    ), key=lambda zone: zone.begin))  # fmt: skip


def narrowest_width(track: Track) -> tuple[float, float]:
    """Return s (m) and the width (m, edge to edge) of the narrowest place of the track's road."""
    road = track.road
    width = road.column(RoadColumn.WIDTH_LEFT) + road.column(RoadColumn.WIDTH_RIGHT)
    row = int(width.argmin())
    return row * road.spacing, float(width[row])


def check_car_fits(track: Track, width: float, where: str) -> None:
    """Raise DataError for a road that is somewhere narrower than a car and `SIDE_MARGIN` on either side.

    Args:
        track: to drive on.
        width: m, of the widest car.
        where: names the car and the track in the error.

    Raises:
        DataError: naming the narrowest place and what to try.
    """
    s, found = narrowest_width(track)
    if not found >= width + 2.0 * SIDE_MARGIN:
        raise DataError(
            f"track {track.name} is too narrow for the car",
            where=where,
            expected=f"{width + 2.0 * SIDE_MARGIN:.2f} m or more (the car is {width:.2f} m wide)",
            got=f"{found:.2f} m at s = {s:.0f} m",
            hint="take a narrower car, or mend the widths of the track there",
        )


class TrackBounds:
    """The box around all roads of a track, widened by NEAR_TRACK on all sides."""

    def __init__(self, track: Track) -> None:
        places = np.concatenate([road.table[:, [RoadColumn.X, RoadColumn.Y]] for road in track.roads])
        self._left, self._bottom = (places.min(axis=0) - NEAR_TRACK).tolist()
        self._right, self._top = (places.max(axis=0) + NEAR_TRACK).tolist()

    def contain(self, x: float, y: float) -> bool:
        """Return whether a place (m, world) is inside; False for NaN."""
        return bool(self._left <= x <= self._right and self._bottom <= y <= self._top)
