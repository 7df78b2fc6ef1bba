"""Gathers the pictures of a training, cropped and resized, up to a maximum number."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import DataError
from trailbrake.observe.image_crop import CropSpec, crop_and_resize
from trailbrake.train.row_selection import HELD_OUT_MARGIN, balance_weights, hold_out_parts, select_rows
from trailbrake.train.sources import TrainingSource

Floats = NDArray[np.float32]
MIN_ROWS = 100  # fewer rows are an error
MAX_SIDE = 4096  # pixels of a picture's side: no camera of a simulator has more
PROGRESS_EVERY = 512  # pictures between two progress messages


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
    seen = np.empty((len(usable_here), crop.height, crop.width, 3), np.uint8)
    there = np.zeros(len(usable_here), bool)
    done = 0
    for number, source in enumerate(sources):
        mine = np.flatnonzero(owner[usable_here] == number)
        where = dict(zip(row[usable_here[mine]].tolist(), mine.tolist(), strict=True))
        for at, data in source.read_pictures(list(where)):
            picture = _decode_picture(data)
            if picture is None:
                skipped["with a damaged picture"] += 1
                continue
            seen[where[at]], there[where[at]] = crop_and_resize(picture, crop), True
            done += 1
            if done % PROGRESS_EVERY == 0:
                say(f"{done} of {len(usable_here)} pictures")
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


def _decode_picture(data: bytes) -> object | None:
    from PIL import Image

    try:
        with Image.open(BytesIO(data), formats=("JPEG", "PNG")) as picture:
            return picture.convert("RGB") if max(picture.size) <= MAX_SIDE else None
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
