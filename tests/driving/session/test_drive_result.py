from trailbrake.driving.session.drive_result import DriveResult


def test_a_notebook_shows_the_laps_and_escapes_names():
    lap = {"number": 1, "time_s": 62.5, "valid": True}
    result = DriveResult(driver="<b>", car="kart", track=None, laps=[lap], ended="off the road", recording="a/run.mcap")
    shown = result._repr_html_()
    assert "62.500" in shown
    assert "&lt;b&gt;, kart" in shown
    assert "off the road" in shown
    assert (result.laps, result.recording.name) == ([lap], "run.mcap")
