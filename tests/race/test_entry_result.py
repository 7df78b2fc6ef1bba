"""How a race went, on states and laps made by hand."""

import hashlib

import pytest

from trailbrake.driving.road_monitor import RoadMonitor
from trailbrake.laps import LapRecord
from trailbrake.race.entry_result import build_result, lost_result
from trailbrake.race.plan import RaceRules
from trailbrake.state import CarState

DT = 0.5


def record(number, time, valid=True, contacts=0):
    return LapRecord(number, time, valid, (), "" if valid else "contact", 0.0, contacts)


def race(rules, count, until, laps=(), contacts=lambda time: 0.0, x=lambda time: time):
    """Show states every DT until the race is over; `laps`: (time at which the world has it, record)."""
    monitor, goal, ended, time = RoadMonitor(None, began=0.0), rules.make_goal(count), None, 0.0
    while time <= until and ended is None:
        state = CarState(time=time, x=x(time), y=0.0, speed=1.0, contacts=contacts(time))
        monitor.observe_state(state, [lap for had, lap in laps if had <= time])
        ended = goal.judge(monitor)
        time += DT
    return build_result("a", ended, monitor, hashlib.sha256(), clean=rules.clean), monitor


def test_a_race_is_over_when_its_laps_are_driven():
    laps = [(10.5, record(1, 10.2)), (20.5, record(2, 9.9)), (30.5, record(3, 9.0))]
    result, monitor = race(RaceRules(), 2, 40.0, laps)
    assert (result.finished, result.ended) == (True, "")
    assert [lap.time_s for lap in result.laps] == [10.2, 9.9]
    assert result.time_s == pytest.approx(20.1)
    assert result.best_s == 9.9
    assert monitor.clock == 20.5


def test_only_clean_laps_are_best_laps_unless_the_rules_say_otherwise():
    laps = [(10.5, record(1, 10.2)), (20.5, record(2, 9.9, valid=False, contacts=1))]
    assert race(RaceRules(), 2, 25.0, laps)[0].best_s == 10.2
    assert race(RaceRules(clean=False), 2, 25.0, laps)[0].best_s == 9.9
    spoiled, _ = race(RaceRules(), 1, 25.0, [(10.5, record(1, 10.2, valid=False))])
    assert (spoiled.best_s, spoiled.laps[0].reason) == (None, "contact")


def test_time_is_up():
    result, monitor = race(RaceRules(seconds=15.0), 2, 40.0, [(10.5, record(1, 10.2))])
    assert result.ended == "out of time after 15 s"
    assert monitor.clock == 15.0
    assert (result.finished, len(result.laps)) == (False, 1)


def test_a_car_that_stands_is_out_unless_the_rules_allow_it():
    result, monitor = race(RaceRules(standstill=5.0), 1, 40.0, x=lambda time: 0.1)
    assert result.ended == "stood still for 5 s"
    assert monitor.clock == pytest.approx(5.5)
    patient, _ = race(RaceRules(standstill=0.0), 1, 40.0, x=lambda time: 0.1)
    assert (patient.finished, patient.ended) == (False, "")


def test_contacts_are_limited_where_the_rules_say_so():
    result, _ = race(RaceRules(contacts=3), 1, 40.0, contacts=lambda time: time // 1.0)
    assert (result.ended, result.contacts) == ("more than 3 contacts", 4)
    free, _ = race(RaceRules(), 1, 10.0, contacts=lambda time: 1e6)
    assert (free.ended, free.contacts) == ("", 1_000_000)


def test_an_entry_that_is_lost_has_no_laps():
    result = lost_result("a", "no answer for 10 s")
    assert (result.ended, result.finished, result.laps, result.time_s) == ("no answer for 10 s", False, (), 0.0)


def test_the_digest_is_of_the_states_and_of_the_laps():
    def digest(states=b"", name="a", laps=()):
        monitor = RoadMonitor(None, began=0.0)
        monitor.observe_state(CarState(time=0.0, x=0.0, y=0.0), laps)
        return build_result(name, "", monitor, hashlib.sha256(states)).digest

    assert digest() == digest()
    assert len({digest(), digest(b"1"), digest(name="b"), digest(laps=[record(1, 10.0)])}) == 4
