"""Roads in files: written, read again, and refused with the line."""

import numpy as np
import pytest

from trailbrake.errors import DataError, UsageError
from trailbrake.tracks import road_file
from trailbrake.tracks.road import RoadColumn
from trailbrake.tracks.track_library import load_track


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("road") / "r.csv"
    road_file.write_road(path, load_track("pinegrove").road)
    return path.read_text("utf-8")


def test_what_is_written_is_read_and_loads_as_a_track(tmp_path):
    for name in ("pinegrove", "serpent_pass"):
        road = load_track(name).road
        path = tmp_path / f"{name}_map.csv"
        road_file.write_road(path, road)
        track = load_track(path)
        assert track.name == f"{name}_map"
        assert track.road.closed == road.closed
        assert track.road.length == road.length
        kept = list(road_file.COLUMNS.values())
        assert np.abs(track.road.table[:, kept] - road.table[:, kept]).max() < 1e-6
        assert load_track(f"{path}@wet").road.column(RoadColumn.GRIP).max() < 0.8


@pytest.mark.parametrize(
    ("line", "new", "said"),
    [
        (1, "# trailbrake road, closed = perhaps, spacing_m = 1.5", "r.csv:1: no head of a road"),
        (1, "# trailbrake road, closed = true, spacing_m = 99", "r.csv:1: no head of a road"),
        (2, "x_m,y_m", "r.csv:2: wrong columns, expected x_m,y_m,z_m"),
        (5, "1,2,3", "r.csv:5: no row of a road, expected 12 numbers, got 1,2,3"),
        (5, "1,2,3,4,5,6,7,8,9,10,11,x", "r.csv:5: no row of a road"),
        (5, "1,2,3,4,5,6,7,8,9,10,11,nan", "r.csv:5: no row of a road"),
    ],
)
def test_faults_name_their_line(text, line, new, said):
    lines = text.split("\n")
    lines[line - 1] = new
    with pytest.raises(DataError) as caught:
        road_file.parse_road("\n".join(lines), "r.csv")
    assert str(caught.value).startswith(said)


def test_a_row_out_of_place_and_a_negative_width(text):
    lines = text.split("\n")
    cells = lines[9].split(",")
    moved = [*lines[:9], ",".join([str(float(cells[0]) + 3.0), *cells[1:]]), *lines[10:]]
    with pytest.raises(DataError, match=r"r.csv:9: rows at unequal steps"):
        road_file.parse_road("\n".join(moved), "r.csv")
    narrow = [*lines[:9], ",".join([*cells[:7], "-1", *cells[8:]]), *lines[10:]]
    with pytest.raises(DataError, match=r"r.csv:10: negative width_left"):
        road_file.parse_road("\n".join(narrow), "r.csv")
    with pytest.raises(DataError, match="too few rows, expected 8 or more, got 3"):
        road_file.parse_road("\n".join(lines[:5]), "r.csv")


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="cannot write the track"):
        road_file.write_road(tmp_path / "none" / "r.csv", load_track("pinegrove").road)
