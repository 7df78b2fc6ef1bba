import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trailbrake.errors import DataError
from trailbrake.tracks import layout
from trailbrake.tracks.road import RoadColumn
from trailbrake.tracks.road_builder import build_road, find_named_bends


def road_of(text):
    return build_road(layout.parse_layout(text, "t.toml"), "t.toml")


def segments(*pairs, head=""):
    rows = [f"straight = {p}" if isinstance(p, str) else f"radius = {p[0]}\nturn = {p[1]}" for p in pairs]
    return head + "".join(f"\n[[segment]]\n{row}\n" for row in rows)


STADIUM = segments("150.0\nadjust = true", (40.0, 180.0), "200.0\nadjust = true", (40.0, 180.0), "60.0")


def test_clothoids_make_curvature_continuous_and_keep_the_angles():
    road = road_of(segments("100.0", (30.0, 90.0), "50.0", (60.0, -45.0), "100.0", head="closed = false\n"))
    curvature, yaw = road.column(RoadColumn.CURVATURE), road.column(RoadColumn.YAW)
    assert np.abs(np.diff(curvature)).max() < 1.1 * road.spacing / 30.0 / 17.5  # a ramp of 17.5 m at radius 30
    assert yaw[-1] == pytest.approx(math.radians(45.0), abs=1e-9)
    assert curvature.max() == pytest.approx(1.0 / 30.0)
    assert curvature.min() == pytest.approx(-1.0 / 60.0)
    assert np.abs(np.diff(yaw) - 0.5 * (curvature[1:] + curvature[:-1]) * road.spacing).max() < 2e-3
    assert road.length == pytest.approx(250.0 + 30.0 * math.pi / 2.0 + 60.0 * math.pi / 4.0)
    gap = np.hypot(np.diff(road.column(RoadColumn.X)), np.diff(road.column(RoadColumn.Y)))
    assert gap / road.spacing == pytest.approx(np.ones(len(gap)), abs=2e-4)


def test_a_circuit_is_closed_by_its_straights():
    road = road_of(STADIUM)
    last, first = road.table[-1], road.table[0]
    gap = first[[RoadColumn.X, RoadColumn.Y]] - last[[RoadColumn.X, RoadColumn.Y]]
    assert np.hypot(*gap) == pytest.approx(road.spacing, abs=1e-6)
    assert gap[1] == pytest.approx(0.0, abs=1e-6)
    assert last[RoadColumn.YAW] == pytest.approx(2.0 * np.pi, abs=1e-9)


@settings(max_examples=15)
@given(st.floats(15.0, 60.0), st.floats(-100.0, 100.0), st.floats(-3.0, 3.0))
def test_start_line_is_where_the_file_says(radius, x, heading):
    degrees = math.degrees(heading)
    road = road_of(f"start = [{x}, 5, {degrees}]\n" + STADIUM.replace("40.0", f"{radius}"))
    assert road.point(0.0) == pytest.approx((x, 5.0, 0.0), abs=1e-9)
    assert road.column_at(0.0, RoadColumn.YAW) == pytest.approx(heading)


def test_heights_pass_through_what_is_given_and_close():
    text = STADIUM.replace("60.0", "60.0\nname = 'last'").replace("200.0", "200.0\nz = 8.0")
    road = road_of(text)
    z, grade = road.column(RoadColumn.Z), road.column(RoadColumn.GRADE)
    assert z.max() == pytest.approx(8.0, abs=0.3)
    assert z[0] == pytest.approx(0.0, abs=0.3)
    assert abs(z[0] - z[-1]) < 0.1
    s = np.linspace(0.0, road.length - 1.0, 500)
    assert road.column_at(s, RoadColumn.GRADE) == pytest.approx(
        (road.column_at(s + 0.5, RoadColumn.Z) - road.column_at(s - 0.5, RoadColumn.Z)), abs=5e-3
    )
    assert np.abs(np.diff(grade)).max() < 0.01


def test_width_bank_and_surface_are_blended():
    text = segments(
        "200.0\nwidth = 10.0", "200.0\nwidth = 16.0\nbank = 5.0\nsurface = 'old-asphalt'", head="closed = false\n"
    )
    road = road_of(text)
    assert road.column_at([50.0, 350.0], RoadColumn.WIDTH_LEFT) == pytest.approx([5.0, 8.0])
    assert road.column_at([50.0, 350.0], RoadColumn.BANK) == pytest.approx([0.0, math.radians(5.0)])
    assert road.column_at([50.0, 350.0], RoadColumn.GRIP) == pytest.approx([1.0, 0.9])
    assert np.abs(np.diff(road.column(RoadColumn.WIDTH_LEFT))).max() < 0.6


@pytest.mark.parametrize(
    ("text", "said"),
    [
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


def test_named_bends_are_where_the_arcs_are():
    parsed = layout.parse_layout(
        'closed = false\n[[segment]]\nstraight = 100.0\nname = "Run"\n'
        '[[segment]]\nradius = 50.0\nturn = 90.0\nname = "Hook"\n[[segment]]\nradius = 50.0\nturn = -90.0\n', "x"
    )  # fmt: skip
    ((name, start, end),) = find_named_bends(parsed)
    assert (name, start) == ("Hook", 100.0)
    assert end == pytest.approx(100.0 + 25.0 * np.pi)
