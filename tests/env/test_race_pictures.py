import numpy as np
import pytest
from helpers.environments import ROLLING

from trailbrake.env.gym import RaceEnv
from trailbrake.env.link import LinkRace
from trailbrake.env.map_frames import HEIGHT, WIDTH
from trailbrake.env.race_pictures import RacePictures

BLUE, YELLOW = (120, 170, 255), (255, 196, 0)


def count(picture, colour):
    return int((np.abs(picture.astype(int) - colour) < 12).all(axis=2).sum())


def test_pictures_have_the_learner_and_its_rivals_and_change():
    env = RaceEnv(render_mode="rgb_array", cars=4, rivals=True, track="plain")
    env.reset(seed=3)
    first = env.render()
    assert (first.shape, first.dtype) == ((HEIGHT, WIDTH, 3), np.uint8)
    assert count(first, YELLOW) > 50
    assert count(first, BLUE) > 50
    for _ in range(40):
        env.step(np.array([0.0, 0.6], np.float32))
    assert (env.render() != first).mean() > 0.001
    env.close()


def test_without_a_mode_there_is_no_picture():
    env = RaceEnv(start=ROLLING)
    env.reset(seed=1)
    assert env.render() is None


@pytest.mark.slow
def test_an_environment_through_a_wire_is_drawn_too():
    env = RaceEnv(core=LinkRace(sim="assetto"), render_mode="rgb_array")
    env.reset(seed=1)
    assert count(env.render(), YELLOW) > 50
    env.close()


def test_a_window_that_cannot_be_opened_is_one_warning(monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    env = RaceEnv(start=ROLLING, render_mode="rgb_array")
    env.reset(seed=1)
    pictures = RacePictures(env.core.view_race)
    tkinter = pytest.importorskip("tkinter")

    def refuse():
        raise tkinter.TclError("no display")

    monkeypatch.setattr(tkinter, "Tk", refuse)
    with pytest.warns(UserWarning, match="no window: no display; "):
        pictures.show_picture()
    pictures.show_picture()  # says so once
    pictures.close()
