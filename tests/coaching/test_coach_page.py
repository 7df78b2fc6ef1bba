import json
import math

import pytest
from helpers.compared_drives import record_laps

from trailbrake.analysis.comparison import DriveChoice
from trailbrake.coaching.coach_page import describe_report, render_coach_page, write_coach_page
from trailbrake.coaching.coach_session import coach_laps
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


def test_values_that_are_not_known_are_none(report):
    values = describe_report(report)
    json.dumps(values, allow_nan=False)
    assert values["limit"]["time_s"] <= values["ideal_s"] <= values["best_s"]
    assert math.isfinite(values["grip_share"])


def test_the_page_never_takes_the_place_of_a_recording(report, tmp_path):
    assert write_coach_page(report, tmp_path / "new" / "page.html").is_file()
    with pytest.raises(UsageError, match="overwrite a recording"):
        write_coach_page(report, report.chosen.drives[0].recording.path)
