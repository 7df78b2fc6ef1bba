import sys
import time

import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.driving import world_view
from trailbrake.driving.world_view import HEIGHT, RATE_HZ, WIDTH, WorldView, open_view
from trailbrake.errors import UsageError
from trailbrake.tracks.track_library import load_track
from trailbrake.transport.capture.view_page import PAGE_NAME, ViewReader
from trailbrake.world.plant import World

PATIENCE = 20.0


@pytest.fixture(scope="module")
def plant():
    return World(load_track("lakeside"), [load_car("hatchback")], period=1.0 / 60.0)


def await_picture(reader):
    deadline = time.monotonic() + PATIENCE
    while (pixels := reader.grab_pixels()) is None:
        assert time.monotonic() < deadline, "no picture came"
    return pixels


def test_the_view_is_drawn_when_a_picture_is_due(plant, tmp_path):
    view = WorldView(plant, str(tmp_path))
    reader = ViewReader(str(tmp_path))
    view.update(10.0)
    first = await_picture(reader).copy()
    assert first.shape == (HEIGHT, WIDTH, 3)
    taken = []
    plant_state = plant.car_state

    def count_states(car):
        taken.append(car)
        return plant_state(car)

    plant.car_state = count_states
    try:
        view.update(10.0 + 0.5 / RATE_HZ)
        assert taken == [], "nothing is due: a tick costs a comparison"
        view.update(10.0 + 1.5 / RATE_HZ)
        assert taken == [0]
    finally:
        del plant.car_state
    assert (await_picture(reader) == first).all(), "the car stands"
    view.close()
    reader.close()
    assert not (tmp_path / PAGE_NAME).exists()


def test_no_view_costs_nothing(plant, tmp_path):
    with open_view("none", plant, str(tmp_path), "title") as view:
        assert view is None
    assert list(tmp_path.iterdir()) == []


def test_a_page_is_there_as_long_as_the_host(plant, tmp_path):
    with open_view("page", plant, str(tmp_path), "title") as view:
        assert view is not None
        if sys.platform != "win32":
            assert (tmp_path / PAGE_NAME).exists()
    assert list(tmp_path.iterdir()) == []


def test_a_world_without_a_road_of_full_size_is_refused(tmp_path):
    with (
        pytest.raises(UsageError, match="no road to show; its wire has a camera of its own"),
        open_view("page", object(), str(tmp_path), "title"),
    ):
        pass


@pytest.mark.parametrize(("answer", "got"), [("no display name", "no display name"), ("", "no answer")])
def test_a_window_that_cannot_open_is_one_line_and_the_page_is_removed(plant, tmp_path, monkeypatch, answer, got):
    program = f"print({answer!r})"
    start = world_view.subprocess.Popen
    monkeypatch.setattr(world_view.subprocess, "Popen",
                        lambda words, **more: start([words[0], "-c", program], **more))  # fmt: skip
    with (
        pytest.raises(UsageError, match=f"no window can be opened, got {got}; --view page needs no screen"),
        open_view("window", plant, str(tmp_path), "title"),
    ):
        pass
    assert list(tmp_path.iterdir()) == []
