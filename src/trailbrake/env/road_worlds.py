"""`RoadWorlds`: the worlds of an environment that are on the same road, one step after the other.

Rivals: cars that do not learn and follow the road at a steady pace.

They steer towards a point ahead at their side of the centreline (pure pursuit: R. C. Coulter, Implementation of the
pure pursuit path tracking algorithm, CMU-RI-TR-92-01, 1992: curvature = 2 sin(alpha) / distance). Their speed keeps the
lateral acceleration in the bends ahead below MAX_LATERAL.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from trailbrake.arrays import Array, Ints, Rows
from trailbrake.cars.params import CarParams
from trailbrake.env import step_kernels
from trailbrake.env.domain_randomisation import StartSampler
from trailbrake.env.options import RaceOptions
from trailbrake.env.step_kernels import ActionQueue, LearnerArrays, ObservationNoise, StepTiming, car_param
from trailbrake.kernels import bind_entry, exact_inline_jit, jit
from trailbrake.kernels.lane_blocks import LANES
from trailbrake.kernels.thread_team import Team
from trailbrake.observe.derived_features import reset_features
from trailbrake.observe.features import Feature
from trailbrake.observe.task_spec import PlannedRoad, TaskSpec
from trailbrake.planning.course import tabulate_plan
from trailbrake.tracks.frenet import RoadTable, column_at
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track import Track
from trailbrake.tracks.walls import Walls
from trailbrake.world.batch import Batch
from trailbrake.world.car_scaling import CarScaling
from trailbrake.world.kernel_arguments import CarBlocks
from trailbrake.world.range_scanner import RangeScanner
from trailbrake.world.row_layout import AxleRow, ControlRow, ParamRow

MIN_BLOCKS = 16  # blocks of cars for which it pays to wake another thread


# Controls that no action sets: NaN leaves the gear to the automatic, and the torques to powertrain and brakes.
_UNSET_ROWS = (
    ControlRow.GEAR,
    *(ControlRow.DRIVE_TORQUE + i for i in range(4)),
    *(ControlRow.BRAKE_TORQUE + i for i in range(4)),
)
_ZERO_ROWS = (
    ControlRow.STEER, ControlRow.THROTTLE, ControlRow.BRAKE, ControlRow.CLUTCH, ControlRow.HANDBRAKE, ControlRow.DRS,
    ControlRow.BOOST,
)  # fmt: skip

MAX_LATERAL = 5.0  # m/s^2
MAX_SPEED = 30.0  # m/s
LATERAL_SHARE = 0.35  # distance from the centreline over the width of that side; odd cars left, even cars right
_DECELERATION = 4.0  # m/s^2, of planned braking
_PREVIEW_POINTS = 8  # points ahead at which the curvature is read
_PEDAL_PER_SPEED = 0.5  # share of full pedal per m/s of speed error


@exact_inline_jit
def drive_rival(cars: CarBlocks, features: Array, road: RoadTable, group_size: int, car: int) -> None:
    """Write the controls of a car, unless it is the first of its world; the rest as `drive_rivals`."""
    blocks = cars.cars
    number = car % group_size
    if number == 0:
        return
    block, lane = car // LANES, car % LANES
    s, offset, heading = features[Feature.S, car], features[Feature.OFFSET, car], features[Feature.HEADING, car]
    speed = max(features[Feature.VELOCITY_X, car], 0.0)
    distance = 6.0 + 0.5 * speed  # m to the point that it steers to
    column = RoadColumn.WIDTH_LEFT if number % 2 == 1 else RoadColumn.WIDTH_RIGHT
    side = LATERAL_SHARE * column_at(road, s + distance, column) * (1.0 if number % 2 == 1 else -1.0)
    # The point in the road's axes at the car, with the road up to there as a circle.
    bend = column_at(road, s + 0.5 * distance, RoadColumn.CURVATURE)
    aside = side + 0.5 * bend * distance * distance - offset
    alpha = math.atan2(aside, distance) - heading
    alpha -= 2.0 * math.pi * math.floor(alpha / (2.0 * math.pi) + 0.5)
    wheelbase = car_param(cars, AxleRow.X, car) - car_param(cars, AxleRow.X + 1, car)
    angle = math.atan(2.0 * wheelbase * math.sin(alpha) / math.sqrt(distance * distance + aside * aside))
    steer = angle / car_param(cars, ParamRow.STEER_MAX, car)
    target_speed = MAX_SPEED
    reach = 5.0 + speed * speed / (2.0 * _DECELERATION)
    for k in range(_PREVIEW_POINTS):
        ahead = reach * k / (_PREVIEW_POINTS - 1.0)
        curvature = max(abs(column_at(road, s + ahead, RoadColumn.CURVATURE)), 1e-4)
        target_speed = min(target_speed, math.sqrt(MAX_LATERAL / curvature + 2.0 * _DECELERATION * ahead))
    pedal = _PEDAL_PER_SPEED * (target_speed - speed)
    blocks[block, ControlRow.STEER * LANES + lane] = min(max(steer, -1.0), 1.0)
    blocks[block, ControlRow.THROTTLE * LANES + lane] = min(max(pedal, 0.0), 1.0)
    blocks[block, ControlRow.BRAKE * LANES + lane] = min(max(-pedal, 0.0), 1.0)


@jit
def drive_rivals(cars: CarBlocks, features: Array, road: RoadTable, group_size: int) -> None:
    """Write the controls of all cars except the first of each world.

    Args:
        cars: controls are written.
        features: (Feature.COUNT, n or more), all rows up to date.
        road: the road.
        group_size: number of cars in a world.
    """
    for car in range(cars.n):
        drive_rival(cars, features, road, group_size, car)


class _CarScanner:
    # A range scanner on every car, its ranges, and their columns in an observation.
    def __init__(self, scanner: RangeScanner, columns: slice, n: int) -> None:
        self.scanner, self.columns = scanner, columns
        self.ranges: Rows = np.zeros((n, len(scanner.angles)), np.float32)


class RoadWorlds:
    """Worlds on one road.

    Args:
        track: the track.
        car: the car that all learners and rivals drive.
        worlds: number of worlds.
        options: of the environment.
        task: the learning task that `options` declare.
        team: threads that share the work.

    Attributes:
        n: number of cars.
        learners: number of cars that learn: every `stride`-th.
        features: (Feature.COUNT, n or more).
    """

    def __init__(
        self, track: Track, car: CarParams, worlds: int, options: RaceOptions, task: TaskSpec, team: Team
    ) -> None:
        self.track, self.options, self.task = track, options, task
        plan = tabulate_plan(options.plan_course(track, car)) if task.needs_plan else None
        self._planned_road = PlannedRoad(track.road, plan)
        self.n = n = worlds * options.cars
        self.group_size = options.cars
        self.stride = options.cars if options.rivals else 1
        self.learners = n // self.stride
        self._team = team
        self.batch = batch = Batch(track, [car], n, group_size=options.cars, team=team, slipstream=options.slipstream)
        for rows, value in ((_ZERO_ROWS, 0.0), (_UNSET_ROWS, np.nan)):
            for row in rows:
                batch.set_row(int(row), np.full(n, value))
        # A row length that is no power of two: rows would otherwise share their lines of the cache.
        self.features: Array = np.zeros((Feature.COUNT, (-(-n // LANES) + 1) * LANES))
        vary = options.vary
        self._scaling = CarScaling(car) if vary.varies_cars else None
        if vary.varies_cars:
            batch.separate_params()
        self._start_sampler = StartSampler(track.road, options.start)
        self._noise_levels: Array = np.zeros(n)
        self._noise: ObservationNoise | None = None
        self._slot = self._tick = 0
        self._all_cars = np.arange(n)
        self._build_kernel_arguments()
        self._scanners = [_CarScanner(RangeScanner(s.beams, s.field, s.limit), columns, n) for s, columns in task.scans]
        self._poses, self._boxes = np.zeros((n, 3)), np.zeros((n, 3))
        if self._scanners:
            self._walls = Walls.from_roads(*track.roads)
            step_kernels.write_boxes(self._cars, self._boxes)

    def _build_kernel_arguments(self) -> None:
        """Build the arguments of kernels that stay the same from step to step."""
        batch, options, vary, n = self.batch, self.options, self.options.vary, self.n
        self._cars, self._road = batch.blocks, batch.road
        substeps = options.substeps // options.outer_steps
        self._timing = StepTiming(options.period / options.substeps, substeps, options.outer_steps)
        self._tables = self.task.tables._replace(time_limit=options.limit - 0.5 * options.period)
        history: Array = np.zeros((vary.delay + 1, n, 3))
        self._queue = ActionQueue(self.task.action.kernel_codes, history, np.zeros(n, np.int64), self.stride)
        # With rivals, the observations of all cars, of which the learners' are handed on.
        self._own = LearnerArrays(
            self.features, np.zeros((n, self.task.width), np.float32), np.zeros(n), np.zeros(n, np.int64)
        )
        self._entries_bound = False
        self._observe_and_reward: Callable[..., object] | None = None

    def __getstate__(self) -> dict[str, Any]:
        bound = ("_apply_actions", "_drive_rivals", "_step_and_observe")  # compiled code is bound anew
        state = {name: value for name, value in vars(self).items() if name not in bound}
        return {**state, "_entries_bound": False, "_observe_and_reward": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._bind_entries()

    def _bind_entries(self) -> None:
        """Bind the kernels that every step calls to the types of their arguments, in the order of a step.

        The order in which kernels are first compiled can change the last bit of what the road's kernels return.
        """
        if self._entries_bound:
            return
        self._entries_bound = True
        actions: Array = np.zeros((self.learners, self.task.action.width))
        self._apply_actions = bind_entry(step_kernels.apply_actions, self._cars, self.features, actions, self._queue, 0)
        if self.stride > 1:
            self._drive_rivals = bind_entry(drive_rivals, self._cars, self.features, self._road.table, self.group_size)
        if self.group_size == 1:
            self._step_and_observe = bind_entry(
                step_kernels.step_and_observe, self._cars, self.batch.work[0], self._road, self._timing, self._tables,
                self._own, 0, self.n,
            )  # fmt: skip

    def reset(self, rng: np.random.Generator, out: Rows) -> None:
        """Put all cars on start places; write the observations of those that learn into `out` (learners, width).

        Args:
            rng: source of everything that is random.
            out: written.
        """
        noise_seed = int(rng.integers(2**62))
        if self.options.vary.noise[1] > 0.0:
            self._noise = ObservationNoise(self._noise_levels, self.task.low, self.task.high, noise_seed)
        self._slot = self._tick = 0
        starts = self._start_sampler.sample_grids(rng, self.n // self.group_size, self.group_size)
        self._place_cars(rng, self._all_cars, starts)
        self._observe_placed(out, self._all_cars)
        self._bind_entries()

    def restart(self, rng: np.random.Generator, learners: Ints, out: Rows) -> None:
        """Put some learners on new start places, with their rivals if they have any; write their rows of `out`."""
        cars = learners * self.stride
        if self.stride > 1:
            cars = (cars[:, None] + np.arange(self.stride)[None, :]).ravel()
            self._place_cars(rng, cars, self._start_sampler.sample_grids(rng, len(learners), self.group_size))
        elif self.group_size > 1:
            for car in cars:  # one by one: each must find room among the others
                place = self._start_sampler.sample_free_place(rng, self.features, int(car), self.group_size)
                self._place_cars(rng, np.array([car]), place)
                step_kernels.copy_state_features(self._cars, self.features, int(car), int(car) + 1)
        else:
            self._place_cars(rng, cars, self._start_sampler.sample_grids(rng, len(cars), 1))
        self._observe_placed(out, cars)

    def apply_actions(self, actions: Array) -> int:
        """Apply the actions (learners, width) float64, C-contiguous.

        Returns:
            -1, or the first row with a value that is NaN or out of its range; then no action is applied.
        """
        bad: int = self._apply_actions(self._cars, self.features, actions, self._queue, self._slot)
        if self.stride > 1 and bad < 0:
            self._drive_rivals(self._cars, self.features, self._road.table, self.group_size)
        return bad

    def step_and_observe(self, out: Rows, rewards: Array, ends: Ints) -> None:
        """Make one step; write observations (learners, width), rewards and ends (learners,) of the cars that learn.

        Args:
            out: float32, C-contiguous.
            rewards: float64, contiguous.
            ends: int64, contiguous.
        """
        self._tick += 1
        if self.options.vary.delay:
            self._slot = (self._slot + 1) % len(self._queue.history)
        has_rivals = self.stride > 1
        arrays = self._own if has_rivals else LearnerArrays(self.features, out, rewards, ends)
        if self._team.threads == 1 and self.group_size == 1:
            self._step_and_observe(
                self._cars, self.batch.work[0], self._road, self._timing, self._tables, arrays, 0, self.n
            )
        else:
            self._step_in_threads(arrays)
        if not self.task.has_only_features:
            self._write_other_parts(arrays.observations)
        if self._noise is not None:
            step_kernels.add_noise(arrays.observations, self._noise, self._tick, self._all_cars)
        if has_rivals:
            own = self._own
            out[:], rewards[:], ends[:] = (
                own.observations[:: self.stride], own.rewards[:: self.stride], own.ends[:: self.stride]
            )  # fmt: skip

    def _step_in_threads(self, arrays: LearnerArrays) -> None:
        if self.group_size == 1:

            def step(thread: int, lo: int, hi: int) -> None:
                self._step_and_observe(
                    self._cars, self.batch.work[thread], self._road, self._timing, self._tables, arrays, lo, hi
                )

            self._parallel_for(step)
            return
        # Cars that touch each other: all must have moved before the next outer step.
        for _ in range(self._timing.outer_steps):
            self.batch.step(self._timing.dt, self._timing.substeps)
        if self._observe_and_reward is None:  # after the world's own kernels: see `_bind_entries`
            self._observe_and_reward = bind_entry(
                step_kernels.observe_and_reward, self._cars, self._road.table, self._tables, self.options.period,
                arrays, 0, self.n,
            )  # fmt: skip
        observe_and_reward = self._observe_and_reward

        def observe(thread: int, lo: int, hi: int) -> None:
            observe_and_reward(self._cars, self._road.table, self._tables, self.options.period, arrays, lo, hi)

        self._parallel_for(observe)

    def _parallel_for(self, task: Callable[[int, int, int], object]) -> None:
        # `task(thread, lo, hi)` for the cars lo..hi - 1, whole blocks at a time.
        def run_blocks(thread: int, lo: int, hi: int) -> None:
            task(thread, lo * LANES, min(hi * LANES, self.n))

        self._team.parallel_for(run_blocks, -(-self.n // LANES), MIN_BLOCKS)

    def _write_other_parts(self, out: Rows) -> None:
        # The parts that `write_features` does not write, of all cars.
        task, road = self.task, self._planned_road
        if self._scanners:
            step_kernels.write_poses(self.features, self._poses)
        for scanner in self._scanners:

            def scan(thread: int, lo: int, hi: int, scanner: _CarScanner = scanner) -> None:
                self._scan_cars(scanner, lo, hi)
                scale = 1.0 / scanner.scanner.max_range
                np.multiply(scanner.ranges[lo:hi], scale, out=out[lo:hi, scanner.columns], casting="same_kind")

            self._parallel_for(scan)

        def write(thread: int, lo: int, hi: int) -> None:
            task.write_other_parts(self.features, road, out, self.group_size, lo, hi)

        self._parallel_for(write)

    def _scan_cars(self, scanner: _CarScanner, lo: int, hi: int) -> None:
        scanner.scanner.scan_cars(self._walls, self._poses, scanner.ranges, self._boxes, self.group_size, lo, hi)

    def _observe_placed(self, out: Rows, cars: Ints) -> None:
        # Observe cars that were placed, and hand on the observations of those that learn.
        task, road = self.task, self._planned_road
        has_rivals = self.stride > 1
        to = self._own.observations if has_rivals else out
        step_kernels.observe_cars(self._cars, self.features, self._road.table, self._tables, to, cars)
        ranges = [(0, self.n)] if len(cars) == self.n else [(car, car + 1) for car in cars.tolist()]
        if self._scanners:
            step_kernels.write_poses(self.features, self._poses)
        for scanner in self._scanners:
            for lo, hi in ranges:
                self._scan_cars(scanner, lo, hi)
            to[cars, scanner.columns] = scanner.ranges[cars] / scanner.scanner.max_range
        if not task.has_only_features:
            for lo, hi in ranges:
                task.write_other_parts(self.features, road, to, self.group_size, lo, hi)
        if self._noise is not None:
            step_kernels.add_noise(to, self._noise, self._tick, cars)
        if has_rivals:
            learners = cars[cars % self.stride == 0]
            out[learners // self.stride] = to[learners]

    def _place_cars(self, rng: np.random.Generator, cars: Ints, places: Array) -> None:
        # New cars on new places, without a commanded action so far.
        vary, k = self.options.vary, len(cars)
        if self._scaling is not None:
            mass, grip, stiffness = (rng.uniform(*bounds, k) for bounds in (vary.mass, vary.grip, vary.stiffness))
            self._scaling.scale_cars(self.batch, cars, mass, grip, stiffness)
        if vary.delay:
            self._queue.delays[cars] = rng.integers(0, vary.delay + 1, k)
            self._queue.history[:, cars] = 0.0
        if vary.noise[1] > 0.0:
            self._noise_levels[cars] = rng.uniform(*vary.noise, k)
        x, y, yaw, speed = (np.ascontiguousarray(column) for column in places.T)
        self.batch.place_cars(cars, x, y, yaw, speed)
        reset_features(self.features, cars)
