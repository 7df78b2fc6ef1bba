import itertools
import re

import pytest
from helpers.fakes import PaperTime

from trailbrake.system import steady_clock


def test_now_is_steady_and_the_date_is_for_people():
    a, b = steady_clock.now(), steady_clock.now()
    assert b >= a
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}", steady_clock.iso_timestamp())


def test_sleep_until_is_on_time():
    for ahead in (0.02, 0.0003, 0.0, -1.0):
        due = steady_clock.now() + ahead
        at = steady_clock.sleep_until(due)
        assert due <= at < max(due, steady_clock.now()) + 0.5


def test_wait_for_ends_with_the_sample_or_at_the_deadline():
    answers = iter([False] * 5 + [True])
    assert steady_clock.wait_until_fresh(lambda: next(answers), steady_clock.now() + 0.002, steady_clock.now() + 60.0)
    began = steady_clock.now()
    assert not steady_clock.wait_until_fresh(lambda: False, began, began + 0.01)
    assert 0.01 <= steady_clock.now() - began < 0.5
    assert steady_clock.wait_until_fresh(lambda: True, 0.0, 0.0), "looks once even when it is late already"
    assert not steady_clock.wait_until_fresh(lambda: False, 0.0, 0.0)


def test_it_looks_seldom_before_the_sample_is_likely_and_often_then(monkeypatch):
    looks, paper = [], PaperTime(look_s=1e-5)
    monkeypatch.setattr(steady_clock, "time", paper)
    assert not steady_clock.wait_until_fresh(lambda: looks.append(paper.now), 0.02, 0.0201)
    assert len([at for at in looks if at < 0.02 - 2 * steady_clock.SPIN_S]) == 1
    assert len([at for at in looks if at > 0.02 - steady_clock.SPIN_S]) > 50
    assert looks[-1] == pytest.approx(0.0201, abs=3e-5)


def test_it_rehearses_while_it_looks_without_sleep_and_never_far_ahead_or_late(monkeypatch):
    rehearsals, paper = [], PaperTime(look_s=1e-5)
    monkeypatch.setattr(steady_clock, "time", paper)
    assert not steady_clock.wait_until_fresh(lambda: False, 0.02, 0.05, lambda: bool(rehearsals.append(paper.now)))
    assert 0.02 - steady_clock.SPIN_S - 1e-4 < rehearsals[0] < 0.02 - 0.5 * steady_clock.SPIN_S
    assert 0.02 < rehearsals[-1] < 0.02 + 2.0 * steady_clock.SPIN_S + 1e-4
    assert max(b - a for a, b in itertools.pairwise(rehearsals)) < 5e-5


def test_a_rehearsal_that_meets_the_sample_ends_the_wait(monkeypatch):
    rehearsals, paper = [], PaperTime(look_s=1e-5)
    monkeypatch.setattr(steady_clock, "time", paper)
    assert steady_clock.wait_until_fresh(
        lambda: False, 0.02, 0.05, lambda: rehearsals.append(paper.now) or len(rehearsals) == 3
    )
    assert len(rehearsals) == 3


def test_stamp_can_stand_in_a_file_name():
    assert re.fullmatch(r"\d{8}-\d{6}", steady_clock.filename_timestamp())
