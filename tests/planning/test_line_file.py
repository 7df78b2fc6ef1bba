import os

import numpy as np
import pytest
from helpers.stadiums import build_stadium

from trailbrake.cars.car_library import load_car
from trailbrake.errors import DataError
from trailbrake.planning import line_file
from trailbrake.planning.line_file import (
    LineFile,
    cached_line_path,
    car_digest,
    load_line_course,
    load_racing_line,
    parse_line,
    prune_cache,
    read_line,
    write_line,
)
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track import Track
from trailbrake.tracks.track_library import load_track

CAR = load_car("gt3")


def make_line(road, offset=1.5):
    s = np.arange(0.0, road.length, 4.0)
    places = road.points(s, offset)
    columns = {"s_m": s, "offset_m": 0.0 * s + offset, "x_m": places[:, 0], "y_m": places[:, 1]}
    columns["speed_mps"] = 0.0 * s + 30.0
    return LineFile({"track": "stadium", "car": "gt3", "car_sha256": car_digest(CAR), "closed": True}, columns)


def test_a_line_file_round_trips(tmp_path):
    line = make_line(build_stadium())
    write_line(tmp_path / "new" / "line.csv", line)
    back = read_line(tmp_path / "new" / "line.csv")
    assert back.about == line.about
    for name, values in line.columns.items():
        np.testing.assert_allclose(back.columns[name], values, rtol=1e-7, atol=1e-7)


def test_a_line_becomes_the_road_to_follow(tmp_path):
    road = build_stadium()
    write_line(tmp_path / "line.csv", make_line(road))
    found = load_racing_line(tmp_path / "line.csv", road, CAR)
    away = road.locate_many(found.table[:, :2])[:, 1]
    # A spline through points 4 m apart; the stadium's curvature jumps between them.
    np.testing.assert_allclose(away, 1.5, atol=0.02)


def test_points_close_together_make_no_bends_of_their_rounding(tmp_path):
    road = build_stadium()
    smooth, rough = make_line(road), make_line(road)
    write_line(tmp_path / "line.csv", smooth)
    usual = load_racing_line(tmp_path / "line.csv", road, CAR).column(RoadColumn.CURVATURE)
    s = np.sort(np.concatenate([rough.columns["s_m"], 40.0 + 0.05 * np.arange(1, 60)]))
    places = road.points(s, 1.5)
    noise = np.random.default_rng(1).normal(0.0, 0.002, (2, len(s)))
    columns = {"s_m": s, "offset_m": 0.0 * s + 1.5, "x_m": places[:, 0] + noise[0], "y_m": places[:, 1] + noise[1],
               "speed_mps": 0.0 * s + 30.0}  # fmt: skip
    write_line(tmp_path / "line.csv", LineFile(rough.about, columns))
    found = load_racing_line(tmp_path / "line.csv", road, CAR).column(RoadColumn.CURVATURE)
    assert np.abs(found).max() < np.abs(usual).max() + 0.005


def test_the_speeds_of_a_planned_line_come_with_it(tmp_path):
    track = Track("stadium", "", (build_stadium(),))
    line = make_line(track.road)
    columns = line.columns | {"speed_mps": 30.0 + 5.0 * np.sin(line.columns["s_m"] / 50.0)}
    write_line(tmp_path / "line.csv", LineFile(line.about, columns))
    assert load_line_course(tmp_path / "line.csv", track, CAR).given_speeds is None
    write_line(tmp_path / "line.csv", LineFile(line.about | {"model": 5}, columns))
    found = load_line_course(tmp_path / "line.csv", track, CAR)
    place = track.road.locate_many(found.line.table[:, :2])[:, 0]
    expected = np.interp(place, columns["s_m"], columns["speed_mps"], period=track.road.length)
    np.testing.assert_allclose(found.given_speeds, expected, atol=0.3)


def test_a_planned_grip_scales_the_grip_of_the_line(tmp_path):
    road = build_stadium(grip=0.9)
    line = make_line(road)
    factor = np.where(line.columns["s_m"] < 200.0, 1.2, 0.8)
    write_line(tmp_path / "line.csv", LineFile(line.about, line.columns | {"planned_grip": factor}))
    grip = load_racing_line(tmp_path / "line.csv", road, CAR).column(RoadColumn.GRIP)
    np.testing.assert_allclose([grip[100], grip[300]], [1.2 * 0.9, 0.8 * 0.9])
    write_line(tmp_path / "line.csv", LineFile(line.about, line.columns | {"planned_grip": 9.0 * factor}))
    with pytest.raises(DataError, match="no friction to plan with"):
        load_racing_line(tmp_path / "line.csv", road, CAR)


def test_a_line_for_another_track_or_car_is_refused(tmp_path):
    road = build_stadium()
    write_line(tmp_path / "line.csv", make_line(road))
    with pytest.raises(DataError, match="another track"):
        load_racing_line(tmp_path / "line.csv", build_stadium(radius=51.0), CAR)
    with pytest.raises(DataError, match="another car"):
        load_racing_line(tmp_path / "line.csv", road, load_car("f1"))


def test_rows_in_another_order_are_refused_for_that(tmp_path):
    road = build_stadium()
    line = make_line(road)
    back = {name: values[::-1] for name, values in line.columns.items()}
    write_line(tmp_path / "line.csv", LineFile(line.about, back))
    with pytest.raises(DataError, match=r"line.csv:4: rows that are not in driving order.*s_m rising"):
        load_racing_line(tmp_path / "line.csv", road, CAR)


@pytest.mark.parametrize("rows", [slice(0, 90), slice(30, None)])
def test_a_line_without_a_part_of_its_rows_is_refused(tmp_path, rows):
    road = build_stadium()
    line = make_line(road)
    assert len(line.columns["s_m"]) > 120
    cut = {name: values[rows] for name, values in line.columns.items()}
    write_line(tmp_path / "line.csv", LineFile(line.about, cut))
    with pytest.raises(DataError, match="rows are missing"):
        load_line_course(tmp_path / "line.csv", Track("stadium", "", (road,)), CAR)
    kept = np.r_[0:60, 72 : len(line.columns["s_m"])]
    holed = {name: values[kept] for name, values in line.columns.items()}
    write_line(tmp_path / "line.csv", LineFile(line.about, holed))
    with pytest.raises(DataError, match="none from 236 to 288 m"):
        load_racing_line(tmp_path / "line.csv", road, CAR)


def test_a_line_of_an_open_road_reaches_its_end(tmp_path):
    road = load_track("serpent_pass").road
    line = make_line(road)
    write_line(tmp_path / "line.csv", LineFile(line.about | {"closed": False}, line.columns))
    assert not load_racing_line(tmp_path / "line.csv", road, CAR).closed
    for rows in (slice(0, -12), slice(12, None)):
        cut = {name: values[rows] for name, values in line.columns.items()}
        write_line(tmp_path / "line.csv", LineFile(line.about | {"closed": False}, cut))
        with pytest.raises(DataError, match="rows are missing"):
            load_racing_line(tmp_path / "line.csv", road, CAR)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# trailbrake line", "# a line", "no line file"),
        ('"closed": true', '"closed": 3', "no line file"),
        ("speed_mps", "pace", "columns are missing"),
        ("\n0,", "\nzero,", ":3: no row of numbers"),
        ("\n0,", "\nnan,", ":3: no row of numbers"),
    ],
)
def test_faults_of_a_file_are_named(tmp_path, old, new, message):
    write_line(tmp_path / "line.csv", make_line(build_stadium()))
    text = (tmp_path / "line.csv").read_text()
    assert old in text
    with pytest.raises(DataError, match=message):
        parse_line(text.replace(old, new, 1), "line.csv")
    with pytest.raises(DataError, match="too few rows"):
        parse_line("\n".join(text.split("\n")[:6]), "line.csv")


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
    monkeypatch.setattr(line_file, "KEPT_LINES", 2)
    for age in range(4):
        file = tmp_path / f"{age}.csv"
        file.write_text("")
        os.utime(file, (1e9 - age, 1e9 - age))
    prune_cache()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.csv", "1.csv"]
