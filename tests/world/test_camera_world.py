import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.errors import UsageError
from trailbrake.roles import HasCamera
from trailbrake.state import Controls
from trailbrake.tracks.track_library import load_track
from trailbrake.world.camera_world import CameraWorld
from trailbrake.world.plant import World

CAMERA = {"width": 80, "height": 60, "forward": 1.0, "above": 1.2}


def test_the_first_car_carries_the_camera_and_the_world_is_the_same():
    track, cars = load_track("lakeside"), [load_car("hatchback")] * 2
    seen, plain = CameraWorld(track, cars, period=0.02, camera=CAMERA), World(track, cars, period=0.02)
    for _ in range(20):
        for world in (seen, plain):
            world.step([Controls(throttle=0.5), Controls()])
    assert isinstance(seen, HasCamera)
    assert not isinstance(plain, HasCamera)
    assert seen.car_state(0).x == plain.car_state(0).x
    assert seen.car_state(1).image is None
    before = seen.car_state(0)
    assert before.image.pixels.shape == (60, 80, 3)
    seen.step([Controls(throttle=1.0)] * 2)
    later = seen.car_state(0).image
    for _ in range(100):
        seen.step([Controls(throttle=1.0)] * 2)
    assert not np.array_equal(seen.car_state(0).image.pixels, later.pixels)  # each shows its own instant


def test_the_camera_can_be_another():
    world = CameraWorld(load_track("lakeside"), [load_car("hatchback")], period=0.02, camera=CAMERA)
    world.set_camera(CAMERA | {"width": 40})
    assert world.car_state(0).image.pixels.shape == (60, 40, 3)
    with pytest.raises(UsageError, match="no such picture"):
        world.set_camera({"width": 1})
