"""The road and the car of a person's laps: named, else the road of the laps and the car that they show.

Both become files in the cache folder, so that laps can be driven with them.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from trailbrake.analysis.lap_location import NEAR_ROAD, LocatedLap
from trailbrake.cars.car_library import load_car
from trailbrake.cars.learned import Uncertainty
from trailbrake.coaching.ghost_laps import Place, coach_folder
from trailbrake.coaching.lap_choice import ChosenLaps
from trailbrake.coaching.options import CoachOptions
from trailbrake.errors import DataError, TrailbrakeError
from trailbrake.learning.identification.car_file_writer import format_car
from trailbrake.learning.identification.drive_table import MAX_RATE, DriveTable, join_tables
from trailbrake.learning.identification.learned_car import LearnedCar, learn_car
from trailbrake.learning.learning_drives import tabulate_recording
from trailbrake.learning.road_survey import survey_road
from trailbrake.planning.course import Course
from trailbrake.record.recording_reader import Recording
from trailbrake.tracks import road_file
from trailbrake.tracks.track import Track
from trailbrake.tracks.track_library import load_track
from trailbrake.user_files import make_folder, write_whole

LEARNING_S = 900.0  # s of driving that a car is learned from: the recordings of the best laps
MOST_ROWS = 60_000  # rows that a car is learned from
SURVEY_WAVE = 60.0  # m, of weaves: laps have none, and the width is given


@dataclass(frozen=True)
class LearnedPlace:
    """Where a person has driven, and with what.

    Attributes:
        place: track and car as files or names, and the course.
        doubt: how sure the car's figures are; None: the car was named.
        shown: combined slip of the axle that was used more, over that of its peak; NaN where it is not known.
        notes: what is not known, one line each.
    """

    place: Place
    doubt: Uncertainty | None
    shown: float
    notes: tuple[str, ...]


def learn_place(chosen: ChosenLaps, options: CoachOptions, show_message: Callable[[str], None]) -> LearnedPlace:
    """Return the road and the car of laps.

    Raises:
        TrailbrakeError: the road or the car cannot be found.
    """
    track, name, notes = _find_track(chosen, options)
    if options.car:
        car = load_car(options.car)
        return LearnedPlace(Place(name, options.car, Course(track, car)), None, float("nan"), tuple(notes))
    show_message("learning the car from the laps")
    learned = _learn_car(chosen)
    car = replace(learned.car, uncertainty=None)
    text = format_car(learned, car).encode()
    path = _choose_file(text, ".toml")
    write_whole(path, text, "the learned car")
    notes += [f"Not learned of the car: {text}." for text in learned.missing]
    return LearnedPlace(Place(name, str(path), Course(track, load_car(str(path)))), learned.car.uncertainty,
                        max(learned.used), tuple(notes))  # fmt: skip


def _find_track(chosen: ChosenLaps, options: CoachOptions) -> tuple[Track, str, list[str]]:
    """Return the track, its name or file, and what is not known of it."""
    recorded = next((str(d.recording.about["track"]) for d in chosen.drives if d.recording.about.get("track")), "")
    missing = ""
    for name in filter(None, (options.track, recorded)):
        try:
            track = load_track(name)
        except TrailbrakeError:
            if name == options.track:
                raise
            missing = f"{name}, which the recording names, cannot be read from this folder. "
            continue
        away = _measure_distance(chosen, track)
        if away <= NEAR_ROAD:
            return track, name, []
        if name == options.track:
            raise DataError("the laps were not driven on this track", where=f"--track {name}",
                            expected="laps on its road", got=f"a median of {away:.0f} m from its middle")  # fmt: skip
    road = survey_road(*_read_path(chosen), width=options.width, wave=SURVEY_WAVE).road
    path = _choose_file(road.table.tobytes(), ".csv")
    road_file.write_road(path, road)
    return load_track(str(path)), str(path), [
        f"{missing}The road is that of the laps: its middle is where you drove, {options.width:g} m wide by assumption"
        " (--width). So the limit is that of your line, and another line may be quicker. --track names a measured road."
    ]  # fmt: skip


def _measure_distance(chosen: ChosenLaps, track: Track) -> float:
    """Return the median distance of the best lap from the middle of a road, m."""
    lap = min(chosen.laps, key=lambda lap: lap.time_s)
    points = np.column_stack([lap.channels["x"], lap.channels["y"]])
    points = points[np.isfinite(points).all(axis=1)]
    if len(points) < 10:
        raise DataError("the laps have no positions", where="coach", expected="x and y of the car",
                        hint="without them laps are compared with each other only")  # fmt: skip
    return float(np.median(np.abs(track.road.locate_many(points)[:, 1])))


def _read_path(chosen: ChosenLaps) -> tuple[np.ndarray, ...]:
    """Return x, y, z and the place across the road of all laps of the recording that has most of them."""
    counts = [sum(lap.source == k for lap in chosen.laps) for k in range(len(chosen.drives))]
    recording = chosen.drives[int(np.argmax(counts))].recording
    first = min(lap.first for lap in recording.laps)
    rows = slice(first, max(lap.row for lap in recording.laps))
    kept = ~recording.undone[rows]
    x, y, z = (recording.state[name][rows][kept] for name in ("x", "y", "z"))
    if not np.isfinite(x).any():
        raise DataError("the laps have no positions", where=str(recording.path), expected="x and y of the car",
                        hint="without them laps are compared with each other only")  # fmt: skip
    return x, y, np.nan_to_num(z), np.full(len(x), np.nan)


def _learn_car(chosen: ChosenLaps) -> LearnedCar:
    best: dict[int, LocatedLap] = {}
    for lap in sorted(chosen.laps, key=lambda lap: lap.time_s):
        best.setdefault(lap.source, lap)
    tables: list[DriveTable] = []
    for number, lap in best.items():
        if tables and sum(table.seconds() for table in tables) > LEARNING_S:
            break
        recording = chosen.drives[number].recording
        tables.append(tabulate_recording(recording, len(tables), rows=choose_rows(recording, lap.number)))
    table = join_tables(tables)
    return learn_car(table.take(np.arange(min(len(table), MOST_ROWS))))


def choose_rows(recording: Recording, lap: int) -> slice:
    """Return the rows of a recording that a car is learned from: of a long one, those up to the end of a lap.

    Args:
        recording: of any length.
        lap: number of the best one.
    """
    time = recording.race_times
    step = max(float(np.median(np.diff(time))), 1e-3) if len(time) > 1 else 1.0
    most = int(min(LEARNING_S / step, MOST_ROWS * max(1.0 / (step * MAX_RATE), 1.0)))
    end = next((record.row for record in recording.laps if record.number == lap), 0)
    stop = min(max(end, most), len(time))
    return slice(max(stop - most, 0), stop)


def _choose_file(content: bytes, suffix: str) -> Path:
    """Return where in the cache folder a file of this content belongs."""
    path = coach_folder() / f"{hashlib.sha256(content).hexdigest()[:24]}{suffix}"
    make_folder(path.parent)
    return path
