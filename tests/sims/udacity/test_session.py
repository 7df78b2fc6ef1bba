"""Link and host of udacity in memory: what the one shows the other sees, and what the one asks the other does."""

import numpy as np
import pytest
from pairs import Ends

from trailbrake.state import Controls, Phase


@pytest.fixture
def ends(tmp_path):
    made = Ends("udacity", tmp_path)
    made.link.open(0.0)
    yield made
    made.close()


def test_the_agent_sees_the_road(ends):
    state = ends.drive(60, Controls(throttle=0.5))[-1]
    truth = ends.plant.state(0)
    seen, drawn = state.image.pixels, truth.image.pixels
    assert seen.shape == (160, 320, 3)
    assert np.abs(seen.astype(int) - drawn).mean() < 3.0  # what JPEG costs
    assert (state.phase, state.lap) == (Phase.DRIVING, 1)
    assert state.speed == pytest.approx(truth.speed, abs=1e-3)
    assert state.driving_line != state.driving_line  # not told


def test_commands_arrive_and_the_greeting_is_one_of_them(ends):
    ends.drive(60, Controls(steer=-0.4, throttle=0.5))
    assert ends.plant.state(0).steer < -0.2
    assert ends.host.counters()["rejected"] == 0
    ends.link.release()
    for _ in range(5):
        ends.tick()
    assert ends.plant.state(0).throttle < 0.05


def test_a_damaged_picture_is_counted_and_the_last_good_one_shown(ends):
    good = ends.drive(10, Controls())[-1]
    assert good.image.pixels.any()
    shown = ends.link._pictures.decode(good.image.data[:200])
    assert np.array_equal(shown, good.image.pixels)
    assert ends.link.unreadable == 1
