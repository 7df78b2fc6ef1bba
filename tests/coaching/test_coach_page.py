import json
import math
import re
import subprocess
from dataclasses import replace

import pytest
from helpers.browser import find
from helpers.compared_drives import record_laps

from trailbrake.analysis.comparison import DriveChoice
from trailbrake.coaching.coach_page import describe_report, render_coach_page, write_coach_page
from trailbrake.coaching.coach_session import coach_laps
from trailbrake.coaching.coached_sessions import CoachedSession, WorkedOn
from trailbrake.coaching.corner_findings import Habit
from trailbrake.coaching.options import CoachOptions
from trailbrake.errors import UsageError
from trailbrake.record.recording_reader import Recording


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path, _ = record_laps(tmp_path_factory.mktemp("laps") / "a.mcap", laps=4, driver="<script>alert(1)</script>",
                          car="<b>car</b>")  # fmt: skip
    drive = DriveChoice(Recording.open(path), "<i>me</i>")
    return coach_laps([drive], CoachOptions(limit=False, car="f1"))


def test_nothing_that_came_with_a_recording_is_markup(report):
    page = render_coach_page(report)
    for text in ("<script>alert", "<b>car", "<i>me"):
        assert text not in page
    assert "&lt;b&gt;car" in page
    assert "default-src 'none'" in page


def test_the_laps_and_the_limit_are_in_the_charts(report):
    page = render_coach_page(report)
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert [lap["name"] for lap in data["laps"]][-1] == "limit of your car"
    assert len(data["laps"]) == min(len(report.chosen.laps), 3) + 1
    assert data["reference"] == len(data["laps"]) - 1
    assert len(data["laps"][-1]["speed"]) == data["count"]


def test_without_a_habit_the_page_says_how_much_is_lost_how_sure_that_is_and_where_most(report):
    plain = replace(report, findings=(), best_s=90.0, share=0.9)
    doubted = replace(report.limit, time_s=88.0, least_s=87.0, most_s=89.5)
    assert "0.50 to 3.00 s with a chance of 95 %" in render_coach_page(replace(plain, limit=doubted))
    page = render_coach_page(replace(plain, limit=replace(doubted, least_s=88.0, most_s=88.0)))
    assert "at 90% of the car's grip: 2.00 s.</p>" in page
    dearest = max((gap for gap in report.gaps if gap.corner.number), key=lambda gap: gap.to_limit_s)
    assert f"Most in {dearest.corner.name}: " in page
    assert "where you have been quicker" in render_coach_page(replace(plain, limit=None))


def test_laps_of_several_recordings_are_told_apart_by_what_differs_in_their_names(report):
    drive = report.chosen.drives[0]
    drives = tuple(replace(drive, label=f"kartwerk_my kart_{date}-{time}") for date, time in ((20, 1), (20, 2)))
    page = render_coach_page(replace(report, chosen=replace(report.chosen, drives=drives)))
    names = [lap["name"] for lap in json.loads(page.split('id="data">')[1].split("</script>")[0])["laps"]]
    assert all(re.match(r"20-1, lap \d", name) for name in names[:-1])
    assert len(names) > 2


def test_the_page_says_how_to_see_the_limit_car_in_three_dimensions(report):
    path = report.chosen.drives[report.best_lap.source].recording.path
    assert path.parent.is_dir()
    assert f"<code>trailbrake replay {path} --watch --open --coach</code>" in render_coach_page(report)
    assert "<code>" not in render_coach_page(replace(report, limit=None, gaps=()))


@pytest.mark.parametrize(("kind", "basis"), [("pace", "your usual pace"), ("mistakes", "your better laps")])
def test_what_a_finding_costs_is_said_beside_what_it_was_compared_with(report, kind, basis):
    habit = Habit(kind, report.corners[1], 0.4, 0.1, 0.97, "Brake later.", "")
    assert f"Beside {basis} it costs 0.40 s a lap" in render_coach_page(replace(report, findings=(habit,)))


@pytest.mark.slow
@pytest.mark.skipif(find() is None, reason="no Chromium here")
def test_the_page_prints_on_one_sheet(report, tmp_path):
    habit = Habit(
        "pace", report.corners[1], 0.4, 0.1, 0.97, "Brake later, at 240 m: 0.400 s lost." * 2, "evidence " * 9
    )
    work = WorkedOn("T1", "Brake later.", 0.4, 0.1, 0.97, [], [], None, None)
    sessions = [CoachedSession(f"2026-11-{day}T18:00:00", "car", "road", [], 5, 67.0, 66.0, 62.0, 60.0, 64.0, 0.8, work,
                               None, None) for day in range(10, 30)]  # fmt: skip
    page = write_coach_page(replace(report, findings=(habit,) * 3), tmp_path / "page.html", sessions)
    sheet = tmp_path / "sheet.pdf"
    subprocess.run([find(), "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer",
                    "--virtual-time-budget=4000", f"--user-data-dir={tmp_path}", f"--print-to-pdf={sheet}",
                    page.as_uri()], check=True, timeout=60, stderr=subprocess.DEVNULL)  # fmt: skip
    assert len(re.findall(rb"/Type\s*/Page\b", sheet.read_bytes())) == 1


def test_values_that_are_not_known_are_none(report):
    values = describe_report(report)
    json.dumps(values, allow_nan=False)
    assert values["limit"]["time_s"] <= values["ideal_s"] <= values["best_s"]
    assert math.isfinite(values["grip_share"])


def test_the_page_never_takes_the_place_of_a_recording(report, tmp_path):
    assert write_coach_page(report, tmp_path / "new" / "page.html").is_file()
    with pytest.raises(UsageError, match="overwrite the recording"):
        write_coach_page(report, report.chosen.drives[0].recording.path)
