"""Who won: places of a race, the best laps of a day, the points of a season. Pure, from what the store tells."""

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from trailbrake.race.entry_result import EntryResult


class RaceRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A race that was driven: where, and how it went for each entry.

    Attributes:
        number: within the day.
        track: where; `host` the options of the embedded simulator.
        car: with what, "" = the simulator's usual one.
        laps: how many were to be driven.
        seed: of the world.
        results: of those that have driven.
        logs: path of what each entry, or its heat, has printed; by entry.
    """

    number: int
    track: str
    host: tuple[str, ...]
    car: str
    laps: int
    seed: int
    results: tuple[EntryResult, ...]
    logs: dict[str, str] = {}

    @property
    def course_key(self) -> tuple[str, ...]:
        """The key of races whose lap times compare: track and options of the embedded simulator."""
        return (self.track, *self.host)


class DayRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A race day that was driven; `score` and `points` as its rules say, `drivers`: who or what each entry is."""

    name: str
    sim: str
    begun: str
    score: str
    points: tuple[float, ...]
    races: tuple[RaceRecord, ...]
    drivers: dict[str, str] = {}


def rank_results(results: Sequence[EntryResult]) -> list[tuple[int | None, EntryResult]]:
    """Return (place, result): who has finished by time, then who has driven more laps, then by their time.

    Results of one time have one place; those that have not finished have None.
    """
    ranked = sorted(results, key=_rank_key)
    merits = [_rank_key(result)[:3] for result in ranked]
    return [
        (merits.index(merit) + 1 if result.finished else None, result)
        for merit, result in zip(merits, ranked, strict=True)
    ]


def _rank_key(result: EntryResult) -> tuple[bool, int, float, str]:
    return not result.finished, -len(result.laps), result.time_s, result.entry


def rank_best_laps(day: DayRecord) -> list[dict[str, Any]]:
    """Return, for each course of a day, the entries by their best lap there; equal laps have equal places."""
    courses: dict[tuple[str, ...], dict[str, tuple[float, int]]] = {}
    for race in day.races:
        best = courses.setdefault(race.course_key, {})
        for result in race.results:
            if result.best_s is not None and not result.best_s >= best.get(result.entry, (float("inf"), 0))[0]:
                best[result.entry] = (result.best_s, race.number)
    found = []
    for course, best in courses.items():
        order = sorted(best, key=lambda entry: (best[entry][0], entry))
        times = [best[entry][0] for entry in order]
        found.append(
            {"track": course[0], "host": list(course[1:]),
             "best": [{"place": times.index(best[entry][0]) + 1, "entry": entry, "best_s": best[entry][0],
                       "race": best[entry][1]} for entry in order]}
        )  # fmt: skip
    return found


def score_points(day: DayRecord) -> dict[str, float]:
    """Return the points of every entry that was there on a day."""
    gained = {result.entry: 0.0 for race in day.races for result in race.results}

    def give(entry: str, place: int) -> None:
        gained[entry] += day.points[place - 1] if place <= len(day.points) else 0.0

    if day.score == "best_lap":
        for course in rank_best_laps(day):
            for row in course["best"]:
                give(row["entry"], row["place"])
    else:
        for race in day.races:
            for place, result in rank_results(race.results):
                if place is not None:
                    give(result.entry, place)
    return gained


def build_leaderboard(season: str, days: Sequence[DayRecord]) -> dict[str, Any]:
    """Return the whole season: what `leaderboard --json` prints and the page shows."""
    by_day = {day.name: score_points(day) for day in days}
    entries = sorted({entry for gained in by_day.values() for entry in gained})
    drivers = {entry: text for day in days for entry, text in day.drivers.items()}
    rows = [_standings_row(entry, drivers.get(entry, ""), days, by_day) for entry in entries]
    rows.sort(key=lambda row: (-row["points"], -row["wins"], -row["finished"], row["entry"]))
    merits = [(row["points"], row["wins"], row["finished"]) for row in rows]
    return {
        "season": season,
        "standings": [{"place": merits.index(merit) + 1, **row} for row, merit in zip(rows, merits, strict=True)],
        "days": [
            {"day": day.name, "sim": day.sim, "begun": day.begun, "score": day.score, "best_laps": rank_best_laps(day),
             "races": [encode_race(race) for race in day.races]}
            for day in days
        ],
        "digest": digest_results(days),
    }  # fmt: skip


def _standings_row(
    entry: str, driver: str, days: Sequence[DayRecord], by_day: dict[str, dict[str, float]]
) -> dict[str, Any]:
    own = [result for day in days for race in day.races for result in race.results if result.entry == entry]
    places = [placed for day in days for race in day.races for placed in rank_results(race.results)]
    return {
        "entry": entry, "driver": driver, "points": sum(gained.get(entry, 0.0) for gained in by_day.values()),
        "days": {name: gained[entry] for name, gained in by_day.items() if entry in gained},
        "races": len(own), "finished": sum(result.finished for result in own),
        "wins": sum(place == 1 and result.entry == entry for place, result in places),
        "laps": sum(len(result.laps) for result in own), "contacts": sum(result.contacts for result in own),
    }  # fmt: skip


def encode_race(race: RaceRecord) -> dict[str, Any]:
    """Return a race with its results by place."""
    results = [
        {"place": place, **msgspec.to_builtins(result), "log": race.logs.get(result.entry, "")}
        for place, result in rank_results(race.results)
    ]
    return {
        "number": race.number, "track": race.track, "host": list(race.host), "car": race.car, "laps": race.laps,
        "seed": race.seed, "results": results,
    }  # fmt: skip


def digest_results(days: Sequence[DayRecord]) -> str:
    """Return a text that is the same for the same races: of all results' digests."""
    rows = [
        (day.name, race.number, *race.course_key, race.seed, result.entry, result.digest)
        for day in days for race in day.races for result in race.results
    ]  # fmt: skip
    return hashlib.sha256(msgspec.json.encode(sorted(rows))).hexdigest()
