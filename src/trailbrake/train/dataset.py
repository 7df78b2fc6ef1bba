"""Gathers the pictures that are learned from, shrunk, no more of them than asked for."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import DataError
from trailbrake.observe.glance import Glance, shrink
from trailbrake.train.choose import MARGIN, held_out, usable, weights
from trailbrake.train.sources import Source

Floats = NDArray[np.float32]
FEWEST = 100  # rows: fewer teach nothing
LARGEST = 4096  # pixels of a picture's side: no camera of a simulator has more
SECTION = 512  # pictures between two words of progress


@dataclass
class Dataset:
    """Pictures and what was done at them.

    Attributes:
        seen: (n, height, width, 3) uint8.
        steer, pedal: (n,).
        held: which rows are held out.
        weight: how often each is to be shown, relative to the others.
        place: (source, row) of each.
        names: of the sources.
        skipped: rows that were not used, by reason.
    """

    seen: NDArray[np.uint8]
    steer: Floats
    pedal: Floats
    held: NDArray[np.bool_]
    weight: NDArray[np.float64]
    place: list[tuple[int, int]]
    names: list[str]
    skipped: Counter[str]

    def __len__(self) -> int:
        return len(self.steer)


def gather(
    sources: Sequence[Source], glance: Glance, *, most: int, smoothing: float, share: float, seed: int,
    say: Callable[[str], None],
) -> Dataset:  # fmt: skip
    """Return what is learned from.

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
        labels = source.labels()
        here = usable(labels, smoothing)
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
    _enough(len(steer), skipped)
    held = held_out(part, share, rng)
    usable_here = np.flatnonzero(~held | (edge > MARGIN))
    if len(usable_here) > most:
        # Those that would be shown most often are the last to be left out.
        chance = weights(steer[usable_here])
        usable_here = np.sort(rng.choice(usable_here, most, replace=False, p=chance / chance.sum()))
        say(f"{most} of {len(steer)} rows are learned from")
    seen = np.empty((len(usable_here), glance.height, glance.width, 3), np.uint8)
    there = np.zeros(len(usable_here), bool)
    done = 0
    for number, source in enumerate(sources):
        mine = np.flatnonzero(owner[usable_here] == number)
        where = dict(zip(row[usable_here[mine]].tolist(), mine.tolist(), strict=True))
        for at, data in source.pictures(list(where)):
            picture = _decoded(data)
            if picture is None:
                skipped["with a damaged picture"] += 1
                continue
            seen[where[at]], there[where[at]] = shrink(picture, glance), True
            done += 1
            if done % SECTION == 0:
                say(f"{done} of {len(usable_here)} pictures")
    kept = usable_here[there]
    _enough(len(kept), skipped)
    held = held[kept]
    relative = np.zeros(len(kept))
    relative[~held] = weights(steer[kept][~held])
    return Dataset(
        seen[there], steer[kept].astype(np.float32), np.clip(pedal[kept], -1.0, 1.0).astype(np.float32), held, relative,
        list(zip(owner[kept].tolist(), row[kept].tolist(), strict=True)), [source.name for source in sources],
        +skipped,
    )  # fmt: skip


def joined(first: Dataset, second: Dataset) -> Dataset:
    """Return both datasets as one, balanced anew."""
    steer, held = np.concatenate([first.steer, second.steer]), np.concatenate([first.held, second.held])
    relative = np.zeros(len(steer))
    relative[~held] = weights(steer[~held])
    moved = [(owner + len(first.names), row) for owner, row in second.place]
    return Dataset(
        np.concatenate([first.seen, second.seen]), steer, np.concatenate([first.pedal, second.pedal]), held, relative,
        [*first.place, *moved], [*first.names, *second.names], first.skipped + second.skipped,
    )  # fmt: skip


def _enough(count: int, skipped: Counter[str]) -> None:
    if count < FEWEST:
        reasons = ", ".join(f"{n} {why}" for why, n in skipped.items() if n)
        raise DataError("too few rows to learn from", where="train", expected=f"{FEWEST} or more",
                        got=f"{count}; not used: {reasons or 'none'}")  # fmt: skip


def _decoded(data: bytes) -> object | None:
    from PIL import Image

    try:
        with Image.open(BytesIO(data), formats=("JPEG", "PNG")) as picture:
            return picture.convert("RGB") if max(picture.size) <= LARGEST else None
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
