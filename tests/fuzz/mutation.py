"""Seeded mutations of bytes without coverage: flips, numbers, cuts, repeats, splices, and a format's tokens."""

import random
from collections.abc import Iterator, Sequence

from fuzz.structure import Mutator, apply_mutator

_NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def mutate(data: bytes, rng: random.Random, others: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """Return `data` with one to six changes."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        at = rng.randrange(len(changed) + 1)
        kind = rng.randrange(9)
        if kind == 0 and at < len(changed):
            changed[at] ^= 1 << rng.randrange(8)
        elif kind == 1 and at < len(changed):
            changed[at] = rng.randrange(256)
        elif kind == 2:
            size = rng.choice((1, 2, 4, 8))
            changed[at : at + size] = rng.choice(_NUMBERS).to_bytes(8, "little")[:size]
        elif kind == 3:
            del changed[at : at + rng.choice((1, 4, 16, 64))]
        elif kind == 4:
            del changed[at:]
        elif kind == 5:
            piece = changed[at : at + rng.choice((1, 3, 10, 40))]
            changed[at:at] = bytes(piece) * rng.choice((1, 2, 10, 100))
        elif kind == 6 and others:
            other = rng.choice(others)
            begin = rng.randrange(len(other) + 1)
            changed[at:at] = other[begin : begin + rng.choice((4, 16, 64, 256))]
        elif kind == 7:
            changed[at:at] = bytes(rng.randrange(256) for _ in range(rng.choice((1, 4, 16))))
        elif tokens:
            token = rng.choice(tokens)
            changed[at : at + rng.choice((0, len(token)))] = token
    return bytes(changed)


def mutated_cases(
    seeds: Sequence[bytes], tokens: Sequence[bytes], max_bytes: int, seed: str, mutator: Mutator | None = None
) -> Iterator[bytes]:
    """Yield cases without end, the same for the same `seed`: mutations of the seeds, and of what came before.

    Half of them are changes by `mutator`, where there is one.
    """
    rng = random.Random(seed)
    pool = list(seeds) or [b""]
    while True:
        case = rng.choice(pool)
        if mutator is not None and rng.random() < 0.5:
            case = apply_mutator(mutator, case, rng)[:max_bytes]
        else:
            case = mutate(case, rng, seeds, tokens)[:max_bytes]
        if rng.random() < 0.02 and len(pool) < 4 * len(seeds) + 20:
            pool.append(case)
        yield case
