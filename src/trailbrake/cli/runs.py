"""`runs`: the catalogue of recordings.

What a verb's recording means: a file, or a run of the catalogue.
"""

import shutil
import sys
from contextlib import closing, suppress
from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.cli.output import JsonFlag, print_json, print_table
from trailbrake.errors import TrailbrakeError, UsageError

if TYPE_CHECKING:
    from trailbrake.record.run_index import RunEntry, RunIndex

WIDE = 120  # columns of a terminal that shows all of a run


def runs(
    *,
    simulator: str = "",
    track: str = "",
    car: str = "",
    driver: str = "",
    tag: str = "",
    run: str = "",
    add_tag: tuple[str, ...] = (),
    remove_tag: tuple[str, ...] = (),
    limit: int = 30,
    folder: Path | None = None,
    rebuild: bool = False,
    json: JsonFlag = False,
) -> None:
    """List the recordings: simulator, track, car, driver, best lap, tags. Their ids are accepted by other verbs.

    Args:
        simulator: only runs of this simulator.
        track: only runs on this track.
        car: only runs of this car.
        driver: only runs whose driver's name contains this.
        tag: only runs with this tag.
        run: only this run: an id or a part of it, `last`, `best`.
        add_tag: give --run a tag; repeatable.
        remove_tag: take a tag from --run; repeatable.
        limit: most rows; 0 = all.
        folder: of the recordings; default that of drives.
        rebuild: read every recording again.
        json: print one JSON object on stdout.
    """
    from trailbrake.config import recordings_folder
    from trailbrake.record.run_index import RunIndex, choose_run

    if limit < 0:
        raise UsageError("no number of rows", where="--limit", expected="0 or more", got=str(limit))
    if (add_tag or remove_tag) and not run:
        raise UsageError("a tag belongs to a run", where="--add-tag, --remove-tag", hint="give --run ID")
    if folder is not None and not folder.is_dir():
        raise UsageError("no such folder", where=f"--folder {folder}")
    place = folder or recordings_folder()
    with closing(RunIndex(place, rebuild)) as index:
        every = index.list_runs()
        if run:
            every = [choose_run(every, run, place)]
            _change_tags(index, every[0], add_tag, remove_tag)
        rows = [_describe_entry(index, entry) for entry in every if "later part" not in entry.problem]
    if run:
        rows = [row | {"spec": _read_drive(Path(row["path"]))} for row in rows]
    wanted = {"sim": simulator, "track": track, "car": car}
    rows = [
        row
        for row in rows
        if all(not value or row[name] == value for name, value in wanted.items())
        and driver in row["driver"]
        and (not tag or tag in row["tags"])
    ]
    shown = rows[:limit] if limit else rows
    if json:
        print_json({"folder": str(place), "runs": shown, "more": len(rows) - len(shown)})
        return
    _print_runs(place, shown)
    for row in shown:
        if row.get("spec") is not None:
            print(f"drive     {dumps(row['spec'])}")
    if len(shown) < len(rows):
        print(f"and {len(rows) - len(shown)} more: --limit 0 shows all")


def _change_tags(index: "RunIndex", entry: "RunEntry", added: tuple[str, ...], removed: tuple[str, ...]) -> None:
    from trailbrake.record.run_index import read_tags, write_tags

    if added or removed:
        path = index.locate_run(entry)
        write_tags(path, (set(read_tags(path)) | set(added)) - set(removed))


def _describe_entry(index: "RunIndex", entry: "RunEntry") -> dict[str, Any]:
    from trailbrake.record.run_index import read_tags

    path = index.locate_run(entry)
    row = asdict(entry)
    del row["modified"]
    return row | {"path": str(path), "tags": read_tags(path)}


def _read_drive(path: Path) -> Any:
    """Return the spec of the drive that made a recording; None where it has none."""
    from trailbrake.record.recording_reader import Recording

    with suppress(TrailbrakeError):
        return Recording.open(path).about.get("spec")
    return None


def shorten_file(name: str) -> str:
    """Return the last part of a file's path; other names as they are."""
    return name.replace("\\", "/").rpartition("/")[2]


def _print_runs(folder: Path, rows: list[dict[str, Any]]) -> None:
    columns = {
        "run": [row["id"] for row in rows],
        "sim": [row["sim"] for row in rows],
        "track": [shorten_file(row["track"]) for row in rows],
        "car": [shorten_file(row["car"]) for row in rows],
        "driver": [row["driver"] for row in rows],
        "laps": [str(row["laps"]) for row in rows],
        "best": [format_lap_time(row["best_s"]) for row in rows],
        "tags": [row["problem"] or ", ".join(row["tags"]) for row in rows],
    }
    if sys.stdout.isatty() and shutil.get_terminal_size().columns < WIDE:
        for name in ("track", "car", "driver"):  # an id has them too
            del columns[name]
    print_table(f"Runs in {folder}", list(columns), zip(*columns.values(), strict=True), has_ids=True)


def find_recording(name: str) -> Path:
    """Return the file of a path, of a run's id or a part of it, or of `last`, `best` and `best:TRACK`.

    Raises:
        UsageError: it is no path, and there is no such run.
    """
    from trailbrake.config import recordings_folder
    from trailbrake.record.run_index import resolve_recording

    return resolve_recording(name, recordings_folder())
