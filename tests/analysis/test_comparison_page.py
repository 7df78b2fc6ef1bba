import json
import re
from contextlib import closing

import pytest
from helpers.browser import Browser, find
from helpers.compared_drives import record_laps
from helpers.html_page import Page

from trailbrake.analysis.comparison import DriveChoice, compare_drives
from trailbrake.analysis.comparison_page import describe_comparison, render_comparison, write_comparison
from trailbrake.analysis.corners import Corner
from trailbrake.errors import UsageError
from trailbrake.record import Recording

EVIL = "<img src=x onerror=alert(1)></script><b>\u2028$x"


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drives")
    fast, _ = record_laps(folder / "fast.mcap", rate=50.0, laps=2)
    slow, _ = record_laps(folder / "slow.mcap", rate=50.0, laps=2, early=(0.0, 25.0), driver=EVIL, track=EVIL)
    return compare_drives([DriveChoice(Recording.open(p), name) for p, name in ((fast, "fast"), (slow, EVIL))])


def test_one_file_that_needs_nothing_else_and_names_are_harmless(comparison):
    text = render_comparison(comparison)
    page = Page(text)
    assert page.addresses == []
    assert "default-src 'none'" in text
    assert not re.search(r"@import|url\((?!data:)", text)
    assert "<img src=x" not in text
    assert EVIL in page.text
    assert text.count("</script>") == page.scripts
    assert json.loads(page.data)["laps"][1]["name"].startswith(EVIL)


def test_names_of_corners_are_harmless(comparison, monkeypatch):
    scripts = Page(render_comparison(comparison)).scripts
    monkeypatch.setattr(Corner, "name", EVIL)  # they are numbers today
    page = Page(render_comparison(comparison))
    for cell in (EVIL, f"{EVIL} {comparison.losses[1][0].lost_s:+.3f}"):
        assert cell in page.cells
    assert page.scripts == scripts


def test_the_corner_table_names_the_most_expensive_corner_first(comparison):
    page = Page(render_comparison(comparison))
    head = page.cells.index("what to change")
    assert page.cells[head + 6] == "T2"
    assert float(page.cells[head + 7]) == pytest.approx(comparison.losses[1][0].lost_s, abs=5e-4)
    assert page.cells[head + 8] == comparison.losses[1][0].advice


def test_the_numbers_behind_the_charts(comparison):
    data = json.loads(Page(render_comparison(comparison)).data)
    assert (data["reference"], data["basis"], data["step"]) == (0, "centre line", 0.5)
    assert [corner["name"] for corner in data["corners"]] == ["start", "T1", "T2"]
    for lap, located in zip(data["laps"], comparison.laps, strict=True):
        for name in ("time", "speed", "x", "y", "throttle", "brake", "steer", "gear", "error"):
            assert len(lap[name]) == data["count"]
        assert lap["time"][-1] == pytest.approx(located.time_s, abs=0.03)
    assert data["map"]["closed"] is True


def test_the_answer_in_json(comparison):
    found = json.loads(json.dumps(describe_comparison(comparison), allow_nan=False))
    slow = found["laps"][1]
    assert slow["gap_s"] == pytest.approx(comparison.laps[1].time_s - comparison.laps[0].time_s)
    assert slow["corners"][0]["name"] == "T2"
    assert slow["corners"][0]["lost_s"] == pytest.approx(
        sum(slow["corners"][0][f"lost_{phase}_s"] for phase in ("entry", "middle", "exit"))
    )
    assert {"brake_point", "turn_in", "min_speed", "throttle_point", "exit_speed"} <= set(slow["corners"][0]["lap"])
    assert len(found["drives"]) == 2


def test_a_recording_is_not_overwritten(comparison, tmp_path):
    with pytest.raises(UsageError, match="overwrite"):
        write_comparison(comparison, comparison.drives[0].recording.path)
    assert write_comparison(comparison, tmp_path / "deep" / "page.html").is_file()


@pytest.mark.slow
@pytest.mark.skipif(find() is None, reason="no Chromium here")
def test_on_a_phone_sentences_fit_and_a_tap_brings_the_charts(comparison, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(render_comparison(comparison), encoding="utf-8")
    with closing(Browser(tmp_path / "browser")) as tab:
        tab.size(400, 850)
        tab.open(file.as_uri())
        tab.wait("charts.length > 3")
        right = "Math.max(...[...document.querySelectorAll('.advice')].map((e) => e.getBoundingClientRect().right))"
        assert tab.evaluate("document.querySelectorAll('.advice').length") > 1
        assert tab.evaluate(right) <= 400
        assert tab.evaluate("document.documentElement.scrollWidth") <= 400
        named = "'.corners h2, .corners summary, .laps [scope=row]'"
        tab.evaluate(f"document.querySelectorAll({named}).forEach((e) => e.append('_kartwerk'.repeat(9)))")
        assert tab.evaluate("document.documentElement.scrollWidth") <= 400, "names of runs are long"
        tab.evaluate("document.querySelector('tr[data-corner]').click()")
        tab.wait("Math.abs(document.getElementById('charts').getBoundingClientRect().top) < 100")
        assert tab.complaints == []
