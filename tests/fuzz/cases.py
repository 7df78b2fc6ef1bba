"""`build_cases`: a strategy of Hypothesis: the seeds of a target with pieces replaced, left out, repeated."""

import re

from hypothesis import strategies as st

from fuzz.fuzz_target import FuzzTarget

MOST_EDITS = 5
_PIECE = re.compile(rb"[A-Za-z_]\w*|[-+]?\d[\d.]*(?:[eE][-+]?\d+)?|.", re.DOTALL)  # words, numbers, single bytes
_EXTREMES = (
    b"0", b"-1", b"1e9", b"1e308", b"1e999", b"nan", b"-inf", b"9" * 25, b"", b"true", b"null", b'"x"', b"[]", b"{}",
    b"\x00", b"\xff", b"\xff\xff\xff\xff", b"\x00\x00\x00\x80", b"\xff\xff\xff\x7f", b"\x00\x00\xc0\x7f",
)  # fmt: skip


def build_cases(target: FuzzTarget) -> st.SearchStrategy[bytes]:
    """Return a strategy that draws a seed of the target with up to `MOST_EDITS` changes, of at most `max_bytes`."""
    seeds = [_PIECE.findall(seed) for seed in target.read_seeds().values()]
    words = st.sampled_from((*target.tokens, *_EXTREMES)) | st.binary(max_size=8)
    return _edit_pieces(seeds, words).map(lambda pieces: b"".join(pieces)[: target.max_bytes])


@st.composite
def _edit_pieces(draw: st.DrawFn, seeds: list[list[bytes]], words: st.SearchStrategy[bytes]) -> list[bytes]:
    pieces = list(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, MOST_EDITS))):
        at, run = draw(st.integers(0, len(pieces))), draw(st.sampled_from((1, 1, 1, 4, 16, 64)))
        match draw(st.sampled_from(("replace", "replace", "number", "insert", "drop", "repeat", "splice", "end"))):
            case "replace":
                pieces[at : at + 1] = [draw(words)]
            case "number":
                numbers = [k for k, piece in enumerate(pieces) if piece[-1:].isdigit()]
                if numbers:
                    pieces[draw(st.sampled_from(numbers))] = draw(words)
            case "insert":
                pieces[at:at] = [draw(words)]
            case "drop":
                del pieces[at : at + run]
            case "repeat":
                pieces[at:at] = pieces[at : at + run] * draw(st.sampled_from((1, 2, 10, 100)))
            case "splice":
                other = draw(st.sampled_from(seeds))
                start = draw(st.integers(0, len(other)))
                pieces[at : at + run] = other[start : start + run]
            case "end":
                del pieces[at:]
    return pieces
