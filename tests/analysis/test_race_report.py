"""The sections of a report on the cars that a car drove among."""

from helpers.contact_scenes import T, ease, record_cars

from trailbrake.analysis.report import write_report


def test_the_report_shows_order_gaps_and_passes_of_this_car_among_the_others(tmp_path):
    recordings = record_cars(tmp_path, 100.0 + 30.0 * T, 90.0 + 30.0 * T + 20.0 * ease(2.0, 2.0))
    page = write_report(recordings[1]).read_text()
    assert "car 1 passes car 0" in page
    assert page.index("<tr class='focus'><td>1</td><td>1</td>") < page.index("<tr><td>2</td><td>0</td>")
    assert "car 1 in colour" in page
