"""`CameraBatch`: many learners in the miniature world, who see only what the camera shows. NumPy in, NumPy out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trailbrake.errors import UsageError
from trailbrake.tracks.miniature.layout import HALF_WIDTH
from trailbrake.tracks.miniature.load import load as load_track
from trailbrake.tracks.miniature.obstacles import park
from trailbrake.world.camera import look as looks
from trailbrake.world.camera.scene import build
from trailbrake.world.camera.view import Camera, Renderer
from trailbrake.world.miniature import parked_rows
from trailbrake.world.miniature_car import LOCK, STEP, TOP_SPEED, Mini, Pedal, locate, step

Array = NDArray[np.float64]
Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]

ENDS = ("contact", "wrong_way")
CONTACT_REWARD = -1.0  # a metre's worth
_START_OFFSET = 0.15  # m from the middle of a half
_START_HEADING = 0.1  # rad from the road's
_START_GAP = 0.8  # m to parked cars


@dataclass(frozen=True, kw_only=True)
class CameraOptions:
    """What a camera environment is made of.

    Attributes:
        track: a miniature track: name, TOML file or gen:SEED.
        look: what it is painted with.
        size: width and height of the picture, pixels.
        obstacles: parked cars.
        steps: of 0.02 s in one step of the environment.
        limit: s after which an episode is cut off.
    """

    track: str = "clover"
    look: str = "B"
    size: tuple[int, int] = (96, 96)
    obstacles: int = 0
    steps: int = 2
    limit: float = 60.0

    def __post_init__(self) -> None:
        if not (isinstance(self.steps, int) and 1 <= self.steps <= 100):
            raise UsageError("no such step", where="steps", expected="1 .. 100", got=repr(self.steps))
        if not self.limit > 0.0:
            raise UsageError("no time to drive", where="limit", expected="> 0 s", got=repr(self.limit))


class CameraBatch:
    """`n` learners on one track, each alone on it.

    An action is two numbers in -1..1: steer (positive left) and pedal (throttle above 0, brake below). The reward is
    the way along the road in m, and `CONTACT_REWARD` for a contact. Episodes start anywhere, in the middle of a half
    or near it, at any speed; a contact ends them, and so does driving the wrong way.

    Args:
        options: None for the defaults.
        n: learners.
        seed: of places and speeds at the start.
    """

    def __init__(self, options: CameraOptions | None = None, n: int = 1, *, seed: int | None = None) -> None:
        self.options = options = options or CameraOptions()
        if not isinstance(n, int) or n < 1:
            raise UsageError("no learners", where="n", expected="1 or more", got=repr(n))
        self.n = n
        self.track = load_track(options.track)
        self._parked = park(self.track, options.obstacles, 0)
        scene = build(self.track, looks.load(options.look), self._parked)
        self._renderer = Renderer(scene, Camera(width=options.size[0], height=options.size[1]))
        ground = scene.ground
        self._ground = (ground.left, ground.right, ground.near, ground.corner)
        self._around = (*self._ground, self.track.noses, parked_rows(self._parked))
        self.cars: Array = np.zeros((n, len(Mini)))
        self._asked: Array = np.zeros((n, len(Pedal)))
        self._age: Ints = np.zeros(n, np.int64)
        self._most = max(round(options.limit / (STEP * options.steps)), 1)
        self._rng = np.random.default_rng(seed)
        self._begun = False

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of one learner's picture: height, width, 3."""
        return (self.options.size[1], self.options.size[0], 3)

    def reset(self, seed: int | Sequence[int] | None = None) -> Bytes:
        """Begin all episodes anew; return the pictures (n, height, width, 3) uint8. A seed begins a stream anew."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._begun = True
        out: Bytes = np.empty((self.n, *self.shape), np.uint8)
        self.restart(np.arange(self.n), out)
        return out

    def step(self, actions: ArrayLike) -> tuple[Bytes, Array, Ints]:
        """Make one step. Nobody is restarted.

        Args:
            actions: (n, 2) in -1..1.

        Returns:
            Fresh arrays: pictures (n, height, width, 3); rewards (n,); and ends (n,): 0 goes on, -1 the time is over,
            k > 0 the k-th of `ENDS`.

        Raises:
            UsageError: an action that is no number or outside its range, or the wrong shape; no `reset` before.
        """
        values = np.asarray(actions, np.float64)
        if values.shape != (self.n, 2):
            raise UsageError("actions do not fit the learners", where="action", expected=f"({self.n}, 2)",
                             got=f"{values.shape}")  # fmt: skip
        if not (np.abs(values) <= 1.0).all():
            raise UsageError("no such action", where="action", expected="numbers in -1 .. 1",
                             got=f"{values[~(np.abs(values) <= 1.0)][0]}")  # fmt: skip
        if not self._begun:
            raise UsageError("not begun", where="step", hint="call reset() first")
        self._asked[:, Pedal.STEER] = values[:, 0]
        self._asked[:, Pedal.DRIVE] = np.maximum(values[:, 1], 0.0)
        self._asked[:, Pedal.BRAKE] = np.maximum(-values[:, 1], 0.0)
        before = self.cars[:, Mini.MAIN].copy()
        contacts = self.cars[:, Mini.CONTACTS].copy()
        step(self.cars, self._asked, STEP, self.options.steps, *self._around)
        self._age += 1
        way = self.cars[:, Mini.MAIN] - before
        way -= self.track.length * np.rint(way / self.track.length)
        hit = self.cars[:, Mini.CONTACTS] > contacts
        ended = np.where(hit, 1, np.where(self.cars[:, Mini.ALONG] < 0.0, 2, np.where(self._age >= self._most, -1, 0)))
        return self.look(), way + CONTACT_REWARD * hit, ended

    def look(self) -> Bytes:
        """Return the pictures (n, height, width, 3) of now."""
        return self._renderer.frames(self.cars[:, : Mini.YAW + 1])

    def restart(self, learners: Ints, out: Bytes) -> None:
        """Begin the episodes of some learners anew; write their rows of `out` (n, height, width, 3)."""
        for i in learners.tolist():
            row = self.cars[i]
            row[:] = 0.0
            s = self._free_place()
            side = HALF_WIDTH if self._rng.random() < 0.5 else -HALF_WIDTH
            x, y, yaw = self.track.place(s, side + self._rng.uniform(-_START_OFFSET, _START_OFFSET))
            row[Mini.X], row[Mini.Y] = x, y
            row[Mini.YAW] = yaw + self._rng.uniform(-_START_HEADING, _START_HEADING)
            row[Mini.SPEED] = self._rng.uniform(0.0, TOP_SPEED)
            row[Mini.STEER] = self._rng.uniform(-0.1, 0.1) * LOCK
            locate(row, *self._ground)
        self._age[learners] = 0
        if len(learners):
            out[learners] = self._renderer.frames(self.cars[learners, : Mini.YAW + 1])

    def why(self, code: int) -> str:
        """Return the name of an end by its code out of `step`; "" for 0, "limit" for -1."""
        return "" if code == 0 else "limit" if code < 0 else ENDS[code - 1]

    def _free_place(self) -> float:
        # s in m along the road, away from parked cars, of which there are so few that this ends soon.
        while True:
            s = float(self._rng.random()) * self.track.length
            if all(not -_START_GAP < car.s - s < 2.0 * _START_GAP for car in self._parked):
                return s
