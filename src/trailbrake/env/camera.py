"""`CameraBatch`: many learners in the miniature world that observe only its camera. NumPy in, NumPy out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from trailbrake.arrays import Array, Bytes, Ints
from trailbrake.env.batch import LEARNERS, make_generator
from trailbrake.env.options import check_types
from trailbrake.errors import UsageError
from trailbrake.observe.actions import ACTIONS, ActionClipper
from trailbrake.world.miniature.camera import track_look as looks
from trailbrake.world.miniature.camera.renderer import Renderer
from trailbrake.world.miniature.camera.scene import build_scene
from trailbrake.world.miniature.car import (
    STEER_LOCK,
    STEP,
    TOP_SPEED,
    MiniatureCarColumn,
    MiniatureCommand,
    Surroundings,
    locate_car,
    step_cars,
)
from trailbrake.world.miniature.layout import HALF_WIDTH
from trailbrake.world.miniature.parked_cars import place_parked_cars
from trailbrake.world.miniature.track_library import load_miniature_track as load_track
from trailbrake.world.pinhole_camera import PinholeCamera

ENDS = ("contact", "wrong_way")  # and "limit", the time limit
CONTACT_REWARD = -1.0  # as much as a metre of progress
_START_OFFSET = 0.15  # m from the middle of a half
_START_HEADING = 0.1  # rad from the road's
_START_GAP = 0.8  # m to a parked car behind; twice that to one ahead


@dataclass(frozen=True, kw_only=True)
class CameraOptions:
    """The options of a camera environment.

    Attributes:
        track: a miniature track: name, TOML file or gen:SEED.
        look: the track's look, A or B.
        size: width and height of the picture, pixels.
        obstacles: number of parked cars; their places are the same for all seeds.
        steps: steps of the world, 0.02 s each, in one step of the environment.
        limit: s after which an episode is truncated.
        clip_actions: whether actions out of range are clipped, with one warning, and not refused.
    """

    track: str = "clover"
    look: str = "B"
    size: tuple[int, int] = (96, 96)
    obstacles: int = 0
    steps: int = 2
    limit: float = 60.0
    clip_actions: bool = False

    def __post_init__(self) -> None:
        check_types(self)
        if not 1 <= self.steps <= 100:
            raise UsageError("steps out of range", where="steps", expected="1 .. 100", got=repr(self.steps))
        if not self.limit > 0.0:
            raise UsageError("the time limit is not positive", where="limit", expected="> 0 s", got=repr(self.limit))


class CameraBatch:
    """`n` learners on one track, each alone on it; a `LearnerBatch`.

    An action is two numbers in -1..1: steer (positive left) and pedal (throttle above 0, brake below). The reward is
    the distance along the road in m, and `CONTACT_REWARD` for a contact. Episodes start at a random place near the
    centre of the left or right half of the road, at a random speed. A contact and the wrong way end them.

    Args:
        options: of the environment; None for the defaults.
        n: number of learners.
        seed: of places and speeds at the start.
    """

    def __init__(self, options: CameraOptions | None = None, n: int = 1, *, seed: int | None = None) -> None:
        self.options = options = options or CameraOptions()
        if not isinstance(n, int) or n < 1:
            raise UsageError("no learners", where=LEARNERS, expected="1 or more", got=repr(n))
        self.n = n
        self.track = load_track(options.track)
        self._parked = place_parked_cars(self.track, options.obstacles, 0)
        scene = build_scene(self.track, looks.load_look(options.look), self._parked)
        self._renderer = Renderer(scene, PinholeCamera(width=options.size[0], height=options.size[1]))
        self._surroundings = Surroundings.from_track(self.track, scene.raster, self._parked)
        self.cars: Array = np.zeros((n, len(MiniatureCarColumn)))
        self._commands: Array = np.zeros((n, len(MiniatureCommand)))
        self._steps_done: Ints = np.zeros(n, np.int64)
        self._max_steps = max(round(options.limit / (STEP * options.steps)), 1)
        self._rng = make_generator(seed)
        self._is_reset = False
        self._clipper = ActionClipper(ACTIONS["steer_pedal"]) if options.clip_actions else None

    @property
    def frame_shape(self) -> tuple[int, int, int]:
        """Shape of one learner's picture: height, width, 3."""
        return (self.options.size[1], self.options.size[0], 3)

    def reset(self, seed: int | Sequence[int] | None = None) -> Bytes:
        """Start all episodes; return the pictures (n, height, width, 3) uint8. A seed restarts the random numbers."""
        if seed is not None:
            self._rng = make_generator(seed)
        self._is_reset = True
        out: Bytes = np.empty((self.n, *self.frame_shape), np.uint8)
        self.restart(np.arange(self.n), out)
        return out

    def step(self, actions: ArrayLike) -> tuple[Bytes, Array, Ints]:
        """Make one step. Episodes that end are not restarted.

        Args:
            actions: (n, 2) in -1..1.

        Returns:
            New arrays: pictures (n, height, width, 3); rewards (n,); and ends (n,): 0 while the episode goes on, k > 0
            for the k-th of `ENDS`, -1 at the time limit.

        Raises:
            UsageError: an action that is NaN or out of its range, or the wrong shape; no `reset` before.
        """
        values = np.asarray(actions, np.float64)
        if values.shape != (self.n, 2):
            raise UsageError("actions do not fit the learners", where="action", expected=f"({self.n}, 2)",
                             got=f"{values.shape}")  # fmt: skip
        if self._clipper is not None:
            values = self._clipper.clip_actions(values)
        if not (np.abs(values) <= 1.0).all():
            raise UsageError("no such action", where="action", expected="numbers in -1 .. 1",
                             got=f"{values[~(np.abs(values) <= 1.0)][0]}")  # fmt: skip
        if not self._is_reset:
            raise UsageError("not begun", where="step", hint="call reset() first")
        self._commands[:, MiniatureCommand.STEER] = values[:, 0]
        self._commands[:, MiniatureCommand.DRIVE] = np.maximum(values[:, 1], 0.0)
        self._commands[:, MiniatureCommand.BRAKE] = np.maximum(-values[:, 1], 0.0)
        before = self.cars[:, MiniatureCarColumn.ROAD_S].copy()
        contacts = self.cars[:, MiniatureCarColumn.CONTACTS].copy()
        step_cars(self.cars, self._commands, STEP, self.options.steps, self._surroundings)
        self._steps_done += 1
        way = self.cars[:, MiniatureCarColumn.ROAD_S] - before
        way -= self.track.length * np.rint(way / self.track.length)
        hit = self.cars[:, MiniatureCarColumn.CONTACTS] > contacts
        ended = np.where(
            hit,
            1,
            np.where(
                self.cars[:, MiniatureCarColumn.HEADING_COSINE] < 0.0,
                2,
                np.where(self._steps_done >= self._max_steps, -1, 0),
            ),
        )
        return self.render_frames(), way + CONTACT_REWARD * hit, ended

    def render_frames(self) -> Bytes:
        """Return the current pictures (n, height, width, 3)."""
        return self._renderer.render_frames(self.cars[:, : MiniatureCarColumn.YAW + 1])

    def restart(self, learners: Ints, out: Bytes) -> None:
        """Restart the episodes of some learners; write their rows of `out` (n, height, width, 3)."""
        for i in learners.tolist():
            row = self.cars[i]
            row[:] = 0.0
            s = self._sample_free_position()
            side = HALF_WIDTH if self._rng.random() < 0.5 else -HALF_WIDTH
            x, y, yaw = self.track.pose_at(s, side + self._rng.uniform(-_START_OFFSET, _START_OFFSET))
            row[MiniatureCarColumn.X], row[MiniatureCarColumn.Y] = x, y
            row[MiniatureCarColumn.YAW] = yaw + self._rng.uniform(-_START_HEADING, _START_HEADING)
            row[MiniatureCarColumn.SPEED] = self._rng.uniform(0.0, TOP_SPEED)
            row[MiniatureCarColumn.STEER] = self._rng.uniform(-0.1, 0.1) * STEER_LOCK
            locate_car(row, self._surroundings.raster)
        self._steps_done[learners] = 0
        if len(learners):
            out[learners] = self._renderer.render_frames(self.cars[learners, : MiniatureCarColumn.YAW + 1])

    def end_name(self, code: int) -> str:
        """Return the name of an end by its code from `step`; "" for 0, "limit" for -1."""
        return "" if code == 0 else "limit" if code < 0 else ENDS[code - 1]

    def _sample_free_position(self) -> float:
        # s (m) along the road, away from parked cars.
        while True:
            s = float(self._rng.random()) * self.track.length
            if all(not -_START_GAP < car.s - s < 2.0 * _START_GAP for car in self._parked):
                return s
