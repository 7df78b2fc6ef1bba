import contextlib
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trailbrake.errors import DataError
from trailbrake.tracks import centreline_csv
from trailbrake.tracks.centreline_csv import find_columns
from trailbrake.tracks.centreline_smoothing import MeasuredLine, smooth_circuit
from trailbrake.tracks.track_library import load_track

PLACE = ["x_m", "y_m"]


def loop(n=40, radius=80.0):
    angle = np.arange(n) * 2.0 * np.pi / n
    return [[radius * math.cos(a), 0.7 * radius * math.sin(a), 5.0, 6.0] for a in angle]


def csv(rows, separator=",", header="# x_m,y_m,w_tr_right_m,w_tr_left_m"):
    return "\n".join([header, *(separator.join(f"{v:.6f}" for v in row) for row in rows)]) + "\n"


def parse(text):
    return centreline_csv.parse_points(text.encode(), "t.csv")


@pytest.mark.parametrize(
    "text",
    [
        csv(loop()),
        csv(loop(), header=""),
        csv(loop(), header="x_m,y_m,w_tr_right_m,w_tr_left_m"),
        csv([*loop(), loop()[0]]),
        csv(loop()).replace("\n", "\r\n"),
        csv(loop()).replace("\n", "\r"),
        "\ufeff" + csv(loop()),
        csv(loop(), separator=";"),
        csv(loop(), separator=";").replace(".", ","),
        csv(loop(), separator="\t"),
        csv(loop(), separator=" , "),
        csv(loop()).replace("\n", ",\n"),
        csv(loop(), header="#\n# a circuit, left to right\n# x and y in metres\n# of, width, 5"),
    ],
)
def test_every_dialect_gives_the_same_points(text):
    found = parse(text)
    assert np.column_stack([found.x, found.y, found.right, found.left]) == pytest.approx(np.array(loop()), abs=1e-5)


def test_named_columns_may_come_in_any_order():
    rows = [[row[3], row[0], 0.0, row[1], row[2]] for row in loop()]
    found = parse(csv(rows, header="w_tr_left_m,x_m,extra,y_m,w_tr_right_m"))
    assert found.right == pytest.approx(np.full(40, 5.0))
    assert found.left == pytest.approx(np.full(40, 6.0))


def written(header, *columns):
    return "\n".join([header, *(",".join(map(str, row)) for row in zip(*columns, strict=True))])


X, Y, RIGHT, LEFT = np.array(loop()).T
# Radii of the ellipsoid of WGS 84 at a latitude of 50 degrees, m: along the meridian, and of the parallel.
SHARE = 1.0 - 0.00669437999014 * math.sin(math.radians(50.0)) ** 2
NORTH = 6_378_137.0 * (1.0 - 0.00669437999014) / SHARE**1.5
EAST = 6_378_137.0 / math.sqrt(SHARE) * math.cos(math.radians(50.0))


@pytest.mark.parametrize(
    "text",
    [
        written("x,y,width_left,width_right", X, Y, LEFT, RIGHT),
        written("index,East (m),North (m),Left Width [m],Right Width [m]", range(40), X, Y, LEFT, RIGHT),
        written(",x_m,y_m,right,left,z_m,", range(40), X, Y, RIGHT, LEFT, 0.0 * X, [""] * 40),
        written("# x_ft, y_ft, w_right_ft, w_left_ft", *(values / 0.3048 for values in (X, Y, RIGHT, LEFT))),
        written("x_km,y_km,wr,wl", X / 1000, Y / 1000, RIGHT, LEFT),
        written('"x_m","y_m","w_tr_right_m","w_tr_left_m"', *([f'"{v:.9f}"'.replace(".", ",") for v in values]
                                                              for values in (X, Y, RIGHT, LEFT))),
        written("# a circuit, by somebody\n# s_m,x_m,y_m,w_tr_right_m,w_tr_left_m", X, X, Y, RIGHT, LEFT),
        written("# x_m,y_m,w_tr_right_m,w_tr_left_m", X + 512_000.0 - X[0], Y + 5_412_345.0, RIGHT, LEFT),
        csv(np.column_stack([X, Y, RIGHT, LEFT]), separator=", ", header="# x_m, y_m, w_tr_right_m, w_tr_left_m"),
        csv(np.column_stack([LEFT, RIGHT, Y, X]), separator=";", header="left_m;right_m;y_m;x_m").replace(".", ","),
        csv(np.column_stack([X, Y, RIGHT, LEFT, X, Y, X]), separator="; ", header="# 5f2c\n# x_ref_m; y_ref_m; "
            "width_right_m; width_left_m; x_normvec_m; y_normvec_m; s_racetraj_m"),
        csv(np.column_stack([X, Y, LEFT, RIGHT]), separator="  ", header="# x and y in metres\n"
            "# left and right of the driver\n# x_m y_m w_left_m w_right_m"),
        written("Lat,Lon,Left (ft),Right (ft),Elevation (m)", 50.0 + np.degrees(Y / NORTH),
                8.0 + np.degrees(X / EAST), LEFT / 0.3048, RIGHT / 0.3048, X),
        csv(np.column_stack([range(41), *(np.append(v, v[0]) for v in (X, Y, LEFT, RIGHT))]), header="id,x,y,wl,wr"),
        written("lon_deg,lat_deg,dist_right,dist_left", 8.0 + np.degrees(X / EAST),
                50.0 + np.degrees(Y / NORTH), RIGHT, LEFT),
    ],
)  # fmt: skip
def test_columns_are_taken_by_their_names_and_units(text):
    found = parse(text)
    place = np.column_stack([found.x - found.x[0], found.y - found.y[0]])
    # A plane of degrees turns by x tan(latitude) / radius: some mm over the loop.
    tolerance = 3e-3 if "lat" in text.lower() else 1e-3
    assert place == pytest.approx(np.column_stack([X - X[0], Y - Y[0]]), abs=tolerance)
    assert np.column_stack([found.right, found.left]) == pytest.approx(np.column_stack([RIGHT, LEFT]), abs=1e-6)


@pytest.mark.parametrize(
    ("header", "values", "notes"),
    [
        ("x_m,y_m,right,left,bank_deg,,grip", 1.0, ("columns not read: bank_deg, grip",)),
        ("x_m,y_m,right,left,z_m,,s\x1b[2J", 1.0, ("columns not read: s?[2J",)),
        ("x_m,y_m,right,left," + ",".join(f"c{k}" for k in range(10)), 1.0,
         ("columns not read: c0, c1, c2, c3, c4, c5, c6, c7 and 2 more",)),
        ("x_m,y_m,right,left,z_m", [1.0] * 39 + [""], ("heights not read, 1 of 40 are missing",)),
        ("x_m,y_m,right,left,z_m", 1.0, ()),
    ],
)  # fmt: skip
def test_what_of_a_file_is_not_read_is_noted(header, values, notes):
    more = header.count(",") - 3
    columns = [values if isinstance(values, list) else [values] * 40] * more
    text = written(header, X, Y, RIGHT, LEFT, *columns)
    assert centreline_csv.parse_measured_points(text.encode(), "t.csv").notes == notes


@pytest.mark.parametrize(("header", "half"), [("x,y,track_width", 4.0), ("x_m,y_m,half_width_m", 8.0)])
def test_one_width_is_of_both_sides(header, half):
    found = parse(written(header, X, Y, 8.0 + 0.0 * X))
    assert (found.right, found.left) == (pytest.approx(half), pytest.approx(half))


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("a,b,c,d", "t.csv:1: columns that are not understood, expected x and y .*, got a, b, c, d"),
        ("x_m,y_m,right,z_m", "columns that are not understood"),
        ("# s_m; x_m; y_m; psi_rad; kappa_radpm; vx_mps", "not understood.*got s_m, x_m, y_m, psi_rad"),
        ("# u_m,v_m,w_left_m,w_right_m", "expected x and y .* width_left.*got u_m, v_m, w_left_m, w_right_m"),
        ("# a,b,c,d", "columns that are not understood, expected x and y .*, got a, b, c, d"),
        ("# x y offset half", "not understood.*got x, y, offset, half"),
        ("# x_m,y_m,z_m,w_left_m,w_right_m", "wrong number of columns"),
        ("x_m,y_m,left,outer", "columns that are not understood"),
        ("lat_rad,lon_rad,right,left", "columns that are not understood"),
        ("x_mi,y_mi,right,left", "columns that are not understood"),
        ("x_km,y_km,right,left", "gap in the centreline"),
        ("x_m,x_m,right,left", "two columns for x, got x_m and x_m"),
        ("x_m,easting,right,left", "two columns for x, got x_m and easting"),
    ],
)
def test_a_header_that_is_not_understood_is_refused(header, said):
    with pytest.raises(DataError, match=said):
        parse(written(header, X, Y, RIGHT, LEFT))


def changed(k, column, cell):
    lines = csv(loop()).splitlines()
    cells = lines[k].split(",")
    cells[column] = cell
    lines[k] = ",".join(cells)
    return "\n".join(lines)


def figure_eight():
    angle = np.arange(80) * 2.0 * np.pi / 80 + 0.02
    return [[100.0 * math.sin(a), 60.0 * math.sin(2.0 * a), 5.0, 5.0] for a in angle]


def there_and_back():
    x = [*range(0, 200, 10), *range(195, 0, -10)]
    return [[float(v), 0.05 * math.sin(v), 5.0, 5.0] for v in x]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "t.csv: no points"),
        ("\n\n# nothing\n", "no points"),
        (csv(loop()[:3]), "too few points, expected 8 or more, got 3"),
        (changed(7, 0, "abc"), r"t.csv:8: x is no usable number.*'abc'"),
        (changed(7, 1, "nan"), "t.csv:8: y is no usable number"),
        (changed(7, 2, "inf"), "t.csv:8: right is no usable number"),
        (changed(7, 0, "1e30"), "t.csv:8: x is no usable number"),
        (changed(7, 3, "1e5"), "t.csv:8: left is no usable number"),
        (changed(7, 0, ""), "t.csv:8: x is no usable number"),
        (changed(7, 2, "-1"), "t.csv:8: negative width"),
        (changed(7, 2, "1,7"), r"t.csv:8: wrong number of columns, expected 4 .*got 5"),
        (csv([row[:2] for row in loop()], header=""), "t.csv:2: wrong number of columns"),
        (csv([[*row[:2], 1.0, 1.0] for row in loop()]), "t.csv:2: road narrower than a car.*got 2.00 m"),
        (csv([*loop()[:5], loop()[4], *loop()[5:]]), "t.csv:7: duplicate point.*line 6"),
        (csv(loop(radius=2000.0)), "gap in the centreline"),
        (csv(loop(200, 300.0)[:150]), "t.csv:151: the circuit does not close"),
        (csv(loop(radius=5.0)), "track too short"),
        (csv(loop(1400, 25_000.0)), "track too long"),
        (csv(figure_eight()), "the centreline crosses itself.*lines"),
        (csv(there_and_back()), "crosses itself|doubles back"),
        ("\0\0\0", "not a text file"),
    ],
)
def test_bad_files_are_one_clear_line(text, said):
    with pytest.raises(DataError, match=said) as caught:
        parse(text)
    assert "\n" not in str(caught.value)


def test_other_encodings_are_refused_with_a_hint():
    with pytest.raises(DataError, match="UTF-16"):
        centreline_csv.parse_points(csv(loop()).encode("utf-16"), "t.csv")
    with pytest.raises(DataError, match=r"t.csv:2: not UTF-8"):
        centreline_csv.parse_points(b"# a\n\xff\xfe1,2,3,4\n", "t.csv")


def test_crossing_is_said_with_its_lines():
    with pytest.raises(DataError) as caught:
        parse(csv(figure_eight()))
    assert "lines 40 and 80" in str(caught.value) or "lines 41 and 81" in str(caught.value)


def test_huge_files_are_refused_before_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(centreline_csv, "MAX_BYTES", 100)
    (tmp_path / "big.csv").write_text(csv(loop()))
    with pytest.raises(DataError, match="the track is too large"):
        load_track(tmp_path / "big.csv")
    monkeypatch.setattr(centreline_csv, "MAX_POINTS", 20)
    with pytest.raises(DataError, match="too many points"):
        parse(csv(loop()))


wobble = st.lists(st.tuples(st.floats(0.3, 1.7), st.floats(-0.2, 0.2)), min_size=8, max_size=40)


@settings(max_examples=40)
@given(wobble, st.floats(20.0, 150.0), st.floats(1.0, 100.0), st.floats(1.5, 100.0))
def test_any_loop_becomes_a_finite_road_or_a_data_error(shape, radius, right, left):
    angle = (np.arange(len(shape)) + np.array([turn for _, turn in shape])) * 2.0 * np.pi / len(shape)
    reach = radius * np.array([share for share, _ in shape])
    rows = np.column_stack([reach * np.cos(angle), reach * np.sin(angle), angle * 0.0 + right, angle * 0.0 + left])
    with contextlib.suppress(DataError):
        found = parse(csv(rows.tolist()))
        road, report = smooth_circuit(MeasuredLine(found.x, found.y, found.right, found.left), 8.0, "t.csv")
        assert np.isfinite(road.table).all()
        assert report.max_shift < 10.0


@pytest.mark.parametrize(
    "sides",
    [["w_tr_right_m", "w_tr_left_m"], ["width_right", "width_left"], ["right_width_m", "left_width_m"], ["wr", "wl"],
     ["distance_to_right_edge", "distance_to_left_edge"], ["R", "L"], ["Right", "Left"], ["half_width_right", "w_l"]],
)  # fmt: skip
def test_sides_by_the_names_of_others(sides):
    found = find_columns([*PLACE, *sides], "t.csv:1")
    assert (found["right"].number, found["left"].number) == (2, 3)
    assert find_columns([*PLACE, *sides[::-1]], "t.csv:1")["right"].number == 3


def test_units_of_lengths():
    found = find_columns(["x_ft", "y_km", "right_cm", "left"], "t.csv:1")
    assert [column.factor for column in found.values()] == [0.3048, 1000.0, 0.01, 1.0]
