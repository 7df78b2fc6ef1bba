import json
from types import SimpleNamespace

import pytest

from trailbrake.control.hands import Wish
from trailbrake.dashboard import watching as module
from trailbrake.dashboard.options import PageOptions, WatchOptions
from trailbrake.dashboard.watching import Watching
from trailbrake.laps import LapRecord
from trailbrake.planning.course import Unmapped
from trailbrake.roles import LinkCounters, Tap
from trailbrake.run.options import DriveOptions
from trailbrake.run.session import drive
from trailbrake.run.show import Quiet
from trailbrake.state import CarState, Controls

LAP = LapRecord(1, 61.5, True, (20.0, 20.0, 21.5), "", 0.0, 0)
LINK = SimpleNamespace(counters=LinkCounters())


class Notes(Quiet):
    def __init__(self):
        self.said, self.laps, self.done = [], [], []

    def say(self, text):
        self.said.append(text)

    def lap(self, lap):
        self.laps.append(lap)

    def progress(self, share_done, state, lap):
        self.done.append(share_done)


def test_what_the_terminal_is_told_the_page_is_told_too():
    notes = Notes()
    with Watching(notes) as page:
        page.say("moving")
        page.lap(LAP)
        page.progress(0.5, CarState(), 1)
        lines = [json.loads(line) for line in page._board.lines]
    assert notes.said == [f"the page is at {page.url}", "moving"]
    assert (notes.laps, notes.done) == ([LAP], [0.5])
    assert lines[0] == {"said": "moving"}
    assert lines[1]["lap"]["time_s"] == 61.5
    assert page._board.over == ""


def test_an_error_is_the_reason_that_the_page_is_told():
    with pytest.raises(ValueError, match="two"), Watching(Quiet()) as page:
        raise ValueError("one\n two")
    assert page._board.over == "one two"


def test_a_drive_through_a_wire_without_positions_has_a_page_without_a_map():
    driver = SimpleNamespace(hands=None)
    with Watching(Quiet()) as page:
        page.attend({"sim": "trend"}, LINK, driver, Unmapped())
        header = json.loads(page._board.header)["header"]
    assert (header["map"], header["line"], header["by_hand"]) == (None, None, True)


def test_a_driver_with_hands_gets_those_of_the_page():
    driver = SimpleNamespace(hands=None)
    with Watching(Quiet()) as page:
        tap = page.begin({}, LINK, driver, None, None)
        assert isinstance(tap, Tap)
        assert driver.hands() is None
        page._board.seat.ask(1, Wish(steer=0.5))
        assert driver.hands() == Wish(steer=0.5)
        assert json.loads(page._board.header)["header"]["by_hand"] is True


def test_a_driver_without_hands_is_left_alone():
    driver = SimpleNamespace()
    with Watching(Quiet()) as page:
        page.begin({}, LINK, driver, None, None)
        assert vars(driver) == {}
        assert json.loads(page._board.header)["header"]["by_hand"] is False


def test_a_lap_begins_the_page_s_clock_anew():
    with Watching(Quiet()) as page:
        tap = page.begin({}, LINK, None, None, None)
        for time in (1.0, 8.0):
            tap.tick(CarState(time=time), Controls())
        page.lap(LAP)
        assert tap.lap_began == 8.0


def test_the_browser_opens_when_asked_and_its_absence_is_said(monkeypatch):
    opened, notes = [], Notes()
    monkeypatch.setattr(module.webbrowser, "open", lambda url: opened.append(url) or False)
    with Watching(notes, open_browser=True) as page:
        assert opened == [page.url]
    assert "no browser could be opened" in notes.said[-1]


def test_the_page_opens_nothing_by_itself(monkeypatch):
    monkeypatch.setattr(module.webbrowser, "open", lambda url: pytest.fail("opened"))
    assert not PageOptions().open
    assert not WatchOptions().open
    with Watching(Quiet()):
        pass


@pytest.mark.slow
def test_a_whole_drive_is_attended(tmp_path):
    notes = Notes()
    with Watching(notes) as page:
        options = DriveOptions(track="pinegrove", seconds=3.0, out=tmp_path, report=False)
        summary = drive(options, None, page, page)
        header = json.loads(page._board.header)["header"]
        tap = page._board.tap
    assert summary["ended"] == "done"
    assert header["about"]["track"] == "pinegrove"
    assert len(header["map"]["left"]["x"]) > 100
    assert len(header["line"]["x"]) > 100
    assert tap.ticks == pytest.approx(3.0 * 333, abs=15)
    assert len(tap.path) // 24 > 5
    assert tap.newest[0].speed > 10.0
