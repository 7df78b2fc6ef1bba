"""Kernels between the blocks of the world and the arrays of learners: actions in; observations, rewards, ends out."""

from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array, Ints, Rows
from trailbrake.kernels import exact_inline_jit, jit, lane_jit
from trailbrake.kernels.lane_blocks import LANES
from trailbrake.observe.derived_features import derive_features, record_command
from trailbrake.observe.features import Feature
from trailbrake.observe.felt_features import remember_step
from trailbrake.observe.observation_kernels import TaskTables, compute_rewards, write_features
from trailbrake.tracks.frenet import RoadTable
from trailbrake.units import G
from trailbrake.world.integration import advance_blocks
from trailbrake.world.kernel_arguments import CarBlocks, RoadTables, StepPlan
from trailbrake.world.random_numbers import normal_from_word, philox
from trailbrake.world.row_layout import ControlRow, ParamRow, StateRow, WorkRow

_BLOCKS_AT_ONCE = 4  # blocks advanced before they are observed: they stay in the second-level cache
_NOISE_STREAM = 7  # of `random_numbers`: the noise on observations
# The row of the world behind each row of `Feature` up to CURVATURE.
_STATE_ROWS = np.array(
    [
        StateRow.X, StateRow.Y, StateRow.YAW, StateRow.VX, StateRow.VY, StateRow.YAW_RATE, StateRow.AX, StateRow.AY,
        StateRow.STEER, StateRow.THROTTLE, StateRow.BRAKE, StateRow.ENGINE_SPEED, StateRow.GEAR,
        *(StateRow.SLIP + i for i in range(4)), *(StateRow.LOAD + i for i in range(4)),
        *(StateRow.ON_TRACK + i for i in range(4)), StateRow.CONTACTS, StateRow.S, StateRow.OFFSET, StateRow.HEADING,
        StateRow.CURVATURE,
    ],
    np.int64,
)  # fmt: skip


class ActionQueue(NamedTuple):
    """How actions reach the cars.

    Attributes:
        codes: `ActionSpec.kernel_codes`.
        history: (depth, n, 3) the last commanded steer, throttle and brake of each car, one slot a step.
        delays: (n,) int64 steps, less than depth, that each car's controls lag behind its actions.
        stride: number of cars from one learner to the next.
    """

    codes: Array
    history: Array
    delays: Ints
    stride: int


class LearnerArrays(NamedTuple):
    """What a step writes for n cars.

    Attributes:
        features: (Feature.COUNT, n or more).
        observations: (n, width) float32, written at the places of the task's features.
        rewards: (n,).
        ends: (n,) int64, coded as by `compute_rewards`.
    """

    features: Array
    observations: Rows
    rewards: Array
    ends: Ints


class StepTiming(NamedTuple):
    """The length of one step of an environment: `outer_steps` times `substeps` times `dt`.

    Attributes:
        dt: s, length of a substep.
        substeps: substeps in an outer step of the world.
        outer_steps: outer steps of the world in a step of the environment.
    """

    dt: float
    substeps: int
    outer_steps: int


class ObservationNoise(NamedTuple):
    """Gaussian noise on observations.

    Attributes:
        levels: (n,) standard deviation of each car's noise, in scaled numbers.
        low, high: (width,) float32 bounds that noisy observations are clipped to.
        seed: 0 .. 2**63 - 1.
    """

    levels: Array
    low: Rows
    high: Rows
    seed: int


@exact_inline_jit
def is_valid_action(codes: Array, actions: Array, k: int) -> bool:
    """Return whether all numbers of row `k` of `actions` are within the range that `ActionSpec.kernel_codes` gives."""
    width = actions.shape[1]
    valid = True
    for i in range(width):
        if not codes[5 + i] <= actions[k, i] <= codes[5 + width + i]:
            valid = False
    return valid


@exact_inline_jit
def apply_action(cars: CarBlocks, features: Array, actions: Array, queue: ActionQueue, slot: int, k: int) -> None:
    """Set the controls of a car to its action of `delays` steps ago; arguments as `apply_actions`, and the row `k`."""
    codes, history, delays, stride = queue
    blocks = cars.cars
    car = k * stride
    steer = codes[5 + 2 * actions.shape[1]] * actions[k, int(codes[0])]
    throttle = max(codes[2] * actions[k, int(codes[1])], 0.0)
    brake = max(codes[4] * actions[k, int(codes[3])], 0.0)
    record_command(features, car, steer, throttle, brake)
    history[slot, car, 0] = steer
    history[slot, car, 1] = throttle
    history[slot, car, 2] = brake
    delayed = (slot - delays[car]) % history.shape[0]
    block, lane = car // LANES, car % LANES
    blocks[block, ControlRow.STEER * LANES + lane] = history[delayed, car, 0]
    blocks[block, ControlRow.THROTTLE * LANES + lane] = history[delayed, car, 1]
    blocks[block, ControlRow.BRAKE * LANES + lane] = history[delayed, car, 2]


@jit
def apply_actions(cars: CarBlocks, features: Array, actions: Array, queue: ActionQueue, slot: int) -> int:
    """Check actions, and set each car's controls to its action of `delays` steps ago.

    Args:
        cars: controls are written.
        features: (Feature.COUNT, n or more); the commanded controls are written.
        actions: (learners, width), of the cars 0, `queue.stride`, 2 `queue.stride`, ...
        queue: its history is written.
        slot: slot of the history for this step.

    Returns:
        -1, or the first row of `actions` with a value that is NaN or out of its range; then nothing is written.
    """
    for k in range(actions.shape[0]):
        if not is_valid_action(queue.codes, actions, k):
            return k
    for k in range(actions.shape[0]):
        apply_action(cars, features, actions, queue, slot, k)
    return -1


@jit
def car_param(cars: CarBlocks, row: int, car: int) -> float:
    """Return parameter `row` of a car."""
    value: float = cars.params[cars.kinds[car // LANES], (row - WorkRow.COUNT) * LANES + car % LANES]
    return value


@jit
def copy_state_features(cars: CarBlocks, features: Array, lo: int, hi: int) -> None:
    """Copy the state of the cars `lo`..`hi` - 1 from their blocks to the rows of `features` up to CURVATURE."""
    blocks = cars.cars
    car = lo
    while car < hi:
        b, first = car // LANES, car % LANES
        last = min(LANES, first + hi - car)
        if last - first == LANES:  # the common case: a loop of known length becomes vector code
            block = blocks[b]
            for k in range(_STATE_ROWS.shape[0]):
                source = _STATE_ROWS[k] * LANES
                to = features[k, car : car + LANES]
                for lane in range(LANES):
                    to[lane] = block[source + lane]
        else:
            for k in range(_STATE_ROWS.shape[0]):
                source = _STATE_ROWS[k] * LANES
                for lane in range(first, last):
                    features[k, b * LANES + lane] = blocks[b, source + lane]
        for lane in range(first, last):
            here = b * LANES + lane
            features[Feature.STEER, here] /= car_param(cars, ParamRow.STEER_MAX, here)
            features[Feature.ENGINE, here] *= car_param(cars, ParamRow.INVERSE_LIMITER, here)
            per_quarter = 4.0 / (G * car_param(cars, ParamRow.MASS, here))
            for wheel in range(4):
                features[Feature.LOAD + wheel, here] *= per_quarter
        car += last - first


@jit
def observe_and_reward(
    cars: CarBlocks, road: RoadTable, task: TaskTables, period: float, out: LearnerArrays, lo: int, hi: int
) -> None:
    """Write observations, rewards and ends of the cars `lo`..`hi` - 1 after a step of `period` (s).

    Of the observations it writes what `write_features` writes.
    """
    car = lo
    while car < hi:  # a few blocks at a time: what one function writes is still in the cache for the next
        last = min(hi, car + _BLOCKS_AT_ONCE * LANES)
        copy_state_features(cars, out.features, car, last)
        derive_features(out.features, road, period, car, last)
        if task.remembers:
            remember_step(out.features, period, car, last)
        write_features(out.features, task, road, out.observations, car, last)
        compute_rewards(out.features, task, out.rewards, out.ends, car, last)
        car = last


@lane_jit
def step_and_observe(
    cars: CarBlocks, work: Array, road: RoadTables, timing: StepTiming, task: TaskTables, out: LearnerArrays, lo: int,
    hi: int,
) -> None:  # fmt: skip
    """Advance the cars `lo`..`hi` - 1, which touch no others, by a step, and observe them, a few blocks at a time.

    One call instead of two: the blocks are still in the cache when they are observed, and a single car costs one call.

    Args:
        cars: the cars.
        work: (AxleRow.COUNT * LANES,), a work block of this thread.
        road: the road.
        timing: the length of the step.
        task: what to observe.
        out: written.
        lo: first car, a multiple of LANES.
        hi: last car + 1.
    """
    outer_period = timing.dt * timing.substeps
    period = outer_period * timing.outer_steps
    plan = StepPlan(timing.dt, outer_period, timing.substeps)
    car, kind = lo, -1
    while car < hi:
        block = car // LANES
        end = min(block + _BLOCKS_AT_ONCE, (hi + LANES - 1) // LANES)
        last = min(hi, end * LANES)
        for _ in range(timing.outer_steps):
            kind = advance_blocks(cars, work, road, plan, 1, block, end, kind)
        observe_and_reward(cars, road.table, task, period, out, car, last)
        car = last


@exact_inline_jit
def observe_car(
    cars: CarBlocks, features: Array, road: RoadTable, task: TaskTables, observations: Rows, car: int
) -> None:
    """Write the observation of a car after it was placed, without a reward and without a step."""
    copy_state_features(cars, features, car, car + 1)
    derive_features(features, road, 0.0, car, car + 1)
    if task.remembers:
        remember_step(features, 0.0, car, car + 1)
    write_features(features, task, road, observations, car, car + 1)


@jit
def observe_cars(
    cars: CarBlocks, features: Array, road: RoadTable, task: TaskTables, observations: Rows, chosen: Ints
) -> None:
    """Write the observations of the cars `chosen`; the rest as `observe_car`."""
    for car in chosen:
        observe_car(cars, features, road, task, observations, car)


@exact_inline_jit
def add_car_noise(observations: Rows, noise: ObservationNoise, tick: int, car: int) -> None:
    """Add noise to the observation of a car; arguments as `add_noise`."""
    width, seed = observations.shape[1], noise.seed
    level = noise.levels[car]
    if level > 0.0:
        for i in range(0, width, 4):
            a, b, c, d = philox(i, car, tick, _NOISE_STREAM, seed)
            for k in range(i, min(i + 4, width)):
                value = observations[car, k] + level * normal_from_word(a, k, car, tick, _NOISE_STREAM, seed)
                observations[car, k] = min(max(value, noise.low[k]), noise.high[k])
                a, b, c = b, c, d


@jit
def add_noise(observations: Rows, noise: ObservationNoise, tick: int, chosen: Ints) -> None:
    """Add noise to the observations (n, width) of the cars `chosen`.

    Args:
        observations: changed.
        noise: level of each car, bounds, seed.
        tick: number of the step; each step has its own noise.
        chosen: numbers of the cars.
    """
    for car in chosen:
        add_car_noise(observations, noise, tick, car)


@jit
def write_poses(features: Array, out: Array) -> None:
    """Write x, y (m, world) and yaw (rad) of the cars into `out` (n, 3)."""
    for car in range(out.shape[0]):
        out[car, 0] = features[Feature.X, car]
        out[car, 1] = features[Feature.Y, car]
        out[car, 2] = features[Feature.YAW, car]


@jit
def write_boxes(cars: CarBlocks, out: Array) -> None:
    """Write half length, half width and the centre's distance ahead of the centre of mass (m) into `out` (n, 3)."""
    for car in range(out.shape[0]):
        out[car, 0] = car_param(cars, ParamRow.HALF_LENGTH, car)
        out[car, 1] = car_param(cars, ParamRow.HALF_WIDTH, car)
        out[car, 2] = car_param(cars, ParamRow.BOX_CENTRE, car)
