"""A track's picture, by roads whose pixels are known."""

import io

import numpy as np
import pytest
from PIL import Image

from trailbrake.sims.assetto.install.files import map_png


def strip(x0, x1, z0, z1):
    """A straight road along z: its edges at x0 and x1."""
    z = np.linspace(z0, z1, 11)
    return np.column_stack([np.full(11, x0), z]), np.column_stack([np.full(11, x1), z])


def opacity(strips):
    parameters = map_png.fit_map(strips)
    with Image.open(io.BytesIO(map_png.encode_map_png(parameters, strips))) as picture:
        assert picture.mode == "RGBA"
        return parameters, np.asarray(picture)[:, :, 3]


def test_a_road_fills_its_pixels_within_the_margins():
    parameters, alpha = opacity([strip(-50.0, -40.0, 1000.0, 3000.0)])
    assert parameters.scale_factor == 2.0
    assert (parameters.width, parameters.height) == (5.0, 1000.0)
    assert parameters.to_pixel(-50.0, 1000.0) == (20.0, 20.0)
    assert alpha.shape == (1040, 45)
    assert np.all(alpha[20:1020, 20:25] == 255)
    outside = np.ones_like(alpha, bool)
    outside[18:1022, 19:26] = False  # a soft edge, and a round end, may reach a little further
    assert np.all(alpha[outside] == 0)


def test_a_narrow_road_is_seen():
    _, alpha = opacity([strip(0.0, 4.0, 0.0, 20000.0)])  # a fifth of a pixel
    assert 2 <= (alpha[500] > 0).sum() <= 4
    assert alpha[500].max() == 255


def test_all_roads_are_on_it():
    parameters, alpha = opacity([strip(0.0, 10.0, 0.0, 500.0), strip(490.0, 500.0, 0.0, 500.0)])
    for x, drawn in ((5.0, True), (250.0, False), (495.0, True)):
        column, row = parameters.to_pixel(x, 250.0)
        assert (alpha[int(row), int(column)] == 255) == drawn


def test_a_place_without_extent_is_a_picture_still():
    parameters, alpha = opacity([strip(3.0, 3.0, 7.0, 7.0)])
    assert alpha.shape == (40, 40)
    assert parameters.to_pixel(3.0, 7.0) == pytest.approx((20.0, 20.0))
    assert alpha[20, 20] > 0
