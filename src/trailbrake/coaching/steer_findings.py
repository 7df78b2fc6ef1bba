"""Whether a person's hands are slow: the quick movements of the steer are missing, and the car weaves instead.

How much the quick movements are below those of the weave says how much the hands lag. No lap of the learned car says
what a lag costs: that swings from driver to driver by more than the cost. It goes with how much there is to steer, the
changes of the rate at which the path turns, and with how far the car weaves meanwhile: late hands do both later.
"""

import math
from collections.abc import Sequence

import numpy as np

from trailbrake.analysis.corners import Corner
from trailbrake.analysis.lap_location import LocatedLap
from trailbrake.arrays import Array
from trailbrake.coaching.corner_findings import Habit
from trailbrake.coaching.lap_patterns import PATTERNS, make_pattern, split_zones
from trailbrake.coaching.outliers import student_tail

STEP = 0.02  # s between samples of the steer
COARSEST = 0.05  # s between recorded rows, above which quick movements are not in them
SLOW_BAND, WEAVE_BAND, QUICK_BAND = (0.05, 0.3), (0.3, 1.0), (2.0, 5.0)  # Hz: of the corners; of late hands; of hands
LEAST_MISSING = 0.1  # logarithm of the quick movements that the car takes at that pace, from which a lag is possible
# Of 14 drives of experiments/habit_driver.py without a lag and 7 with one of 0.1 s:
USUAL_QUICKNESS, QUICKNESS_SPREAD = -1.15, 0.2  # logarithm of quick movements over weaves, without a lag
QUICKNESS_LAG = 11.2  # 1/s, by which that falls with the lag
WEAVE_COST = 0.012  # s of a lap per rad of weaves and rad/s by which the rate of turning changes, ...
WEAVE_COST_ERROR = 0.35  # ... and of that, by how much 11 persons with and without a lag of 0.1 s differ
SWAY_BAND = (0.5, 2.0)  # Hz: of the lateral acceleration where the car weaves
CHANGE_S = 0.5  # s over which the lateral acceleration is averaged before its changes are counted: noise changes too
LEAST_SPEED = 3.0  # m/s, below which the rate of turning is not computed


def measure_quickness(lap: LocatedLap, other_band: tuple[float, float] = WEAVE_BAND) -> float:
    """Return the logarithm of the quick movements of the steer over slower ones; NaN where they are not known.

    Args:
        lap: with its steer.
        other_band: Hz, of the slower ones.
    """
    steer = lap.channels["steer"]
    if not np.isfinite(steer).all() or float(np.median(np.diff(lap.time))) > COARSEST:
        return math.nan
    time = np.arange(0.0, lap.time_s, STEP)
    even = np.interp(time, lap.time, steer)
    power = np.abs(np.fft.rfft((even - even.mean()) * np.hanning(len(even)))) ** 2
    rate = np.fft.rfftfreq(len(even), STEP)
    slow, quick = (float(power[(rate >= least) & (rate < most)].sum()) for least, most in (other_band, QUICK_BAND))
    return 0.5 * math.log(quick / slow) if slow > 0.0 < quick else math.nan


def find_slow_hands(laps: Sequence[LocatedLap], pace: LocatedLap, corners: Sequence[Corner]) -> list[Habit]:
    """Return a finding where the hands lag so much that it costs time.

    Args:
        laps: the person's.
        pace: a lap that the learned car was driven at the person's pace.
        corners: with their zones.
    """
    missing = measure_quickness(pace, SLOW_BAND) - float(np.mean([measure_quickness(lap, SLOW_BAND) for lap in laps]))
    own = np.array([measure_quickness(lap) for lap in laps])
    below = USUAL_QUICKNESS - float(own.mean())
    if not (missing >= LEAST_MISSING and below > 0.0):
        return []
    error = math.hypot(float(own.std(ddof=1)) / math.sqrt(len(laps)), QUICKNESS_SPREAD)
    chance = 1.0 - PATTERNS * student_tail(below / error, len(laps) - 1 + 10)
    lag_s = below / QUICKNESS_LAG
    changes = np.median([split_zones(lap, sum_changes(lap), corners) for lap in laps], axis=0)
    costs = WEAVE_COST * float(np.median([measure_weave(lap) for lap in laps])) * changes
    return make_pattern(
        "hands", np.tile(costs, (len(laps), 1)), WEAVE_COST_ERROR * float(costs.sum()),
        (f"Turn the wheel more quickly: your hands are about {lag_s:.2f} s behind what the car needs",
         f"your steer has {math.exp(-below):.0%} of the quick movements that are usual beside as many slower ones"),
        chance,
    )  # fmt: skip


def sum_changes(lap: LocatedLap) -> Array:
    """Return by how much (rows,) rad/s the rate at which a lap's path turns has changed so far, up and down."""
    time, lateral, speed = _sample_turning(lap)
    rows = round(CHANGE_S / STEP)
    smooth = np.convolve(np.pad(lateral, rows, mode="edge"), np.full(rows, 1.0 / rows), "same")[rows:-rows] / speed
    changed: Array = np.interp(lap.time, time, np.cumsum(np.abs(np.diff(smooth, prepend=smooth[:1]))))
    return changed


def measure_weave(lap: LocatedLap) -> float:
    """Return by how much a lap's path turns to and fro in weaves, rad."""
    _, lateral, speed = _sample_turning(lap)
    level = np.linspace(lateral[0], lateral[-1], len(lateral))  # a step from the end to the start has quick waves
    waves, rate = np.fft.rfft(lateral - level), np.fft.rfftfreq(len(lateral), STEP)
    waves[(rate < SWAY_BAND[0]) | (rate >= SWAY_BAND[1])] = 0.0
    return float(np.sum(np.abs(np.fft.irfft(waves, len(lateral))) / speed) * STEP)


def _sample_turning(lap: LocatedLap) -> tuple[Array, Array, Array]:
    """Return times, s, a STEP apart, lateral accelerations, m/s^2, and speeds, m/s, each (n,)."""
    time = np.arange(lap.time[0], lap.time[-1], STEP)
    lateral, speed = (np.interp(time, lap.time, np.nan_to_num(lap.channels[name]))
                      for name in ("acceleration_y", "speed"))  # fmt: skip
    return time, lateral, np.maximum(speed, LEAST_SPEED)
