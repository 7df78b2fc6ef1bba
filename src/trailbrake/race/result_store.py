"""Results in one SQLite file: days, races, results, laps. Nothing is lost when the power goes in between."""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import msgspec

from trailbrake.errors import DataError, UsageError, describe_os_error, suggest_names
from trailbrake.race.entry_result import EntryResult, JudgedLap
from trailbrake.race.options import ScoringRule
from trailbrake.race.plan import RaceDayPlan
from trailbrake.race.schedule import Heat
from trailbrake.race.standings import DayRecord, RaceRecord
from trailbrake.version import __version__

APPLICATION = 0x74627263  # "tbrc": SQLite's header says whose file it is
SCHEMA = 1
LOCK_TIMEOUT_S = 5.0  # s that another program may hold the file

_TABLES = """
CREATE TABLE day (
  id INTEGER PRIMARY KEY, season TEXT NOT NULL, name TEXT NOT NULL, sim TEXT NOT NULL, begun TEXT NOT NULL,
  score TEXT NOT NULL, points TEXT NOT NULL, plan TEXT NOT NULL, trailbrake TEXT NOT NULL, UNIQUE (season, name));
CREATE TABLE race (
  id INTEGER PRIMARY KEY, day INTEGER NOT NULL REFERENCES day ON DELETE CASCADE, number INTEGER NOT NULL,
  track TEXT NOT NULL, host TEXT NOT NULL, car TEXT NOT NULL, laps INTEGER NOT NULL, seed INTEGER NOT NULL,
  UNIQUE (day, number));
CREATE TABLE result (
  id INTEGER PRIMARY KEY, race INTEGER NOT NULL REFERENCES race ON DELETE CASCADE, entry TEXT NOT NULL,
  driver TEXT NOT NULL, heat TEXT NOT NULL, finished INTEGER NOT NULL, ended TEXT NOT NULL, time_s REAL NOT NULL,
  best_s REAL, contacts INTEGER NOT NULL, digest TEXT NOT NULL, recording TEXT NOT NULL, report TEXT NOT NULL,
  log TEXT NOT NULL, UNIQUE (race, entry));
CREATE TABLE lap (
  result INTEGER NOT NULL REFERENCES result ON DELETE CASCADE, number INTEGER NOT NULL, time_s REAL NOT NULL,
  valid INTEGER NOT NULL, reason TEXT NOT NULL, contacts INTEGER NOT NULL, off_track_s REAL NOT NULL,
  PRIMARY KEY (result, number)) WITHOUT ROWID;
"""


# The columns of SELECTs below, in order: SQLite keeps to no type, so each row is checked.
_DayRow = tuple[int, str, str, str, ScoringRule, str]
_RaceRow = tuple[int, int, str, str, str, int, int]
_ResultRow = tuple[int, str, str, int, str, float, float | None, int, str, str, str, str]
_LapRow = tuple[int, float, int, str, int, float]


class ResultStore:
    """The file, open. A context manager.

    Args:
        path: the file.
        make: whether to make it where it is not there.

    Raises:
        UsageError: it is not there, cannot be opened, or is held by another program.
        DataError: it is another program's, or of a newer version of this one.
    """

    def __init__(self, path: Path, make: bool = False) -> None:
        self.path = path
        if not make and not path.is_file():
            raise UsageError("no such results", where=str(path), hint="`trailbrake race` makes them; --db names others")
        with self._plain_errors():
            if make:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=LOCK_TIMEOUT_S, isolation_level=None)
        try:
            with self._sound_rows():
                self._database.execute("PRAGMA foreign_keys = ON")
                self._database.execute("PRAGMA trusted_schema = OFF")
                self._check_schema(make)
        except BaseException:
            self._database.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    @contextmanager
    def _sound_rows(self) -> Iterator[None]:
        """As `_plain_errors`, for reading rows: what does not fit its column has been damaged or written by others."""
        with self._plain_errors():
            try:
                yield
            except (ValueError, TypeError, OverflowError, RecursionError) as error:  # of msgspec and of int()
                raise DataError("the results are damaged", where=str(self.path), got=" ".join(str(error).split())[:160],
                                hint="use a copy that was made before; --db names it") from error  # fmt: skip

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        where = str(self.path)
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "busy" in str(error):
                raise UsageError(
                    f"another program has held the results for {LOCK_TIMEOUT_S:g} s", where=where,
                    hint="end it, then run the same command again: what is stored is kept",
                ) from error  # fmt: skip
            raise UsageError("cannot use the results", where=where, got=str(error)) from error
        except sqlite3.DatabaseError as error:
            raise DataError("no results of races", where=where, expected="a file that `trailbrake race` has made",
                            got=str(error), hint="--db names another file") from error  # fmt: skip
        except OSError as error:
            raise UsageError("cannot use the results", where=where, got=describe_os_error(error)) from error

    def _check_schema(self, make: bool) -> None:
        base, where = self._database, str(self.path)

        def read(what: str) -> int:
            return int(base.execute(what).fetchone()[0])

        def empty() -> bool:
            return not read("PRAGMA application_id") and not read("SELECT count(*) FROM sqlite_schema")

        if make and empty():
            with self._transaction():
                if empty():  # two that begin at the same time make one set of tables
                    for statement in _TABLES.split(";\n"):
                        base.execute(statement)
                    base.execute(f"PRAGMA application_id = {APPLICATION}")
                    base.execute(f"PRAGMA user_version = {SCHEMA}")
        # A view or a trigger in their place would run what its author wrote.
        strange = base.execute("SELECT count(*) FROM sqlite_schema WHERE type NOT IN ('table', 'index')").fetchone()[0]
        version = read("PRAGMA user_version")
        if read("PRAGMA application_id") != APPLICATION:
            raise DataError("another program's database", where=where, expected="results of `trailbrake race`",
                            hint="--db names another file")  # fmt: skip
        if strange:
            raise DataError("a database with views or triggers", where=where, expected="results of `trailbrake race`",
                            hint="--db names another file")  # fmt: skip
        if version > SCHEMA:
            raise DataError("results of a newer trailbrake", where=where, expected=f"version {SCHEMA} or older",
                            got=f"version {version}", hint="install a newer trailbrake")  # fmt: skip

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Do all of it or nothing."""
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")

    def check_schedule(self, plan: RaceDayPlan, heats: Sequence[Heat]) -> None:
        """Check that no stored race of the plan's day is another one in `heats`, whose results would replace it.

        Raises:
            UsageError: a race has another track, car, seed, number of laps, host option or simulator.
        """
        with self._sound_rows():
            rows = self._database.execute(
                "SELECT race.number, track, host, car, laps, seed, sim FROM race JOIN day ON day = day.id"
                " WHERE season = ? AND day.name = ? ORDER BY race.number", (plan.season, plan.day),
            ).fetchall()  # fmt: skip
            stored = msgspec.convert(rows, list[tuple[int, str, str, str, int, int, str]])
        planned = {heat.race: (*_race_columns(heat), heat.sim) for heat in heats}
        for number, *about in stored:
            if number in planned and planned[number] != tuple(about):
                raise UsageError(
                    f"race {number} of day {plan.day} is stored with another schedule", where=str(self.path),
                    expected=_describe_race(about), got=_describe_race(planned[number]),
                    hint="--day NAME (`day` in a race file) makes another day of the season; --again replaces the race",
                )  # fmt: skip

    def store_day(self, plan: RaceDayPlan, begun: str) -> int:
        """Store a day, or what has changed of it; return its number."""
        points = msgspec.json.encode(plan.rules.points).decode()
        values = (plan.sim, plan.rules.score, points, msgspec.json.encode(plan).decode(), __version__)
        with self._plain_errors(), self._transaction():
            self._database.execute(
                "INSERT INTO day (season, name, begun, sim, score, points, plan, trailbrake)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (season, name) DO UPDATE SET sim = excluded.sim, score = excluded.score,"
                " points = excluded.points, plan = excluded.plan, trailbrake = excluded.trailbrake",
                (plan.season, plan.day, begun, *values),
            )
            row = self._database.execute("SELECT id FROM day WHERE season = ? AND name = ?", (plan.season, plan.day))
            return int(row.fetchone()[0])

    def read_fingerprints(self, day: int) -> dict[tuple[int, str], tuple[str, str]]:
        """Return (heat's fingerprint, digest) of what is stored of a day, by race and entry."""
        with self._sound_rows():
            rows = msgspec.convert(
                self._database.execute(
                    "SELECT race.number, entry, heat, digest FROM result JOIN race ON race = race.id WHERE day = ?",
                    (day,),
                ).fetchall(),
                list[tuple[int, str, str, str]],
            )
            return {(number, entry): (heat, digest) for number, entry, heat, digest in rows}

    def store_results(self, day: int, heat: Heat, fingerprint: str, results: Sequence[EntryResult], log: str) -> None:
        """Store a heat's results in place of older ones of the same race and entries.

        A race that has become another one, on another track, say, loses the results that it had.
        """
        base = self._database
        about = _race_columns(heat)
        with self._plain_errors(), self._transaction():
            old = base.execute(
                "SELECT id, track, host, car, laps, seed FROM race WHERE day = ? AND number = ?", (day, heat.race)
            ).fetchone()
            if old is not None and tuple(old[1:]) != about:
                base.execute("DELETE FROM race WHERE id = ?", (old[0],))
                old = None
            race = old[0] if old is not None else base.execute(
                "INSERT INTO race (day, number, track, host, car, laps, seed) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (day, heat.race, *about)).lastrowid  # fmt: skip
            for entry, result in zip(heat.grid, results, strict=True):
                base.execute("DELETE FROM result WHERE race = ? AND entry = ?", (race, result.entry))
                number = base.execute(
                    "INSERT INTO result (race, entry, driver, heat, finished, ended, time_s, best_s, contacts, digest,"
                    " recording, report, log) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (race, result.entry, entry.command_line, fingerprint, result.finished, result.ended, result.time_s,
                     result.best_s, result.contacts, result.digest, self._relative_path(result.recording),
                     self._relative_path(result.report), self._relative_path(log)),
                ).lastrowid  # fmt: skip
                base.executemany(
                    "INSERT INTO lap VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [(number, *msgspec.structs.astuple(lap)) for lap in result.laps],
                )

    def _relative_path(self, path: str) -> str:
        # Relative: database and recordings may be moved together.
        if not path:
            return ""
        try:
            return Path(os.path.relpath(path, self.path.resolve().parent)).as_posix()
        except ValueError:  # another drive
            return path

    def _absolute_path(self, path: str) -> str:
        return str((self.path.resolve().parent / path).resolve()) if path else ""

    def list_seasons(self) -> list[str]:
        """Return the names of the seasons, the one with the newest day last."""
        with self._sound_rows():
            rows = self._database.execute("SELECT season FROM day GROUP BY season ORDER BY max(id)").fetchall()
            return [season for (season,) in msgspec.convert(rows, list[tuple[str]])]

    def read_days(self, season: str = "", day: str = "") -> tuple[str, list[DayRecord]]:
        """Return a season's name and its days in the order in which they were begun.

        Args:
            season: its name; "" = the newest.
            day: only this one; "" = all.

        Raises:
            UsageError: no such season or day.
        """
        known = self.list_seasons()
        if not known:
            raise UsageError("there are no results yet", where=str(self.path), hint="run `trailbrake race`")
        season = season or known[-1]
        if season not in known:
            raise UsageError("no such season", where=str(self.path), got=season, hint=suggest_names(season, known))
        with self._sound_rows():
            rows = msgspec.convert(
                self._database.execute(
                    "SELECT id, name, sim, begun, score, points FROM day WHERE season = ? ORDER BY id", (season,)
                ).fetchall(),
                list[_DayRow],
            )
            if day and day not in (row[1] for row in rows):
                raise UsageError("no such day", where=f"{self.path}, {season}", got=day,
                                 hint=suggest_names(day, [row[1] for row in rows]))  # fmt: skip
            return season, [self._read_day(*row) for row in rows if day in ("", row[1])]

    def _read_day(self, number: int, name: str, sim: str, begun: str, score: str, points: str) -> DayRecord:
        drivers: dict[str, str] = {}
        races = []
        for race, place, track, host, car, laps, seed in msgspec.convert(
            self._database.execute(
                "SELECT id, number, track, host, car, laps, seed FROM race WHERE day = ? ORDER BY number", (number,)
            ).fetchall(),
            list[_RaceRow],
        ):
            results, logs = [], {}
            for row in msgspec.convert(self._database.execute(
                "SELECT id, entry, driver, finished, ended, time_s, best_s, contacts, digest, recording, report, log"
                " FROM result WHERE race = ? ORDER BY entry", (race,)
            ).fetchall(), list[_ResultRow]):  # fmt: skip
                key, entry, driver, finished, ended, time_s, best_s, contacts, digest, recording, report, log = row
                drivers[entry], logs[entry] = driver, self._absolute_path(log)
                results.append(
                    EntryResult(entry=entry, finished=bool(finished), ended=ended, laps=self._read_laps(key),
                                time_s=time_s, best_s=best_s, contacts=contacts, digest=digest,
                                recording=self._absolute_path(recording),
                           report=self._absolute_path(report))
                )  # fmt: skip
            races.append(
                RaceRecord(number=place, track=track, host=msgspec.json.decode(host, type=tuple[str, ...]), car=car,
                     laps=laps, seed=seed, results=tuple(results), logs=logs)
            )  # fmt: skip
        given = msgspec.json.decode(points, type=tuple[float, ...])
        return DayRecord(
            name=name, sim=sim, begun=begun, score=score, points=given, races=tuple(races), drivers=drivers
        )

    def _read_laps(self, result: int) -> tuple[JudgedLap, ...]:
        rows = self._database.execute(
            "SELECT number, time_s, valid, reason, contacts, off_track_s FROM lap WHERE result = ? ORDER BY number",
            (result,),
        ).fetchall()
        return tuple(
            JudgedLap(n, time, bool(valid), reason, touched, off)
            for n, time, valid, reason, touched, off in msgspec.convert(rows, list[_LapRow])
        )


def _race_columns(heat: Heat) -> tuple[str, str, str, int, int]:
    return heat.track, msgspec.json.encode(heat.host).decode(), heat.car, heat.laps, heat.seed


def _describe_race(about: Sequence[Any]) -> str:
    track, host, car, laps, seed, sim = about
    options = "" if host == "[]" else host
    return f"{' '.join(filter(None, (track, options, car)))} on {sim}, laps {laps}, seed {seed}"
