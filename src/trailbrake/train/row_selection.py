"""Selects rows for training: which are usable, which are held out, and their sampling weights. Pure."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trailbrake.train.sources import Labels

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Ints = NDArray[np.int64]

RUN_GAP = 0.5  # s without a row, after which another run begins
STANDING_SPEED = 0.05  # m/s; slower counts as standing
BEFORE_STOP = 1.0  # s before a car stands that are left out: they led to the standstill
PART_LENGTH = (
    8.0  # s of a run that are held out or trained on together, because neighbouring pictures are nearly the same
)
HELD_OUT_MARGIN = 0.5  # s at both ends of a held-out part that are left out
STEER_BINS = 21  # of steers, for balancing


@dataclass(frozen=True)
class RowSelection:
    """The usability of rows, (n,) each.

    Attributes:
        steer: smoothed within its run.
        run: number of the run, from 0.
        part: number of the part of a run, over all runs.
        edge: s to the nearer end of the part.
        good: whether the row may be used.
        reasons: number of unusable rows by reason.
    """

    steer: Floats
    run: Ints
    part: Ints
    edge: Floats
    good: Mask
    reasons: dict[str, int]


def select_rows(labels: Labels, smoothing: float) -> RowSelection:
    """Return which rows can be learned from.

    Args:
        labels: in their order.
        smoothing: s over which steers are averaged, half before and half behind: keys are all or nothing, and the mean
            is what the person at them meant.
    """
    n = len(labels)
    time = _fill_times(labels.time)
    step = np.diff(time, prepend=time[:1])
    run = np.cumsum((step < 0.0) | (step > RUN_GAP)).astype(np.int64)
    with np.errstate(invalid="ignore"):
        finite = np.isfinite(labels.steer + labels.pedal + labels.speed) & (np.abs(labels.steer) <= 1.05)
        moving = labels.speed > STANDING_SPEED
    steer = np.where(finite, labels.steer, 0.0)
    stopping, part, edge = np.zeros(n, bool), np.zeros(n, np.int64), np.zeros(n)
    for number in np.unique(run):
        rows = np.flatnonzero(run == number)
        if not labels.corrected:
            stopping[rows] = _find_before_stops(time[rows], moving[rows])
        steer[rows] = _moving_average(time[rows], steer[rows], smoothing)
        since = time[rows] - time[rows[0]]
        count = max(round(since[-1] / PART_LENGTH), 1)
        length = max(since[-1] / count, 1e-9)
        mine = np.minimum((since / length).astype(np.int64), count - 1)
        part[rows] = mine + (part[rows[0] - 1] + 1 if rows[0] else 0)
        edge[rows] = np.minimum(since - mine * length, (mine + 1) * length - since)
    backs = labels.backs > 0.0
    good = finite & moving & ~backs & ~stopping
    reasons = {
        "no number": ~finite, "standing": finite & ~moving, "backing": finite & moving & backs,
        "before a stop": finite & moving & ~backs & stopping,
    }  # fmt: skip
    return RowSelection(np.clip(steer, -1.0, 1.0), run, part, edge, good, {k: int(v.sum()) for k, v in reasons.items()})


def _fill_times(time: Floats) -> Floats:
    """Return times without NaN: a row without a time gets that of the row before it."""
    known = np.isfinite(time)
    if not known.any():  # rows of an unknown rate: that of the camera simulators' recorder
        return np.arange(len(time)) / 15.0
    newest = np.maximum.accumulate(np.where(known, np.arange(len(time)), np.flatnonzero(known)[0]))
    return time[newest]


def _find_before_stops(time: Floats, moving: Mask) -> Mask:
    """Return which rows lie shortly before the car stands, or backs off, after it has moved."""
    stops = time[1:][moving[:-1] & ~moving[1:]]
    if not len(stops):
        return np.zeros(len(time), bool)
    nxt = np.searchsorted(stops, time)
    found: Mask = (nxt < len(stops)) & (stops[np.minimum(nxt, len(stops) - 1)] - time <= BEFORE_STOP)
    return found


def _moving_average(time: Floats, values: Floats, window: float) -> Floats:
    if window <= 0.0:
        return values
    sums = np.concatenate([[0.0], np.cumsum(values)])
    # A hair more than half, so that a window of whole steps does not depend on the last bit of the times.
    half = 0.5 * window + 1e-6
    first, last = np.searchsorted(time, time - half), np.searchsorted(time, time + half, side="right")
    smooth: Floats = (sums[last] - sums[first]) / (last - first)
    return smooth


def hold_out_parts(part: Ints, share: float, rng: np.random.Generator) -> Mask:
    """Return which rows belong to the parts that are held out: about `share` of all parts, at least one of several."""
    parts = np.unique(part)
    count = max(round(share * len(parts)), 1) if len(parts) > 1 and share > 0.0 else 0
    chosen: Mask = np.isin(part, rng.permutation(parts)[:count])
    return chosen


def balance_weights(steer: Floats) -> Floats:
    """Return how often each row is to be shown, relative to the others, mean 1.

    By the inverse root of how many rows have such a steer: straight ahead is most of a lap and the least of driving,
    but shown as rarely as full lock it would no longer be known.
    """
    bins = np.clip(((steer + 1.0) * 0.5 * STEER_BINS).astype(np.int64), 0, STEER_BINS - 1)
    counts = np.bincount(bins, minlength=STEER_BINS)
    raw = 1.0 / np.sqrt(counts[bins])
    relative: Floats = raw / raw.mean()
    return relative
