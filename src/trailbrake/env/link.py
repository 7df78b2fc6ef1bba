"""`LinkRace`: one learner through a simulator's wire, as `RaceBatch` with one car: the slow, honest twin.

Actions and states go through the bytes of a real transport, as in `trailbrake drive`; everything that is observed and
judged comes out of `CarState`.
"""

import math
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trailbrake.cars.load import load as load_car
from trailbrake.env.options import RANDOM, RaceOptions, Vary
from trailbrake.env.start import Places
from trailbrake.errors import SimulatorError, UsageError
from trailbrake.observe.observer import Observer
from trailbrake.run.connect import connected
from trailbrake.run.options import DriveOptions
from trailbrake.sims import registry
from trailbrake.state import CarState, Pose, SimCommand
from trailbrake.tracks.generate import generate
from trailbrake.tracks.load import load as load_track

Array = NDArray[np.float64]
Rows = NDArray[np.float32]
Ints = NDArray[np.int64]

_REPAIR = 0.1  # s that the pits take to put a car right
_SETTLE = 1.0  # s that a car may take to be where it was put
_SILENT = 200  # looks without a new sample after which the simulator is gone
_NEAR = 3.0  # m, and
_STILL = 1.0  # m/s: what counts as having been put there


class LinkRace:
    """One learner on the other side of a wire.

    Args:
        options: the environment. One car; nothing varies; cars start at rest.
        sim: whose wire.
        live: the game itself, or a served world, at its public doors; otherwise an embedded world in lockstep.
        seed: of the places to start from.

    Attributes:
        options: as given.
        program: what is observed and judged by.
        n: 1.

    Raises:
        UsageError: options that cannot be had through a wire.
    """

    def __init__(
        self, options: RaceOptions | None = None, *, sim: str = "assetto", live: bool = False, seed: int | None = None
    ) -> None:
        self.options = options = options or RaceOptions()
        self.program = options.program()
        self.n = 1
        if options.cars != 1 or options.rivals:
            raise UsageError("one car only through a wire", where="cars", expected="1", got=str(options.cars))
        if options.vary != Vary():
            raise UsageError(
                "nothing varies through a wire", where="vary", expected="the defaults", got=repr(options.vary)
            )
        spec = registry.part(sim, "spec")
        self._rng = np.random.default_rng(seed)
        name = f"gen:{int(self._rng.integers(2**31))}" if options.track == RANDOM else options.track
        track = generate(int(name[4:])) if options.track == RANDOM else load_track(name)
        self.tracks = [track]
        supplies = spec.SUPPLIES
        missing = sorted(self.program.judging_needs - supplies)
        if missing:
            raise UsageError("the simulator does not supply what is judged by", where="rewards", got=", ".join(missing))
        self._observer = Observer(self.program, track.road, load_car(options.car), supplies)
        self._places = Places(track.road, options.start)
        self._live_options: Any = spec.LiveOptions()
        self._drive = DriveOptions(sim=sim, track=name, car=options.car, live=live, speed="max")
        self._teleports = "teleport" in spec.ACCEPTS
        self._repairs = self._teleports and "to_pits" in spec.ACCEPTS
        self._open: ExitStack | None = None
        self._state = CarState()

    def reset(self, seed: int | Sequence[int] | None = None) -> Rows:
        """Put the car on a new place, at rest; return the observation (1, width). The first call connects."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        if self._open is None:
            self._open = ExitStack()
            self._connection = self._open.enter_context(connected(self._drive, self._live_options, lambda: False))
        self._observer.reset()
        link = self._connection.link
        link.write(self._observer.controls(np.zeros(self.program.action.width)))
        self._observer.reset()
        x, y, _, yaw = self.tracks[0].road.points(0.0)[0].tolist()
        if self._repairs:
            # Not a restart: in a game that may open a menu which nothing from outside can leave.
            link.command(SimCommand(to_pits=True))
            for _ in range(math.ceil(_REPAIR / link.period)):
                self._next()
        if self._teleports:
            if self.options.start.anywhere:
                x, y, yaw, _ = self._places.whole(self._rng, 1, 1)[0].tolist()
            link.command(SimCommand(teleport=Pose(x, y, self._height(x, y), yaw)))
        else:
            link.command(SimCommand(restart=True))
        for _ in range(math.ceil(_SETTLE / link.period)):
            self._next()
            if math.hypot(self._state.x - x, self._state.y - y) < _NEAR and self._state.speed < _STILL:
                return self._observer.observe(self._state)[None]
        raise SimulatorError("the car was not put where it was asked to be", where=self._drive.sim)

    def step(self, actions: ArrayLike) -> tuple[Rows, Array, Ints]:
        """Make one step of about `options.period`: whole samples of the simulator; as `RaceBatch.step` with n = 1."""
        values = np.asarray(actions, np.float64)
        if values.shape != (1, self.program.action.width):
            expected = f"(1, {self.program.action.width})"
            raise UsageError(
                "actions do not fit the learners", where="action", expected=expected, got=f"{values.shape}"
            )
        out: Rows = np.empty((1, self.program.width), np.float32)
        reward, ended = np.empty(1), np.empty(1, np.int64)
        self.step_into(values, out, reward, ended)
        return out, reward, ended

    def step_into(self, values: Array, out: Rows, reward: Array, ended: Ints) -> None:
        """Make one step as `step`, into arrays of one's own: see `RaceBatch.step_into`."""
        if self._open is None:
            raise UsageError("not begun", where="step", hint="call reset() first")
        link = self._connection.link
        link.write(self._observer.controls(values[0]))
        until = self._state.time + self.options.period - 0.5 * link.period
        began = self._state.time
        while began <= self._next() < until:
            pass
        out[0] = self._observer.observe(self._state)
        reward[0], ended[0] = self._observer.judge(self.options.limit - 0.5 * self.options.period)

    def restart(self, learners: Ints, out: Rows) -> None:
        """Begin the episode anew; write `out` (1, width)."""
        if len(learners):
            out[:] = self.reset()

    def why(self, code: int) -> str:
        """Return the name of an end by its code out of `step`; "" for 0, "limit" for -1."""
        return "" if code == 0 else "limit" if code < 0 else self.program.ends[code - 1].name

    def close(self) -> None:
        """Release the controls and close all doors."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _next(self) -> float:
        # Wait for the next sample; return its time.
        link, last = self._connection.link, self._state.sequence
        for _ in range(_SILENT):
            state = link.read(self._connection.pace.wait(link))
            if state.sequence != last:
                self._state = state
                return state.time
        raise SimulatorError("the simulator went silent", where=self._drive.sim, got=self._connection.pace.gone())

    def _height(self, x: float, y: float) -> float:
        road = self.tracks[0].road
        s, offset, _ = road.locate(x, y)
        return road.point(s, offset)[2]
