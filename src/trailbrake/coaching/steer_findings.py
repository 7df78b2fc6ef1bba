"""Whether a person's hands are slow: the quick movements of the steer are missing, and the car weaves instead.

How much the quick movements are below those of the weave says how much the hands lag. No lap of the learned car says
what a lag costs: that swings from driver to driver by more than the cost. It goes with how hard the car corners, and
for how long: the later the hands, the wider the car, and the slower it leaves the bend.
"""

import math
from collections.abc import Sequence

import numpy as np

from trailbrake.analysis.corners import Corner
from trailbrake.analysis.lap_location import LocatedLap
from trailbrake.arrays import Array
from trailbrake.coaching.corner_findings import Habit
from trailbrake.coaching.habits import PATTERNS, make_pattern, split_zones
from trailbrake.coaching.outliers import student_tail

STEP = 0.02  # s between samples of the steer
COARSEST = 0.05  # s between recorded rows, above which quick movements are not in them
WEAVE_BAND, QUICK_BAND = (0.3, 1.0), (2.0, 5.0)  # Hz: of late hands; of hands
LEAST_MISSING = 0.1  # logarithm of the quick movements that the car takes at that pace, from which a lag is possible
# Of 100 drives of experiments/habit_driver.py without a lag and 19 with one of 0.1 s:
USUAL_QUICKNESS, QUICKNESS_SPREAD = -1.07, 0.26  # logarithm of quick movements over weaves, without a lag
QUICKNESS_LAG = 12.0  # 1/s, by which that falls with the lag
CORNERING_COST = 0.0016  # s of a lap per m/s of lateral acceleration, summed over the lap, ...
CORNERING_COST_ERROR = 0.3  # ... and of that, by how much 17 persons with a lag of 0.1 s differ
SMOOTHED_S = 0.5  # s over which the lateral acceleration is averaged: noise is no cornering


def measure_quickness(lap: LocatedLap) -> float:
    """Return the logarithm of the quick movements of the steer over those of a weave; NaN where they are not known."""
    steer = lap.channels["steer"]
    if not np.isfinite(steer).all() or float(np.median(np.diff(lap.time))) > COARSEST:
        return math.nan
    time = np.arange(0.0, lap.time_s, STEP)
    even = np.interp(time, lap.time, steer)
    power = np.abs(np.fft.rfft((even - even.mean()) * np.hanning(len(even)))) ** 2
    rate = np.fft.rfftfreq(len(even), STEP)
    weave, quick = (float(power[(rate >= least) & (rate < most)].sum()) for least, most in (WEAVE_BAND, QUICK_BAND))
    return 0.5 * math.log(quick / weave) if weave > 0.0 < quick else math.nan


def find_slow_hands(laps: Sequence[LocatedLap], pace: LocatedLap, corners: Sequence[Corner]) -> list[Habit]:
    """Return a finding where the hands lag so much that it costs time.

    Args:
        laps: the person's.
        pace: a lap that the learned car was driven at the person's pace.
        corners: with their zones.
    """
    own = np.array([measure_quickness(lap) for lap in laps])
    quickness = float(own.mean())
    below = USUAL_QUICKNESS - quickness
    if not (measure_quickness(pace) - quickness >= LEAST_MISSING and below > 0.0):
        return []
    error = math.hypot(float(own.std(ddof=1)) / math.sqrt(len(laps)), QUICKNESS_SPREAD)
    chance = 1.0 - PATTERNS * student_tail(below / error, len(laps) - 1 + 10)
    lag_s = below / QUICKNESS_LAG
    costs = CORNERING_COST * np.median([split_zones(lap, sum_cornering(lap), corners) for lap in laps], axis=0)
    return make_pattern(
        "hands", np.tile(costs, (len(laps), 1)), CORNERING_COST_ERROR * float(costs.sum()),
        (f"Turn the wheel more quickly: your hands are about {lag_s:.2f} s behind what the car needs",
         f"your steer has {math.exp(-below):.0%} of the quick movements that are usual beside as many slower ones"),
        chance,
    )  # fmt: skip


def sum_cornering(lap: LocatedLap) -> Array:
    """Return the lateral acceleration (rows,) of a lap so far, whatever its side, summed over the time, m/s."""
    time = np.arange(lap.time[0], lap.time[-1], STEP)
    lateral = np.interp(time, lap.time, np.nan_to_num(lap.channels["acceleration_y"]))
    rows = round(SMOOTHED_S / STEP)
    smooth = np.convolve(np.pad(lateral, rows, mode="edge"), np.full(rows, 1.0 / rows), "same")[rows:-rows]
    total: Array = np.interp(lap.time, time, np.cumsum(np.abs(smooth)) * STEP)
    return total
