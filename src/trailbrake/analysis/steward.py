"""`judge_recordings`: the contacts of the cars of one drive, out of their recordings, with who was at fault."""

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.analysis.contact_fault import WINDOW, CarTrack, ConductRoad, Verdict, judge_contact
from trailbrake.analysis.race_motion import CarMotion, read_race
from trailbrake.analysis.reference_line import ReferenceLine, project_points
from trailbrake.arrays import Array
from trailbrake.errors import UsageError
from trailbrake.record.recording_reader import Recording, RoadMap

Rows = NDArray[np.intp]

_UNITS = {"mps": " m/s", "mps2": " m/s^2", "m": " m"}
INCIDENT_GAP = 2.0  # s without a touch of the same cars that end an incident: what follows a contact is part of it
PUSHED_SECONDS = 1.0  # s after an incident in which a car is not master of its way
DEPTH_REACH = 0.3  # m between boxes within which a contact that both cars report is one with each other
NEAR = 12.0  # m between cars that can touch
LEAST_ROWS = 10  # before a contact, from which on it is judged
RATE = 100.0  # Hz, of what is judged


class JudgedContact(NamedTuple):
    """A contact and its verdict.

    Attributes:
        time_s: s of simulator time of the first touch, on the clock of the first car.
        end_s: s of the last touch of the incident.
        first, second: numbers of the cars, the lower first.
        s_m: m along the road, of the first car.
        relative_mps: m/s between the two, before the touch.
        fault: number of the car at fault; None: unclear.
        rule: what was broken, or why it is unclear.
        source: of the rule, as in `analysis.contact_fault`.
        evidence: the figures that decided.
    """

    time_s: float
    end_s: float
    first: int
    second: int
    s_m: float
    relative_mps: float
    fault: int | None
    rule: str
    source: str
    evidence: dict[str, float]

    def describe(self) -> str:
        """Return the contact as one line."""
        fault = "unclear" if self.fault is None else f"car {self.fault} at fault"
        figures = ", ".join(_word_figure(name, value) for name, value in self.evidence.items())
        return (
            f"{self.time_s:.2f} s, {self.s_m:.0f} m: cars {self.first} and {self.second}, {fault}: {self.rule} "
            f"({self.source}); {figures}"
        )


def _word_figure(name: str, value: float) -> str:
    """Return a figure of the evidence in words: its name has its unit behind an underscore."""
    words, _, unit = name.rpartition("_")
    if unit not in _UNITS:
        words, unit = name, ""
    return f"{words.replace('_', ' ')} {value:.2f}{_UNITS.get(unit, '')}"


class _Incident(NamedTuple):
    """Two cars that touch: the rows of the first and the last touch, both cars, and all cars of the drive."""

    touches: tuple[int, int]
    pair: tuple[CarMotion, CarMotion]
    cars: Sequence[CarMotion]


def judge_recordings(recordings: Sequence[Recording]) -> list[JudgedContact]:
    """Return the contacts of the cars of one drive, in the order of time.

    Args:
        recordings: of its cars; the first has the road, and its times.

    Raises:
        UsageError: fewer than two cars.
        DataError: no road, or no positions.
    """
    if len(recordings) < 2:
        raise UsageError("a steward needs the recordings of two cars", where=str(recordings[0].path),
                         expected=f"{recordings[0].path.stem}_car1.mcap beside it, or more files")  # fmt: skip
    road_map, line, time, motions = read_race(recordings)
    road = _make_road(road_map, line)
    touches = sorted(
        (*rows, a.number, b.number) for a, b in itertools.combinations(motions, 2)
        for rows in _find_incidents(time, a, b)
    )  # fmt: skip
    found: list[JudgedContact] = []
    for first, last, *numbers in touches:
        incident = _Incident((first, last), (motions[numbers[0]], motions[numbers[1]]), motions)
        found.append(_judge_incident(road, line, time, incident, found))
    return found


def _make_road(road_map: RoadMap, line: ReferenceLine) -> ConductRoad:
    centre = road_map.centre
    left, right = (np.hypot(*(edge - centre).T) for edge in (road_map.left, road_map.right))
    yaw = np.unwrap(np.arctan2(np.diff(line.y), np.diff(line.x)))
    curvature = np.gradient(np.convolve(np.pad(yaw, 2, mode="edge"), np.full(5, 0.2), "valid"), line.s[:-1])
    s = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(centre, axis=0).T))])
    length = line.length if road_map.closed else 0.0
    return ConductRoad(s, np.interp(s, line.s[:-1], curvature), left, right, length)


def _measure_overlap(a: CarMotion, b: CarMotion, rows: Rows) -> Array:
    """Return by how much (m) the boxes of two cars overlap at `rows`, along the axis where it is least; negative: not.

    By separating axes, as the world does it.
    """
    dx, dy, turn = b.x[rows] - a.x[rows], b.y[rows] - a.y[rows], b.yaw[rows] - a.yaw[rows]
    cos, sin = np.abs(np.cos(turn)), np.abs(np.sin(turn))
    least: Array = np.full(len(rows), np.inf)
    for own, other in ((a, b), (b, a)):
        c, s = np.cos(own.yaw[rows]), np.sin(own.yaw[rows])
        along = 0.5 * (own.length + other.length * cos + other.width * sin) - np.abs(dx * c + dy * s)
        aside = 0.5 * (own.width + other.length * sin + other.width * cos) - np.abs(dy * c - dx * s)
        least = np.minimum(least, np.minimum(along, aside))
    return least


def _find_incidents(time: Array, a: CarMotion, b: CarMotion) -> list[tuple[int, int]]:
    """Return the rows in which two cars first and last touch, of each incident."""
    near = np.flatnonzero(np.hypot(a.x - b.x, a.y - b.y) < NEAR)
    overlap = _measure_overlap(a, b, near)
    reported = (a.depth[near] > 0.0) & (b.depth[near] > 0.0) & (overlap > -DEPTH_REACH)
    known = np.isfinite(a.depth[near]) & np.isfinite(b.depth[near])
    touches = near[np.where(known, reported, overlap > 0.0)]
    parts = np.split(touches, np.flatnonzero(np.diff(time[touches]) > INCIDENT_GAP) + 1)
    return [(int(part[0]), int(part[-1])) for part in parts if len(part)]


def _judge_incident(
    road: ConductRoad, line: ReferenceLine, time: Array, incident: _Incident, before: Sequence[JudgedContact]
) -> JudgedContact:
    touches, (a, b), all_cars = incident
    row, end = touches
    last = max(row - 1, 0)  # the state of the touch itself has been pushed
    begin = int(np.searchsorted(time, time[last] - WINDOW))
    stride = max(1, int((last - begin) / (WINDOW * RATE)))
    rows = np.arange(last, begin - 1, -stride)[::-1]
    rows = rows[np.isfinite(a.x[rows]) & np.isfinite(b.x[rows])]
    tracks = {car.number: _locate_car(line, time, car, rows) for car in all_cars if np.isfinite(car.x[rows]).all()}
    pair = tracks.pop(a.number), tracks.pop(b.number)
    velocity = [car.speed[last] * np.array([np.cos(car.yaw[last]), np.sin(car.yaw[last])]) for car in (a, b)]
    verdict = _find_push(time[row], {a.number, b.number}, before)
    if verdict is None and len(rows) < LEAST_ROWS:
        verdict = Verdict(None, "too little was recorded before it", "", {"rows": float(len(rows))})
    if verdict is None:
        verdict = judge_contact(road, pair, tuple(tracks.values()))
    s = float(project_points(line, a.x[row : row + 1], a.y[row : row + 1])[0][0])
    s = s % road.length if road.length else s
    relative = float(np.hypot(*(velocity[0] - velocity[1])))
    return JudgedContact(float(time[row]), float(time[end]), a.number, b.number, s, relative, *verdict)


def _find_push(time: float, pair: set[int], before: Sequence[JudgedContact]) -> Verdict | None:
    """Return that a third car has just pushed one of the two; None where that is not so."""
    for contact in before:
        third = {contact.first, contact.second} - pair
        if len(third) == 1 and time - contact.end_s < PUSHED_SECONDS:
            evidence = {"seconds_before": max(time - contact.end_s, 0.0)}
            return Verdict(None, f"pushed by car {third.pop()}", "S", evidence)
    return None


def _locate_car(line: ReferenceLine, time: Array, car: CarMotion, rows: Rows) -> CarTrack:
    s, offset = project_points(line, car.x[rows], car.y[rows])
    return CarTrack(car.number, car.length, car.width, time[rows], s, offset, car.speed[rows], car.x[rows],
                    car.y[rows], car.yaw[rows])  # fmt: skip


def list_verdicts(contacts: Sequence[JudgedContact]) -> list[dict[str, Any]]:
    """Return judged contacts for JSON."""
    return [contact._asdict() for contact in contacts]
