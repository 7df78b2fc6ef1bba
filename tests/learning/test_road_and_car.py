"""Map, car and laps in one go: what follows from what, and where it stops."""

import pytest

from trailbrake.driving.goals import Laps
from trailbrake.driving.session.progress import SilentListener
from trailbrake.errors import DataError
from trailbrake.learning import road_and_car as learn_all
from trailbrake.learning.options import LearnCarOptions, LearnOptions
from trailbrake.learning.road_and_car import car_options, drive_learned_car, learn_road_and_car
from trailbrake.sims.registry import find


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


def test_recordings_make_only_a_map(monkeypatch, tmp_path):
    edges = LearnOptions(left_edge=tmp_path / "a.mcap", right_edge=tmp_path / "b.mcap")
    assert run_parts(monkeypatch, options=edges)[0] == ["map"]
    assert run_parts(monkeypatch, options=LearnOptions(source=tmp_path / "a.mcap"))[0] == ["map"]


def test_the_laps_believe_map_and_car_and_keep_what_they_learn(monkeypatch):
    seen = []

    def fake_drive(spec, listener):
        seen.append(spec)
        return {"laps": [], "best_s": None, "ended": "done"}

    monkeypatch.setattr(learn_all, "drive", fake_drive)
    options = LearnCarOptions(sim="forza", track="kartwerk", map="kartwerk", car="random:3")
    result = drive_learned_car(options, "mine.toml", None, SilentListener())
    assert (seen[0].track, seen[0].car) == ("kartwerk", "mine.toml")
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
