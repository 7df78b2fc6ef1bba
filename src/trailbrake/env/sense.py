"""Kernels between the world's blocks and the learners' arrays: actions in, observations, rewards and ends out."""

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels import jit, lane_jit
from trailbrake.kernels.lanes import LANES
from trailbrake.observe.columns import Seen
from trailbrake.observe.derive import ask, derive
from trailbrake.observe.fill import fill, judge
from trailbrake.units import G
from trailbrake.world.integrate import advance
from trailbrake.world.layout import Control, Param, State, Work
from trailbrake.world.noise import normal, philox

Array = NDArray[np.float64]
Rows = NDArray[np.float32]
Ints = NDArray[np.int64]

_CHUNK = 4  # blocks advanced before they are looked at: they stay in the second-level cache
_NOISE = 7  # the stream of the noise on observations
# The world's row behind each row of `Seen` up to CURVATURE.
_SOURCES = np.array(
    [
        State.X, State.Y, State.YAW, State.VX, State.VY, State.YAW_RATE, State.AX, State.AY, State.STEER,
        State.THROTTLE, State.BRAKE, State.ENGINE, State.GEAR, *(State.SLIP + i for i in range(4)),
        *(State.LOAD + i for i in range(4)), *(State.ON_TRACK + i for i in range(4)), State.CONTACTS, State.S,
        State.OFFSET, State.HEADING, State.CURVATURE,
    ],
    np.int64,
)  # fmt: skip


@jit
def press(
    blocks: Array, seen: Array, actions: Array, codes: Array, history: Array, slot: int, delays: Ints, step: int,
) -> int:  # fmt: skip
    """Check actions and give them to the cars, each as late as it is.

    Args:
        blocks: `Batch.cars`.
        seen: (Seen.COUNT, n or more); what is asked for is written.
        actions: (k, width), of the cars 0, `step`, 2 `step`, ...
        codes: `Action.codes`.
        history: (depth, n, 3) steer, throttle, brake as asked for in the steps before.
        slot: which of them is this step's.
        delays: (n,) steps, less than depth.
        step: cars from one that learns to the next.

    Returns:
        -1, or the first row of `actions` with a value that is no number or out of its range: nothing is changed then.
    """
    width = actions.shape[1]
    for k in range(actions.shape[0]):
        for i in range(width):
            if not codes[5 + i] <= actions[k, i] <= codes[5 + width + i]:
                return k
    turn, gas, stop = int(codes[0]), int(codes[1]), int(codes[3])
    depth = history.shape[0]
    for k in range(actions.shape[0]):
        car = k * step
        steer = actions[k, turn]
        throttle = max(codes[2] * actions[k, gas], 0.0)
        brake = max(codes[4] * actions[k, stop], 0.0)
        ask(seen, car, steer, throttle, brake)
        history[slot, car, 0] = steer
        history[slot, car, 1] = throttle
        history[slot, car, 2] = brake
        then = (slot - delays[car]) % depth
        block, lane = car // LANES, car % LANES
        blocks[block, Control.STEER * LANES + lane] = history[then, car, 0]
        blocks[block, Control.THROTTLE * LANES + lane] = history[then, car, 1]
        blocks[block, Control.BRAKE * LANES + lane] = history[then, car, 2]
    return -1


@jit
def param(params: Array, kinds: Ints, row: int, car: int) -> float:
    """Return parameter `row` of a car, from `Batch.params` and `Batch.kinds`."""
    value: float = params[kinds[car // LANES], (row - Work.COUNT) * LANES + car % LANES]
    return value


@jit
def gather(blocks: Array, params: Array, kinds: Ints, seen: Array, lo: int, hi: int) -> None:
    """Copy what the world says of the cars `lo`..`hi` - 1 into `seen`; whole blocks are read along their rows."""
    car = lo
    while car < hi:
        b, first = car // LANES, car % LANES
        last = min(LANES, first + hi - car)
        if last - first == LANES:  # the common case: a loop of known length becomes vector code
            block = blocks[b]
            for k in range(_SOURCES.shape[0]):
                source = _SOURCES[k] * LANES
                to = seen[k, car : car + LANES]
                for lane in range(LANES):
                    to[lane] = block[source + lane]
        else:
            for k in range(_SOURCES.shape[0]):
                source = _SOURCES[k] * LANES
                for lane in range(first, last):
                    seen[k, b * LANES + lane] = blocks[b, source + lane]
        for lane in range(first, last):
            here = b * LANES + lane
            seen[Seen.STEER, here] /= param(params, kinds, Param.STEER_MAX, here)
            seen[Seen.ENGINE, here] *= param(params, kinds, Param.PER_LIMITER, here)
            per_quarter = 4.0 / (G * param(params, kinds, Param.MASS, here))
            for wheel in range(4):
                seen[Seen.LOAD + wheel, here] *= per_quarter
        car += last - first


@jit
def look(
    blocks: Array, params: Array, kinds: Ints, seen: Array, codes: Ints, values: Array, terms: int, rewards: int,
    table: Array, spacing: float, closed: bool, dt: float, limit: float, out: Rows, reward: Array, ended: Ints, lo: int,
    hi: int,
) -> None:  # fmt: skip
    """Observe and judge the cars `lo`..`hi` - 1 after a step; releases the GIL, so ranges may go to threads.

    Args:
        blocks: `Batch.cars`.
        params: of the batch.
        kinds: of the batch.
        seen: (Seen.COUNT, n or more) written.
        codes: this and the next three are the program's, see `observe.fill`.
        values: see above.
        terms: see above.
        rewards: see above.
        table: the road's table.
        spacing: m between its rows.
        closed: whether s wraps round.
        dt: s since the last look.
        limit: s of an episode.
        out: (n, width) float32 written at the places of the program.
        reward: (n,) written.
        ended: (n,) written.
        lo: first car.
        hi: one past the last.
    """
    car = lo
    while car < hi:  # a few blocks at a time: what was just written is still near
        last = min(hi, car + _CHUNK * LANES)
        gather(blocks, params, kinds, seen, car, last)
        derive(seen, table, spacing, closed, dt, car, last)
        fill(seen, codes, values, terms, table, spacing, closed, out, car, last)
        judge(seen, codes, values, terms, rewards, limit, reward, ended, car, last)
        car = last


@lane_jit
def turn(
    blocks: Array, params: Array, kinds: Ints, maps: Array, work: Array, table: Array, strip: Array, spacing: float,
    closed: bool, off_grip: float, off_soft: float, dt: float, substeps: int, looks: int, seen: Array, codes: Ints,
    values: Array, terms: int, rewards: int, limit: float, out: Rows, reward: Array, ended: Ints, lo: int, hi: int,
) -> None:  # fmt: skip
    """Advance the cars `lo`..`hi` - 1, which touch no others, then do as `look`, a few blocks at a time.

    One call instead of two: blocks are still in the cache when they are looked at, and a single car pays for one call.

    Args:
        blocks: `Batch.cars`.
        params: this and the next ten are those of `world.integrate.advance`.
        kinds: see above.
        maps: see above.
        work: see above.
        table: see above.
        strip: see above.
        spacing: see above.
        closed: see above.
        off_grip: see above.
        off_soft: see above.
        dt: s, a substep.
        substeps: in a look of the world.
        looks: of the world in a step.
        seen: this and what follows are those of `look`.
        codes: see above.
        values: see above.
        terms: see above.
        rewards: see above.
        limit: see above.
        out: see above.
        reward: see above.
        ended: see above.
        lo: first car, a multiple of LANES.
        hi: one past the last.
    """
    look_period = dt * substeps
    period = look_period * looks
    car, kind = lo, -1
    while car < hi:
        block = car // LANES
        end = min(block + _CHUNK, (hi + LANES - 1) // LANES)
        last = min(hi, end * LANES)
        for _ in range(looks):
            kind = advance(
                blocks, params, kinds, maps, work, table, strip, spacing, closed, off_grip, off_soft, 0.0, 1, hi, dt,
                look_period, substeps, block, end, kind,
            )  # fmt: skip
        look(blocks, params, kinds, seen, codes, values, terms, rewards, table, spacing, closed, period, limit, out,
             reward, ended, car, last)  # fmt: skip
        car = last


@jit
def look_again(
    blocks: Array, params: Array, kinds: Ints, seen: Array, codes: Ints, values: Array, terms: int, table: Array,
    spacing: float, closed: bool, out: Rows, cars: Ints,
) -> None:  # fmt: skip
    """Observe `cars` after they were put somewhere; arguments as `look`."""
    for car in cars:
        gather(blocks, params, kinds, seen, car, car + 1)
        derive(seen, table, spacing, closed, 0.0, car, car + 1)
        fill(seen, codes, values, terms, table, spacing, closed, out, car, car + 1)


@jit
def shake(out: Rows, levels: Array, low: Rows, high: Rows, seed: int, tick: int, cars: Ints) -> None:
    """Put noise on the observations of `cars`.

    Args:
        out: (n, width) changed.
        levels: (n,) standard deviations.
        low: (width,) bounds that are kept.
        high: (width,) bounds that are kept.
        seed: 0 .. 2**63 - 1.
        tick: number of the step, fresh noise for each.
        cars: which.
    """
    width = out.shape[1]
    for car in cars:
        level = levels[car]
        if level > 0.0:
            for i in range(0, width, 4):
                a, b, c, d = philox(i, car, tick, _NOISE, seed)
                for k in range(i, min(i + 4, width)):
                    value = out[car, k] + level * normal(a, k, car, tick, _NOISE, seed)
                    out[car, k] = min(max(value, low[k]), high[k])
                    a, b, c = b, c, d


@jit
def poses(seen: Array, out: Array) -> None:
    """Write x, y (m) and yaw (rad) of the cars into `out` (n, 3)."""
    for car in range(out.shape[0]):
        out[car, 0] = seen[Seen.X, car]
        out[car, 1] = seen[Seen.Y, car]
        out[car, 2] = seen[Seen.YAW, car]


@jit
def boxes(params: Array, kinds: Ints, out: Array) -> None:
    """Write half length, half width and the middle's place ahead (m) of the cars' boxes into `out` (n, 3)."""
    for car in range(out.shape[0]):
        out[car, 0] = param(params, kinds, Param.HALF_LENGTH, car)
        out[car, 1] = param(params, kinds, Param.HALF_WIDTH, car)
        out[car, 2] = param(params, kinds, Param.BOX_CENTRE, car)
