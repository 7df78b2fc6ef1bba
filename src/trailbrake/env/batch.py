"""`RaceBatch`: many learners at once, NumPy in and NumPy out. The other environments use it.

`LearnerBatch`: what all batches of learners have in common.
"""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trailbrake.arrays import Array, Ints, Rows
from trailbrake.cars.car_library import load_car
from trailbrake.cars.params import CarParams
from trailbrake.env.map_frames import CarPlace
from trailbrake.env.options import RANDOM, RaceOptions
from trailbrake.env.race_pictures import RaceView
from trailbrake.env.road_worlds import RoadWorlds
from trailbrake.errors import UsageError
from trailbrake.kernels.thread_team import Team
from trailbrake.observe.actions import ActionClipper
from trailbrake.observe.features import Feature
from trailbrake.tracks.random_circuit import generate_circuit
from trailbrake.tracks.track import Track
from trailbrake.tracks.track_library import load_track

LEARNERS = "number of learners (n, num_envs)"  # its name in errors: both are arguments


class RaceBatch:
    """`n` learners, each with a car; a `LearnerBatch`.

    Args:
        options: the environment; None for the defaults.
        n: number of learners. Without rivals each car learns, and each `options.cars` consecutive cars share a world;
            with rivals one car of each world learns.
        threads: number of threads that share the work.
        seed: of everything that is random; None for a new one.

    Attributes:
        options: of the environment.
        task: what learners observe, their rewards, the ends of episodes, and the actions.
        n: number of learners.
        tracks: the tracks, in the order of the learners.
        cars: for each of them the car that all drive there.

    Raises:
        UsageError: options out of range, or numbers that do not fit together.
    """

    def __init__(
        self,
        options: RaceOptions | None = None,
        n: int = 1,
        *,
        threads: int = 1,
        seed: int | Sequence[int] | None = None,
    ) -> None:
        self.options = options = options or RaceOptions()
        self.task = options.build_task()
        if not isinstance(threads, int) or threads < 1:
            raise UsageError("no threads", where="threads", expected="1 or more", got=repr(threads))
        self._world_count = count_worlds(options, n)
        self.n = n
        self._cars = [load_car(name) for name in options.car_names]
        self._tracks = [] if RANDOM in options.track_names else [load_track(name) for name in options.track_names]
        self._team = Team(threads)
        self._rng = make_generator(seed)
        self._road_worlds: list[tuple[RoadWorlds, int, int]] = []
        self._action_shape = n, self.task.action.width
        self._clipper = ActionClipper(self.task.action) if options.clip_actions else None

    @property
    def tracks(self) -> list[Track]:
        """The tracks in use; random ones change with every `reset`."""
        return [worlds.track for worlds, _, _ in self._road_worlds]

    @property
    def cars(self) -> list[CarParams]:
        """The car that all drive on each of the tracks."""
        return [self._cars[k % len(self._cars)] for k in range(len(self._road_worlds))]

    def reset(self, seed: int | Sequence[int] | None = None) -> Rows:
        """Start all episodes, on new roads if those are random; return the observations (n, width).

        Args:
            seed: restarts the random numbers: batches of the same options and seed then do the same. None continues.
        """
        if seed is not None:
            self._rng = make_generator(seed)
        if not self._road_worlds or not self._tracks:
            self._road_worlds = self._build_worlds()
        out = np.empty((self.n, self.task.width), np.float32)
        for worlds, lo, hi in self._road_worlds:
            worlds.reset(self._rng, out[lo:hi])
        return out

    def step(self, actions: ArrayLike) -> tuple[Rows, Array, Ints]:
        """Make one step of `options.period`. Episodes that end are not restarted.

        Args:
            actions: (n, width of the action).

        Returns:
            New arrays: observations (n, width) float32; rewards (n,); and ends (n,) int64: 0 while the episode goes on,
            k > 0 for the k-th end of `task.ends`, -1 at the time limit.

        Raises:
            UsageError: an action that is NaN or out of its range, an array of the wrong shape, no `reset` before.
        """
        values = np.ascontiguousarray(actions, np.float64)
        if values.shape != self._action_shape:
            raise UsageError(
                "actions do not fit the learners",
                where="action",
                expected=f"{self._action_shape}",
                got=f"{values.shape}",
            )
        out: Rows = np.empty((self.n, self.task.width), np.float32)
        reward, ended = np.empty(self.n), np.empty(self.n, np.int64)
        self.write_step(values, out, reward, ended)
        return out, reward, ended

    def write_step(self, values: Array, out: Rows, reward: Array, ended: Ints) -> None:
        """Make one step as `step` does, into arrays that must fit: compiled code does not check them.

        Args:
            values: actions (n, width of the action) float64, C-contiguous.
            out: (n, width) float32 written, C-contiguous.
            reward: (n,) float64 written, contiguous.
            ended: (n,) int64 written, contiguous.

        Raises:
            UsageError: an action that is NaN or out of its range, no `reset` before.
        """
        if self._clipper is not None:
            values = self._clipper.clip_actions(values)
        if len(self._road_worlds) == 1:
            worlds = self._road_worlds[0][0]
            bad = worlds.apply_actions(values)
            if bad >= 0:
                self._refuse_action(values, bad)
            worlds.step_and_observe(out, reward, ended)
            return
        if not self._road_worlds:
            raise UsageError("not begun", where="step", hint="call reset() first")
        for worlds, lo, hi in self._road_worlds:
            bad = worlds.apply_actions(values[lo:hi])
            if bad >= 0:
                self._refuse_action(values, lo + bad)
        for worlds, lo, hi in self._road_worlds:
            worlds.step_and_observe(out[lo:hi], reward[lo:hi], ended[lo:hi])

    def restart(self, learners: Ints, out: Rows) -> None:
        """Restart the episodes of some learners, on the same roads; write their rows of `out` (n, width)."""
        for worlds, lo, hi in self._road_worlds:
            here = learners[(learners >= lo) & (learners < hi)]
            if len(here):
                worlds.restart(self._rng, here - lo, out[lo:hi])

    def feature_values(self, feature: Feature) -> Array:
        """Return a feature of all learners, (n,)."""
        rows = [worlds.features[feature, : worlds.n : worlds.stride] for worlds, _, _ in self._road_worlds]
        values: Array = np.concatenate(rows)
        return values

    def view_race(self, learner: int = 0) -> RaceView:
        """Return the road, the time and the cars of a learner's world, its own first, for pictures."""
        worlds, lo = next((worlds, lo) for worlds, lo, hi in self._road_worlds if learner < hi)
        own = (learner - lo) * worlds.stride
        first = own - own % worlds.group_size
        others = [car for car in range(first, first + worlds.group_size) if car != own]
        rows = worlds.features[np.ix_([Feature.X, Feature.Y, Feature.YAW, Feature.VELOCITY_X], [own, *others])]
        cars = [CarPlace(*map(float, column)) for column in rows.T]
        return RaceView(worlds.track, float(worlds.features[Feature.TIME, own]), cars)

    def end_name(self, code: int) -> str:
        """Return the name of an end by its code from `step`; "" for 0, "limit" for -1."""
        return "" if code == 0 else "limit" if code < 0 else self.task.ends[code - 1].name

    def close(self) -> None:
        """End the threads."""
        self._team.close()

    def _build_worlds(self) -> list[tuple[RoadWorlds, int, int]]:
        options, built, first = self.options, [], 0
        tracks: Sequence[Track]
        tracks = self._tracks or [generate_circuit(int(self._rng.integers(2**31))) for _ in range(options.roads)]
        for t, c, count in spread_worlds(self._world_count, len(tracks), len(self._cars)):
            worlds = RoadWorlds(tracks[t], self._cars[c], count, options, self.task, self._team)
            built.append((worlds, first, first + worlds.learners))
            first += worlds.learners
        return built

    def _refuse_action(self, values: Array, row: int) -> None:
        action = self.task.action
        what = "an action that is no number" if np.isnan(values[row]).any() else "an action outside its range"
        where = f"action[{row}]" if self.n > 1 else "action"
        raise UsageError(
            what, where=where, expected=f"{action.name}: {action.low} .. {action.high}", got=str(values[row].tolist())
        )


def count_worlds(options: RaceOptions, n: int) -> int:
    """Return the number of worlds of `n` learners; UsageError where these do not fit the options."""
    if not isinstance(n, int) or n < 1:
        raise UsageError("no learners", where=LEARNERS, expected="1 or more", got=repr(n))
    in_a_world = 1 if options.rivals else options.cars
    if n % in_a_world:
        raise UsageError("worlds are not full", where=LEARNERS, expected=f"a multiple of {in_a_world}, the cars of one",
                         got=str(n), hint=f"make_vec(..., num_envs={in_a_world}), or rivals=True")  # fmt: skip
    roads = max(options.roads, len(options.track_names), len(options.car_names))
    if n // in_a_world < roads:
        expected = f"{roads * in_a_world} at least, a world of {in_a_world} for each road and car"
        raise UsageError("fewer worlds than roads", where=LEARNERS, expected=expected, got=str(n))
    return n // in_a_world


def spread_worlds(worlds: int, tracks: int, cars: int) -> list[tuple[int, int, int]]:
    """Return how `worlds` are spread over tracks and cars: numbers of a track and its car, and how many worlds."""
    total = max(tracks, cars)
    counts = (worlds * (k + 1) // total - worlds * k // total for k in range(total))
    return [(k % tracks, k % cars, count) for k, count in enumerate(counts)]


def make_generator(seed: int | Sequence[int] | None) -> np.random.Generator:
    """Return random numbers by a seed, fresh ones for None; UsageError where it is none."""
    numbers = list(seed) if isinstance(seed, Sequence) else [0 if seed is None else seed]
    if not numbers or not all(isinstance(number, Integral) and number >= 0 for number in numbers):
        raise UsageError("no seed", where="seed", expected="whole numbers, 0 or more", got=repr(seed))
    return np.random.default_rng(seed)


class LearnerBatch(Protocol):
    """Learners in step with each other, NumPy in and NumPy out: `RaceBatch`, `CameraBatch`, `LinkRace`.

    Attributes:
        n: number of learners.
    """

    n: int

    def reset(self, seed: int | Sequence[int] | None = None) -> NDArray[Any]:
        """Start all episodes; return the observations (n, ...)."""

    def step(self, actions: ArrayLike) -> tuple[NDArray[Any], NDArray[np.float64], Ints]:
        """Make one step; return new arrays of observations (n, ...), rewards (n,) and ends (n,).

        An end is 0 while the episode goes on, k > 0 for the k-th end of the environment, -1 at the time limit.
        """

    def restart(self, learners: Ints, out: NDArray[Any]) -> None:
        """Restart the episodes of some learners; write their rows of the observations `out`."""

    def end_name(self, code: int) -> str:
        """Return the name of an end by its code from `step`; "" for 0, "limit" for -1."""
