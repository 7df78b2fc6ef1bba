"""Goals judge a monitor, and are plain data."""

import json
from types import SimpleNamespace

import pytest

from trailbrake.driving.goals import (
    BackAtStart,
    ContactsOver,
    Laps,
    Metres,
    NoFuel,
    NoHeadway,
    OffRoad,
    OnceAlong,
    Seconds,
    Standstill,
    TimeUp,
)
from trailbrake.driving.spec import DriveSpec, EmbeddedSite, parse_spec, write_spec
from trailbrake.errors import DataError

EVERY_GOAL = Laps(2).or_when(
    Seconds(60), OnceAlong(), Metres(500.0), BackAtStart(20.0, 200.0), TimeUp(600.0, 2), OffRoad(), Standstill(12.0),
    NoHeadway(), NoFuel(), ContactsOver(3),
)  # fmt: skip


def measured(**values):
    usual = {"laps": [], "is_open_road": False, "elapsed": 0.0, "travelled": 0.0, "away": 0.0, "gap": 0.0,
             "off_road_s": 0.0, "standing_s": 0.0, "without_headway_s": 0.0, "fuel": 9.0, "speed": 9.0, "moved_at": 1.0,
             "place": 30.0, "contacts": 0, "rolled_s": 0.0,
             "alignment": 1.0}  # fmt: skip
    return SimpleNamespace(**usual | values, measure_rest=lambda rounds=1.0: 100.0 * rounds - values.get("way", 0.0))


@pytest.mark.parametrize(
    ("goal", "before", "after", "verdict"),
    [
        (Laps(2), {"laps": [1]}, {"laps": [1, 2]}, ""),
        (Laps(2), {"laps": [], "is_open_road": True}, {"laps": [1], "is_open_road": True}, ""),
        (Seconds(5.0), {"elapsed": 4.9}, {"elapsed": 5.0}, ""),
        (OnceAlong(), {"way": 99.0}, {"way": 100.0}, ""),
        (OnceAlong(2.0), {"way": 199.0}, {"way": 200.0}, ""),
        (Metres(5.0), {"travelled": 4.9}, {"travelled": 5.0}, ""),
        (BackAtStart(20.0, 200.0), {"away": 199.0, "gap": 1.0}, {"away": 201.0, "gap": 19.0}, ""),
        (BackAtStart(20.0, 30.0), {"away": 99.0, "gap": 1.0, "alignment": -1.0}, {"away": 99.0, "gap": 1.0}, ""),
        (TimeUp(5.0), {"elapsed": 4.9}, {"elapsed": 5.0}, "out of time after 5 s"),
        (TimeUp(5.0, 2), {"elapsed": 4.9}, {"elapsed": 5.0, "laps": [1]}, "1 of 2 laps in 5 s"),
        (OffRoad(0.5), {"off_road_s": 0.5}, {"off_road_s": 0.6}, "off the road for 0.5 s"),
        (Standstill(5.0), {"standing_s": 5.0}, {"standing_s": 5.1}, "stood still for 5 s"),
        (NoHeadway(), {"without_headway_s": 120.0}, {"without_headway_s": 121.0, "laps": [1]},
         "stuck in lap 2, 30 m after the line"),
        (NoFuel(), {"fuel": 0.0}, {"fuel": 0.0, "speed": 0.4}, "no fuel in lap 1, 30 m after the line"),
        (ContactsOver(3), {"contacts": 3}, {"contacts": 4}, "more than 3 contacts"),
        (Laps(2), {"fuel": 0.0}, {"fuel": 0.0, "speed": 0.4}, "no fuel in lap 1, 30 m after the line"),
        (Laps(0), {"rolled_s": 1.0}, {"rolled_s": 1.1}, "rolled over in lap 1, 30 m after the line"),
    ],
)  # fmt: skip
def test_a_goal_goes_on_until_it_is_reached_or_says_why_not(goal, before, after, verdict):
    assert goal.judge(measured(**before)) is None
    assert goal.judge(measured(**after)) == verdict
    assert Laps(9).or_when(goal).judge(measured(**before)) is None


def test_a_goal_without_laps_never_ends_and_the_goal_comes_before_other_ends():
    assert Laps(0).judge(measured(laps=[1, 2, 3])) is None
    goal = Laps(1).or_when(Standstill(5.0)).or_when(Seconds(1.0))
    assert goal.judge(measured(laps=[1], standing_s=9.0)) == ""
    assert goal.judge(measured(elapsed=3.0, standing_s=9.0)) == "stood still for 5 s"
    assert goal.judge(measured(elapsed=3.0)) == ""
    assert NoFuel().judge(measured(fuel=0.0, speed=0.0, moved_at=float("nan"))) is None


def test_a_drive_goes_on_without_laps_and_seconds():
    far = measured(laps=[1, 2, 3], elapsed=1e6, standing_s=1e6, off_road_s=1e6)
    assert Laps(0).judge(far) is None
    assert (Laps(2).judge(far), Laps(0).or_when(Seconds(60.0)).judge(far)) == ("", "")


def test_a_goal_is_plain_data_and_back():
    spec = DriveSpec(site=EmbeddedSite(), goal=EVERY_GOAL)
    data = write_spec(spec)["goal"]
    assert data["kind"] == "laps"
    assert data["or_when"][5] == {"kind": "off_road"}
    assert json.loads(json.dumps(data)) == data
    assert parse_spec(write_spec(spec), "there").goal == EVERY_GOAL


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"kind": "laps", "count": 2, "seconds": 3}, "unknown field `seconds`"),
        ({"kind": "laps"}, "missing required field `count`"),
        ({"kind": "lap", "count": 2}, "Invalid value 'lap'"),
        ({"count": 2}, "missing required field `kind`"),
        ({"kind": "laps", "count": 2.5}, "Expected `int`"),
        ({"kind": "laps", "count": -1}, "Expected `int` >= 0"),
        ({"kind": "seconds", "seconds": float("nan")}, "Expected `float`"),
        ({"kind": "seconds", "seconds": float("inf")}, "Expected `float`"),
        ({"kind": "seconds", "seconds": "60"}, "Expected `float`, got `str`"),
        ({"kind": "laps", "count": 1, "or_when": [{"kind": "off_road", "s": 1}]}, "unknown field `s` - at "),
        ({"kind": "laps", "count": 1, "ends": []}, "unknown field `ends`"),
        (["laps"], "Expected `object`"),
    ],
)  # fmt: skip
def test_what_is_no_goal_is_said_in_one_line(data, said):
    with pytest.raises(DataError, match=f"^mine.toml: no drive: .*{said}.*goal") as caught:
        parse_spec({"site": {"kind": "embedded"}, "goal": data}, "mine.toml")
    assert "\n" not in str(caught.value)
