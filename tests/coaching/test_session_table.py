import pytest
from msgspec.structs import replace

from trailbrake.coaching.coached_sessions import CoachedSession, Gain, WorkedOn
from trailbrake.coaching.session_table import SESSION_HEADS, list_session_rows, render_sessions


@pytest.fixture
def sessions():
    work = WorkedOn("T3 <b>Hairpin</b>", "Brake later.", 0.51, 0.07, 0.99, [0.0, 0.0], [9.0, 0.0], 7.8, 0.01)
    one = CoachedSession("2026-11-20T18:00:00", "hatchback", "kartwerk", ["a"], 5, 67.197, 67.012, 62.4, 60.2, 64.6,
                         0.8, work, None, None)  # fmt: skip
    return [one, replace(one, id="2026-11-21T18:00:00", limit_s=None, worked_on=None, gain=Gain(one.id, 0.43, 0.02))]


def test_the_gain_stands_beside_the_work_that_it_came_from(sessions):
    first, second = list_session_rows(sessions)
    assert len(first) == len(second) == len(SESSION_HEADS)
    assert first[-2:] == ("T3 <b>Hairpin</b>, 0.51 s", "+0.43 \u00b1 0.02")
    assert second[3:] == ("-", "no habit", "-")


def test_the_page_has_a_trend_from_two_sessions_on_and_no_markup_of_others(sessions):
    assert render_sessions(sessions[:1]) == ""
    page = render_sessions(sessions)
    assert page.count("<polyline") == 3
    assert "&lt;b&gt;Hairpin" in page
    assert "<b>" not in page
