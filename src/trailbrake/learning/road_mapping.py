"""Maps a road by driving it slowly: a drive, a recording, and from the recording a track file that `load` reads.

Learns a road and a car in one go: the map, the car on it, and laps with both.
"""

import math
from pathlib import Path

import numpy as np

from trailbrake.arrays import Array
from trailbrake.cars.car_library import load_car
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.drivers.survey import Driver as SurveyDriver
from trailbrake.drivers.survey import SurveyGains
from trailbrake.driving.drive_files import open_drive
from trailbrake.driving.goals import BackAtStart, Goal, Metres, OnceAlong, Standstill
from trailbrake.driving.road_monitor import RoadMonitor
from trailbrake.driving.run import INTERRUPTED
from trailbrake.driving.session.drive_session import drive
from trailbrake.driving.session.driver_choice import check_course_needs, check_driver_needs
from trailbrake.driving.session.progress import ProgressListener, SilentListener
from trailbrake.driving.spec import list_changes, make_spec
from trailbrake.errors import SimulatorError, TrailbrakeError, UsageError
from trailbrake.json_types import JsonObject
from trailbrake.learning.car_learning import learn_car_file
from trailbrake.learning.edge_survey import HALF_CAR, survey_edges
from trailbrake.learning.learning_journal import LearningJournal, LearningStep, journal_folder
from trailbrake.learning.options import LearnCarOptions, LearnOptions
from trailbrake.learning.recorded_drive import DriveEnd, DriveTarget, RecordedDrive, record_drive
from trailbrake.learning.road_survey import CLOSING_DISTANCE, SurveyedRoad, survey_road, widen_to_places
from trailbrake.planning.course import UnmappedCourse
from trailbrake.record.file_names import safe_name
from trailbrake.roles import Driver, HasGains
from trailbrake.simulator import AnySimulator
from trailbrake.tracks import road_file
from trailbrake.tracks.geo_lines import MAX_BYTES, MAX_GAP, SUFFIXES, parse_geo_lines
from trailbrake.tracks.geometry import choose_origin, project_places
from trailbrake.tracks.track_library import load_track
from trailbrake.user_files import check_result, read_user_file

SURVEY = "survey"
AWAY_DISTANCE = 30.0  # m from its start after which a car that comes back has been round: of the tightest circuit
NEEDS = frozenset({"x", "y", "z"})
FINE_STEP = 5.0  # m between the places of a drive that is mapped
FAST_LAPS = 4  # the first from rest; the plan rises in those after it


def make_survey_goal(metres: float) -> Goal:
    """Return what ends a survey: the way round or to the end of a known road, `metres` (0 = no limit), a standstill."""
    goal = BackAtStart(0.5 * CLOSING_DISTANCE, AWAY_DISTANCE).or_when(OnceAlong(), Standstill())
    return goal.or_when(Metres(metres)) if metres else goal


def map_road(
    simulator: AnySimulator, options: LearnOptions, live: object = None, listener: ProgressListener | None = None
) -> JsonObject:
    """Map a road, write the track file, and return what `trailbrake learn --json` prints.

    Args:
        simulator: whose wire to drive through, where no recording is given.
        options: what to map, and how.
        live: the simulator's live options; None for their defaults.
        listener: receives messages.

    Raises:
        TrailbrakeError: the simulator does not supply what the driver needs, the drive was too short, or a file
            cannot be read or written.
    """
    listener = listener or SilentListener()
    options = options.with_defaults()
    check_mapping(simulator, options, live)
    if options.left_edge is not None and options.right_edge is not None:
        found = survey_edges(_read_path(options.left_edge), _read_path(options.right_edge))
        return _write_map(found, options, options.left_edge, interrupted=False)
    sources, interrupted = options.source, False
    if not sources:
        recording, interrupted = _resume_survey(simulator, options, live, listener)
        sources = (recording,)
    surveys = [_read_survey(path) for path in sources]
    found = survey_road(*surveys[0].T, width=options.width, wave=_weave_length(options))
    if options.source and not np.isfinite(surveys[0][:, 3]).any():  # nothing says where its edges are
        share = widen_to_places(found.road, np.concatenate([survey[:, :2] for survey in surveys]), HALF_CAR)
        listener.show_message(f"the width is assumed, {options.width:g} m, and more where cars went further out: "
                              f"{100.0 * share:.0f} % of the length")  # fmt: skip
    return _write_map(found, options, sources[0], interrupted=interrupted)


def check_mapping(simulator: AnySimulator, options: LearnOptions, live: object = None) -> None:
    """Check that a road can be mapped, by the simulator's wire where no recordings are given; UsageError if not."""
    if not options.width > 0.0:
        raise UsageError("no width of a road", where="--width", expected="above 0 m", got=f"{options.width:g}")
    if not 0.0 <= options.metres < math.inf:
        raise UsageError("no length of a drive", where="--metres", expected="0 m or more", got=f"{options.metres:g}")
    if (options.left_edge is None) != (options.right_edge is None):
        raise UsageError("one edge of a road", where="--left-edge, --right-edge", expected="recordings along both")
    check_result(options.out, ".csv")
    if not options.is_drawn:
        _load_survey_driver(simulator, options, live)


def map_path(options: LearnOptions, recording: Path | None = None) -> Path:
    """Return the path of the track file that is written; `recording` is what it is made from, without a drive."""
    return options.out or Path(f"{_road_name(options) if recording is None else recording.stem}_map.csv")


def _read_path(path: Path) -> Array:
    """Return the places (n, 3) m of a recording."""
    opened = open_drive(path)
    return np.column_stack([opened.state[name][~opened.undone] for name in ("x", "y", "z")])


def _read_survey(path: Path) -> Array:
    """Return x, y, z (m) and the place across the road (n, 4) of a drive, or of the lines of a GPX or KML file."""
    if path.suffix.lower() in SUFFIXES:
        lines = parse_geo_lines(read_user_file(path, "drive", MAX_BYTES), str(path))
        latitude, longitude, height = np.concatenate([line[1:4] for line in lines], axis=1)
        places = np.column_stack([*project_places(latitude, longitude, choose_origin(latitude, longitude)), height,
                                  np.full(len(height), np.nan)])  # fmt: skip
    else:
        opened = open_drive(path)
        places = np.column_stack([opened.state[name][~opened.undone] for name in ("x", "y", "z", "driving_line")])
    places[:, 2] = np.where(np.isfinite(places[:, 2]).any(), places[:, 2], 0.0)  # flat where no height is known
    step = np.hypot(*np.diff(places[:, :2], axis=0).T)
    if not (step > FINE_STEP).any():
        return places
    # Slow receivers: straight lines between places that a road can join.
    counts = np.nan_to_num(np.where(step <= MAX_GAP, np.ceil(step / FINE_STEP), 1.0), nan=1.0)
    parts = enumerate(counts.astype(int).tolist())
    at = np.concatenate([np.linspace(k, k + 1, count, endpoint=False) for k, count in parts])
    return np.column_stack([np.interp(at, np.arange(len(places)), column) for column in places.T])


def _write_map(found: SurveyedRoad, options: LearnOptions, recording: Path, *, interrupted: bool) -> JsonObject:
    out = map_path(options, recording if options.is_drawn else None)
    road_file.write_road(out, found.road)
    return {
        "recording": str(recording), "track": str(out), "length_m": found.road.length, "closed": found.road.closed,
        "width_m": 2.0 * found.half_width, "width_known": found.known_share, "rows": len(found.road.table),
        "interrupted": interrupted,
    }  # fmt: skip


def _resume_survey(
    simulator: AnySimulator, options: LearnOptions, live: object, listener: ProgressListener
) -> tuple[Path, bool]:
    """Return the recording of the survey, driven now or by an earlier call, and whether it was broken off."""
    driver = _load_survey_driver(simulator, options, live)
    basis = ("road", options.sim, options.live, options.track, options.car, options.driver, options.gain,
             options.metres, options.host)  # fmt: skip
    journal = LearningJournal(journal_folder(map_path(options)), basis, again=options.again,
                              show_message=listener.show_message)  # fmt: skip
    for step in journal.list_steps(SURVEY):
        if step.finished:
            return Path(step.recording), False
    recorded = _drive_survey(simulator, driver, options, live, listener)
    journal.add_step(LearningStep(SURVEY, str(recorded.path), recorded.seconds, not recorded.interrupted))
    if recorded.interrupted:
        listener.show_message("stopped: the map is that of the road so far; the same command drives it again")
    return recorded.path, recorded.interrupted


def _road_name(options: LearnOptions) -> str:
    """Return the road's name for files: in a live drive it is often not known, and is the simulator's."""
    return safe_name(Path(options.track or options.sim).stem)


def _weave_length(options: LearnOptions) -> float:
    """Return the length of the drive's weaves, m: the width of the road follows from them."""
    driver = load_driver(options.driver, options.config, options.gain)
    gains = driver.gains if isinstance(driver, HasGains) else None
    return gains.wave if isinstance(gains, SurveyGains) else SurveyGains().wave


def _load_survey_driver(simulator: AnySimulator, options: LearnOptions, live: object) -> Driver:
    """Return the driver of a survey; UsageError where the wire does not supply what it needs."""
    driver = load_driver(options.driver, options.config, options.gain)
    if not isinstance(driver, SurveyDriver) or "driving_line" in simulator.list_supplied(live):
        check_driver_needs(driver, options.driver, simulator, live)
    else:
        raise UsageError(
            f"the wire of {simulator.name} does not supply where the road is", where="learn track",
            expected="--left-edge FILE --right-edge FILE, recordings of slow drives along both edges",
            hint="trailbrake record --live makes them; with a map of yours: learn car --map FILE",
        )  # fmt: skip
    if not simulator.list_supplied(live) >= NEEDS:
        raise UsageError(f"{simulator.name} does not tell where the car is", where="--sim")
    return driver


def _drive_survey(
    simulator: AnySimulator, driver: Driver, options: LearnOptions, live: object, listener: ProgressListener
) -> RecordedDrive:
    spec = make_spec(sim=options.sim, driver=options.driver, track=options.track, car=options.car, live=options.live,
                     host=options.host)  # fmt: skip
    course = UnmappedCourse(load_car(options.car) if options.car else None, cause="the road is yet to be mapped")
    check_course_needs(driver, options.driver, simulator, course)
    driver.reset(course)
    # The world's own road says only where it ends: an embedded open road has nothing beyond.
    road = None if options.live else load_track(options.track).road
    ends = road if road is not None and not road.closed else None
    end = DriveEnd(RoadMonitor(ends), make_survey_goal(options.metres))
    target = DriveTarget(simulator, spec, live)
    recorded = record_drive(target, driver, end, f"{_road_name(options)}_survey", listener)
    listener.show_message(f"drove {end.monitor.travelled:.0f} m in {recorded.seconds:.0f} s")
    if recorded.reason not in ("", INTERRUPTED):
        raise SimulatorError(f"the drive broke off: {recorded.reason}", where=str(recorded.path))
    return recorded


def learn_road_and_car(
    simulator: AnySimulator, options: LearnOptions, live: object = None, listener: ProgressListener | None = None
) -> JsonObject:
    """Map a road, learn the car on it, drive laps with both, and return what `trailbrake learn --json` prints.

    Each part goes on where an earlier call has ended. A part that was broken off ends the call.

    Args:
        simulator: whose wire to drive through.
        options: of the map; with recordings only the map is made, unless they name a game or a track to drive.
        live: the simulator's live options; None for their defaults.
        listener: receives messages.

    Returns:
        That of the map, with `learned_car` and `laps` as far as they were driven.

    Raises:
        TrailbrakeError: nothing could be learned of the road, or nothing of the car.
    """
    listener = listener or SilentListener()
    result = map_road(simulator, options, live, listener)
    if result["interrupted"] or (options.is_drawn and not options.names_drive):
        return result
    car = car_options(options, result["track"])
    learned = learn_car_file(simulator, car, live, listener)
    result = {**result, "learned_car": learned}
    if learned["interrupted"]:
        return result
    return {**result, "laps": drive_learned_car(car, learned["car"], live, listener)}


def car_options(options: LearnOptions, track_file: str) -> LearnCarOptions:
    """Return the options for the car of a road that has just been mapped.

    Args:
        options: of the map.
        track_file: the map.
    """
    options = options.with_defaults()
    return LearnCarOptions(
        sim=options.sim, track=options.track, map=Path(track_file), car=options.car, live=options.live,
        host=options.host, out=Path(track_file).with_suffix(".toml"), again=options.again, verify=options.verify,
    ).with_defaults()  # fmt: skip


def drive_learned_car(
    options: LearnCarOptions, car_file: str, live: object, listener: ProgressListener
) -> JsonObject | None:
    """Drive laps by the learned map and car; what the driver learns is kept beside the car file.

    Args:
        options: of the car's learning.
        car_file: the file that was written.
        live: the simulator's live options.
        listener: receives messages.

    Returns:
        Lap times (s), the best valid one and how the drive ended; None where they could not be driven.
    """
    road = str(options.map or options.track)
    world = options.world if options.live else (*options.world, f"car={options.car}", f"track={options.track}")
    laps = FAST_LAPS if load_track(road).road.closed else 1
    memory = str(Path(car_file).with_suffix(".memory.json"))
    spec = make_spec(
        sim=options.sim, track=road, car=car_file, live=options.live, host=options.host, world=world,
        laps=laps, memory=memory, report=False, options=None if live is None else list_changes(live),
    )  # fmt: skip
    try:
        summary = drive(spec, listener=listener)
    except TrailbrakeError as error:
        listener.show_message(f"no laps: {error}")
        return None
    if summary["ended"] == INTERRUPTED:
        listener.show_message("stopped: the same command drives the laps again")
    return {"laps": summary["laps"], "best_s": summary["best_s"], "ended": summary["ended"], "memory": memory}
