"""The minimum-curvature line, on roads where the answer is known."""

import numpy as np

from trailbrake.planning.minimum_curvature import Centreline, _DiscretePath, minimise_curvature
from trailbrake.planning.quadratic_program import Bounds


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
    offset = minimise_curvature(
        Centreline(x, y, -np.cos(angle), -np.sin(angle), True), Bounds(x * 0.0 - 4.0, x * 0.0 + 4.0)
    )
    assert np.allclose(offset, -4.0, atol=0.05)


def test_bends_are_cut_and_the_line_stays_on_the_road() -> None:
    x, y, nx, ny = _stadium(40.0, 200.0, 2.5)
    bound = np.full(len(x), 4.5)
    offset = minimise_curvature(Centreline(x, y, nx, ny, True), Bounds(-bound, bound))
    assert np.abs(offset).max() <= 4.5
    driven = _DiscretePath.from_points(x + offset * nx, y + offset * ny, True)
    assert driven.bending_cost(0.0) < 0.85 * _DiscretePath.from_points(x, y, True).bending_cost(0.0)
    assert offset.min() < -3.0  # a bend is entered from its outside


def test_length_weight_takes_hairpins_tighter() -> None:
    x, y, nx, ny = _stadium(40.0, 200.0, 2.5)
    bound = np.full(len(x), 4.5)
    apex = round(len(x) * (200.0 + np.pi * 20.0) / (400.0 + 2.0 * np.pi * 40.0))
    wide = minimise_curvature(Centreline(x, y, nx, ny, True), Bounds(-bound, bound))
    short = minimise_curvature(Centreline(x, y, nx, ny, True), Bounds(-bound, bound), 1e-3)
    assert short[apex] > 4.0 > wide[apex]
    lengths = [_DiscretePath.from_points(x + o * nx, y + o * ny, True).length.sum() for o in (wide, short)]
    assert lengths[1] < lengths[0]


def test_open_straight_needs_no_offset() -> None:
    x = np.linspace(0.0, 300.0, 121)
    zero, one, bound = np.zeros(121), np.ones(121), np.full(121, 3.0)
    offset = minimise_curvature(Centreline(x, zero, zero, one, False), Bounds(-bound, bound))
    assert np.abs(offset).max() < 1e-3
