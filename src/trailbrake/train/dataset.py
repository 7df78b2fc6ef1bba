"""Gathers the pictures of a training, cropped and resized, up to a maximum number.

Selects rows for training: which are usable, which are held out, and their sampling weights. Pure.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Floats, Ints, Mask
from trailbrake.errors import DataError
from trailbrake.observe.image_crop import CropSpec, crop_and_resize
from trailbrake.train.sources import Labels, TrainingSource
from trailbrake.transport.image_codec import decode_pixels

MIN_ROWS = 100  # fewer rows are an error
PROGRESS_EVERY = 512  # pictures between two progress messages
Doubles = NDArray[np.float64]

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

    steer: Doubles
    run: Ints
    part: Ints
    edge: Doubles
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
        known = rows[finite[rows]]
        steer[known] = _moving_average(time[known], steer[known], smoothing)
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


def _fill_times(time: Doubles) -> Doubles:
    """Return times without NaN: a row without a time gets that of the row before it."""
    known = np.isfinite(time)
    if not known.any():  # rows of an unknown rate: that of the camera simulators' recorder
        return np.arange(len(time)) / 15.0
    newest = np.maximum.accumulate(np.where(known, np.arange(len(time)), np.flatnonzero(known)[0]))
    return time[newest]


def _find_before_stops(time: Doubles, moving: Mask) -> Mask:
    """Return which rows lie shortly before the car stands, or backs off, after it has moved."""
    stops = time[1:][moving[:-1] & ~moving[1:]]
    if not len(stops):
        return np.zeros(len(time), bool)
    nxt = np.searchsorted(stops, time)
    found: Mask = (nxt < len(stops)) & (stops[np.minimum(nxt, len(stops) - 1)] - time <= BEFORE_STOP)
    return found


def _moving_average(time: Doubles, values: Doubles, window: float) -> Doubles:
    if window <= 0.0:
        return values
    sums = np.concatenate([[0.0], np.cumsum(values)])
    # A hair more than half, so that a window of whole steps does not depend on the last bit of the times.
    half = 0.5 * window + 1e-6
    first, last = np.searchsorted(time, time - half), np.searchsorted(time, time + half, side="right")
    smooth: Doubles = (sums[last] - sums[first]) / (last - first)
    return smooth


def hold_out_parts(part: Ints, share: float, rng: np.random.Generator) -> Mask:
    """Return which rows belong to the parts that are held out: about `share` of all parts, at least one of several."""
    parts = np.unique(part)
    count = max(round(share * len(parts)), 1) if len(parts) > 1 and share > 0.0 else 0
    chosen: Mask = np.isin(part, rng.permutation(parts)[:count])
    return chosen


def balance_weights(steer: Doubles) -> Doubles:
    """Return how often each row is to be shown, relative to the others, mean 1.

    By the inverse root of how many rows have such a steer: straight ahead is most of a lap and the least of driving,
    but shown as rarely as full lock it would no longer be known.
    """
    bins = np.clip(((steer + 1.0) * 0.5 * STEER_BINS).astype(np.int64), 0, STEER_BINS - 1)
    counts = np.bincount(bins, minlength=STEER_BINS)
    raw = 1.0 / np.sqrt(counts[bins])
    relative: Doubles = raw / raw.mean()
    return relative


@dataclass
class Dataset:
    """Pictures with their controls.

    Attributes:
        seen: (n, height, width, 3) uint8.
        steer, pedal: (n,).
        held: which rows are held out.
        weight: how often each is to be shown, relative to the others.
        place: (source, row) of each.
        names: of the sources.
        skipped: rows that were not used, by reason.
    """

    pictures: NDArray[np.uint8]
    steer: Floats
    pedal: Floats
    held: NDArray[np.bool_]
    weight: NDArray[np.float64]
    origins: list[tuple[int, int]]
    names: list[str]
    skipped: Counter[str]

    def __len__(self) -> int:
        return len(self.steer)


def gather_dataset(
    sources: Sequence[TrainingSource], crop: CropSpec, *, most: int, smoothing: float, share: float, seed: int,
    say: Callable[[str], None],
) -> Dataset:  # fmt: skip
    """Return the data set of `sources`.

    First the labels of everything are read, then the pictures of those rows that were chosen: memory holds `most`
    shrunk pictures, whatever the size of the folders.

    Raises:
        DataError: too few rows can be used.
    """
    rng = np.random.default_rng(seed)
    skipped: Counter[str] = Counter()
    pedals, steers, owners, rows, parts, edges = [], [], [], [], [], []
    first_part = 0
    for number, source in enumerate(sources):
        labels = source.read_labels()
        here = select_rows(labels, smoothing)
        skipped.update(source.skipped)
        skipped.update(here.reasons)
        good = np.flatnonzero(here.good)
        say(f"{source.name}: {len(good)} of {len(labels)} rows")
        steers.append(here.steer[good])
        pedals.append(labels.pedal[good])
        owners.append(np.full(len(good), number))
        rows.append(good)
        parts.append(here.part[good] + first_part)
        edges.append(here.edge[good])
        first_part += int(here.part.max(initial=0)) + 1
    steer, pedal, owner, row = (np.concatenate(values) for values in (steers, pedals, owners, rows))
    part, edge = np.concatenate(parts), np.concatenate(edges)
    _require_rows(len(steer), skipped)
    held = hold_out_parts(part, share, rng)
    usable_here = np.flatnonzero(~held | (edge > HELD_OUT_MARGIN))
    if len(usable_here) > most:
        # Those that would be shown most often are the last to be left out.
        chance = balance_weights(steer[usable_here])
        usable_here = np.sort(rng.choice(usable_here, most, replace=False, p=chance / chance.sum()))
        say(f"{most} of {len(steer)} rows are learned from")
    seen, there = _read_pictures(sources, np.column_stack([owner, row])[usable_here], crop, skipped, say)
    kept = usable_here[there]
    _require_rows(len(kept), skipped)
    held = held[kept]
    relative = np.zeros(len(kept))
    relative[~held] = balance_weights(steer[kept][~held])
    return Dataset(
        seen[there], steer[kept].astype(np.float32), np.clip(pedal[kept], -1.0, 1.0).astype(np.float32), held, relative,
        list(zip(owner[kept].tolist(), row[kept].tolist(), strict=True)), [source.name for source in sources],
        +skipped,
    )  # fmt: skip


def _read_pictures(
    sources: Sequence[TrainingSource], places: Ints, crop: CropSpec, skipped: Counter[str], say: Callable[[str], None]
) -> tuple[NDArray[np.uint8], Mask]:
    """Return the shrunk pictures (n, height, width, 3) of `places` (n, 2), source and row, and which of them came."""
    owner, row = places.T
    seen = np.empty((len(row), crop.height, crop.width, 3), np.uint8)
    there = np.zeros(len(row), bool)
    done = 0
    for number, source in enumerate(sources):
        mine = np.flatnonzero(owner == number)
        where = dict(zip(row[mine].tolist(), mine.tolist(), strict=True))
        for at, data in source.read_pictures(list(where)):
            picture = decode_pixels(data)
            if picture is None:
                skipped["with a damaged picture"] += 1
                continue
            seen[where[at]], there[where[at]] = crop_and_resize(picture, crop), True
            done += 1
            if done % PROGRESS_EVERY == 0:
                say(f"{done} of {len(row)} pictures")
    return seen, there


def join_datasets(first: Dataset, second: Dataset) -> Dataset:
    """Return both datasets as one, balanced anew."""
    steer, held = np.concatenate([first.steer, second.steer]), np.concatenate([first.held, second.held])
    relative = np.zeros(len(steer))
    relative[~held] = balance_weights(steer[~held])
    moved = [(owner + len(first.names), row) for owner, row in second.origins]
    return Dataset(
        np.concatenate([first.pictures, second.pictures]), steer, np.concatenate([first.pedal, second.pedal]), held,
        relative,
        [*first.origins, *moved], [*first.names, *second.names], first.skipped + second.skipped,
    )  # fmt: skip


def _require_rows(count: int, skipped: Counter[str]) -> None:
    if count < MIN_ROWS:
        reasons = ", ".join(f"{n} {why}" for why, n in skipped.items() if n)
        raise DataError("too few rows to learn from", where="train", expected=f"{MIN_ROWS} or more",
                        got=f"{count}; not used: {reasons or 'none'}")  # fmt: skip
