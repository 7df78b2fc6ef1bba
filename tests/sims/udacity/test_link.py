"""What the link of udacity reads."""

import numpy as np
import pytest

from trailbrake.state import Controls, Phase


def test_the_agent_sees_the_road(ends):
    state = ends.drive(60, Controls(throttle=0.5))[-1]
    truth = ends.plant.car_state(0)
    seen, drawn = state.image.pixels, truth.image.pixels
    assert seen.shape == (160, 320, 3)
    assert np.abs(seen.astype(int) - drawn).mean() < 3.0  # what JPEG costs
    assert (state.phase, state.lap) == (Phase.DRIVING, 1)
    assert state.speed == pytest.approx(truth.speed, abs=1e-3)
    assert state.driving_line != state.driving_line  # not told


def test_a_damaged_picture_is_counted_and_the_last_good_one_shown(ends):
    good = ends.drive(10, Controls())[-1]
    assert good.image.pixels.any()
    shown = ends.link._image_decoder.decode_image(good.image.data[:200])
    assert np.array_equal(shown, good.image.pixels)
    assert ends.link.unreadable == 1
