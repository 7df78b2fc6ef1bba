import pytest

from trailbrake.cli.drive_flags import DriveFlags, override_spec
from trailbrake.driving.goals import Laps, Seconds, TimeUp
from trailbrake.errors import UsageError
from trailbrake.sims.registry import find


def test_names_of_the_world_and_of_the_driver():
    spec = DriveFlags(track="oval", car="gt3").make_spec()
    assert (spec.site.track, spec.site.car, spec.track, spec.car) == ("oval", "gt3", "oval", "gt3")
    other = DriveFlags(track="oval", car="gt3", world=("track=kartwerk", "car=kart", "grip=0.9")).make_spec()
    assert (other.site.track, other.site.car, other.site.conditions) == ("kartwerk", "kart", ("grip=0.9",))
    assert (other.track, other.car) == ("oval", "gt3")
    unknown = DriveFlags(car="unknown", world=("car=kart",)).make_spec()
    assert (unknown.site.car, unknown.car) == ("kart", "unknown")
    live = DriveFlags(live=True, track="oval").make_spec()
    assert (live.is_live, live.track, live.car) == (True, "oval", "")


def test_a_live_drive_has_no_world():
    with pytest.raises(UsageError, match="a live simulator has a world of its own"):
        DriveFlags(live=True, world=("grip=0.9",)).make_spec()


def test_a_grid_is_a_property_of_the_world_beside_the_others():
    spec = DriveFlags(cars=3, grid="rolling:reversed", world=("grip=0.9",)).make_spec()
    assert spec.site.conditions == ("grip=0.9", "grid=rolling:reversed", "race_laps=2")
    with pytest.raises(UsageError, match="a live simulator has a world of its own"):
        DriveFlags(live=True, grid="standing").make_spec()
    again = override_spec(spec, DriveFlags(grid="standing"), frozenset({"grid"}), None)
    assert again.site.conditions == ("grip=0.9", "grid=standing", "race_laps=2")
    endless = override_spec(spec, DriveFlags(grid="standing", laps=0), frozenset({"grid", "laps"}), None)
    assert endless.site.conditions == ("grip=0.9", "grid=standing")


def test_options_of_the_wire_are_those_that_differ():
    forza = find("forza")
    assert DriveFlags(sim="forza", live=True).make_spec(forza.live_options()).site.options == {}
    changed = forza.live_options(listen="127.0.0.1:9000")
    spec = DriveFlags(sim="forza", live=True).make_spec(changed)
    assert spec.site.options == {"listen": "127.0.0.1:9000"}
    assert forza.make_live_options(spec.site.options) == changed


def test_seconds_alone_are_the_goal_and_beside_laps_their_limit():
    assert DriveFlags(seconds=5.0).make_spec().goal == Laps(2).or_when(Seconds(5.0))
    assert DriveFlags(laps=3, seconds=5.0).make_spec().goal == Laps(3).or_when(TimeUp(5.0, 3))


def override(options, *given, base=None):
    spec = base or DriveFlags(sim="forza", track="kartwerk", car="kart", laps=10, driver="line_follow").make_spec()
    return override_spec(spec, options, frozenset(given), None)


def test_what_is_named_counts_even_where_it_is_a_default():
    assert override(DriveFlags(laps=2), "laps").goal == Laps(2)
    assert override(DriveFlags()).goal == Laps(10)
    limited = override(DriveFlags(seconds=5.0), "seconds")
    assert limited.goal == Laps(10).or_when(Seconds(5.0))
    assert override(DriveFlags(seconds=7.0), "seconds", base=limited).goal == Laps(10).or_when(Seconds(7.0))
    assert override(DriveFlags(seconds=0.0), "seconds", base=limited).goal == Laps(10)
    both = override(DriveFlags(laps=0, seconds=5.0), "laps", "seconds").goal
    assert both == Laps(0).or_when(Seconds(5.0))
    timed = DriveFlags(laps=3, seconds=5.0).make_spec()
    assert override(DriveFlags(laps=4), "laps", base=timed).goal == Laps(4).or_when(TimeUp(5.0, 4))
    mine = override(DriveFlags(driver="mine.py", gain=("speed=3",)), "driver", "gain")
    assert (mine.first.driver, mine.first.gain) == ("mine.py", ("speed=3",))
    assert (mine.site.track, mine.site.car) == ("kartwerk", "kart")
    assert override(DriveFlags(track="oval"), "track").site.track == "oval"
    assert override(DriveFlags(seed=3, host=("rate=120",)), "seed", "host").site.host == ("rate=120",)
    assert override(DriveFlags(report=False), "report").keep.report is False
    assert len(override(DriveFlags(cars=3), "cars").cars) == 3


def test_a_believed_road_is_changed_and_the_world_keeps_its_own():
    base = DriveFlags(track="oval", car="gt3", world=("track=kartwerk",)).make_spec()
    spec = override(DriveFlags(track="pinegrove"), "track", base=base)
    assert (spec.track, spec.site.track) == ("pinegrove", "kartwerk")
