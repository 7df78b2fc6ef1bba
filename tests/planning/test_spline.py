"""Splines, on curves whose length and curvature are known."""

import numpy as np
import pytest

from trailbrake.planning.spline import resample_path


def test_circle_keeps_its_length_and_curvature() -> None:
    angle = np.linspace(0.0, 2.0 * np.pi, 60, endpoint=False) ** 1.0
    x, y, yaw, curvature, spacing = resample_path(50.0 * np.cos(angle), 50.0 * np.sin(angle), True, 1.0)
    assert len(x) * spacing == pytest.approx(100.0 * np.pi, rel=1e-5)
    assert np.allclose(curvature, 1.0 / 50.0, rtol=5e-3)
    assert np.allclose(np.hypot(x, y), 50.0, atol=1e-3)
    steps = np.hypot(np.diff(x), np.diff(y))
    assert steps.max() / steps.min() < 1.001
    assert yaw[-1] - yaw[0] == pytest.approx(2.0 * np.pi * (len(x) - 1) / len(x), rel=1e-3)


def test_open_line_keeps_its_ends() -> None:
    t = np.linspace(0.0, 100.0, 30)
    x, y, _, curvature, spacing = resample_path(t, 3.0 * np.sin(t / 20.0), False, 1.0)
    assert (x[0], y[0]) == pytest.approx((0.0, 0.0))
    assert (x[-1], y[-1]) == pytest.approx((100.0, 3.0 * np.sin(5.0)))
    assert abs(curvature[0]) < 1e-9
    exact = -3.0 / 400.0 * np.sin(x / 20.0) / (1.0 + (3.0 / 20.0 * np.cos(x / 20.0)) ** 2) ** 1.5
    assert np.abs(curvature - exact)[10:-10].max() < 2e-4  # the natural ends are felt a little
    assert spacing == pytest.approx(1.0, rel=0.02)
