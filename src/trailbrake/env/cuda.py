"""`CudaRaceBatch`: a `RaceBatch` that lives on a graphics card, arrays of the card in and arrays of the card out."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numba.cuda
import numpy as np
from numpy.typing import NDArray

from trailbrake.cars.car_library import load_car
from trailbrake.env.batch import count_worlds, make_generator, spread_worlds
from trailbrake.env.cuda_kernels import get_race_kernels
from trailbrake.env.domain_randomisation import StartSampler
from trailbrake.env.options import RANDOM, RaceOptions
from trailbrake.errors import UsageError
from trailbrake.kernels.cuda_memory import check_memory, stack_tables, take_array
from trailbrake.observe.features import Feature
from trailbrake.observe.parts import MAX_SCALED, EdgesPart, LinePart, NearestCarsPart, PlanPart, ScanPart
from trailbrake.planning.course import tabulate_plan
from trailbrake.tracks.random_circuit import generate_circuit
from trailbrake.tracks.track import Track
from trailbrake.tracks.track_library import load_track
from trailbrake.tracks.walls import Walls
from trailbrake.world.car_scaling import CarScaling, ScalingLaws
from trailbrake.world.cuda import CudaBatch
from trailbrake.world.cuda_kernels import launch
from trailbrake.world.param_packing import pack_car
from trailbrake.world.range_scanner import RangeScanner
from trailbrake.world.row_layout import ControlRow, ParamRow, WorkRow

cuda: Any = numba.cuda
Ints = NDArray[np.int32]


class CudaStep(NamedTuple):
    """What a step of a `CudaRaceBatch` returns: arrays on the card, the same in every step.

    Attributes:
        observations: (n, width) float32; where an episode has ended, the first of the next one.
        rewards: (n,).
        ends: (n,) int64: 0 while the episode goes on, k > 0 for the k-th end of `task.ends`, -1 at the time limit.
        final_observations: (n, width) float32, the last of each episode that has ended since the last `reset`.
    """

    observations: Any
    rewards: Any
    ends: Any
    final_observations: Any


class CudaRaceBatch:
    """`n` learners, each with a car, on a graphics card: what `RaceBatch` does by the same options, to rounding.

    Episodes that end are restarted in the same step. Neither a step nor a restart waits for the card or copies to the
    host. Where cars start, and which, is drawn on the card: uniformly distributed as on the processor, but not the
    same numbers. Other libraries read and write the arrays in place by `__cuda_array_interface__`
    (`torch.as_tensor(array, device="cuda")`); they and the card's default stream are in order.

    Args:
        options: the environment; None for the defaults.
        n: number of learners, as in `RaceBatch`.
        seed: of everything that is random; None for a new one.
        single_precision: float32, for which cards are made; False for float64.

    Attributes:
        options: of the environment.
        task: what learners observe, their rewards, the ends of episodes, and the actions.
        n: number of learners.
        world: the cars.

    Raises:
        UsageError: options out of range, or numbers that do not fit together; no card, or one with too little memory.
    """

    def __init__(
        self,
        options: RaceOptions | None = None,
        n: int = 1,
        *,
        seed: int | Sequence[int] | None = None,
        single_precision: bool = True,
    ) -> None:
        self.options = options = options or RaceOptions()
        self.task = options.build_task()
        if options.slipstream:
            raise UsageError("the worlds of a graphics card have no slipstream", where="slipstream",
                             hint="leave it out, or use the processor")  # fmt: skip
        if options.clip_actions:
            raise UsageError("a card does not clip actions", where="clip_actions", expected="False", got="True")
        self._world_count = count_worlds(options, n)
        self.n, self._stride = n, options.cars if options.rivals else 1
        self._cars = [load_car(name) for name in options.car_names]
        names = options.track_names
        self._tracks = [] if RANDOM in names else [load_track(name) for name in dict.fromkeys(names)]
        self._track_numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        self._rng = make_generator(seed)
        self._single = single_precision
        self._kernels = get_race_kernels(single=single_precision)
        self._real: Any = np.float32 if single_precision else np.float64
        check_memory(self._world_count * options.cars, self.count_car_bytes())
        self.world: CudaBatch | None = None

    def count_car_bytes(self) -> int:
        """Return the bytes of a car in the card's memory."""
        options, size = self.options, int(np.dtype(self._real).itemsize)
        world = CudaBatch.count_car_bytes(own_params=options.vary.varies_cars, single_precision=self._single)
        numbers = int(Feature.COUNT) + 3 * (options.vary.delay + 1) + 5  # features, history; reward, noise, box
        return world + numbers * size + 8 * self.task.width + 33  # observations; ends, placed, episodes, delay, models

    def reset(self, seed: int | Sequence[int] | None = None) -> Any:
        """Start all episodes, on new roads if those are random; return the observations (n, width) on the card.

        Args:
            seed: restarts the random numbers: batches of the same options and seed then do the same. None continues.
        """
        if seed is not None:
            self._rng = make_generator(seed)
        if self.world is None or not self._tracks:
            self._build()
        self._seed.copy_to_device(np.array([self._rng.integers(2**62)]))
        self._clock.copy_to_device(np.zeros(2, np.int64))
        n = self._out[3].shape[0]
        self._episodes[2].copy_to_device(np.zeros(n, np.int64))
        self._out[3].copy_to_device(np.ones(n, np.int64))
        self._restart(whole=True)
        return self._step.observations

    def step(self, actions: Any) -> CudaStep:
        """Make one step of `options.period`, and restart the episodes that end in it. Returns before the card is done.

        Args:
            actions: (n, width of the action), an array on the card of the batch's precision, C-contiguous; one of the
                processor is copied. A car whose action is NaN or out of its range keeps its controls: see
                `check_actions`.

        Returns:
            Arrays on the card, which the next step overwrites.

        Raises:
            UsageError: an array of the wrong shape or precision, no `reset` before.
        """
        world, kernels, options = self.world, self._kernels, self.options
        if world is None:
            raise UsageError("not begun", where="step", hint="call reset() first")
        features, n = self._out[0], world.n
        launch(kernels.act, self.n, world.arrays, features, self._take_actions(actions), self._queue, self._clock)
        if self._stride > 1:
            launch(kernels.drive, n, world.arrays, features, world.roads, options.cars)
        for _ in range(options.outer_steps):
            world.step(options.period / options.substeps, options.substeps // options.outer_steps)
        launch(kernels.observe, n, world.arrays, world.roads, self._tables, self._out, self._clock)
        self._write_other_parts(world.everyone)
        self._restart(whole=self._stride > 1)
        return self._step

    def restart_ended(self) -> Any:
        """Restart the episodes whose end is not 0 in `CudaStep.ends`, where a caller may write; return observations."""
        self._restart(whole=self._stride > 1)
        return self._step.observations

    def check_actions(self) -> None:
        """Wait for the card; raise UsageError if an action since the last call was NaN or out of its range."""
        bad = int(self._clock.copy_to_host()[1])
        if bad:
            self._clock[1:].copy_to_device(np.zeros(1, np.int64))
            action = self.task.action
            raise UsageError(
                "an action that is no number or outside its range", where=f"action[{bad - 1}]",
                expected=f"{action.name}: {action.low} .. {action.high}",
            )  # fmt: skip

    def view_feature(self, feature: Feature) -> Any:
        """Return a feature of all learners as an array on the card, (n,), a view."""
        return self._out[0][int(feature), :: self._stride]

    def end_name(self, code: int) -> str:
        """Return the name of an end by its code from `step`; "" for 0, "limit" for -1."""
        return "" if code == 0 else "limit" if code < 0 else self.task.ends[code - 1].name

    def synchronize(self) -> None:
        """Wait until the card has done all steps."""
        cuda.synchronize()

    def _take_actions(self, actions: Any) -> Any:
        actions = take_array(actions, self._real)
        shape = self.n, self.task.action.width
        if actions.shape != shape or actions.dtype != self._real or not actions.is_c_contiguous():
            expected = f"{shape} {np.dtype(self._real)}, contiguous"
            got = f"{tuple(actions.shape)} {actions.dtype}"
            raise UsageError("actions do not fit the learners", where="action", expected=expected, got=got)
        return actions

    def _restart(self, *, whole: bool) -> None:
        # Restart the episodes that have ended, and observe their first state.
        world, kernels, placed = self.world, self._kernels, self._episodes[1]
        assert world is not None
        starts = *self._starts, (*self._start_numbers[:4], whole, *self._start_numbers[4:])
        observations = self._out[1], self._final
        launch(kernels.restart, self._world_count, world.arrays, world.roads, starts, self._episodes, observations)
        world.update_ground(placed)
        launch(kernels.observe_placed, world.n, world.arrays, world.roads, self._tables, self._out, placed)
        self._write_other_parts(placed)

    def _write_other_parts(self, chosen: Any) -> None:
        # The parts that `write_features` does not write, and the noise.
        observations = self._out[1]
        for kernel, arguments in self._parts:
            launch(kernel, chosen.shape[0], self._out[0], *arguments, observations, chosen)
        if self.options.vary.noise[1] > 0.0:
            launch(self._kernels.add_noise, chosen.shape[0], observations, self._noise, self._clock, chosen)

    def _build(self) -> None:
        # Everything on the card that lasts as long as the roads.
        options, task, vary, real = self.options, self.task, self.options.vary, self._real
        tracks = self._tracks or [generate_circuit(int(self._rng.integers(2**31))) for _ in range(options.roads)]
        is_named = bool(self._tracks)
        numbers = [self._track_numbers[name] for name in options.track_names] if is_named else [*range(len(tracks))]
        spread = spread_worlds(self._world_count, len(numbers), len(self._cars))
        pairs, counts = [(numbers[t], c) for t, c, _ in spread], [count * options.cars for _, _, count in spread]
        tracks_of_cars, models = (np.repeat(np.array(column, np.int32), counts) for column in zip(*pairs, strict=True))
        self.world = world = CudaBatch(
            tracks, self._cars, tracks_of_cars, models, group_size=options.cars, single_precision=self._single,
            own_params=vary.varies_cars,
        )  # fmt: skip
        for row in (ControlRow.CLUTCH, ControlRow.HANDBRAKE, ControlRow.DRS, ControlRow.BOOST):
            world.set_row(row, 0.0)
        n, to = world.n, cuda.to_device
        ends, features = to(np.zeros(n, np.int64)), to(np.zeros((Feature.COUNT, n), real))
        self._out = features, to(np.zeros((n, task.width), np.float32)), to(np.zeros(n, real)), ends
        self._final = to(np.zeros((n, task.width), np.float32))
        self._step = CudaStep(*(array[:: self._stride] for array in (*self._out[1:], self._final)))
        self._clock, self._seed = to(np.zeros(2, np.int64)), to(np.zeros(1, np.int64))  # tick, bad action + 1
        codes, values, feature_count, reward_count, _, remembers = task.tables
        limit = real(options.limit - 0.5 * options.period)
        period = real(options.period)
        self._tables = to(codes), to(values.astype(real)), feature_count, reward_count, limit, remembers, period
        history, delays = to(np.zeros((vary.delay + 1, n, 3), real)), to(np.zeros(n, np.int64))
        self._queue = to(task.action.kernel_codes.astype(real)), history, delays, self._stride
        levels, counts_of_episodes = to(np.zeros(n, real)), to(np.zeros(n, np.int64))
        placed = to(np.zeros(n, np.uint8))
        self._episodes = ends, placed, counts_of_episodes, self._seed, features, history, delays, levels
        self._noise = levels, to(task.low), to(task.high), self._seed
        self._starts, self._start_numbers = self._tabulate_starts(tracks, models)
        self._parts = self._build_parts(tracks, pairs, counts, models)

    def _tabulate_starts(self, tracks: Sequence[Track], models: Ints) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        # The arguments of the kernel `restart` about starts: arrays, and numbers.
        start, vary, real, to = self.options.start, self.options.vary, self._real, cuda.to_device
        samplers = [StartSampler(track.road, start) for track in tracks]
        free, fastest = (
            stack_tables(rows, real)[0] for rows in zip(*(sampler.room[:2] for sampler in samplers), strict=True)
        )
        behind = (self.options.cars - 1) * start.gap
        positions = [[*sampler.position_range(behind), *sampler.position_range(0.0)] for sampler in samplers]
        ranges = [vary.mass, vary.grip, vary.stiffness, vary.noise]
        if vary.varies_cars:
            scalings = [CarScaling(car).laws for car in self._cars]
        else:
            scalings = [ScalingLaws(np.zeros(0, np.int64), np.zeros((0, 4)))] * len(self._cars)
        rows, law_starts = stack_tables([scaling.rows for scaling in scalings], np.int64)
        laws, _ = stack_tables([scaling.laws for scaling in scalings], real)
        arrays = free, fastest, np.array(positions, real), np.array(start.speed, real), np.array(ranges, real)
        shape = real(start.offset), real(start.heading), real(start.gap)
        numbers = *shape, start.anywhere, self.options.cars, vary.delay + 1
        return tuple(map(to, (*arrays, rows, laws, law_starts, models))), numbers

    def _name_plan(self, track: int, car: int) -> tuple[int, int]:
        # Pairs of a track and a car with the same name observe the same plan.
        return track, 0 if self.options.plan_car else car

    def _build_parts(
        self, tracks: Sequence[Track], pairs: Sequence[tuple[int, int]], counts: Sequence[int], models: Ints
    ) -> list[tuple[Any, tuple[Any, ...]]]:
        # The kernel and the arguments of each part that `write_features` does not write.
        task, real, to, kernels, world = self.task, self._real, cuda.to_device, self._kernels, self.world
        assert world is not None
        plans: tuple[Any, ...] = ()
        if task.needs_plan:
            planned = {
                name: tabulate_plan(self.options.plan_course(tracks[name[0]], self._cars[name[1]]))
                for name in dict.fromkeys(self._name_plan(*pair) for pair in pairs)
            }
            stacked = [stack_tables(rows, real) for rows in zip(*planned.values(), strict=True)]
            place = {name: number for number, name in enumerate(planned)}
            numbers = np.repeat(np.array([place[self._name_plan(*pair)] for pair in pairs], np.int32), counts)
            plans = *(to(rows) for rows, _ in stacked), to(stacked[0][1]), to(numbers)
        walls: tuple[Any, ...] = ()
        if task.scans:
            walls = tuple(map(to, stack_walls([Walls.from_roads(*track.roads) for track in tracks], real)))
            sizes = np.array(
                [[pack_car(car, tyre_heat=False)[row - WorkRow.COUNT] for row in _BOX_ROWS] for car in self._cars]
            )
            boxes = to(sizes[models].astype(real))
        parts: list[tuple[Any, tuple[Any, ...]]] = []
        bound = real(MAX_SCALED)
        for part, columns in zip(task.parts, task.slices, strict=True):
            first = columns.start
            if isinstance(part, EdgesPart):
                ahead = to(np.array(part.ahead, real))
                parts.append((kernels.write_edges, (world.roads, (ahead, real(part.scale), first, bound))))
            elif isinstance(part, NearestCarsPart):
                nearest = self.options.cars, part.count, real(part.reach), first
                parts.append((kernels.write_nearest, (nearest,)))
            elif isinstance(part, PlanPart):
                kernel = kernels.write_line if isinstance(part, LinePart) else kernels.write_plan
                parts.append((kernel, (world.roads, (plans, to(np.array(part.ahead, real)), first, bound))))
            elif isinstance(part, ScanPart):
                scanner = RangeScanner(part.beams, part.field, part.limit)
                fan = *(to(beams.astype(real)) for beams in scanner.fan[:2]), *map(real, scanner.fan[2:])
                mounted = to(scanner.mount.astype(real)), boxes, self.options.cars, first, part.beams
                parts.append((kernels.scan, (world.roads, (walls, fan, *mounted))))
        return parts


_BOX_ROWS = ParamRow.HALF_LENGTH, ParamRow.HALF_WIDTH, ParamRow.BOX_CENTRE


def stack_walls(walls: Sequence[Walls], dtype: Any) -> tuple[NDArray[Any], ...]:
    """Return the walls of several tracks as the kernel `scan` takes them.

    The arrays of `Walls.kernel_arrays` stand one below the other; those of the grid stay in double precision. The last
    array, (tracks + 1, 8), has where those of each track begin: cross-sections, segments, starts, items, the same of
    the quads; and the size of its `free`, which is padded.
    """
    sections, links, segments, frames, free, starts, items, quad_starts, quad_items = zip(
        *(own.kernel_arrays for own in walls), strict=True
    )
    shapes = np.array([grid.shape for grid in free])
    padded = np.zeros((len(walls), *shapes.max(axis=0)), np.uint8)
    for k, grid in enumerate(free):
        padded[k, : grid.shape[0], : grid.shape[1]] = grid
    section_rows, section_starts = stack_tables(sections, dtype)
    segment_rows, segment_starts = stack_tables(segments, np.float64)
    lists = [stack_tables(rows, np.int32) for rows in (starts, items, quad_starts, quad_items)]
    places = np.zeros((len(walls) + 1, 8), np.int64)
    for column, begins in enumerate([section_starts, segment_starts, *(begins for _, begins in lists)]):
        places[:, column] = begins
    places[:-1, 6:] = shapes
    links_below = stack_tables(links, np.int32)[0]
    return (
        section_rows, links_below, segment_rows, np.stack(frames), padded, *(rows for rows, _ in lists), places
    )  # fmt: skip
