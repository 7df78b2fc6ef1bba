"""Laps that the learned car drives in the embedded world: at a person's pace, and at the limit. They are kept.

What a car does between brake and throttle is in no planned speed: a driver of ours who uses as much of the grip as the
person is the better measure of what a corner takes at that pace.
"""

import hashlib
import os
import tempfile
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace as replace_fields

from trailbrake.analysis.lap_location import CommonLine, LocatedLap, locate_laps
from trailbrake.coaching.pace_model import repeat_lap
from trailbrake.config import cache_folder
from trailbrake.drivers.line_follow import Driver as LineFollow
from trailbrake.driving.session.drive_session import drive
from trailbrake.errors import DataError, TrailbrakeError
from trailbrake.optimal.line_session import plan_line
from trailbrake.optimal.options import LineOptions
from trailbrake.planning.course import GRIP_MARGIN, Course
from trailbrake.planning.line_file import car_digest, load_racing_line, road_digest
from trailbrake.record.recording_reader import Recording
from trailbrake.roles import Driver
from trailbrake.state import CarState, Controls
from trailbrake.user_files import make_folder
from trailbrake.version import __version__
from trailbrake.world.car_scaling import scale_car

PACE_LAPS, LIMIT_LAPS = 2, 5  # the first from rest; at the limit laps find the rest of the grip
WIRE = "forza"
REACTION_S = 0.18  # s, usual of people who steer and brake by what they see
SHARE_STEP = 0.01  # of the grip, by which a kept lap may be another's
LOWER_SHARES = (0.0, 0.04, 0.08)  # of the grip, by which the pace is lowered where the learned car touches a wall
TOUCH_JUMP = 2.5  # m/s that the speed jumps by from row to row at a wall, which the wire does not show
LIMIT_BY, DEFAULT_LINE = "line_track", "the default line"


def coach_folder() -> Path:
    """Return the folder of kept roads, cars and laps, in the cache folder."""
    return cache_folder() / "coach"


class Place(NamedTuple):
    """Where laps are driven: names or files of a track and a car, and what is in them."""

    track: str
    car: str
    course: Course

    @property
    def folder(self) -> Path:
        """Where its laps are kept."""
        key = f"{__version__} {road_digest(self.course.track.road)} {car_digest(self.course.known_car())}"
        return coach_folder() / hashlib.sha256(key.encode()).hexdigest()[:24]


class PacedDriver(LineFollow):
    """`line_follow` as a person: it uses a share of the car's grip, and reacts late, as it knows.

    Args:
        share: of the envelope.
    """

    def __init__(self, share: float) -> None:
        super().__init__(learn=0.0)
        self.share = share

    def reset(self, course: Course) -> None:
        """Plan with the share and the reaction."""
        car = course.known_car()
        late = replace_fields(car, actuation=replace_fields(car.actuation, delay=car.actuation.delay + REACTION_S))
        super().reset(Course(course.track, scale_car(late, grip=self.share / GRIP_MARGIN)))
        self.now = 0.0
        self.wanted: deque[tuple[float, Controls]] = deque()

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls that belong to the state of a reaction ago."""
        wanted = super().act(state, dt)
        self.now += dt
        self.wanted.append((self.now + REACTION_S, wanted))
        while len(self.wanted) > 1 and self.wanted[1][0] <= self.now:
            self.wanted.popleft()
        return self.wanted[0][1]


def drive_at_pace(place: Place, share: float, common: CommonLine) -> tuple[LocatedLap, float]:
    """Return a lap of the learned car at a share of the grip, rounded to SHARE_STEP, or a little less, and the share.

    Raises:
        DataError: it could not be driven.
    """
    for lower in LOWER_SHARES:
        rounded = round((share - lower) / SHARE_STEP) * SHARE_STEP
        try:
            laps = _list_laps(_drive_once(place, f"person{rounded:.2f}", PacedDriver(rounded), PACE_LAPS), common)
        except DataError:
            if lower == LOWER_SHARES[-1]:
                raise
        else:
            break
    return min(laps, key=lambda lap: lap.time_s), rounded


def plan_limit_course(place: Place, show_message: Callable[[str], None]) -> tuple[Course, str]:
    """Return the course along the minimum-time line, and what line that is; the place's own where it has none."""
    path = place.folder / "line.csv"
    try:
        planned = plan_line(LineOptions(track=place.track, car=place.car, report=False, out=path))
        if not planned["cached"]:
            show_message(f"planned the minimum-time line in {planned['seconds']:.0f} s")
        line = load_racing_line(path, place.course.track.road, place.course.known_car())
    except TrailbrakeError as error:
        show_message(f"no minimum-time line: {error}")
        return place.course, DEFAULT_LINE
    return replace(place.course, given_line=line), "the minimum-time line"


def drive_at_limit(place: Place, common: CommonLine) -> LocatedLap:
    """Return the best lap of `line_track` in the learned car, on the minimum-time line where it is planned.

    Raises:
        DataError: it could not be driven.
    """
    laps = _list_laps(_drive_once(place, "limit", LIMIT_BY, LIMIT_LAPS), common)
    return min(laps, key=lambda lap: lap.time_s)


def _drive_once(place: Place, name: str, driver: Driver | str, laps: int) -> Recording:
    """Return the recording of a drive of `laps`: a kept one, or one that is driven now, to its end, and kept."""
    kept = place.folder / f"{name}.mcap"
    if not kept.is_file():
        make_folder(place.folder)
        with tempfile.TemporaryDirectory(dir=place.folder) as folder:
            summary = drive(driver=driver, sim=WIRE, track=place.track, car=place.car, laps=laps, report=False,
                            out=folder)  # fmt: skip
            if summary["ended"] != "done":
                raise DataError("the learned car did not get round", where=name, expected=f"{laps} laps",
                                got=str(summary["ended"]))  # fmt: skip
            os.replace(summary["recording"], kept)
    return Recording.open(kept)


def _list_laps(recording: Recording, common: CommonLine) -> list[LocatedLap]:
    laps = [lap for lap in locate_laps(recording, 0, common, 12)
            if lap.finished and lap.valid and not lap.from_rest
            and not np.any(np.abs(np.diff(lap.channels["speed"])) > TOUCH_JUMP)]  # fmt: skip
    if not laps:
        raise DataError("the learned car did not get round", where=str(recording.path), expected="a clean lap")
    return [repeat_lap(lap, common.length) for lap in laps] if common.line is not None and common.line.closed else laps
