import numpy as np
import pytest

from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn


def ring(n=200, radius=50.0, **more):
    angle = np.arange(n) * 2.0 * np.pi / n
    return Road.from_columns(
        2.0 * np.pi * radius / n, True, radius * np.cos(angle), radius * np.sin(angle), angle + 0.5 * np.pi,
        np.full(n, 1.0 / radius), **more,
    )  # fmt: skip


def test_every_column_lands_where_it_is_named():
    values = {"z": 1.0, "grade": 0.02, "bank": -0.1, "width_left": 4.0, "width_right": 5.0, "runoff_left": 6.0,
              "runoff_right": 7.0, "grip": 0.8, "kerb_left": 1.0, "kerb_right": 1.1}  # fmt: skip
    road = ring(**values)
    assert road.table.shape == (200, len(RoadColumn))
    for name, value in values.items():
        assert np.all(road.column(RoadColumn[name.upper()]) == value)
    yaw = road.column(RoadColumn.YAW)
    assert np.array_equal(road.column(RoadColumn.TANGENT_X), np.cos(yaw))
    assert np.array_equal(road.column(RoadColumn.TANGENT_Y), np.sin(yaw))


def test_length_of_closed_and_open():
    road = ring()
    assert road.length == pytest.approx(2.0 * np.pi * 50.0)
    assert Road(road.table, road.spacing, False).length == pytest.approx(road.length - road.spacing)
    assert np.allclose(np.diff(road.stations()), road.spacing)


def test_edges_and_walls_lie_at_their_distances():
    road = ring(width_left=4.0, width_right=5.0, runoff_left=6.0, runoff_right=7.0)
    for (left, right), inner, outer in ((road.edge_lines(), 46.0, 55.0), (road.wall_lines(), 40.0, 62.0)):
        assert np.hypot(left[:, 0], left[:, 1]) == pytest.approx(np.full(200, inner), rel=1e-3)
        assert np.hypot(right[:, 0], right[:, 1]) == pytest.approx(np.full(200, outer), rel=1e-3)


def test_a_table_of_another_shape_is_refused():
    for shape in ((1, len(RoadColumn)), (10, len(RoadColumn) - 1), (10,)):
        with pytest.raises(ValueError, match=r"Road\.table: expected"):
            Road(np.zeros(shape), 1.0, True)


def test_kernels_get_a_contiguous_table_of_doubles():
    table = np.asfortranarray(ring().table.astype(np.float32))
    road = Road(table, 1.0, True)
    assert road.table.flags.c_contiguous
    assert road.table.dtype == np.float64


def test_length_is_a_plain_number():
    row = np.arange(4.0)
    road = Road.from_columns(np.float64(2.0), False, row, row, row, row)
    assert (type(road.length), road.length) == (float, 6.0)
