import numpy as np
import pytest

from trailbrake.observe.image_crop import CropSpec, crop_and_resize

RNG = np.random.default_rng(1)


def test_each_pixel_is_the_mean_of_those_behind_it():
    picture = RNG.integers(0, 256, (240, 320, 3), dtype=np.uint8)
    seen = crop_and_resize(picture, CropSpec())
    rows = picture[84:180].astype(float)  # 0.35 and 0.75 of 240
    wanted = rows.reshape(48, 2, 80, 4, 3).mean(axis=(1, 3))
    assert seen.shape == (48, 80, 3)
    assert np.abs(seen - wanted).max() <= 1.0


def test_a_picture_of_any_size_fills_the_crop():
    glance = CropSpec(top=0.3, bottom=0.9, height=33, width=50)
    assert crop_and_resize(np.full((13, 17, 3), 77, np.uint8), glance).tolist() == np.full((33, 50, 3), 77).tolist()


@pytest.mark.parametrize(
    "wrong", [{"top": 0.8}, {"bottom": 1.2}, {"height": 0}, {"width": 5000}, {"top": float("nan")}]
)
def test_an_empty_crop_is_refused(wrong):
    with pytest.raises(ValueError, match="no such crop"):
        CropSpec(**wrong)
