"""A map from a slow drive through the wire, and a quick drive by that map."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.lap_log_files import make_laps, write_racebox

from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.driving.goals import Laps
from trailbrake.driving.road_monitor import RoadMonitor
from trailbrake.driving.session.drive_session import drive
from trailbrake.driving.session.progress import SilentListener
from trailbrake.errors import DataError, UsageError
from trailbrake.learning import road_mapping as learn
from trailbrake.learning import road_mapping as learn_all
from trailbrake.learning.options import LearnCarOptions, LearnOptions
from trailbrake.learning.road_mapping import (
    car_options,
    drive_learned_car,
    learn_road_and_car,
    make_survey_goal,
    map_road,
)
from trailbrake.sims.registry import find
from trailbrake.state import CarState
from trailbrake.tracks.road import RoadColumn
from trailbrake.tracks.track_library import load_track


def roll(metres, places, dt=0.1):
    monitor, goal = RoadMonitor(None), make_survey_goal(metres)
    for k, (x, y) in enumerate(places):
        ahead, behind = places[min(k + 1, len(places) - 1)], places[max(k - 1, 0)]
        yaw = math.atan2(ahead[1] - behind[1], ahead[0] - behind[0])
        monitor.observe_state(CarState(time=k * dt, x=x, y=y, yaw=yaw, speed=1.0))
        if goal.judge(monitor) is not None:
            return k
    return None


def circle(count, radius=100.0):
    return [(radius * math.sin(0.01 * k), radius * (1.0 - math.cos(0.01 * k))) for k in range(count)]


def test_a_road_ends_where_it_began():
    assert roll(0.0, circle(1000, radius=200.0)) == pytest.approx(628, abs=5)
    assert roll(0.0, circle(1000, radius=25.0)) == pytest.approx(600, abs=5)  # a circuit of 157 m


def test_a_road_that_comes_by_in_the_other_direction_goes_on():
    out = [(0.5 * k, 0.0) for k in range(200)]
    assert roll(0.0, [*out, *((100.0 - 0.5 * k, 5.0) for k in range(400))]) is None


def test_it_ends_after_so_many_metres_or_when_the_car_stands():
    assert roll(50.0, circle(400)) == pytest.approx(51, abs=2)
    assert roll(0.0, [(1.0, 1.0)] * 400) == pytest.approx(301, abs=2)


@pytest.mark.slow
def test_a_map_learned_over_the_wire_can_be_driven(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_RECORDINGS", str(tmp_path))
    out = tmp_path / "map.csv"
    result = map_road(find("forza"), LearnOptions(track="kartwerk", car="kart", out=out))
    truth, road = load_track("kartwerk").road, load_track(out).road
    assert result["closed"]
    assert result["width_known"] > 0.95
    offset = truth.locate_many(road.table[:, [RoadColumn.X, RoadColumn.Y]], 0)[:, 1]
    assert np.sqrt(np.mean(offset**2)) < 0.15
    again = map_road(find("forza"), LearnOptions(source=(Path(result["recording"]),), out=tmp_path / "again.csv"))
    assert again["length_m"] == result["length_m"]
    summary = drive(DriveFlags(sim="forza", track=str(out), car="kart", laps=1, report=False, out=tmp_path).make_spec())
    assert summary["ended"] == "done"


@pytest.mark.slow
def test_a_strong_car_on_a_narrow_road_does_not_spin_while_it_maps(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_RECORDINGS", str(tmp_path))
    result = map_road(find("forza"), LearnOptions(track="kartwerk", car="f1", out=tmp_path / "map.csv", metres=400.0))
    assert result["length_m"] > 380.0
    assert result["width_m"] == pytest.approx(8.6, abs=0.5)


def test_what_cannot_be_mapped_is_said(tmp_path):
    with pytest.raises(UsageError, match="the wire of assetto does not supply where the road is, expected --left-edge"):
        map_road(find("assetto"), LearnOptions(sim="assetto", out=tmp_path / "road.csv"))
    with pytest.raises(UsageError, match="one edge of a road, expected recordings along both"):
        map_road(find("beamng"), LearnOptions(sim="beamng", left_edge=tmp_path / "left.mcap"))
    with pytest.raises(UsageError, match="no width of a road, expected above 0 m, got 0"):
        map_road(find("forza"), LearnOptions(width=0.0))
    with pytest.raises(UsageError, match="--metres: no length of a drive, expected 0 m or more, got -1"):
        map_road(find("forza"), LearnOptions(metres=-1.0))
    with pytest.raises(UsageError, match="cannot read the recording"):
        map_road(find("forza"), LearnOptions(source=(tmp_path / "none.mcap",)))
    other = tmp_path / "other.mcap"
    other.write_text("no recording")
    with pytest.raises(DataError, match="not a recording"):
        map_road(find("forza"), LearnOptions(source=(other,)))


def test_what_is_refused_leaves_no_folder(tmp_path):
    with pytest.raises(UsageError):
        map_road(find("assetto"), LearnOptions(sim="assetto", out=tmp_path / "road.csv"))
    assert not any(tmp_path.iterdir())


def test_a_live_survey_names_no_road_and_no_car():
    """Its recording was once called serpent_pass by hatchback, whatever the game had loaded."""
    assert LearnOptions(live=True).with_defaults() == LearnOptions(live=True)
    embedded = LearnOptions().with_defaults()
    assert (embedded.track, embedded.car) == ("serpent_pass", "hatchback")
    assert learn._road_name(LearnOptions(live=True, sim="forza")) == "forza"
    assert learn._road_name(LearnOptions(live=True, track="my/road.csv")) == "road"


def test_the_car_after_a_map_is_driven_on_the_map(tmp_path):
    made = car_options(LearnOptions(sim="forza", out=tmp_path / "road.csv", again=True, verify=False), "road.csv")
    assert (made.track, made.car, made.out.name) == ("serpent_pass", "hatchback", "road.toml")
    assert (str(made.map), made.again, made.verify) == ("road.csv", True, False)


def run_parts(monkeypatch, map_stopped=False, car_stopped=False, options=None):
    parts = []

    def map_part(simulator, options, live, listener):
        parts.append("map")
        return {"track": "road.csv", "interrupted": map_stopped}

    def car_part(simulator, options, live, listener):
        parts.append("car")
        return {"car": "road.toml", "interrupted": car_stopped}

    def lap_part(options, car_file, live, listener):
        parts.append("laps")
        return {"best_s": 60.0}

    monkeypatch.setattr(learn_all, "map_road", map_part)
    monkeypatch.setattr(learn_all, "learn_car_file", car_part)
    monkeypatch.setattr(learn_all, "drive_learned_car", lap_part)
    return parts, learn_road_and_car(find("forza"), options or LearnOptions())


def test_all_parts_follow_each_other(monkeypatch):
    parts, result = run_parts(monkeypatch)
    assert parts == ["map", "car", "laps"]
    assert (result["learned_car"]["car"], result["laps"]["best_s"]) == ("road.toml", 60.0)


def test_a_part_that_was_broken_off_is_the_last(monkeypatch):
    assert run_parts(monkeypatch, map_stopped=True)[0] == ["map"]
    assert run_parts(monkeypatch, car_stopped=True)[0] == ["map", "car"]


def test_recordings_make_only_a_map_where_nothing_is_named_to_drive(monkeypatch, tmp_path):
    edges = LearnOptions(left_edge=tmp_path / "a.mcap", right_edge=tmp_path / "b.mcap")
    assert run_parts(monkeypatch, options=edges)[0] == ["map"]
    assert run_parts(monkeypatch, options=LearnOptions(source=(tmp_path / "a.mcap",)))[0] == ["map"]
    for named in (replace(edges, track="kartwerk"), replace(edges, live=True)):
        assert run_parts(monkeypatch, options=named)[0] == ["map", "car", "laps"]


def test_the_laps_believe_map_and_car_and_keep_what_they_learn(monkeypatch):
    seen = []

    def fake_drive(spec, listener):
        seen.append(spec)
        return {"laps": [], "best_s": None, "ended": "done"}

    monkeypatch.setattr(learn_all, "drive", fake_drive)
    options = LearnCarOptions(sim="forza", track="kartwerk", map="kartwerk", car="random:3")
    result = drive_learned_car(options, "mine.toml", None, SilentListener())
    assert (seen[0].track, seen[0].car, seen[0].first.driver) == ("kartwerk", "mine.toml", "")  # as the next drive's
    assert (seen[0].site.track, seen[0].site.car) == ("kartwerk", "random:3")
    assert (seen[0].goal, result["memory"]) == (Laps(learn_all.FAST_LAPS), "mine.memory.json")
    drive_learned_car(LearnCarOptions(sim="forza", live=True, map="kartwerk"), "mine.toml", None, SilentListener())
    assert seen[1].is_live


def test_laps_that_cannot_be_driven_take_nothing_away(monkeypatch):
    def broken(spec, listener):
        raise DataError("no such car")

    monkeypatch.setattr(learn_all, "drive", broken)
    said = SilentListener()
    lines = []
    monkeypatch.setattr(said, "show_message", lines.append, raising=False)
    assert drive_learned_car(LearnCarOptions(track="kartwerk", car="gt3"), "mine.toml", None, said) is None
    assert lines == ["no laps: no such car"]


@pytest.mark.slow
def test_a_second_call_drives_nothing_that_is_there(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_RECORDINGS", str(tmp_path))
    options = LearnOptions(sim="forza", track="kartwerk", car="kart", metres=250.0, out=tmp_path / "road.csv")
    first = learn_all.map_road(find("forza"), options)
    drives = len(list(tmp_path.glob("*.mcap")))
    second = learn_all.map_road(find("forza"), options)
    assert second == first
    assert len(list(tmp_path.glob("*.mcap"))) == drives == 1


def test_several_laps_of_anybody_are_one_road_with_edges_where_they_went(tmp_path):
    """Two drivers' GPS, three laps each: one keeps 5 m to the left over a part of the road."""
    laps = make_laps(10.0, laps=3)
    wide = np.where((laps.along % laps.length > 200.0) & (laps.along % laps.length < 400.0), 5.0, 0.0)
    other = laps._replace(x=laps.x - wide * np.sin(laps.yaw), y=laps.y + wide * np.cos(laps.yaw))
    sources = (write_racebox(tmp_path / "a.csv", laps), write_racebox(tmp_path / "b.csv", other))
    result = map_road(find("forza"), LearnOptions(source=sources, out=tmp_path / "road.csv"))
    assert result["closed"]
    assert result["length_m"] == pytest.approx(laps.length, rel=1e-3)
    road = load_track(tmp_path / "road.csv").road
    left, right = (road.column(side) for side in (RoadColumn.WIDTH_LEFT, RoadColumn.WIDTH_RIGHT))
    assert left.max() == pytest.approx(5.0 + 0.8, abs=0.4)
    assert right == pytest.approx(4.0, abs=0.1)
    assert (left > 4.2).mean() == pytest.approx(200.0 / laps.length, abs=0.04)


def test_a_gpx_file_of_several_laps_is_one_road(tmp_path):
    golden = Path(__file__).resolve().parent.parent / "golden" / "lap_logs" / "laps.gpx"
    result = map_road(find("forza"), LearnOptions(source=(golden,), out=tmp_path / "road.csv"))
    assert (result["closed"], result["width_known"]) == (True, 0.0)
    assert result["length_m"] == pytest.approx(make_laps(5.0, laps=2).length, rel=2e-3)


def test_edges_without_anything_to_drive_are_a_map(tmp_path):
    laps = make_laps(10.0, laps=2)
    left, right = (
        write_racebox(tmp_path / f"{name}.csv", laps._replace(x=laps.x - across * np.sin(laps.yaw),
                                                              y=laps.y + across * np.cos(laps.yaw)))
        for name, across in (("left", 3.0), ("right", -3.0))
    )  # fmt: skip
    options = LearnOptions(sim="beamng", left_edge=left, right_edge=right, out=tmp_path / "road.csv")
    result = learn_road_and_car(find("beamng"), options)
    assert (result["closed"], result["interrupted"], result["width_m"]) == (True, False, pytest.approx(7.6, abs=0.2))
