"""A race day in a few words."""

import pytest

from trailbrake.errors import DataError, UsageError
from trailbrake.race.options import RaceDayOptions
from trailbrake.race.plan import plan_from_options


def test_flags_make_a_day():
    options = RaceDayOptions(
        entry=("lane_sign", "mine.py:Fast", "python bots/red.py --port {port}"), track=("oval", "kite"), laps=2,
        races=3, host=("look=A",), seed=4, score="finish",
    )  # fmt: skip
    plan = plan_from_options(options)
    assert [(e.name, e.driver, e.command) for e in plan.entries] == [
        ("lane_sign", "lane_sign", ""), ("mine.py:Fast", "mine.py:Fast", ""),
        ("red", "", "python bots/red.py --port {port}"),
    ]  # fmt: skip
    assert [(item.track, item.races, item.host) for item in plan.schedule] == [
        ("oval", 3, {"look": "A"}), ("kite", 3, {"look": "A"}),
    ]  # fmt: skip
    assert (plan.rules.laps, plan.rules.score, plan.seed) == (2, "finish", 4)


def test_entries_are_named_for_their_files_and_told_apart():
    texts = ("cruise", "cruise", "a/mine.py", "b\\mine.py", "policy:nets/best.npz", "./bot {port}")
    plan = plan_from_options(RaceDayOptions(entry=texts, track=("oval",)))
    assert [e.name for e in plan.entries] == ["cruise", "cruise 2", "mine.py", "mine.py 4", "best.npz", "bot"]


@pytest.mark.parametrize("options", [RaceDayOptions(), RaceDayOptions(entry=("a",)), RaceDayOptions(track=("oval",))])
def test_nobody_or_nowhere_is_refused(options):
    with pytest.raises(UsageError, match="no entry or no track"):
        plan_from_options(options)


def test_numbers_that_cannot_be(tmp_path):
    with pytest.raises(DataError, match=r"rules\.laps: too small a number"):
        plan_from_options(RaceDayOptions(entry=("a",), track=("oval",), laps=-1))
    with pytest.raises(UsageError, match="expected KEY=VALUE"):
        plan_from_options(RaceDayOptions(entry=("a",), track=("oval",), host=("look",)))
