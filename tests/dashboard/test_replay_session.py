import json

import pytest
from helpers.browser import Browser, find
from helpers.compared_drives import record_laps
from helpers.synthetic_drives import record_drive
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from trailbrake.analysis.comparison import DriveChoice
from trailbrake.cli.main import run_command_line
from trailbrake.coaching.coach_session import coach_laps
from trailbrake.coaching.coached_sessions import keep_session
from trailbrake.coaching.options import CoachOptions
from trailbrake.dashboard import watch_session
from trailbrake.dashboard.coach_choice import NO_RESULT
from trailbrake.dashboard.live_view import LiveView
from trailbrake.dashboard.options import ReplayPageOptions
from trailbrake.dashboard.recorded_frames import RecordedFrames
from trailbrake.dashboard.replay_player import ReplayPlayer
from trailbrake.driving.session.progress import SilentListener
from trailbrake.errors import UsageError
from trailbrake.record.recording_reader import Recording
from trailbrake.system import steady_clock


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("drives") / "drive.mcap"
    record_drive(path, laps=2, rate=50.0)
    return path


def test_a_recording_is_served_and_its_road_is_that_of_its_name_or_none(file):
    said = []
    result = watch_session.replay_on_page(file, ReplayPageOptions(watch=True, seconds=0.01), said.append)
    assert said == [f"the page is at {result['page']}"]
    assert result["laps"] == 2
    assert watch_session.find_recorded_road(Recording.open(file)) is None  # a track that nobody has


def test_a_recording_is_coached_by_its_session_or_says_why_not(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_RECORDINGS", str(tmp_path / "recordings"))
    path, _ = record_laps(tmp_path / "a.mcap", laps=3, started="2026-11-20T18:00:00+0000")
    options = ReplayPageOptions(watch=True, seconds=0.01, coach=())
    said = []
    watch_session.replay_on_page(path, options, said.append)
    assert said[1:] == [NO_RESULT]
    keep_session(coach_laps([DriveChoice(Recording.open(path), "me")], CoachOptions(limit=False, car="f1")))
    watch_session.replay_on_page(path, options, said.append)
    assert said[3:] == ["coached by the session 2026-11-20T18:00:00"]


@pytest.mark.parametrize("options", [{"seconds": -1.0}, {"watch_port": 70_000}])
def test_numbers_out_of_range_are_refused(file, options):
    with pytest.raises(UsageError, match="no "):
        watch_session.replay_on_page(file, ReplayPageOptions(watch=True, **options), print)


def test_one_of_page_and_receiver(file, capsys):
    assert run_command_line(["replay", str(file), "--watch", "--to", "127.0.0.1:9"]) == 2
    assert "one of --watch, --to and --driver" in capsys.readouterr().err


@pytest.fixture(scope="module")
def page(file):
    frames = RecordedFrames(Recording.open(file), None)
    with LiveView(SilentListener()) as view:
        view.start_replay(Recording.open(file), ReplayPlayer(frames, steady_clock.now), None)
        yield view


def test_a_request_that_is_none_ends_the_connection(page):
    with connect(page.url.replace("http", "ws") + "live", proxy=None) as socket:
        socket.send("no request")
        with pytest.raises(ConnectionClosed, match="1007"):
            list(iter(lambda: socket.recv(timeout=20), None))


def test_what_one_page_requests_every_page_sees_and_the_reason_of_a_refusal_only_that_page(page):
    with (
        connect(page.url.replace("http", "ws") + "live", proxy=None) as one,
        connect(page.url.replace("http", "ws") + "live", proxy=None) as other,
    ):
        for value in (99, 0.25):
            one.send(json.dumps({"action": "speed", "values": [value]}))
        seen = []
        while not (any("refused" in text for text in seen) and any(has_speed(text, 0.25) for text in seen)):
            seen.append(next_text(one))
        refusal = next(text["refused"] for text in seen if "refused" in text)
        assert refusal.startswith("speed: expected")
        while not has_speed(next_text(other), 0.25):
            pass


def next_text(socket):
    while not isinstance(message := socket.recv(timeout=20), str):
        pass
    return json.loads(message)


def has_speed(text, speed):
    return text.get("controls", {}).get("replay", {}).get("speed") == speed


@pytest.mark.slow
@pytest.mark.skipif(find() is None, reason="no Chromium here")
def test_the_page_plays_scrubs_and_shows_ghosts(page, tmp_path):
    browser = Browser(tmp_path)
    try:
        browser.open(page.url)
        browser.wait("live.frames > 25 && strips.length === 4")
        assert not browser.evaluate("byId('replay').hidden || byId('ghost-box').hidden")
        browser.evaluate("byId('play').click()")
        browser.wait("byId('play').textContent === 'play'")
        browser.evaluate("byId('scrub').value = 60; byId('scrub').dispatchEvent(new Event('input'))")
        browser.evaluate("byId('scrub').dispatchEvent(new Event('change'))")
        browser.wait("Math.abs(value('health', 'position') - 60) < 1e-6")
        browser.wait("history_.time.length > 500 && Math.abs(history_.time[history_.time.length - 1] - 60) < 0.1")
        browser.evaluate("byId('ghosts').querySelector('input').click()")
        browser.wait("otherCars().length === 1 && otherCars()[0].index === GHOSTS_FROM + 1")
        browser.key("ArrowRight", True)
        browser.key("ArrowRight", False)
        browser.wait("Math.abs(value('health', 'position') - 61) < 1e-6")
        browser.wait("byId('status').textContent === 'replay, paused'")
        assert browser.complaints == []
    finally:
        browser.close()
