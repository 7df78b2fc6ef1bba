import numpy as np
import pytest

from trailbrake.transport.capture.picture_scaling import CapturedImage, decode_jpeg, find_middle, scale_picture


def screen(width, height, colour=(10, 20, 30)):
    """Pixels as a screen has them: blue first, and a fourth channel that means nothing."""
    pixels = np.empty((height, width, 4), np.uint8)
    pixels[..., 2], pixels[..., 1], pixels[..., 0], pixels[..., 3] = *colour, 77
    return pixels


def test_red_stays_red():
    assert (scale_picture(screen(640, 480, (200, 100, 50)), 320, 240) == (200, 100, 50)).all()
    assert (scale_picture(screen(320, 240, (200, 100, 50)), 320, 240) == (200, 100, 50)).all()


def test_rgb_of_the_right_size_is_passed_on_without_a_copy():
    pixels = np.zeros((240, 320, 3), np.uint8)
    assert scale_picture(pixels, 320, 240) is pixels


@pytest.mark.parametrize(
    ("size", "wanted", "middle"),
    [
        ((640, 480), (320, 240), (0.0, 0.0, 640.0, 480.0)),
        ((1920, 1080), (320, 240), (240.0, 0.0, 1680.0, 1080.0)),  # wide: the sides go
        ((400, 800), (100, 100), (0.0, 200.0, 400.0, 600.0)),  # tall: top and bottom go
    ],
)
def test_the_largest_middle_part_keeps_pixels_square(size, wanted, middle):
    assert find_middle(size, wanted) == pytest.approx(middle)


def test_a_wide_window_loses_its_sides_and_nothing_is_squeezed():
    pixels = screen(1600, 900, (0, 0, 0))
    pixels[:, :200, 2] = 255  # beyond the middle 1200 columns
    pixels[:, -200:, 1] = 255
    pixels[450:, :, 0] = 255
    small = scale_picture(pixels, 320, 240)
    assert small[..., 0].max() == 0
    assert small[..., 1].max() == 0
    assert (small[121:, :, 2] == 255).all()
    assert (small[:119, :, 2] == 0).all()


def test_pixels_are_means_of_what_they_cover():
    rng = np.random.default_rng(1)
    pixels = rng.integers(0, 256, (480, 640, 4), np.uint8)
    means = pixels[..., 2::-1].reshape(240, 2, 320, 2, 3).mean(axis=(1, 3))
    # Rounded once, half up or to even.
    assert np.abs(scale_picture(pixels, 320, 240) - means).max() <= 0.5


def test_what_the_driver_sees_is_what_the_recording_keeps():
    rng = np.random.default_rng(2)
    pixels = np.kron(rng.integers(0, 256, (30, 40, 3), np.uint8), np.ones((8, 8, 1), np.uint8))
    image = CapturedImage(pixels, 7, 12.5)
    assert (image.number, image.taken_at) == (7, 12.5)
    assert image.data.startswith(b"\xff\xd8")
    assert image.pixels.shape == (240, 320, 3)
    assert (image.pixels == decode_jpeg(image.data)).all()
    assert np.abs(image.pixels.astype(float) - pixels).mean() < 12.0  # a lossy file, but of this picture


def test_a_picture_that_came_from_another_process_is_decoded_when_it_is_used():
    made = CapturedImage(np.full((8, 8, 3), 77, np.uint8), 4, 2.5)
    restored = CapturedImage.restore(made.data, 4, 2.5)
    assert (restored.data, restored.number, restored.taken_at) == (made.data, 4, 2.5)
    assert (restored.pixels == made.pixels).all()
    assert not restored.is_damaged
