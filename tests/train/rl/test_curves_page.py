import math

import pytest

from trailbrake.errors import UsageError
from trailbrake.train.rl.curves_page import MOST_POINTS, write_curves_page


def make_rows(count):
    rows = []
    for k in range(1, count + 1):
        row = {"iteration": k, "steps": 1e6 * k, "wall_s": 60.0 * k, "cpu_s": 30.0 * k, "speed": 10.0 + k,
               "reward": None, "crashes_per_km": 1.0 / k, "world_share": 0.2, "actor_share": 0.1}  # fmt: skip
        if k % 2 == 0:
            row |= {"score": 100.0 - k, "crashes": 1, "lap_s/<oval>": 60.0 - k, "lap_s/b": None}
        rows.append(row)
    return rows


def test_the_page_has_the_laps_and_ranks_what_was_judged(tmp_path):
    page = write_curves_page(tmp_path / "curves.html", "a<b", make_rows(6)).read_text("utf-8")
    assert "a&lt;b: how it learned to drive" in page
    assert "6 iterations, 6.0 M steps, 6.0 min, 3.0 min of processor time" in page
    assert "<oval>" not in page
    best, worst = page.index("<td>54.00</td>"), page.index("<td>58.00</td>")
    assert best < worst
    assert "nan" not in page
    assert page.count("<svg") == 7


def test_long_runs_are_averaged(tmp_path):
    page = write_curves_page(tmp_path / "curves.html", "a", make_rows(5 * MOST_POINTS)).read_text("utf-8")
    longest = max(len(part.split('"', 1)[0].split()) for part in page.split('points="')[1:])
    assert longest == MOST_POINTS


@pytest.mark.parametrize("rows", [[], [{"iteration": 1}], [{"iteration": 1, "steps": "x", "score": math.nan}]])
def test_what_is_missing_is_left_out(tmp_path, rows):
    page = write_curves_page(tmp_path / "curves.html", "a", rows).read_text("utf-8")
    assert "How it went" in page


def test_a_page_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "taken").touch()
    with pytest.raises(UsageError, match="cannot write the page"):
        write_curves_page(tmp_path / "taken" / "curves.html", "a", [])
