"""Roads of latitude and longitude."""

from pathlib import Path

import numpy as np
import pytest
from helpers.lap_log_files import make_laps, place_degrees

from trailbrake.errors import DataError
from trailbrake.tracks.geo_lines import GeoLine, measure_geo_lines
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "lap_logs"
LAPS = make_laps(10.0, laps=2)


def make_line(rows, height=True):
    latitude, longitude = place_degrees(LAPS)
    blank = np.full(len(LAPS.time), np.nan)
    return GeoLine("", np.radians(latitude)[rows], np.radians(longitude)[rows], (LAPS.z if height else blank)[rows])


def test_a_lap_of_kml_is_a_circuit_with_heights():
    track = load_track(GOLDEN / "road.kml")
    road = track.road
    assert road.closed
    assert road.length == pytest.approx(LAPS.length, rel=2e-4)
    assert np.ptp(road.column(RoadColumn.Z)) == pytest.approx(4.0, abs=0.1)
    assert np.abs(road.column(RoadColumn.GRADE)).max() == pytest.approx(2.0 * 2.0 * np.pi / LAPS.length, rel=0.1)
    assert "width assumed, 8 m" in track.source
    assert "heights averaged" in track.source
    for side in (RoadColumn.WIDTH_LEFT, RoadColumn.WIDTH_RIGHT):
        assert road.column(side) == pytest.approx(4.0, abs=0.5)


def test_a_table_of_latitudes_is_the_same_road(tmp_path):
    latitude, longitude = place_degrees(LAPS)
    rows = [f"{latitude[k]:.9f},{longitude[k]:.9f},{LAPS.z[k]:.2f}" for k in np.flatnonzero(LAPS.lap == 1)]
    (tmp_path / "a.csv").write_text("\n".join(["lat,lon,elevation", *rows]))
    road, other = load_track(tmp_path / "a.csv").road, load_track(GOLDEN / "road.kml").road
    assert road.length == pytest.approx(other.length, rel=1e-4)
    assert np.abs(road.locate_many(other.table[:, :2])[:, 1]).max() < 0.2


def test_heights_stand_in_tables_with_widths_too(tmp_path):
    rows = np.flatnonzero(LAPS.lap == 1)
    text = "\n".join(f"{LAPS.x[k]:.3f},{LAPS.y[k]:.3f},4,5,{LAPS.z[k]:.2f}" for k in rows)
    (tmp_path / "a.csv").write_text("x_m,y_m,w_tr_right_m,w_tr_left_m,z_m\n" + text)
    assert np.ptp(load_track(tmp_path / "a.csv").road.column(RoadColumn.Z)) == pytest.approx(4.0, abs=0.1)


def test_what_a_lap_has_driven_beyond_its_begin_is_cut_off():
    one = np.flatnonzero(LAPS.lap >= 1)[: int((LAPS.lap == 1).sum()) + 15]  # 50 m of the second lap
    found = measure_geo_lines([make_line(one)], "a.gpx")
    assert found.closed
    assert len(found.line.x) < len(one) - 10


def test_part_of_a_lap_is_an_open_road_and_its_pieces_are_joined():
    half = np.flatnonzero(LAPS.lap == 1)[:150]
    whole = measure_geo_lines([make_line(half)], "a.gpx")
    assert not whole.closed
    pieces = [make_line(half[:70]), make_line(half[70:]), make_line(np.arange(5))]
    assert len(measure_geo_lines(pieces, "a.gpx").line.x) == len(whole.line.x)
    flat = measure_geo_lines([make_line(half, height=False)], "a.gpx")
    assert flat.height is None
    assert any("heights not known" in note for note in flat.notes)


def test_several_rounds_and_gaps_are_refused_with_what_to_try():
    with pytest.raises(DataError, match=r"goes round more than once, .*; trailbrake learn track"):
        measure_geo_lines([make_line(np.flatnonzero(LAPS.lap >= 1))], "a.gpx")
    rows = np.flatnonzero(LAPS.lap == 1)
    with pytest.raises(DataError, match=r"a\.gpx: point \d+: gap in the line, expected <= 250 m, got \d+ m"):
        measure_geo_lines([make_line(np.concatenate([rows[:60], rows[160:]]))], "a.gpx")
    with pytest.raises(DataError, match="no number of points"):
        measure_geo_lines([make_line(rows[:5])], "a.gpx")
