"""Judges a policy by laps: on each track a few cars start anywhere and drive it without noise."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array, Floats
from trailbrake.control.network import NetworkLayer
from trailbrake.drivers.loading.race_policy import RacePolicy, normalise
from trailbrake.env.batch import RaceBatch
from trailbrake.observe.actions import OUTPUTS
from trailbrake.observe.features import Feature
from trailbrake.planning.course import Course
from trailbrake.train.rl.options import RlOptions, race_options

CARS_PER_TRACK = 4
SLOWEST = 3.0  # planned lap times after which a car counts as too slow
CRASH_PENALTY = 10.0  # in the score, where all cars crash


@dataclass(frozen=True)
class TrackResult:
    """How a policy drove a track.

    Attributes:
        track: its name.
        planned: s, lap time of the planner's speed profile: a yardstick that needs no drive.
        lap_time: s, mean of the flying laps of all cars; NaN where none finished one.
        laps: lengths of the road driven, of all cars together.
        crashes: cars that left the road, touched a wall, or were too slow.
        cars: number of cars.
    """

    track: str
    planned: float
    lap_time: float
    laps: float
    crashes: int
    cars: int

    @property
    def ratio(self) -> float:
        """Lap time over the planned one; NaN where no lap was finished."""
        return self.lap_time / self.planned


def score_results(results: Sequence[TrackResult]) -> float:
    """Return a score, the lower the better: first few crashes, then mean lap time over the planned one."""
    crashes = sum(result.crashes / result.cars for result in results) / len(results)
    ratios = [SLOWEST if math.isnan(result.ratio) else result.ratio for result in results]
    driven = sum(result.laps / result.cars for result in results) / len(results)
    score = CRASH_PENALTY * crashes + sum(ratios) / len(ratios)
    return score - (min(driven, 1.0) if any(math.isnan(result.ratio) for result in results) else 0.0)


class LapEvaluator:
    """Cars on the tracks that policies are judged by, as their file says, without noise.

    Args:
        options: of the training.
    """

    def __init__(self, options: RlOptions) -> None:
        self._options = options
        names = options.judged_tracks
        race = race_options(options, evaluation=True)
        self._batch = RaceBatch(race, CARS_PER_TRACK * len(names), threads=options.threads)
        self._batch.reset(0)
        pairs = zip(self._batch.tracks, self._batch.cars, strict=True)
        self._planned = [Course(track, car, on_kerbs=race.plan_on_kerbs).profile.lap_time for track, car in pairs]

    def evaluate(self, policy: RacePolicy) -> list[TrackResult]:
        """Return how a policy drives each track."""
        options, batch = self._options, self._batch
        seen, commands = batch.reset([options.seed, 3]), np.zeros((batch.n, OUTPUTS))
        crossings = np.full((options.laps + 1, batch.n), math.nan)  # s at which each car has driven k lengths
        crossings[0] = 0.0
        driven, crashed = np.zeros(batch.n), np.zeros(batch.n, bool)
        limit = SLOWEST * options.laps * max(self._planned)
        for tick in range(math.ceil(limit / options.period)):
            outputs = policy.squash_outputs(_run_batch(policy.layers, normalise(seen, policy.mean, policy.scale)))
            commands = policy.limits.next_commands(outputs, commands)
            seen, _, ends = batch.step(commands)
            going = ~crashed & (driven < options.laps)
            now = batch.feature_values(Feature.LAPS)
            lap = np.floor(now).astype(np.int64)
            for k in np.flatnonzero(going & (now > driven) & (lap > np.floor(driven)) & (lap >= 1)):
                share = (lap[k] - driven[k]) / (now[k] - driven[k])
                crossings[min(lap[k], options.laps), k] = (tick + share) * options.period
            crashed |= going & (ends != 0)
            driven = np.where(going, np.maximum(now, driven), driven)
            if not (~crashed & (driven < options.laps)).any():
                break
        crashed |= driven < options.laps
        return [self._judge_track(k, crossings, driven, crashed) for k in range(len(self._planned))]

    def _judge_track(self, k: int, crossings: Array, driven: Array, crashed: NDArray[np.bool_]) -> TrackResult:
        here = slice(k * CARS_PER_TRACK, (k + 1) * CARS_PER_TRACK)
        flying = np.diff(crossings[1:, here], axis=0)
        times = flying[np.isfinite(flying)]
        mean = float(times.mean()) if len(times) else math.nan
        name, planned = self._options.judged_tracks[k], self._planned[k]
        return TrackResult(name, planned, mean, float(driven[here].sum()), int(crashed[here].sum()), CARS_PER_TRACK)

    def close(self) -> None:
        """End the threads of the world."""
        self._batch.close()


def _run_batch(layers: Sequence[NetworkLayer], observations: Floats) -> Floats:
    # Outputs (n, 2) for normalised observations (n, width); one car at a time would cost n times the calls.
    values = observations
    for layer in layers:
        values = values @ layer.weight.T + layer.bias
        if layer is not layers[-1]:
            np.maximum(values, 0.0, out=values)
    return values
