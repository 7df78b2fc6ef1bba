"""Race files: what they say, and one clear line for each way in which they can be wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.errors import DataError, TrailbrakeError, UsageError
from trailbrake.race.plan import RaceDayPlan, RaceRules, parse_plan, read_plan

GOOD = """
season = "Cup"
day = 2026-05-04
seed = 3
[rules]
laps = 2
contacts = 5
[[schedule]]
track = "oval"
races = 2
host = { look = "A", obstacles = 2 }
[[schedule]]
track = "kite"
laps = 4
[[entries]]
driver = "lane_sign"
[[entries]]
name = "Bot"
command = ["bot", "--port", "{port}"]
port = 4567
"""


def test_a_race_file_says_what_its_keys_say():
    plan = parse_plan(GOOD, "day.toml")
    assert (plan.season, plan.day, plan.seed, plan.sim, plan.cars) == ("Cup", "2026-05-04", 3, "trend", 1)
    assert (plan.rules.laps, plan.rules.contacts, plan.rules.score) == (2, 5, "best_lap")
    assert [(item.track, item.races, item.laps) for item in plan.schedule] == [("oval", 2, 0), ("kite", 1, 4)]
    assert plan.schedule[0].host == {"look": "A", "obstacles": 2}
    assert [entry.name for entry in plan.entries] == ["lane_sign", "Bot"]
    assert plan.entries[1].command_line == "bot --port {port}"
    assert plan.rules.points == RaceRules().points


def test_a_file_is_read_with_the_mark_that_editors_of_windows_leave(tmp_path):
    path = tmp_path / "day.toml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert read_plan(path).season == "Cup"


ENTRY, ROUND = '[[entries]]\ndriver = "lane_sign"\n', '[[schedule]]\ntrack = "oval"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "missing key `entries`"),
        (ENTRY, "missing key `schedule`"),
        (ROUND + "entries = []", "unknown key `entries` in schedule[0]"),
        ("entries = []\n" + ROUND, "no entries"),
        ("schedule = []\n" + ENTRY, "no races"),
        (ENTRY + "[[schedule]]\nraces = 3", "missing key `track` in schedule[0]"),
        (ENTRY + ROUND + 'trak = "kite"', "unknown key `trak` in schedule[0]"),
        (ENTRY + ROUND + 'races = "two"', "schedule[0].races"),
        (ENTRY + ROUND + "races = 0", "schedule[0].races: too small a number, expected 1 or more, got 0"),
        (ENTRY + ROUND + "laps = -1", "schedule[0].laps: too small a number, expected 0 or more, got -1"),
        (ENTRY + ROUND + "[rules]\nlaps = -2", "rules.laps: too small a number, expected 1 or more, got -2"),
        (ENTRY + ROUND + "[rules]\nseconds = nan", "rules.seconds"),
        (ENTRY + ROUND + "[rules]\ncontacts = -1", "rules.contacts"),
        (ENTRY + ROUND + '[rules]\nscore = "style"', "rules.score"),
        ("cars = 0\n" + ENTRY + ROUND, "cars: too small a number"),
        ("seed = -1\n" + ENTRY + ROUND, "seed: too small a number"),
        (ENTRY + ENTRY + ROUND, "two entries of one name"),
        (ROUND + '[[entries]]\nname = "X"', "entry X: an entry has a driver or a command"),
        (ROUND + ENTRY + 'command = "bot"', "got both"),
        (ROUND + '[[entries]]\ncommand = "bot"\nport = 70000', "expected 0..65535, got 70000"),
        ("season = ", "not TOML"),
    ],
)
def test_a_wrong_race_file_is_one_line(text, said):
    with pytest.raises(DataError) as error:
        parse_plan(text, "day.toml")
    assert said in str(error.value)
    assert "day.toml" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_and_one_that_is_no_text(tmp_path):
    with pytest.raises(UsageError, match="cannot read the race file"):
        read_plan(tmp_path / "none.toml")
    (tmp_path / "day.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="not UTF-8"):
        read_plan(tmp_path / "day.toml")


@given(st.text(max_size=200) | st.sampled_from([GOOD, GOOD[:90], GOOD.replace("2", "-0.5"), GOOD.replace('"', "")]))
def test_any_text_is_a_day_or_a_refusal(text):
    try:
        plan = parse_plan(text, "day.toml")
    except TrailbrakeError as error:
        refusal = str(error)
    else:
        refusal = "day.toml"
        assert isinstance(plan, RaceDayPlan)
    assert "day.toml" in refusal
