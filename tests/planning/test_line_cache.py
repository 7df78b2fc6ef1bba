import os

from helpers.stadiums import build_stadium

from trailbrake.cars.car_library import load_car
from trailbrake.planning import line_cache
from trailbrake.planning.line_cache import cached_line_path, prune_cache


def test_each_road_and_car_has_its_own_file(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_LINES", str(tmp_path))
    gt3 = load_car("gt3")
    paths = {
        cached_line_path(build_stadium(), gt3),
        cached_line_path(build_stadium(radius=51.0), gt3),
        cached_line_path(build_stadium(grip=0.9), gt3),
        cached_line_path(build_stadium(), load_car("f1")),
    }
    assert len(paths) == 4
    assert all(path.parent == tmp_path for path in paths)
    assert cached_line_path(build_stadium(), gt3) in paths


def test_the_oldest_lines_are_deleted(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_LINES", str(tmp_path))
    monkeypatch.setattr(line_cache, "KEPT_LINES", 2)
    for age in range(4):
        file = tmp_path / f"{age}.csv"
        file.write_text("")
        os.utime(file, (1e9 - age, 1e9 - age))
    prune_cache()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.csv", "1.csv"]
