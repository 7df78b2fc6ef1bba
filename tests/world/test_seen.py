import numpy as np
import pytest

from trailbrake.cars.load import load
from trailbrake.errors import UsageError
from trailbrake.roles import Seeing
from trailbrake.state import Controls
from trailbrake.tracks.load import load as load_track
from trailbrake.world.plant import World
from trailbrake.world.seen import SeenWorld

CAMERA = {"width": 80, "height": 60, "forward": 1.0, "above": 1.2}


def test_the_first_car_carries_the_camera_and_the_world_is_the_same():
    track, cars = load_track("lakeside"), [load("hatchback")] * 2
    seen, plain = SeenWorld(track, cars, period=0.02, camera=CAMERA), World(track, cars, period=0.02)
    for _ in range(20):
        for world in (seen, plain):
            world.step([Controls(throttle=0.5), Controls()])
    assert isinstance(seen, Seeing)
    assert not isinstance(plain, Seeing)
    assert seen.state(0).x == plain.state(0).x
    assert seen.state(1).image is None
    before = seen.state(0)
    assert before.image.pixels.shape == (60, 80, 3)
    seen.step([Controls(throttle=1.0)] * 2)
    later = seen.state(0).image
    for _ in range(100):
        seen.step([Controls(throttle=1.0)] * 2)
    assert not np.array_equal(seen.state(0).image.pixels, later.pixels)  # each shows its own instant


def test_the_camera_can_be_another():
    world = SeenWorld(load_track("lakeside"), [load("hatchback")], period=0.02, camera=CAMERA)
    world.aim(CAMERA | {"width": 40})
    assert world.state(0).image.pixels.shape == (60, 40, 3)
    with pytest.raises(UsageError, match="no such picture"):
        world.aim({"width": 1})
