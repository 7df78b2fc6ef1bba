"""`RaceBatch`: many learners at once, NumPy in and NumPy out. All other environments are made of it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trailbrake.cars.load import load as load_car
from trailbrake.env.field import Field
from trailbrake.env.options import RANDOM, RaceOptions
from trailbrake.errors import UsageError
from trailbrake.kernels.team import Team
from trailbrake.observe.columns import Seen
from trailbrake.tracks.generate import generate
from trailbrake.tracks.load import load as load_track
from trailbrake.tracks.track import Track

Array = NDArray[np.float64]
Rows = NDArray[np.float32]
Ints = NDArray[np.int64]


class RaceBatch:
    """`n` learners, each with a car.

    Args:
        options: the environment; None for the defaults.
        n: learners. Without rivals, so many cars, `options.cars` consecutive ones in a world each; with them, so many
            worlds.
        threads: that share the work.
        seed: of everything that is random; None for a fresh one.

    Attributes:
        options: as given.
        program: what is observed and judged by.
        n: learners.
        tracks: the tracks, in the order of the learners.

    Raises:
        UsageError: options that cannot be, or numbers that do not fit together.
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
        self.program = options.program()
        if not isinstance(n, int) or n < 1:
            raise UsageError("no learners", where="n", expected="1 or more", got=repr(n))
        if not isinstance(threads, int) or threads < 1:
            raise UsageError("no threads", where="threads", expected="1 or more", got=repr(threads))
        in_a_world = 1 if options.rivals else options.cars
        if n % in_a_world:
            raise UsageError("worlds are not full", where="n", expected=f"a multiple of {in_a_world}", got=str(n))
        self._worlds = n // in_a_world
        if self._worlds < options.roads:
            expected = f"{options.roads} at least, one a road"
            raise UsageError("fewer worlds than roads", where="n", expected=expected, got=str(self._worlds))
        self.n = n
        self._car = load_car(options.car)
        self._track = None if options.track == RANDOM else load_track(options.track)
        self._team = Team(threads)
        self._rng = np.random.default_rng(seed)
        self._fields: list[tuple[Field, int, int]] = []
        self._shape = n, self.program.action.width

    @property
    def tracks(self) -> list[Track]:
        """The tracks driven on; random ones change with every `reset`."""
        return [field.track for field, _, _ in self._fields]

    def reset(self, seed: int | Sequence[int] | None = None) -> Rows:
        """Begin all episodes anew, on new roads if those are random; return the observations (n, width).

        Args:
            seed: from here on everything is as in any other batch with this seed and these options; None goes on.
        """
        if seed is not None:
            _check_seed(seed)
            self._rng = np.random.default_rng(seed)
        if not self._fields or self._track is None:
            self._fields = self._made()
        out = np.empty((self.n, self.program.width), np.float32)
        for field, lo, hi in self._fields:
            field.reset(self._rng, out[lo:hi])
        return out

    def step(self, actions: ArrayLike) -> tuple[Rows, Array, Ints]:
        """Make one step of `options.period`. Nobody is restarted.

        Args:
            actions: (n, width of the action).

        Returns:
            Fresh arrays: observations (n, width) float32; rewards (n,); and ends (n,): 0 goes on, -1 the time is over,
            k > 0 the k-th end of `program.ends`.

        Raises:
            UsageError: an action that is no number or outside its range, arrays of the wrong shape, no `reset` before.
        """
        values = np.ascontiguousarray(actions, np.float64)
        if values.shape != self._shape:
            raise UsageError(
                "actions do not fit the learners", where="action", expected=f"{self._shape}", got=f"{values.shape}"
            )
        out: Rows = np.empty((self.n, self.program.width), np.float32)
        reward, ended = np.empty(self.n), np.empty(self.n, np.int64)
        self.step_into(values, out, reward, ended)
        return out, reward, ended

    def step_into(self, values: Array, out: Rows, reward: Array, ended: Ints) -> None:
        """Make one step as `step`, into arrays of one's own, whose shapes are not looked at again.

        Args:
            values: actions (n, width of the action) float64, C-contiguous.
            out: (n, width) float32 written.
            reward: (n,) written.
            ended: (n,) int64 written.
        """
        if len(self._fields) == 1:
            field = self._fields[0][0]
            bad = field.press(values)
            if bad >= 0:
                self._refuse(values, bad)
            field.advance(out, reward, ended)
            return
        if not self._fields:
            raise UsageError("not begun", where="step", hint="call reset() first")
        for field, lo, hi in self._fields:
            bad = field.press(values[lo:hi])
            if bad >= 0:
                self._refuse(values, lo + bad)
        for field, lo, hi in self._fields:
            field.advance(out[lo:hi], reward[lo:hi], ended[lo:hi])

    def restart(self, learners: Ints, out: Rows) -> None:
        """Begin the episodes of some learners anew, on the same roads; write their rows of `out` (n, width)."""
        for field, lo, hi in self._fields:
            here = learners[(learners >= lo) & (learners < hi)]
            if len(here):
                field.restart(self._rng, here - lo, out[lo:hi])

    def seen(self, row: Seen) -> Array:
        """Return a row of `Seen` for the learners, (n,)."""
        rows = [field.seen[row, : field.n : field.stride] for field, _, _ in self._fields]
        found: Array = np.concatenate(rows)
        return found

    def why(self, code: int) -> str:
        """Return the name of an end by its code out of `step`; "" for 0, "limit" for -1."""
        return "" if code == 0 else "limit" if code < 0 else self.program.ends[code - 1].name

    def close(self) -> None:
        """End the threads."""
        self._team.close()

    def _made(self) -> list[tuple[Field, int, int]]:
        options, fields, first = self.options, [], 0
        tracks: Sequence[Track]
        if self._track is not None:
            tracks = [self._track]
        else:
            tracks = [generate(int(self._rng.integers(2**31))) for _ in range(options.roads)]
        for k, track in enumerate(tracks):
            worlds = self._worlds * (k + 1) // len(tracks) - self._worlds * k // len(tracks)
            field = Field(track, self._car, worlds, options, self.program, self._team)
            fields.append((field, first, first + field.learners))
            first += field.learners
        return fields

    def _refuse(self, values: Array, row: int) -> None:
        action = self.program.action
        what = "an action that is no number" if np.isnan(values[row]).any() else "an action outside its range"
        where = f"action[{row}]" if self.n > 1 else "action"
        raise UsageError(
            what, where=where, expected=f"{action.name}: {action.low} .. {action.high}", got=str(values[row].tolist())
        )


def _check_seed(seed: int | Sequence[int]) -> None:
    numbers = [seed] if isinstance(seed, int) else list(seed)
    if not numbers or not all(isinstance(number, int) and number >= 0 for number in numbers):
        raise UsageError("no seed", where="seed", expected="whole numbers, 0 or more", got=repr(seed))
