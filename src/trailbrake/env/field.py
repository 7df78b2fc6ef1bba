"""`Field`: the cars of an environment that are on the same road, one step after the other."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from trailbrake.cars.params import CarParams
from trailbrake.env import rivals, sense
from trailbrake.env.options import RaceOptions
from trailbrake.env.start import Places
from trailbrake.kernels.lanes import LANES
from trailbrake.kernels.team import Team
from trailbrake.observe.columns import Seen
from trailbrake.observe.derive import begin
from trailbrake.observe.program import Program
from trailbrake.tracks.track import Track
from trailbrake.tracks.walls import Walls
from trailbrake.world.batch import Batch
from trailbrake.world.layout import Control
from trailbrake.world.randomise import Scaling
from trailbrake.world.scanner import Scanner

LEAST = 16  # blocks of cars for which another thread is worth its waking

Array = NDArray[np.float64]
Rows = NDArray[np.float32]
Ints = NDArray[np.int64]

_LEFT_ALONE = (
    Control.GEAR,
    *(Control.DRIVE_TORQUE + i for i in range(4)),
    *(Control.BRAKE_TORQUE + i for i in range(4)),
)
_ZERO = tuple(int(row) for row in (Control.STEER, Control.THROTTLE, Control.BRAKE, Control.CLUTCH, Control.HANDBRAKE,
                                   Control.DRS, Control.BOOST))  # fmt: skip


class _Eye:
    # A scanner on all cars, and its ranges.
    def __init__(self, scanner: Scanner, where: slice, n: int) -> None:
        self.scanner, self.where = scanner, where
        self.ranges: Rows = np.zeros((n, len(scanner.angles)), np.float32)


class Field:
    """Worlds on one road.

    Args:
        track: the track.
        car: what is driven.
        worlds: how many.
        options: the environment's.
        program: made of them.
        team: threads.

    Attributes:
        n: cars.
        learners: of these, how many learn: every `stride`-th.
        seen: (Seen.COUNT, n or more).
    """

    def __init__(
        self, track: Track, car: CarParams, worlds: int, options: RaceOptions, program: Program, team: Team
    ) -> None:
        self.track, self.options, self.program = track, options, program
        self.n = n = worlds * options.cars
        self.group = options.cars
        self.stride = options.cars if options.rivals else 1
        self.learners = n // self.stride
        self._team = team
        self.batch = Batch(track, [car], n, group=options.cars, team=team)
        for rows, value in ((_ZERO, 0.0), (_LEFT_ALONE, np.nan)):
            for row in rows:
                self.batch.set(row, np.full(n, value))
        # A stride that is no power of two: rows would else share their lines of the cache.
        self.seen: Array = np.zeros((Seen.COUNT, (-(-n // LANES) + 1) * LANES))
        road = track.road
        table, _, spacing, closed = self.batch.road
        self._road = table, spacing, closed
        self._places = Places(road, options.start)
        vary = options.vary
        self._history: Array = np.zeros((vary.delay + 1, n, 3))
        self._delays: Ints = np.zeros(n, np.int64)
        self._levels: Array = np.zeros(n)
        self._noisy = vary.noise[1] > 0.0
        self._slot = self._tick = 0
        self._scaling = Scaling(car) if vary.cars else None
        self._looks = options.looks
        self._substeps = options.substeps // self._looks
        self._dt = options.period / options.substeps
        self._codes = program.action.codes
        if vary.cars:
            self.batch.own_params()
        self._blocks = self.batch.cars, self.batch.params, self.batch.kinds
        steps = self._dt, self._substeps, self._looks
        # What `turn` takes of the world, for each thread with a work block of its own.
        under = *self.batch.road, *self.batch.off
        self._worlds = [(*self._blocks, self.batch.maps, work, *under, *steps) for work in self.batch.work]
        limit = options.limit - 0.5 * options.period
        self._judging = self.seen, program.codes, program.values, program.terms, len(program.rewards), limit
        self._turn = (*self._worlds[0], *self._judging)
        self._bounds = program.low, program.high
        self._late, self._more = vary.delay > 0, not program.only_terms
        self._all = np.arange(n)
        self._eyes = [_Eye(Scanner(s.beams, s.field, s.limit), where, n) for s, where in program.scans]
        self._poses, self._boxes = np.zeros((n, 3)), np.zeros((n, 3))
        if self._eyes:
            self._walls = Walls.of(*track.roads)
            sense.boxes(self.batch.params, self.batch.kinds, self._boxes)
        # With rivals, observations of all cars, of which the learners' are handed on.
        self._own = np.zeros((n, program.width), np.float32), np.zeros(n), np.zeros(n, np.int64)

    def reset(self, rng: np.random.Generator, out: Rows) -> None:
        """Put all cars on their places; write the observations of those that learn into `out` (learners, width).

        Args:
            rng: what is random is drawn from.
            out: written.
        """
        self._noise_seed = int(rng.integers(2**62))
        self._slot = self._tick = 0
        self._put(rng, self._all, self._places.whole(rng, self.n // self.group, self.group))
        self._see_again(out, self._all)

    def restart(self, rng: np.random.Generator, learners: Ints, out: Rows) -> None:
        """Put single learners on new places, with their rivals if they have any; write their rows of `out`."""
        cars = learners * self.stride
        if self.stride > 1:
            cars = (cars[:, None] + np.arange(self.stride)[None, :]).ravel()
            self._put(rng, cars, self._places.whole(rng, len(learners), self.group))
        elif self.group > 1:
            for car in cars:  # one by one: each must find room among the others
                world = car // self.group * self.group
                others = [other for other in range(world, world + self.group) if other != car]
                taken = self.seen[np.ix_((Seen.X, Seen.Y), others)].T
                self._put(rng, np.array([car]), self._places.single(rng, taken))
                sense.gather(*self._blocks, self.seen, int(car), int(car) + 1)
        else:
            self._put(rng, cars, self._places.whole(rng, len(cars), 1))
        self._see_again(out, cars)

    def press(self, actions: Array) -> int:
        """Take the actions (learners, width); return -1, or the first row that is no action, and take none then."""
        bad = sense.press(
            self.batch.cars, self.seen, actions, self._codes, self._history, self._slot, self._delays, self.stride
        )
        if self.stride > 1 and bad < 0:
            rivals.drive(*self._blocks, self.seen, *self._road, self.group, self.n)
        return bad

    def advance(self, out: Rows, reward: Array, ended: Ints) -> None:
        """Make one step; write observations (learners, width), rewards and ends (learners,) of those that learn."""
        self._tick += 1
        if self._late:
            self._slot = (self._slot + 1) % len(self._history)
        own = self.stride > 1
        to, gain, end = self._own if own else (out, reward, ended)
        if self._team.threads == 1 and self.group == 1:
            sense.turn(*self._turn, to, gain, end, 0, self.n)
        else:
            self._advance_together(to, gain, end)
        if self._more:
            self._rest(to)
        if self._noisy:
            sense.shake(to, self._levels, *self._bounds, self._noise_seed, self._tick, self._all)
        if own:
            out[:], reward[:], ended[:] = to[:: self.stride], gain[:: self.stride], end[:: self.stride]

    def _advance_together(self, out: Rows, reward: Array, ended: Ints) -> None:
        # Several threads, or cars that touch each other, between whose steps all must have moved.
        if self.group == 1:

            def turn(thread: int, lo: int, hi: int) -> None:
                sense.turn(*self._worlds[thread], *self._judging, out, reward, ended, lo, hi)

            self._share(turn)
            return
        for _ in range(self._looks):
            self.batch.step(self._dt, self._substeps)
        period = self.options.period

        def look(thread: int, lo: int, hi: int) -> None:
            seen, codes, values, terms, rewards, limit = self._judging
            sense.look(*self._blocks, seen, codes, values, terms, rewards, *self._road, period, limit, out, reward,
                       ended, lo, hi)  # fmt: skip

        self._share(look)

    def _share(self, work: Callable[[int, int, int], object]) -> None:
        # `work(thread, lo, hi)` for cars lo..hi - 1, whole blocks at a time.
        def blocks(thread: int, lo: int, hi: int) -> None:
            work(thread, lo * LANES, min(hi * LANES, self.n))

        self._team.share(blocks, -(-self.n // LANES), LEAST)

    def _rest(self, out: Rows) -> None:
        # Parts that are not made by `fill`, of all cars.
        program, road = self.program, self.track.road
        if self._eyes:
            sense.poses(self.seen, self._poses)
        for eye in self._eyes:

            def scan(thread: int, lo: int, hi: int, eye: _Eye = eye) -> None:
                eye.scanner.scan(self._walls, self._poses, eye.ranges, self._boxes, self.group, lo, hi)
                np.multiply(eye.ranges[lo:hi], 1.0 / eye.scanner.limit, out=out[lo:hi, eye.where], casting="same_kind")

            self._share(scan)

        def write(thread: int, lo: int, hi: int) -> None:
            program.write_rest(self.seen, road, out, self.group, lo, hi)

        self._share(write)

    def _see_again(self, out: Rows, cars: Ints) -> None:
        # Observe cars that were put somewhere, and hand on what learners see.
        program, road = self.program, self.track.road
        own = self.stride > 1
        to = self._own[0] if own else out
        sense.look_again(*self._blocks, self.seen, program.codes, program.values, program.terms, *self._road, to, cars)
        if self._eyes:
            sense.poses(self.seen, self._poses)
        for eye in self._eyes:
            if len(cars) == self.n:
                eye.scanner.scan(self._walls, self._poses, eye.ranges, self._boxes, self.group)
            else:
                for car in cars.tolist():
                    eye.scanner.scan(self._walls, self._poses, eye.ranges, self._boxes, self.group, car, car + 1)
            to[cars, eye.where] = eye.ranges[cars] / eye.scanner.limit
        if not program.only_terms:
            if len(cars) == self.n:
                program.write_rest(self.seen, road, to, self.group, 0, self.n)
            else:
                for car in cars.tolist():
                    program.write_rest(self.seen, road, to, self.group, car, car + 1)
        if self._noisy:
            sense.shake(to, self._levels, program.low, program.high, self._noise_seed, self._tick, cars)
        if own:
            learners = cars[cars % self.stride == 0]
            out[learners // self.stride] = to[learners]

    def _put(self, rng: np.random.Generator, cars: Ints, places: Array) -> None:
        # New cars, new places, nothing asked for so far.
        vary, k = self.options.vary, len(cars)
        if self._scaling is not None:
            drawn = [rng.uniform(*between, k) for between in (vary.mass, vary.grip, vary.stiffness)]
            self._scaling.apply(self.batch, cars, *drawn)
        if vary.delay:
            self._delays[cars] = rng.integers(0, vary.delay + 1, k)
            self._history[:, cars] = 0.0
        if self._noisy:
            self._levels[cars] = rng.uniform(*vary.noise, k)
        x, y, yaw, speed = (np.ascontiguousarray(column) for column in places.T)
        self.batch.place(cars, x, y, yaw, speed)
        begin(self.seen, cars)
