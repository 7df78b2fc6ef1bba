"""Whether a person's hands are slow: the quick movements of the steer against those of the car at that pace.

The learned car is driven at the person's pace by hands without a lag, and by hands that lag. How far the person's steer
is from one towards the other says how much the person's hands lag; the times of the two laps, what that costs.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from trailbrake.analysis.comparison import measure_zones
from trailbrake.analysis.corners import Corner
from trailbrake.analysis.lap_location import LocatedLap
from trailbrake.coaching.corner_findings import Habit
from trailbrake.coaching.lap_patterns import PATTERNS, make_pattern
from trailbrake.coaching.outliers import student_tail

STEP = 0.02  # s between samples of the steer
COARSEST = 0.05  # s between recorded rows, above which quick movements are not in them
SLOW_BAND, MIDDLE_BAND, QUICK_BAND = (0.05, 0.3), (1.0, 2.0), (2.0, 5.0)  # Hz: of the road's corners; of the hands
MOST_STEEPNESS = math.log(0.5)  # of the quick movements over those between, of hands that lag
LEAST_LAG = 0.25  # logarithm of the quick movements that are missing, from which a lag is looked for
LATE_HANDS_S = 0.1  # s, lag that a person's hands are compared with
LAG_COST_ERROR = 1.0  # of the cost: how much a lag shakes a car is hardly known
LAG_SPREAD = 0.15  # by which the share of the lag differs from person to person in any case


def measure_quickness(lap: LocatedLap, slow_band: tuple[float, float] = SLOW_BAND) -> float:
    """Return the logarithm of the quick movements of the steer over the slow ones; NaN where they are not known.

    Args:
        lap: with its steer.
        slow_band: Hz, of the slow ones.
    """
    steer = lap.channels["steer"]
    if not np.isfinite(steer).all() or float(np.median(np.diff(lap.time))) > COARSEST:
        return math.nan
    time = np.arange(0.0, lap.time_s, STEP)
    even = np.interp(time, lap.time, steer)
    power = np.abs(np.fft.rfft((even - even.mean()) * np.hanning(len(even)))) ** 2
    rate = np.fft.rfftfreq(len(even), STEP)
    slow, quick = (float(power[(rate >= least) & (rate < most)].sum()) for least, most in (slow_band, QUICK_BAND))
    return 0.5 * math.log(quick / slow) if slow > 0.0 < quick else math.nan


def find_slow_hands(
    laps: Sequence[LocatedLap], pace: LocatedLap, drive_late: Callable[[float], Sequence[LocatedLap]],
    corners: Sequence[Corner],
) -> list[Habit]:  # fmt: skip
    """Return a finding where the hands lag so much that it costs time.

    Args:
        laps: the person's.
        pace: a lap that the learned car was driven at the person's pace.
        drive_late: returns laps at that pace by a person's hands that lag by s; called where the person's may.
        corners: with their zones.
    """
    own = np.array([measure_quickness(lap) for lap in laps])
    missing = measure_quickness(pace) - own
    steepness = float(np.mean([measure_quickness(lap, MIDDLE_BAND) for lap in laps]))
    # A lag takes more of the quick movements than of those between. A car that shakes at that pace takes more of both.
    if not (float(missing.mean()) >= LEAST_LAG and steepness <= MOST_STEEPNESS):
        return []
    quick, late = drive_late(0.0), drive_late(LATE_HANDS_S)
    levels = [float(np.mean([measure_quickness(lap) for lap in driven])) for driven in (quick, late)]
    shares = (levels[0] - own) / max(levels[0] - levels[1], LEAST_LAG)
    share = float(shares.mean())
    error = math.hypot(float(shares.std(ddof=1)) / math.sqrt(len(laps)), LAG_SPREAD)
    chance = 1.0 - PATTERNS * student_tail(share / error, len(laps) - 1 + 10)
    costs = share * np.subtract(*(np.median(measure_zones(driven, corners), axis=0) for driven in (late, quick)))
    return make_pattern(
        "hands", np.tile(costs, (len(laps), 1)), LAG_COST_ERROR * float(costs.sum()),
        (f"Turn the wheel more quickly: your hands are about {LATE_HANDS_S * share:.2f} s behind what the car needs",
         f"your steer has {math.exp(float(own.mean()) - levels[0]):.0%} of the quick movements that the pace takes"),
        chance,
    )  # fmt: skip
