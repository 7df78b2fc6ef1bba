"""The catalogue of recordings: an SQLite file in their folder that is made, and made again, from the recordings alone.

A run is a recording in the folder or below it; the later parts of a long drive belong to the first. Its id is its place
in the folder without the suffix, "--" between the folders. An id is only ever looked up in the index and never becomes
part of a path. Tags are lines in a file NAME.tags beside the recording, so that they outlive the index.
"""

import re
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import msgspec

from trailbrake.errors import DataError, OsErrors, TrailbrakeError, UsageError, suggest_names
from trailbrake.record.format import PART_KEY
from trailbrake.record.recording_reader import Recording
from trailbrake.user_files import read_user_file

FILE_NAME = "runs.sqlite"
APPLICATION = 0x74627275  # "tbru": SQLite's header says whose file it is
SCHEMA = 2  # 2: open-loop replays have no laps
LOCK_TIMEOUT_S = 5.0  # s that another program may hold the file
MAX_TAGS_BYTES = 10_000
LONGEST_TEXT = 200  # characters of a name out of a recording

_COLUMNS = (
    "id TEXT PRIMARY KEY, path TEXT NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL, sim TEXT NOT NULL,"
    " track TEXT NOT NULL, car TEXT NOT NULL, driver TEXT NOT NULL, started TEXT NOT NULL, laps INTEGER NOT NULL,"
    " best_s REAL, problem TEXT NOT NULL"
)


# The columns in order: SQLite keeps to no type, so each row is checked.
_RunRow = tuple[str, str, int, int, str, str, str, str, str, int, float | None, str]


@dataclass(frozen=True)
class RunEntry:
    """A recording in the catalogue.

    Attributes:
        id: how verbs name it.
        path: below the folder, with "/".
        size: bytes.
        modified: ns since the epoch.
        sim: simulator; so are track, car and driver names, "" where they are not known.
        track: its name.
        car: its name.
        driver: its name.
        started: when the drive began, as the recording says; "" where it does not.
        laps: finished laps; 0 of an open-loop replay, whose car another driver drove.
        best_s: s, the best valid lap; None without one.
        problem: why it cannot be read; "" where it can.
    """

    id: str
    path: str
    size: int
    modified: int
    sim: str = ""
    track: str = ""
    car: str = ""
    driver: str = ""
    started: str = ""
    laps: int = 0
    best_s: float | None = None
    problem: str = ""


class RunIndex:
    """The index of one folder of recordings. Where the folder cannot be written, it lives in memory.

    Args:
        folder: of the recordings.
        rebuild: whether to read every recording again.

    Raises:
        UsageError: another program holds the index.
        DataError: the file with its name is another program's.
    """

    def __init__(self, folder: Path, rebuild: bool = False) -> None:
        self.folder = folder
        file = folder / FILE_NAME
        try:
            self._database = _open_database(file, rebuild)
            try:
                self._update()
            except (sqlite3.DatabaseError, ValueError, TypeError, OverflowError) as error:
                self._database.close()
                if "locked" in str(error):
                    raise
                # Damaged where nobody has looked: nothing is in it that the recordings do not have.
                with suppress(OSError):
                    file.unlink()
                self._database = _open_database(file, True)
                self._update()
        except (sqlite3.DatabaseError, ValueError, TypeError, OverflowError) as error:
            if "locked" in str(error):
                raise UsageError(f"another program has held the index of runs for {LOCK_TIMEOUT_S:g} s",
                                 where=str(file), hint="end it") from error  # fmt: skip
            raise DataError("cannot use the index of runs", where=str(file), got=" ".join(str(error).split())[:160],
                            hint="delete it: it is made again from the recordings") from error  # fmt: skip

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def list_runs(self) -> list[RunEntry]:
        """Return all runs, the newest first."""
        names = ", ".join(field.name for field in fields(RunEntry))
        rows = self._database.execute(f"SELECT {names} FROM run ORDER BY modified DESC, id").fetchall()
        return [RunEntry(*row) for row in msgspec.convert(rows, list[_RunRow])]

    def locate_run(self, entry: RunEntry) -> Path:
        """Return the file of a run.

        Raises:
            DataError: it is not in the folder: the index has been changed by others.
        """
        path = _find_file(self.folder, entry.path).resolve()
        if not path.is_relative_to(self.folder.resolve()):
            raise DataError("the index of runs points out of its folder", where=str(self.folder / FILE_NAME),
                            got=entry.path, hint="trailbrake runs --rebuild")  # fmt: skip
        return path

    def _update(self) -> None:
        """Bring the index in line with the files: read those that are new or have changed."""
        known = {entry.path: entry for entry in self.list_runs()}
        found = dict(_list_recordings(self.folder))
        changed = [
            _describe_run(self.folder, path, size, modified)
            for path, (size, modified) in found.items()
            if path not in known or (known[path].size, known[path].modified) != (size, modified)
        ]
        gone = [path for path in known if path not in found]
        if not changed and not gone:
            return
        with self._database:
            self._database.executemany("DELETE FROM run WHERE path = ?", [(path,) for path in gone])
            places = ", ".join("?" * len(fields(RunEntry)))
            self._database.executemany(
                f"INSERT OR REPLACE INTO run VALUES ({places})", [astuple(entry) for entry in changed]
            )


def _open_database(path: Path, rebuild: bool) -> sqlite3.Connection:
    for attempt in range(2):
        try:
            base = sqlite3.connect(path, timeout=LOCK_TIMEOUT_S)
        except sqlite3.OperationalError:
            break
        try:
            if _prepare_schema(base, path, rebuild):
                return base
            base.close()  # a folder without write access, and no index in it
            break
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            # Damaged: nothing is in it that the recordings do not have.
            base.close()
            if "locked" in str(error):
                raise
            with suppress(OSError):
                path.unlink()
            if attempt:
                break
        except DataError:
            base.close()
            raise
    base = sqlite3.connect(":memory:")
    _prepare_schema(base, path, rebuild)
    return base


def _prepare_schema(base: sqlite3.Connection, path: Path, rebuild: bool) -> bool:
    """Make the table where it is missing, old or to be rebuilt. False where the file cannot be written."""
    base.execute("PRAGMA trusted_schema = OFF")

    def read(what: str) -> int:
        return int(base.execute(what).fetchone()[0])

    owner, empty = read("PRAGMA application_id"), not read("SELECT count(*) FROM sqlite_schema")
    if not empty and owner != APPLICATION:
        raise DataError("another program's database", where=str(path), expected="the index of trailbrake's runs",
                        hint="move it away")  # fmt: skip
    strange = read("SELECT count(*) FROM sqlite_schema WHERE type NOT IN ('table', 'index')")
    if not empty and not rebuild and not strange and read("PRAGMA user_version") == SCHEMA:
        return True
    try:
        with base:
            for kind, name in base.execute("SELECT type, name FROM sqlite_schema WHERE sql IS NOT NULL").fetchall():
                quoted = str(name).replace('"', '""')
                base.execute(f'DROP {kind} IF EXISTS "{quoted}"')
            base.execute(f"CREATE TABLE run ({_COLUMNS})")
            base.execute(f"PRAGMA application_id = {APPLICATION}")
            base.execute(f"PRAGMA user_version = {SCHEMA}")
    except sqlite3.OperationalError as error:
        if "readonly" in str(error) or "unable to open" in str(error):
            return False
        raise
    return True


def _list_recordings(folder: Path) -> Iterable[tuple[str, tuple[int, int]]]:
    """Yield the place and (size, time of change) of every recording below `folder`; links are not followed."""
    with suppress(OSError):
        for path in sorted(folder.rglob("*.mcap")):
            with suppress(OSError):
                if path.is_file() and not path.is_symlink():
                    stat = path.stat()
                    place = re.sub("[\udc80-\udcff]", lambda byte: f"%{ord(byte[0]) - 0xDC00:02X}",
                                   path.relative_to(folder).as_posix())  # fmt: skip
                    yield place, (stat.st_size, stat.st_mtime_ns)


def _find_file(folder: Path, place: str) -> Path:
    """Return the file of a place, in which bytes that are not UTF-8 stand as %E4."""
    if (folder / place).exists():
        return folder / place
    return folder / re.sub("%([89A-F][0-9A-F])", lambda byte: chr(0xDC00 + int(byte[1], 16)), place)


def _describe_run(folder: Path, place: str, size: int, modified: int) -> RunEntry:
    """Return the entry of a recording; what is wrong with one that cannot be read is in `problem`."""
    name = "--".join(Path(place).with_suffix("").parts)
    try:
        recording = Recording.open(_find_file(folder, place), join=False)
        if PART_KEY in recording.about:
            return RunEntry(name, place, size, modified, problem="a later part of a long drive")
        about = {key: _shorten(recording.about.get(key)) for key in ("sim", "track", "car", "driver", "started")}
        # The laps in an open-loop replay are another driver's.
        laps = [] if recording.about.get("open_loop") else Recording.open(recording.path).list_lap_records()
    except (TrailbrakeError, OSError) as error:
        return RunEntry(name, place, size, modified, problem=_shorten(str(error)))
    times = [lap.time_s for lap in laps if lap.valid and 0.0 < lap.time_s < 1e9]
    return RunEntry(name, place, size, modified, **about, laps=len(laps), best_s=min(times, default=None))


def _shorten(value: object) -> str:
    """Return a value of a description as text in one line; a description may hold anything."""
    return " ".join(str(value).split())[:LONGEST_TEXT] if value is not None else ""


def read_tags(recording: Path) -> list[str]:
    """Return the tags of a recording, sorted; none where its file of tags cannot be read."""
    path = recording.with_suffix(".tags")
    if not path.is_file():
        return []
    try:
        text = read_user_file(path, "tags", MAX_TAGS_BYTES).decode("utf-8", "replace")
    except TrailbrakeError:
        return []
    return sorted({tag for line in text.splitlines() if (tag := _shorten(line))})


def write_tags(recording: Path, tags: Iterable[str]) -> list[str]:
    """Replace the tags of a recording; return them. UsageError where they cannot be written."""
    kept = sorted({tag for text in tags if (tag := _shorten(text))})
    path = recording.with_suffix(".tags")
    with OsErrors("cannot write the tags", where=str(path)):
        path.write_text("".join(f"{tag}\n" for tag in kept), encoding="utf-8")
    return kept


def choose_run(runs: Sequence[RunEntry], name: str, folder: Path) -> RunEntry:
    """Return the run that `name` means: an id, a part that only one has, or one of these words.

    "last" is the newest run, "previous" the one before it, "last:PART" the newest with PART in its id.

    "best" is the run with the best lap on the track of the newest run.

    Raises:
        UsageError: there is none, or several.
    """
    readable = [run for run in runs if not run.problem]
    if not readable:
        raise UsageError("there are no recordings yet", where=str(folder), hint="drive, or set TRAILBRAKE_RECORDINGS")
    if name == "last" or (name == "previous" and len(readable) > 1):
        return readable[("last", "previous").index(name)]
    if name.startswith("last:") and (same := [run for run in readable if name.partition(":")[2] in run.id]):
        return same[0]
    if name == "best" or name.startswith("best:"):
        track = name.partition(":")[2] or readable[0].track
        timed = [run for run in readable if run.track == track and run.best_s is not None]
        if not timed:
            raise UsageError("no run with a valid lap", where=name, got=track or "no track",
                             hint="trailbrake runs lists them")  # fmt: skip
        return min(timed, key=lambda run: (run.best_s or 0.0, run.id))
    ways = (
        [run for run in readable if run.id == name],
        [run for run in readable if name and run.id.endswith(name)],
        [run for run in readable if name and name in run.id],
    )
    for same in ways:
        if len(same) == 1:
            return same[0]
        if same:
            raise UsageError("more than one run has this in its id", where=name,
                             got=", ".join(run.id for run in same[:4]),
                             hint=f"give more of the id, or last:{name} for the newest")  # fmt: skip
    raise UsageError("no such recording or run", where=name, hint=suggest_names(name, [run.id for run in readable]))


def resolve_recording(name: str, folder: Path) -> Path:
    """Return the file that a user's word means: a path, or a run of the catalogue of `folder`.

    A word with a separator, a suffix, or the name of a file that is there, is a path; words of `choose_run` are runs.

    Raises:
        UsageError: it is neither.
    """
    path = Path(name)
    keyword = name in ("last", "previous", "best") or name.startswith(("last:", "best:"))
    if not keyword and (path.suffix or len(path.parts) != 1 or "\\" in name or path.exists()):
        return path
    with closing(RunIndex(folder)) as index:
        return index.locate_run(choose_run(index.list_runs(), name, folder))
