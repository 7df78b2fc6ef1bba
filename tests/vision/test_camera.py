import numpy as np
import pytest

from trailbrake.vision.camera import TREND, Camera


def test_the_picture_of_the_page():
    assert 2 * np.degrees(np.arctan(-TREND.slopes[-1])) == pytest.approx(60.5, abs=0.4)  # horizontal view of section 5
    assert TREND.slopes[0] == -TREND.slopes[-1] > 0.0


def test_ground_comes_nearer_towards_the_lower_border():
    rows = np.arange(TREND.first_ground_row, 240.0)
    far = TREND.distance(rows)
    assert (np.diff(far) < 0).all()
    assert far[-1] == pytest.approx(0.05 / np.tan(np.arctan(119.5 / 274.5)))
    assert Camera(above=0.1).distance(np.array([200.0])) == pytest.approx(2 * TREND.distance(np.array([200.0])))
