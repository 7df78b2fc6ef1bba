"""The judge, on states and laps made by hand."""

import math

import pytest

from trailbrake.laps import LapRecord
from trailbrake.race.judge import STANDSTILL_RADIUS, Judge
from trailbrake.race.plan import RaceRules
from trailbrake.state import CarState

DT = 0.5


def record(number, time, valid=True, contacts=0):
    return LapRecord(number, time, valid, (), "" if valid else "contact", 0.0, contacts)


def at(time, x=None, contacts=0.0):
    return CarState(time=time, x=time if x is None else x, y=0.0, yaw=0.1, speed=1.0, contacts=contacts, lap=1.0)


def drive(judge, until, laps=(), start=0.0, **state):
    """Show states every DT; `laps`: (time at which the world has it, record)."""
    time = start
    while time <= until:
        judge.observe_state(at(time, **state), [lap for ended, lap in laps if ended <= time])
        time += DT


def test_a_race_is_over_when_its_laps_are_driven():
    judge = Judge("a", 2, RaceRules())
    laps = [(10.5, record(1, 10.2)), (20.5, record(2, 9.9)), (30.5, record(3, 9.0))]
    drive(judge, 40.0, laps)
    result = judge.build_result()
    assert (judge.over, result.finished, result.ended) == (True, True, "")
    assert [lap.time_s for lap in result.laps] == [10.2, 9.9]
    assert result.time_s == pytest.approx(20.1)
    assert result.best_s == 9.9
    assert judge.clock == 20.5


def test_only_clean_laps_are_best_laps_unless_the_rules_say_otherwise():
    laps = [(10.5, record(1, 10.2)), (20.5, record(2, 9.9, valid=False, contacts=1))]
    for clean, best in ((True, 10.2), (False, 9.9)):
        judge = Judge("a", 2, RaceRules(clean=clean))
        drive(judge, 25.0, laps)
        assert judge.build_result().best_s == best
    judge = Judge("a", 1, RaceRules())
    drive(judge, 25.0, [(10.5, record(1, 10.2, valid=False))])
    assert judge.build_result().best_s is None
    assert judge.build_result().laps[0].reason == "contact"


def test_time_is_up():
    judge = Judge("a", 2, RaceRules(seconds=15.0))
    drive(judge, 40.0, [(10.5, record(1, 10.2))])
    assert judge.build_result().ended == "out of time after 15 s"
    assert judge.clock == 15.0
    assert (judge.build_result().finished, len(judge.build_result().laps)) == (False, 1)


def test_a_car_that_rocks_at_a_wall_stands_still():
    judge = Judge("a", 1, RaceRules(standstill=5.0))
    for k in range(40):
        judge.observe_state(at(k * DT, x=0.4 * STANDSTILL_RADIUS * (-1) ** k), [])
    assert judge.ended == "stood still for 5 s"
    assert judge.clock == pytest.approx(5.5)
    patient = Judge("a", 1, RaceRules(standstill=0.0))
    drive(patient, 40.0, x=0.0)
    assert not patient.over


def test_contacts_are_counted_over_a_restart_and_limited():
    judge = Judge("a", 1, RaceRules(contacts=3))
    for k, contacts in enumerate((0, 1, 2, 0, 1)):
        judge.observe_state(at(k * DT, contacts=contacts), [])
    assert not judge.over
    judge.observe_state(at(3.0, contacts=2), [])
    assert judge.ended == "more than 3 contacts"
    assert judge.build_result().contacts == 4
    free = Judge("a", 1, RaceRules())
    free.observe_state(at(0.0, contacts=1e6), [])
    assert not free.over


def test_a_restart_keeps_the_laps_and_costs_the_time():
    judge = Judge("a", 2, RaceRules())
    drive(judge, 14.0, [(10.5, record(1, 10.2))])
    drive(judge, 30.0, [(9.5, record(1, 9.1))])  # its clock begins anew, as after `restart` on the wire
    result = judge.build_result()
    assert [(lap.number, lap.time_s) for lap in result.laps] == [(1, 10.2), (2, 9.1)]
    assert result.time_s == pytest.approx(14.0 + 9.1)


def test_a_restart_without_a_clock_of_its_own_is_seen_by_its_laps():
    judge = Judge("a", 2, RaceRules())
    drive(judge, 14.0, [(10.5, record(1, 10.2))])
    judge.observe_state(at(14.5), [])
    judge.observe_state(at(24.0), [record(1, 9.3)])
    assert judge.build_result().time_s == pytest.approx(14.5 + 9.3)


def test_who_is_out_stays_out_and_who_has_finished_has_finished():
    judge = Judge("a", 1, RaceRules())
    judge.retire_entry("no answer for 10 s")
    judge.retire_entry("something else")
    drive(judge, 40.0, [(10.5, record(1, 10.2))])
    assert (judge.ended, judge.build_result().laps) == ("no answer for 10 s", ())
    done = Judge("a", 1, RaceRules())
    drive(done, 40.0, [(10.5, record(1, 10.2))])
    done.retire_entry("too late")
    assert done.build_result().finished


def test_the_digest_is_of_every_state():
    def digest(bend=0.0, name="a"):
        judge = Judge(name, 1, RaceRules())
        for k in range(30):
            judge.observe_state(at(k * DT, x=k + (bend if k == 20 else 0.0)), [record(1, 10.0)] if k > 25 else [])
        return judge.build_result().digest

    assert digest() == digest()
    assert digest(bend=math.ulp(20.0)) != digest()
    assert digest(name="b") != digest()
