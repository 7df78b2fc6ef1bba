"""Scenes through the wire: who does not look touches, who follows does not, and a scene repeats."""

import msgspec
import numpy as np
import pytest
from helpers.socketio_agents import ring

from trailbrake.evaluate.overtaking.rivals import RivalDriver
from trailbrake.evaluate.overtaking.scene_drive import JudgedDriver, cut_last_lap, drive_scene
from trailbrake.evaluate.overtaking.scenes import OvertakingScene, Venue, draw_scenes, load_overtaking_suite


@pytest.mark.parametrize("began", [-2.0, 0.0, 3.0, 997.0])  # a line may begin before the zero of its road
def test_the_last_lap_of_practice_is_the_last_of_those_that_were_driven(began):
    way = np.arange(began, began + 3100.0)
    speed = np.interp((way - began) // 1000.0, [0, 1, 2, 3], [10.0, 20.0, 40.0, 40.0])  # m/s, by lap
    driven = np.column_stack([np.cumsum(1.0 / speed), way, speed])
    lap_s, times, speeds = cut_last_lap(driven, began, 3, 1000.0)
    assert lap_s == pytest.approx(25.0, abs=0.2)
    assert (len(times), times[0], speeds[500]) == (1000, 0.0, 40.0)
    assert cut_last_lap(driven[:2900], began, 3, 1000.0) is None


@pytest.fixture(scope="module")
def suite():
    return msgspec.structs.replace(load_overtaking_suite("overtake-v1"), practice_laps=1)


@pytest.fixture(scope="module")
def venue(tmp_path_factory):
    """A circuit of 497 m: a lap alone takes a third of the shortest one's of the suite."""
    return Venue(track=str(ring(tmp_path_factory.mktemp("ring"))), car="hatchback", reference_s=20.07)  # `line_track`


def make_scene(venue, **changes):
    scene = OvertakingScene(kind="own_line", number=0, venue=venue, habit="own_line", means="grip", ratio=0.6, laps=1,
                            start=0.7, gaps_m=(15.0,), rival_seed=1)  # fmt: skip
    return msgspec.structs.replace(scene, **changes)


@pytest.mark.slow
def test_who_does_not_look_drives_into_the_rival(suite, venue):
    scene = make_scene(venue)
    result = drive_scene(suite, scene, JudgedDriver("line_track"))
    assert result.error == ""
    assert result.contact
    assert not result.passed
    assert -8.0 < result.contact_at[2] < 0.0  # it is behind
    assert drive_scene(suite, scene, JudgedDriver("line_track")) == result


@pytest.mark.slow
def test_who_follows_neither_touches_nor_passes_and_loses_the_rivals_time(suite, venue, monkeypatch):
    driven, act = [], RivalDriver.act
    monkeypatch.setattr(RivalDriver, "act", lambda rival, state, dt: driven.append(dt) or act(rival, state, dt))
    result = drive_scene(suite, make_scene(venue, ratio=0.8, laps=0.7), JudgedDriver("convoy"))
    assert sum(driven) < result.time_s + 0.2  # nobody drives on when it is over
    assert (result.error, result.contact, result.passed) == ("", False, False)
    assert result.lost_s > 2.5
    assert abs(result.rival_lost_s) < 1.0


@pytest.mark.slow
def test_a_driver_that_fails_is_a_result(suite, venue):
    assert "nobody" in drive_scene(suite, make_scene(venue), JudgedDriver("nobody")).error


@pytest.mark.slow
@pytest.mark.parametrize(("number", "track"), [(1, "lakeside"), (2, "kartwerk")])
def test_race_line_stays_on_narrow_roads_among_others(suite, number, track):
    scene = draw_scenes(suite, suite.classes[0], suite.seed, number + 1)[number]
    assert scene.venue.track == track
    result = drive_scene(suite, msgspec.structs.replace(scene, laps=1), JudgedDriver("race_line"))
    assert (result.error, result.off_road_s, result.wall_contacts, result.contact) == ("", 0.0, 0, False)


@pytest.mark.slow
def test_race_line_does_not_drive_into_a_rival_that_moves_aside_and_lifts(suite):
    kind = next(kind for kind in suite.classes if kind.name == "blue_flag")
    result = drive_scene(suite, draw_scenes(suite, kind, 71, 1)[0], JudgedDriver("race_line"))
    assert (result.error, result.passed, result.contact, result.off_road_s) == ("", True, False, 0.0)
