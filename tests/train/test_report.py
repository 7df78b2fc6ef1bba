from collections import Counter
from html.parser import HTMLParser

import numpy as np
import pytest

from trailbrake.errors import UsageError
from trailbrake.observe.image_crop import CropSpec
from trailbrake.train.dataset import Dataset
from trailbrake.train.learner import STEER_VOTES, Epoch
from trailbrake.train.report import MIN_ROWS_APART, find_worst, write_report

N = 200


class Source:
    name = "<drive> & more.mcap"

    def __init__(self):
        self.skipped = Counter()

    def read_pictures(self, wanted):
        return ((row, b"\xff\xd8row%d" % row) for row in wanted if row != 150)  # one has gone since


def a_dataset(held=True):
    steer = np.linspace(-0.5, 0.5, N).astype(np.float32)
    mask = np.zeros(N, bool)
    mask[100:] = held
    return Dataset(np.zeros((N, 8, 8, 3), np.uint8), steer, np.ones(N, np.float32), mask, np.ones(N),
                   [(0, i) for i in range(N)], [Source.name], Counter({"standing": 7}))  # fmt: skip


class Checker(HTMLParser):
    """Collects tags, and finds those that are closed by another."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], Counter()

    def handle_starttag(self, tag, attrs):
        self.seen[tag] += 1
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen[tag] += 1

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("held", [True, False])
def test_the_page_has_curves_numbers_and_the_worst_pictures(tmp_path, held):
    epochs = [
        Epoch(3.0, 0.2, 2.5 if held else float("nan"), 0.15 if held else float("nan")),
        Epoch(2.0, 0.1, 2.2, 0.12),
    ]
    outputs = np.zeros((N, STEER_VOTES + 1), np.float32)
    outputs[:, STEER_VOTES // 2] = 9.0  # always straight on
    path = write_report(tmp_path / "r.html", "policy.npz", {"pictures": N, "from": ["<x>"]}, [Source()],
                        a_dataset(held), outputs, epochs, CropSpec())  # fmt: skip
    text = path.read_text(encoding="utf-8")
    checker = Checker()
    checker.feed(text)
    assert checker.open == []
    assert checker.seen["polyline"] == 5
    assert checker.seen["circle"] == (100 if held else 200)
    assert 5 <= checker.seen["image"] <= 24
    assert "7 rows standing" in text
    assert "&lt;drive&gt; &amp; more.mcap, row 199" in text
    assert "nan" not in text
    assert "recorded +0.50, policy -0.00" in text or "recorded +0.50, policy +0.00" in text


def test_the_worst_are_no_neighbours_and_come_worst_first():
    error = np.arange(100, dtype=np.float32)
    found = find_worst(error, [(0, i) for i in range(100)], np.arange(100))
    assert found[0] == 99
    assert all(abs(a - b) >= MIN_ROWS_APART for i, a in enumerate(found) for b in found[:i])
    assert find_worst(error, [(i, 0) for i in range(100)], np.arange(50)) == list(range(49, 25, -1))


def test_a_place_that_cannot_be_written_is_said(tmp_path):
    outputs = np.zeros((N, STEER_VOTES + 1), np.float32)
    (tmp_path / "no").touch()
    with pytest.raises(UsageError, match="cannot write the page"):
        write_report(tmp_path / "no" / "r.html", "p", {}, [Source()], a_dataset(), outputs, [], CropSpec())
