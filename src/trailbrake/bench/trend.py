"""`bench trend`: how fast the miniature world's camera is, alone, with JPEG, and behind learners."""

import math
from functools import partial
from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Picture

from trailbrake.bench.rows import BenchRow, measure_median
from trailbrake.env.camera import CameraBatch, CameraOptions
from trailbrake.system import steady_clock
from trailbrake.transport.image_codec import JPEG_QUALITY
from trailbrake.world.miniature.camera import track_look as looks
from trailbrake.world.miniature.camera.renderer import Renderer
from trailbrake.world.miniature.camera.scene import build_scene
from trailbrake.world.miniature.layout import HALF_WIDTH
from trailbrake.world.miniature.parked_cars import place_parked_cars
from trailbrake.world.miniature.track_library import load_miniature_track

TRACK, LOOK, PARKED = "clover", "B", 3
FRAMES = 512  # along a lap
CARS = 256
RUNS, SECONDS, WARMING = 5, 3.0, 0.05


def measure_rows() -> list[BenchRow]:
    """Measure all rows of this bench."""
    track = load_miniature_track(TRACK)
    renderer = Renderer(build_scene(track, looks.load_look(LOOK), place_parked_cars(track, PARKED, 0)))
    poses = np.array([track.pose_at(s, HALF_WIDTH) for s in np.arange(FRAMES) * track.length / FRAMES])
    what = f"320 x 240, one core, {FRAMES} frames along a lap of {TRACK}, look {LOOK}, {PARKED} parked cars"
    found = []
    for name, measure, unit, note in (
        ("camera_fps", partial(measure_camera_frames, renderer, poses, False), "frames/s", what),
        (
            "camera_jpeg_fps",
            partial(measure_camera_frames, renderer, poses, True),
            "frames/s",
            f"{what}, JPEG {JPEG_QUALITY} 4:2:0",
        ),
        (
            "vector_env_camera96",
            measure_learner_steps,
            "steps/s",
            f"{CARS} cars, 96 x 96, 2 x 0.02 s a step, restarts included",
        ),
    ):
        measure(WARMING)  # compiles
        value, spread = measure_median(RUNS, partial(measure, SECONDS))
        found.append(BenchRow(name, value, unit, "higher", f"{note}; {spread}"))
    return found


def measure_camera_frames(renderer: Renderer, poses: NDArray[np.float64], jpeg: bool, seconds: float) -> float:
    """Return frames per second of wall time, each drawn by a call of its own as a host does."""
    camera = renderer.camera
    out = np.empty((1, camera.height, camera.width, 3), np.uint8)
    count, began = 0, steady_clock.now()
    while (spent := steady_clock.now() - began) < seconds or count == 0:
        for k in range(16):
            at = (count + k) % len(poses)
            renderer.render_frames(poses[at : at + 1], out)
            if jpeg:
                Picture.fromarray(out[0]).save(BytesIO(), "JPEG", quality=JPEG_QUALITY, subsampling="4:2:0")
        count += 16
    return count / spent


def measure_learner_steps(seconds: float) -> float:
    """Return environment steps per second of wall time under random actions, restarts included."""
    batch = CameraBatch(CameraOptions(track=TRACK, look=LOOK, obstacles=PARKED), CARS, seed=0)
    rng = np.random.default_rng(0)
    actions = rng.uniform((-0.5, -0.1), (0.5, 0.9), (16, CARS, 2))
    batch.reset(0)
    steps, began = 0, steady_clock.now()
    while (spent := steady_clock.now() - began) < seconds or steps == 0:
        out, _, ended = batch.step(actions[steps % len(actions)])
        batch.restart(np.flatnonzero(ended), out)
        steps += 1
    return steps * CARS / spent if spent else math.inf
