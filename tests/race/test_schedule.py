"""Heats: their order, their seeds, their grids, and what makes one another."""

import msgspec
import pytest

from trailbrake.race.plan import RaceDayPlan, RaceEntry, RaceRules, TrackRound
from trailbrake.race.schedule import fingerprint_heat, schedule_heats

NAMES = ("a", "b", "c", "d", "e")


def plan(**others):
    values = {
        "entries": tuple(RaceEntry(name=name, driver=name) for name in NAMES),
        "schedule": (
            TrackRound(track="oval", races=2, host={"look": "A", "park": True}),
            TrackRound(track="kite", laps=7),
        ),
        "seed": 10,
    }
    return RaceDayPlan(**(values | others))


def test_each_entry_has_a_simulator_of_its_own_in_each_race():
    found = schedule_heats(plan())
    assert [(heat.race, heat.grid[0].name) for heat in found] == [(r, name) for r in (1, 2, 3) for name in NAMES]
    assert {len(heat.grid) for heat in found} == {1}
    assert [heat.seed for heat in found[::5]] == [10, 11, 12]
    assert [heat.laps for heat in found[::5]] == [3, 3, 7]
    assert found[0].host == ("look=A", "park=true")
    assert found[-1].host == ()


def test_cars_that_share_a_track_go_in_groups_and_the_pole_goes_round():
    grids = [
        ["".join(e.name for e in heat.grid) for heat in schedule_heats(plan(cars=2)) if heat.race == r]
        for r in (1, 2, 3)
    ]
    assert grids == [["ab", "cd", "e"], ["bc", "de", "a"], ["cd", "ea", "b"]]


def nothing(text):
    return b""


@pytest.mark.parametrize("change", [{"seed": 11}, {"track": "kite"}, {"laps": 9}, {"host": ()}, {"grid": ()},
                                    {"rules": RaceRules(contacts=0)}, {"sim": "forza"}])  # fmt: skip
def test_a_heat_that_may_end_otherwise_has_another_fingerprint(change):
    heat = schedule_heats(plan())[0]
    assert fingerprint_heat(msgspec.structs.replace(heat, **change), nothing) != fingerprint_heat(heat, nothing)


def test_what_only_counts_or_waits_changes_no_fingerprint():
    heat = schedule_heats(plan())[0]
    patient = msgspec.structs.replace(
        heat, rules=RaceRules(patience=99.0, start=9.0, wall=9.0, points=(1,), score="finish")
    )
    assert fingerprint_heat(patient, nothing) == fingerprint_heat(heat, nothing)


def test_another_driver_file_or_program_is_another_heat():
    heat = msgspec.structs.replace(schedule_heats(plan())[0], grid=(RaceEntry(name="x", command="python bot.py"),))
    assert fingerprint_heat(heat, nothing) != fingerprint_heat(heat, lambda text: b"new" if text == "bot.py" else b"")
