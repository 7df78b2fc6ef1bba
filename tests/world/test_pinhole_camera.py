import math

import pytest

from trailbrake.errors import UsageError
from trailbrake.world.pinhole_camera import CAMERA_HEIGHT, PinholeCamera


@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"pitch": 1.6}, "pitch or roll"), ({"roll": -0.1}, "pitch or roll"), ({"width": 4}, "no such picture"),
     ({"height": 10**6}, "no such picture"), ({"fov": 3.1}, "field of view"), ({"above": 0.0}, "no such place"),
     ({"forward": math.nan}, "no such place")],
)  # fmt: skip
def test_a_camera_that_cannot_be_drawn_is_refused(wrong, words):
    with pytest.raises(UsageError, match=words):
        PinholeCamera(**wrong)


def test_the_eye_is_where_the_page_says():
    assert CAMERA_HEIGHT == 0.05
    assert PinholeCamera().focal_length == pytest.approx(274.5)
