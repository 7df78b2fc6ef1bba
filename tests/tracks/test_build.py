import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trailbrake.errors import DataError
from trailbrake.tracks import layout
from trailbrake.tracks.build import build
from trailbrake.tracks.geometry import blend, first_crossing
from trailbrake.tracks.road import Column


def road_of(text):
    return build(layout.parse(text, "t.toml"), "t.toml")


def segments(*pairs, head=""):
    rows = [f"straight = {p}" if isinstance(p, str) else f"radius = {p[0]}\nturn = {p[1]}" for p in pairs]
    return head + "".join(f"\n[[segment]]\n{row}\n" for row in rows)


STADIUM = segments("150.0\nadjust = true", (40.0, 180.0), "200.0\nadjust = true", (40.0, 180.0), "60.0")


def test_clothoids_make_curvature_continuous_and_keep_the_angles():
    road = road_of(segments("100.0", (30.0, 90.0), "50.0", (60.0, -45.0), "100.0", head="closed = false\n"))
    curvature, yaw = road.column(Column.CURVATURE), road.column(Column.YAW)
    assert np.abs(np.diff(curvature)).max() < 1.1 * road.spacing / 30.0 / 17.5  # a ramp of 17.5 m at radius 30
    assert yaw[-1] == pytest.approx(math.radians(45.0), abs=1e-9)
    assert curvature.max() == pytest.approx(1.0 / 30.0)
    assert curvature.min() == pytest.approx(-1.0 / 60.0)
    assert np.abs(np.diff(yaw) - 0.5 * (curvature[1:] + curvature[:-1]) * road.spacing).max() < 2e-3
    assert road.length == pytest.approx(250.0 + 30.0 * math.pi / 2.0 + 60.0 * math.pi / 4.0)
    gap = np.hypot(np.diff(road.column(Column.X)), np.diff(road.column(Column.Y)))
    assert gap / road.spacing == pytest.approx(np.ones(len(gap)), abs=2e-4)


def test_a_circuit_is_closed_by_its_straights():
    road = road_of(STADIUM)
    last, first = road.table[-1], road.table[0]
    gap = first[[Column.X, Column.Y]] - last[[Column.X, Column.Y]]
    assert np.hypot(*gap) == pytest.approx(road.spacing, abs=1e-6)
    assert gap[1] == pytest.approx(0.0, abs=1e-6)
    assert last[Column.YAW] == pytest.approx(2.0 * np.pi, abs=1e-9)


@settings(max_examples=15)
@given(st.floats(15.0, 60.0), st.floats(-100.0, 100.0), st.floats(-3.0, 3.0))
def test_start_line_is_where_the_file_says(radius, x, heading):
    degrees = math.degrees(heading)
    road = road_of(f"start = [{x}, 5, {degrees}]\n" + STADIUM.replace("40.0", f"{radius}"))
    assert road.point(0.0) == pytest.approx((x, 5.0, 0.0), abs=1e-9)
    assert road.at(0.0, Column.YAW) == pytest.approx(heading)


def test_heights_pass_through_what_is_given_and_close():
    text = STADIUM.replace("60.0", "60.0\nname = 'last'").replace("200.0", "200.0\nz = 8.0")
    road = road_of(text)
    z, grade = road.column(Column.Z), road.column(Column.GRADE)
    assert z.max() == pytest.approx(8.0, abs=0.3)
    assert z[0] == pytest.approx(0.0, abs=0.3)
    assert abs(z[0] - z[-1]) < 0.1
    s = np.linspace(0.0, road.length - 1.0, 500)
    assert road.at(s, Column.GRADE) == pytest.approx(
        (road.at(s + 0.5, Column.Z) - road.at(s - 0.5, Column.Z)), abs=5e-3
    )
    assert np.abs(np.diff(grade)).max() < 0.01


def test_width_bank_and_surface_are_blended():
    text = segments(
        "200.0\nwidth = 10.0", "200.0\nwidth = 16.0\nbank = 5.0\nsurface = 'old-asphalt'", head="closed = false\n"
    )
    road = road_of(text)
    assert road.at([50.0, 350.0], Column.WIDTH_LEFT) == pytest.approx([5.0, 8.0])
    assert road.at([50.0, 350.0], Column.BANK) == pytest.approx([0.0, math.radians(5.0)])
    assert road.at([50.0, 350.0], Column.GRIP) == pytest.approx([1.0, 0.9])
    assert np.abs(np.diff(road.column(Column.WIDTH_LEFT))).max() < 0.6


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title = \n", "t.toml: no valid TOML.*line 1"),
        ("", r"no \[\[segment\]\]"),
        ("segment = 3", r"no \[\[segment\]\]"),
        ("color = 'red'\n" + STADIUM, "unknown key color"),
        (segments("10.0\nwidht = 3"), "t.toml:2: unknown key widht; did you mean width"),
        (segments("10.0", "'long'"), "t.toml:5: straight is out of range.*'long'"),
        (segments("nan"), "t.toml:2: straight is out of range"),
        (segments("true"), "t.toml:2: straight is out of range"),
        ("\n[[segment]]\nradius = 30.0\n", "t.toml:2: turn is missing"),
        ("\n[[segment]]\nname = 'x'\n", "t.toml:2: segment is neither"),
        (segments((6.0, 1.0)), "t.toml:2: arc is shorter than 1 m"),
        (segments("10.0\nsurface = 'gras'"), "unknown surface gras; did you mean grass"),
        ("start = [1]\n" + STADIUM, "start is wrong"),
        ("closed = 1\n" + STADIUM, "closed is neither true nor false"),
        ("title = 1\n" + STADIUM, "title is no text"),
        (STADIUM.replace("180.0", "170.0", 1), "the turns do not make a circuit.*got 350"),
        (segments((40.0, 360.0), "60.0"), "must begin and end on a straight"),
        (STADIUM.replace("adjust = true", ""), "cannot close the circuit.*a gap of"),
        (STADIUM.replace("180.0", "120.0") + segments((40.0, 120.0), "60.0"), "cannot close the circuit"),
        (STADIUM.replace("60.0", "900.0"), r"t.toml:2: cannot close the circuit.*a straight of -\d"),
        (segments("100.0", (20.0, 350.0), "100.0", head="closed = false\n"), "the road crosses itself.*s = "),
        (STADIUM.replace("60.0", "60.0\nz = 5.0"), "ends at another height"),
    ],
)  # fmt: skip
def test_bad_layouts_are_one_clear_line(text, said):
    with pytest.raises(DataError, match=said) as caught:
        road_of(text)
    assert "\n" not in str(caught.value)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.floats(5.0, 200.0), st.floats(-180.0, 180.0)), min_size=1, max_size=6))
def test_any_layout_becomes_a_finite_road_or_a_data_error(arcs):
    try:
        road = road_of(segments("30.0", *arcs, "30.0", head="closed = false\n"))
    except DataError:
        return
    assert np.isfinite(road.table).all()


def brute_crossing(x, y):
    n = len(x)
    for i in range(n):
        for j in range(i + 2, n if i else n - 1):
            a, b = complex(x[i], y[i]), complex(x[(i + 1) % n], y[(i + 1) % n])
            c, d = complex(x[j], y[j]), complex(x[(j + 1) % n], y[(j + 1) % n])
            side = [((q - p).conjugate() * (r - p)).imag for p, q, r in ((a, b, c), (a, b, d), (c, d, a), (c, d, b))]
            if side[0] * side[1] < 0 and side[2] * side[3] < 0:
                return i, j
    return -1, -1


@settings(max_examples=100)
@given(st.integers(0, 10**6), st.integers(4, 60))
def test_crossings_are_those_of_the_plain_search(seed, n):
    walk = np.cumsum(np.random.default_rng(seed).normal((1.5, 0.0), 1.0, (n, 2)), axis=0)
    x, y = walk.T.copy()
    longest = float(np.hypot(*(np.roll(walk, -1, 0) - walk).T).max())
    assert first_crossing(x, y, True, longest) == brute_crossing(x, y)


def test_blend_keeps_the_mean_of_a_loop_and_the_ends_of_a_line():
    step = np.repeat([0.0, 1.0], 50)
    assert blend(step, 10.0, 1.0, True).mean() == pytest.approx(0.5)
    line = blend(step, 10.0, 1.0, False)
    assert (line[0], line[-1]) == pytest.approx((0.0, 1.0))
    assert np.all(np.diff(line) >= -1e-12)
