"""Compares a `CudaRaceBatch` with a `RaceBatch` that is given its cars: `python -m helpers.card_race single:CASE ...`.

Prints the largest differences of each case as a line of JSON. A process of its own, because numba decides at import
whether it simulates a card; one for all cases, because kernels are compiled anew in each process.
"""

import json
import sys

import numpy as np
import pytest

from helpers.simulated_card import prepare_simulated_card
from trailbrake.env.batch import RaceBatch
from trailbrake.env.cuda import CudaRaceBatch
from trailbrake.env.domain_randomisation import Start, StartSampler, Vary
from trailbrake.env.options import RaceOptions
from trailbrake.env.restart_kernels import _CANDIDATE, _PLACE, _SHARE, _STREAM, CANDIDATES, place_starts
from trailbrake.errors import UsageError
from trailbrake.observe.derived_features import reset_features
from trailbrake.observe.features import Feature
from trailbrake.observe.rewards import End
from trailbrake.world.random_numbers import philox
from trailbrake.world.row_layout import AxleRow, ControlRow, ParamRow, StateRow, WorkRow

QUICK = {"period": 0.003, "substeps": 3}  # the kernels' loops go round as at 10, on a card that is simulated
FAST = End("fast", "", Feature.VELOCITY_X, 15.0, -2.0)
CASES = {
    "state": RaceOptions(ends=(FAST,), limit=0.006, **QUICK),
    "parts": RaceOptions(
        observe=("motion", "tyres", "wheels_on_track", "bends", "edges", "plan", "line"),
        track=("pinegrove", "lakeside", "pinegrove"), car=("gt3", "hatchback"),
        rewards=("progress", "time", "smooth_steer", "smooth_pedals", "off_track"), ends=(FAST,), **QUICK,
    ),
    "scan": RaceOptions(observe=("motion", "asked", "scan64"), track=("pinegrove", "proving_ground"), ends=(FAST,),
                        **QUICK),
    "varied": RaceOptions(
        observe=("motion", "asked", "line", "felt", "recent"), plan_car="hatchback",
        vary=Vary(mass=(0.9, 1.2), grip=(0.8, 1.1), stiffness=(0.8, 1.25), delay=3, noise=(0.01, 0.02)),
        action="steer_throttle_brake", ends=(FAST,), limit=0.006, **QUICK,
    ),
    "rivals": RaceOptions(
        cars=2, rivals=True, observe=("motion", "lane", "rivals", "scan64"), ends=(FAST,),
        start=Start(speed=(5.0, 20.0), gap=6.0), **QUICK,
    ),
    "group": RaceOptions(cars=4, observe=("lane", "rivals"), ends=(FAST,), start=Start(speed=(10.0, 20.0)),
                         **QUICK),
    "line": RaceOptions(cars=2, observe=("lane", "rivals"), limit=0.006,
                        start=Start(anywhere=False, speed=(0.0, 0.0)), **QUICK),
    "random": RaceOptions(track="random", roads=3, car=("gt3", "hatchback"), ends=(FAST,), **QUICK),
}  # fmt: skip
STEPS = {False: 2, True: 1}  # by `single`, which has the same kernels in another precision


class Twins:
    """A batch on the card, and one on the processor that takes over its cars."""

    def __init__(self, options, n, single):
        self.options, self.stride = options, options.cars if options.rivals else 1
        self.card = CudaRaceBatch(options, n, seed=5, single_precision=single)
        self.host = RaceBatch(options, n, seed=5)
        self.differences = {}

    def note(self, name, a, b):
        a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
        assert a.shape == b.shape, (name, a.shape, b.shape)
        assert (np.isfinite(a) == np.isfinite(b)).all(), name
        far = float(np.max(np.abs(a - b), initial=0.0))
        self.differences[name] = max(self.differences.get(name, 0.0), far)

    def read(self, array):
        return np.ascontiguousarray(array.copy_to_host())

    def take_over(self, chosen):
        """Give the processor the cars `chosen` as they are on the card."""
        card, first = self.card, 0
        features, _, counts, seed, _, history, delays, levels = (
            self.read(card._out[0]), *(self.read(array) for array in card._episodes[1:])
        )  # fmt: skip
        state, params = card.world.get_row(0, int(ControlRow.COUNT)), self.read(card.world.arrays[1])
        for worlds, _, _ in self.host._road_worlds:
            for car in range(worlds.n):
                k = first + car
                if not chosen[k]:
                    continue
                worlds.batch.view_car(car)[:] = state[:, k]
                if self.options.vary.varies_cars:
                    own = worlds.batch.params[car // worlds.batch.lanes, car % worlds.batch.lanes :: worlds.batch.lanes]
                    model = ParamRow.MODEL - WorkRow.COUNT
                    keep = own[model]
                    own[:] = params[k, : AxleRow.COUNT - WorkRow.COUNT]
                    own[model] = keep
                worlds.features[:, car] = features[:, k]
                worlds._queue.delays[car], worlds._noise_levels[car] = delays[k], levels[k]
                worlds._queue.history[:, car] = history[:, k]
            if worlds._noise is not None:
                worlds._noise = worlds._noise._replace(seed=int(seed[0]))
            first += worlds.n
        return counts

    def observe_placed(self, out, chosen):
        """Let the processor observe the cars `chosen` as after a restart."""
        first = 0
        for worlds, lo, hi in self.host._road_worlds:
            cars = np.flatnonzero(chosen[first : first + worlds.n])
            if len(cars):
                reset_features(worlds.features, cars)
                worlds._observe_placed(out[lo:hi], cars)
            first += worlds.n

    def check_places(self, counts, chosen, whole):
        """Compute the places of cars that start from the numbers that they were drawn with."""
        options, first, seed = self.options, 0, int(self.read(self.card._seed)[0])
        state = self.card.world.get_row(0, int(StateRow.COUNT))
        for worlds, _, _ in self.host._road_worlds:
            sampler, road = StartSampler(worlds.track.road, options.start), worlds.track.road.kernel_table
            least, greatest = sampler.position_range((options.cars - 1) * options.start.gap)
            for car in np.flatnonzero(chosen[first : first + worlds.n]) + first:
                drawn = []
                numbers = [_PLACE] if whole or options.cars == 1 else [_CANDIDATE + k for k in range(CANDIDATES)]
                lead = car // options.cars * options.cars if numbers == [_PLACE] else car
                for number in numbers:
                    own, heads = (
                        [(word >> 8) * _SHARE for word in philox(int(c), int(counts[c]), number, _STREAM, seed)]
                        for c in (car, lead)
                    )
                    if numbers != [_PLACE]:
                        least, greatest = sampler.position_range(0.0)
                    s = least + (greatest - least) * heads[0] - options.start.gap * (car - lead)
                    if numbers != [_PLACE] and not options.start.anywhere:
                        s -= options.start.gap * (number - _CANDIDATE)
                    slow, quick = options.start.speed
                    draws = 2.0 * own[1] - 1.0, 2.0 * own[3] - 1.0, slow + (quick - slow) * own[2]
                    place = np.empty((1, 4))
                    place_starts(road, sampler.room, np.array([s]), np.array([draws]), place)
                    drawn.append(place[0])
                found = [state[row, car] for row in (StateRow.X, StateRow.Y, StateRow.YAW, StateRow.VX)]
                self.note("places", 0.0, min(np.abs(np.subtract(found, place)).max() for place in drawn))
            first += worlds.n


def compare(case, single, n):
    """Return the differences of a case by name, and how many episodes ended by their codes."""
    options = CASES[case]
    twins = Twins(options, n, single)
    card, host, stride = twins.card, twins.host, twins.stride
    seen = card.reset(5)
    out = host.reset(5)
    everyone = np.ones(card.world.n, bool)
    twins.check_places(twins.take_over(everyone), everyone, True)
    twins.observe_placed(out, everyone)
    twins.note("first", twins.read(seen), out)
    rng, codes = np.random.default_rng(1), {}
    low, high = card.task.action.low, card.task.action.high
    for _ in range(STEPS[single]):
        actions = rng.uniform(low, high, (n, len(low)))
        out, rewards, ends = host.step(actions)
        step = card.step(actions)
        twins.note("rewards", twins.read(step.rewards), rewards)
        twins.note("ends", twins.read(step.ends), ends)
        ended = ends != 0
        twins.note("final", twins.read(step.final_observations)[ended], out[ended])
        if ended.any():
            chosen = twins.read(card._episodes[1]).astype(bool)
            learners = np.flatnonzero(chosen)
            assert set((learners // stride).tolist()) == set(np.flatnonzero(ended).tolist())
            twins.check_places(twins.take_over(chosen), chosen, options.rivals)
            twins.observe_placed(out, chosen)
            twins.note("restarted", twins.read(step.observations)[ended], out[ended])
        twins.note("observations", twins.read(step.observations), out)
        for code in ends.tolist():
            codes[code] = codes.get(code, 0) + 1
    actions[n - 1, 0] = np.nan
    card.check_actions()
    card.step(actions)
    with pytest.raises(UsageError, match=rf"action\[{n - 1}\]"):
        card.check_actions()
    assert np.isfinite(twins.read(card._out[1])).all()
    again = twins.read(card.reset(5))
    twins.note("again", again, twins.read(card.reset(5)))
    return {"differences": twins.differences, "codes": codes}


if __name__ == "__main__":
    prepare_simulated_card()
    for precision, _, name in (word.partition(":") for word in sys.argv[1:]):
        n = 8 if CASES[name].cars > 1 and not CASES[name].rivals else 5  # 5 leave a block half empty
        print(json.dumps({"precision": precision, "case": name, **compare(name, precision == "single", n)}), flush=True)
