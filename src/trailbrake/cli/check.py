"""`check`: says what a file is, and whether its loader takes it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.cli.output import JsonFlag, print_json
from trailbrake.errors import DataError, TrailbrakeError, UsageError
from trailbrake.user_files import open_user_file, parse_json, parse_toml, read_user_file, read_user_text

_SIMULATOR = re.compile(rb"^SIMULATOR\b", re.MULTILINE)


def check(files: list[Path], /, *, json: JsonFlag = False) -> int:
    """Say of each file what it is and that it is fine, or what is wrong with it.

    A track, a car, a line, a drive, gains, a recording, laps of other tools, a table or a log of a drive, a policy, a
    driver (.py, .fmu), a simulator (.py), a race day.

    Args:
        files: which.
        json: print the result as JSON.
    """
    results = []
    for path in files:
        try:
            results.append({"file": str(path), "fine": True, "text": _find_check(path)(path)})
        except TrailbrakeError as error:
            results.append({"file": str(path), "fine": False, "text": str(error)})
    if json:
        print_json({"files": results})
    else:
        for result in results:
            print(f"{result['file']}: fine: {result['text']}" if result["fine"] else result["text"])
    return 0 if all(result["fine"] for result in results) else 1


def _find_check(path: Path) -> Callable[[Path], str]:
    """Return what checks a file of this kind; UsageError where there is no such kind."""
    checks: dict[str, Callable[[Path], str]] = {
        ".py": _check_code, ".fmu": _check_driver, ".npz": _check_driver, ".mcap": _check_recording, ".csv": _check_csv,
        ".toml": _check_values, ".json": _check_values, ".gpx": _check_places, ".kml": _check_places,
        **dict.fromkeys((".ld", ".ibt", ".nmea"), _check_recording),
    }  # fmt: skip
    if path.suffix not in checks:
        if not path.exists():
            raise UsageError("no such file", where=str(path))
        raise UsageError("no kind of file that can be checked", where=str(path), expected=", ".join(checks))
    return checks[path.suffix]


def _check_code(path: Path) -> str:
    from trailbrake.driving.simulator_check import check_simulator

    if not _SIMULATOR.search(read_user_file(path, "driver")):
        return _check_driver(path)
    _raise_first(check_simulator(str(path)))
    return "a simulator"


def _check_driver(path: Path) -> str:
    from trailbrake.drivers.loading.check import check_driver
    from trailbrake.drivers.loading.driver_registry import declared_needs, load_driver

    name = f"policy:{path}" if path.suffix == ".npz" else str(path)
    driver = load_driver(name)
    if path.suffix == ".npz":
        return f"a policy that needs {', '.join(sorted(declared_needs(driver, name)))}"
    _raise_first(check_driver(driver))
    return f"a driver that needs {', '.join(sorted(declared_needs(driver, name))) or 'nothing'}"


def _raise_first(problems: list[str]) -> None:
    if problems:
        more = len(problems) - 1
        raise DataError(problems[0], hint=f"and {more} more like it" if more else "")


def _check_recording(path: Path) -> str:
    from trailbrake.driving.drive_files import open_drive

    recording = open_drive(path)
    about = [str(recording.about[key]) for key in ("driver", "car", "track") if recording.about.get(key)]
    laps = f"{len(recording.laps)} lap{'' if len(recording.laps) == 1 else 's'}"
    valid = [lap.time_s for lap in recording.laps if lap.valid]
    best = f", best {format_lap_time(min(valid))}" if valid else ""
    cut = "; its end is missing" if recording.truncated else ""
    kind = recording.about["log"]["kind"] if "log" in recording.about else "a recording"
    return f"{kind} of {', '.join(about) or 'a drive'}: {len(recording)} ticks, {laps}{best}{cut}"


def _check_csv(path: Path) -> str:
    from trailbrake.planning.line_file import MARK, read_line
    from trailbrake.record.csv_files import is_drive_table, read_csv_columns
    from trailbrake.record.driving_log import LOG_NAME

    with open_user_file(path, "table") as file:
        is_line = file.read(len(MARK)) == MARK.encode()
    if path.name == LOG_NAME:
        return _check_driving_log(path)
    if is_line:
        return f"a line of {len(read_line(path).columns['s_m'])} points"
    if is_drive_table(path):
        return f"a table of a drive, {len(read_csv_columns(path)[0]['time'])} rows"
    return _check_places(path)


def _check_driving_log(path: Path) -> str:
    from trailbrake.record.driving_log import SkippedRows, read_usable_rows

    skipped = SkippedRows()
    rows = sum(1 for _ in read_usable_rows(path.parent, skipped))
    return f"a driving log of {rows} row{'' if rows == 1 else 's'}" + (
        f"; left out: {skipped}" if skipped.counts else ""
    )


def _check_places(path: Path) -> str:
    """Say what a table, or a file of places, is: a road, else laps; what is wrong with it is what a road says."""
    try:
        return _check_track(path)
    except DataError as error:
        try:
            return _check_recording(path)
        except DataError:
            raise error from None


def _check_track(path: Path) -> str:
    from trailbrake.tracks.track_library import load_track

    track = load_track(path)
    measured = "" if track.smoothing is None else f"; {track.source}"  # what was assumed and not read
    return f"a {'circuit' if track.road.closed else 'road'} of {track.road.length:.0f} m{measured}"


def _check_car(path: Path) -> str:
    from trailbrake.cars.car_library import load_car

    car = load_car(path)
    return f"a car, {car.name}, of {car.body.mass:.0f} kg"


def _check_miniature_track(path: Path) -> str:
    from trailbrake.world.miniature.track_library import load_miniature_track

    return f"a miniature track of {load_miniature_track(path).length:.1f} m"


def _check_race_day(path: Path) -> str:
    from trailbrake.race.plan import read_plan

    return f"a race day of {len(read_plan(path).entries)} entries"


def _check_drive(path: Path) -> str:
    from trailbrake.driving.spec import read_spec

    spec = read_spec(path)
    return f"a drive: {spec.first.driver or 'the usual driver'}, {spec.site.sim}"


def _check_gains(path: Path) -> str:
    from trailbrake.drivers.loading.driver_registry import load_driver
    from trailbrake.drivers.loading.gains import read_gains

    gains = read_gains(path)
    for driver in gains:
        load_driver(driver, path)
    return f"gains of {', '.join(gains)}"


# What a file of values is, by a key that it must have: the most telling first.
_KINDS: dict[str, Callable[[Path], str]] = {
    "body": _check_car, "segment": _check_track, "corners": _check_miniature_track, "entries": _check_race_day,
    "gains": _check_gains, "site": _check_drive, "cars": _check_drive, "version": _check_drive, "goal": _check_drive,
}  # fmt: skip


def _check_values(path: Path) -> str:
    text = read_user_text(path, "file")
    values: Any = parse_json(text, str(path)) if path.suffix == ".json" else parse_toml(text, str(path))
    kind = next((check for key, check in _KINDS.items() if isinstance(values, dict) and key in values), None)
    if kind is None:
        raise UsageError("no kind of file that can be checked", where=str(path), expected="a car ([body]), a track"
                         " ([[segment]] or corners), a race day ([[entries]]), a drive ([site]) or [gains]",
                         got=", ".join(list(values)[:5]) if isinstance(values, dict) else "")  # fmt: skip
    return kind(path)
