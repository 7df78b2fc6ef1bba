"""The minimum-curvature line, on roads where the answer is known."""

import numpy as np

from trailbrake.planning.mincurv import _Path, minimum_curvature


def _stadium(radius: float, straight: float, step: float) -> tuple[np.ndarray, ...]:
    length = 2.0 * straight + 2.0 * np.pi * radius
    s = np.arange(0.0, length, length / round(length / step))
    x, y, yaw = np.empty_like(s), np.empty_like(s), np.empty_like(s)
    for i, at in enumerate(s):
        half, rest = divmod(at, length / 2.0)
        sign = 1.0 if half == 0 else -1.0
        if rest < straight:
            px, py, angle = rest - straight / 2.0, -radius, 0.0
        else:
            angle = (rest - straight) / radius
            px, py = straight / 2.0 + radius * np.sin(angle), -radius * np.cos(angle)
        x[i], y[i], yaw[i] = sign * px, sign * py, angle + (0.0 if half == 0 else np.pi)
    return x, y, -np.sin(yaw), np.cos(yaw)


def test_ring_is_driven_on_its_outside() -> None:
    angle = np.linspace(0.0, 2.0 * np.pi, 120, endpoint=False)
    x, y = 60.0 * np.cos(angle), 60.0 * np.sin(angle)
    # Normals point to the left of travel, the centre. The least curvature is on the outer edge.
    offset = minimum_curvature(x, y, -np.cos(angle), -np.sin(angle), np.full(120, -4.0), np.full(120, 4.0), True)
    assert np.allclose(offset, -4.0, atol=0.05)


def test_bends_are_cut_and_the_line_stays_on_the_road() -> None:
    x, y, nx, ny = _stadium(40.0, 200.0, 2.5)
    bound = np.full(len(x), 4.5)
    offset = minimum_curvature(x, y, nx, ny, -bound, bound, True)
    assert np.abs(offset).max() <= 4.5
    driven = _Path.through(x + offset * nx, y + offset * ny, True)
    assert driven.cost(0.0) < 0.85 * _Path.through(x, y, True).cost(0.0)
    assert offset.min() < -3.0  # a bend is entered from its outside


def test_length_weight_takes_hairpins_tighter() -> None:
    x, y, nx, ny = _stadium(40.0, 200.0, 2.5)
    bound = np.full(len(x), 4.5)
    apex = round(len(x) * (200.0 + np.pi * 20.0) / (400.0 + 2.0 * np.pi * 40.0))
    wide = minimum_curvature(x, y, nx, ny, -bound, bound, True)
    short = minimum_curvature(x, y, nx, ny, -bound, bound, True, 1e-3)
    assert short[apex] > 4.0 > wide[apex]
    lengths = [_Path.through(x + o * nx, y + o * ny, True).length.sum() for o in (wide, short)]
    assert lengths[1] < lengths[0]


def test_open_straight_needs_no_offset() -> None:
    x = np.linspace(0.0, 300.0, 121)
    zero, one, bound = np.zeros(121), np.ones(121), np.full(121, 3.0)
    offset = minimum_curvature(x, zero, zero, one, -bound, bound, False)
    assert np.abs(offset).max() < 1e-3
