import numpy as np
import pytest

from trailbrake.world.nearest_rows import CellGrid, assign_nearest_rows


@pytest.mark.parametrize(("row_type", "gap_type"), [(np.int16, np.float32), (np.int32, np.float64)])
def test_each_cell_names_its_nearest_row_within_reach(row_type, gap_type):
    rng = np.random.default_rng(1)
    table = np.column_stack([rng.uniform(-3.0, 9.0, 40), rng.uniform(2.0, 8.0, 40), rng.uniform(size=40)])
    grid, shape = CellGrid(-5.0, 0.0, 0.25, 1.2), (40, 64)
    nearest, best = np.full(shape, -1, row_type), np.full(shape, grid.reach**2, gap_type)
    assign_nearest_rows(table, grid, nearest, best)
    y, x = (np.indices(shape) + 0.5) * grid.cell + np.array([grid.y, grid.x])[:, None, None]
    gaps = np.hypot(x[..., None] - table[:, 0], y[..., None] - table[:, 1])
    near = gaps.min(axis=2) < grid.reach
    assert 200 < near.sum() < near.size
    assert np.array_equal(nearest >= 0, near)
    assert np.array_equal(nearest[near], gaps.argmin(axis=2)[near])
