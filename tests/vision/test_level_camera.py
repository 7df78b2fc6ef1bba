import numpy as np
import pytest

from trailbrake.vision.level_camera import TREND_CAMERA, LevelCamera, fit_picture


def test_the_picture_of_the_page():
    assert 2 * np.degrees(np.arctan(-TREND_CAMERA.column_slopes[-1])) == pytest.approx(
        60.5, abs=0.4
    )  # horizontal view of section 5
    assert TREND_CAMERA.column_slopes[0] == -TREND_CAMERA.column_slopes[-1] > 0.0


def test_ground_comes_nearer_towards_the_lower_border():
    rows = np.arange(TREND_CAMERA.first_ground_row, 240.0)
    far = TREND_CAMERA.ground_distance(rows)
    assert (np.diff(far) < 0).all()
    assert far[-1] == pytest.approx(0.05 / np.tan(np.arctan(119.5 / 274.5)))
    assert LevelCamera(mount_height=0.1).ground_distance(np.array([200.0])) == pytest.approx(
        2 * TREND_CAMERA.ground_distance(np.array([200.0]))
    )


def test_pictures_of_other_sizes_are_fitted():
    exact = np.random.default_rng(1).integers(0, 256, (240, 320, 3), np.uint8)
    assert fit_picture(exact) is exact
    assert (fit_picture(exact.repeat(2, axis=0).repeat(2, axis=1)) == exact).all()
    for shape in ((1, 1, 3), (160, 320, 3), (120, 160, 3), (241, 319, 3), (1000, 700, 3)):
        fitted = fit_picture(np.full(shape, 77, np.uint8))
        assert fitted.shape == (240, 320, 3)
        assert (fitted == 77).all()
    halves = np.zeros((480, 641, 3), np.uint8)
    halves[:, 320:] = 200
    assert (fit_picture(halves)[:, :158] == 0).all()
    assert (fit_picture(halves)[:, 162:] == 200).all()
