"""Places and points, against tables worked out by hand."""

import msgspec

from trailbrake.race.entry_result import EntryResult, JudgedLap
from trailbrake.race.standings import (
    DayRecord,
    RaceRecord,
    build_leaderboard,
    digest_results,
    rank_best_laps,
    rank_results,
    score_points,
)


def result(entry, *laps, ended="", contacts=0):
    return EntryResult(
        entry=entry, finished=not ended, ended=ended, time_s=float(sum(laps)), best_s=min(laps, default=None),
        laps=tuple(JudgedLap(k + 1, float(t), True, "", 0, 0.0) for k, t in enumerate(laps)), contacts=contacts,
        digest=f"{entry}{laps}",
    )  # fmt: skip


def race(number, track, *results, host=()):
    return RaceRecord(number=number, track=track, host=host, car="", laps=2, seed=number, results=results)


def day(*races, name="one", score="best_lap", points=(10.0, 8.0, 6.0)):
    return DayRecord(name=name, sim="trend", begun="2026-05-04T10:00:00+0000", score=score, points=points, races=races)


def test_who_finishes_is_before_who_does_not_and_more_laps_before_fewer():
    given = [result("slow", 12, 12), result("out2", 9, 9, ended="hung"), result("fast", 11, 12),
             result("none", ended="hung"), result("out1", 8, ended="hung")]  # fmt: skip
    assert [(place, r.entry) for place, r in rank_results(given)] == [
        (1, "fast"), (2, "slow"), (None, "out2"), (None, "out1"), (None, "none"),
    ]  # fmt: skip


DAY = day(
    race(1, "oval", result("a", 10, 11), result("b", 12, 9.5), result("c", ended="hung")),
    race(2, "oval", result("a", 9.5, 30), result("b", 12, 13), result("c", 20, ended="hung")),
    race(3, "kite", result("a", 50, 51), result("b", 50, 49, contacts=3), result("c", 48, 60)),
)


def test_the_best_lap_of_the_day_counts_on_each_track():
    oval, kite = rank_best_laps(DAY)
    assert [(r["place"], r["entry"], r["best_s"], r["race"]) for r in oval["best"]] == [
        (1, "a", 9.5, 2), (1, "b", 9.5, 1), (3, "c", 20.0, 2),
    ]  # fmt: skip
    assert [(r["place"], r["entry"], r["best_s"]) for r in kite["best"]] == [
        (1, "c", 48.0),
        (2, "b", 49.0),
        (3, "a", 50.0),
    ]
    assert score_points(DAY) == {"a": 10 + 6, "b": 10 + 8, "c": 6 + 10}


def test_a_look_is_a_course_of_its_own():
    courses = rank_best_laps(
        day(race(1, "oval", result("a", 9, 9)), race(2, "oval", result("a", 8, 8), host=("look=A",)))
    )
    assert [(c["track"], c["host"], c["best"][0]["best_s"]) for c in courses] == [
        ("oval", [], 9),
        ("oval", ["look=A"], 8),
    ]


def test_places_in_races_count_where_the_rules_say_so():
    # Race 1: a 21, b 21.5. Race 2: b 25, a 39.5. Race 3: b 99, a 101, c 108.
    races = DAY.races
    assert score_points(day(*races, score="finish")) == {"a": 10 + 8 + 8, "b": 8 + 10 + 10, "c": 6}


def test_a_dead_heat_has_one_place_for_both_its_winners():
    tied = race(1, "oval", result("a", 10, 11), result("b", 11, 10), result("c", 12, 12))
    board = build_leaderboard("Cup", [day(tied, score="finish")])
    assert [row["place"] for row in board["days"][0]["races"][0]["results"]] == [1, 1, 3]
    assert [(row["place"], row["points"], row["wins"]) for row in board["standings"]] == [
        (1, 10, 1), (1, 10, 1), (3, 6, 0),
    ]  # fmt: skip


def test_points_end_where_the_list_ends():
    assert score_points(day(*DAY.races, points=(1.0,))) == {"a": 1, "b": 1, "c": 1}


def test_a_season_adds_its_days():
    second = day(race(1, "kite", result("a", 5, 5), result("d", 4, 4)), name="two")
    board = build_leaderboard("Cup", [DAY, second])
    assert [(r["place"], r["entry"], r["points"], r["days"]) for r in board["standings"]] == [
        (1, "a", 24, {"one": 16, "two": 8}), (2, "b", 18, {"one": 18}), (3, "c", 16, {"one": 16}),
        (4, "d", 10, {"two": 10}),
    ]  # fmt: skip
    row = board["standings"][1]
    assert (row["races"], row["finished"], row["wins"], row["laps"], row["contacts"]) == (3, 3, 2, 6, 3)
    assert [race["number"] for race in board["days"][0]["races"]] == [1, 2, 3]
    assert [r["place"] for r in board["days"][0]["races"][0]["results"]] == [1, 2, None]


def test_equal_entries_share_a_place():
    board = build_leaderboard("Cup", [day(race(1, "oval", result("a", ended="x"), result("b", ended="x")))])
    assert [row["place"] for row in board["standings"]] == [1, 1]


def test_the_digest_does_not_depend_on_the_order_of_storing():
    turned = day(*(msgspec.structs.replace(r, results=r.results[::-1]) for r in DAY.races[::-1]))
    assert digest_results([DAY]) == digest_results([turned])
    other = day(race(1, "oval", result("a", 10, 11.001)))
    assert digest_results([other]) != digest_results([day(race(1, "oval", result("a", 10, 11)))])
