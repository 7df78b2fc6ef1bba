"""The server over a real socket, with an independent WebSocket client in the place of the page."""

import json
import struct
import threading
import urllib.error
import urllib.request
from contextlib import ExitStack, suppress
from io import BytesIO

import numpy as np
import pytest
from PIL import Image as Picture
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from trailbrake.control.vehicle.manual_input import ManualInput
from trailbrake.dashboard import page_messages
from trailbrake.dashboard import server as module
from trailbrake.dashboard.live_tap import LiveTap
from trailbrake.dashboard.options import PageAccess
from trailbrake.dashboard.server import LEASE_TIMEOUT_S, MAX_TEXTS, ControlLease, PageServer, PageState
from trailbrake.errors import SimulatorError
from trailbrake.state import CarState, Controls, Image
from trailbrake.system import steady_clock
from trailbrake.transport.rendezvous import find_own_address

TIMEOUT = 20.0


class Driver:
    debug = None


class Shown:
    """A board with a server and a tap; `tick` shows it one state."""

    def __init__(self, by_hand=True, **access):
        self.board = PageState(lambda: 0.0)  # no lease ends because this machine is slow
        self.driver = Driver()
        self.tap = LiveTap(steady_clock.now, None, self.driver)
        self.by_hand = by_hand
        self.server = PageServer(self.board, access=PageAccess(**access))

    def begin(self):
        self.board.start_drive(self.tap, page_messages.build_header({"sim": "test"}, None, None, self.by_hand), {})

    def tick(self, **state):
        self.tap.tick(CarState(**state), Controls())


@pytest.fixture(scope="module")
def closing():
    """Threads that close servers while the next tests run: the library takes 0.2 s for it."""
    threads = []
    yield threads
    for thread in threads:
        thread.join()


@pytest.fixture
def shown(closing):
    made = Shown()
    yield made
    closing.append(threading.Thread(target=made.server.close))
    closing[-1].start()


class Page:
    """What a page does: hears until something comes, and answers frames."""

    def __init__(self, url, **options):
        self._open = ExitStack()
        address = url.replace("http", "ws") + "live"
        self.socket = self._open.enter_context(connect(address, open_timeout=TIMEOUT, proxy=None, **options))

    def __enter__(self):
        return self

    def __exit__(self, *rest):
        self._open.close()

    def text(self, kind):
        """The next text of a kind."""
        while True:
            message = self.socket.recv(timeout=TIMEOUT)
            if isinstance(message, str) and kind in (found := json.loads(message)):
                return found[kind]

    def bytes(self, kind):
        """The next binary message of a kind, without it."""
        while True:
            message = self.socket.recv(timeout=TIMEOUT)
            if isinstance(message, bytes) and struct.unpack("<d", message[:8]) == (kind,):
                return message[8:]

    def answer(self, seen, wants=0.0, steer=0.0, throttle=0.0):
        self.socket.send(struct.pack("<7d", seen, wants, steer, throttle, 0.0, 0.0, 1.0))


def frame_number(data):
    names = [
        c["name"]
        for part in ("state", "controls", "health")
        for c in page_messages.build_header({}, None, None, True)[part]
    ]
    return np.frombuffer(data, "<f8")[names.index("frame")]


def get(url, **headers):
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=TIMEOUT) as answer:
        return answer.read().decode(), answer.headers


def test_every_part_of_the_page_is_there_and_needs_no_network(shown):
    text, headers = get(shown.server.url)
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    parts = [
        piece.split('"')[1] for piece in text.split() if piece.startswith(("src=", "href=")) and "data:" not in piece
    ]
    assert len(parts) == 16
    for part in parts:
        body, _ = get(shown.server.url + part)
        assert len(body) > 100
        if not part.startswith("vendor"):
            assert "http://" not in body
            assert "https://" not in body


def test_nothing_else_is(shown):
    with pytest.raises(urllib.error.HTTPError) as caught:
        get(shown.server.url + "../pyproject.toml")
    assert caught.value.code == 404
    caught.value.close()


def test_it_answers_on_this_machine_only(shown):
    assert shown.server.url.startswith("http://127.0.0.1:")
    assert [opened.getsockname()[0] for opened in shown.server._sockets] == ["127.0.0.1"]


def test_a_foreign_name_for_this_address_is_refused(shown):
    with pytest.raises(urllib.error.HTTPError) as caught:
        get(shown.server.url, Host="evil.example")
    assert caught.value.code == 403
    caught.value.close()


def test_another_site_s_script_cannot_drive(shown):
    with pytest.raises(InvalidStatus):
        Page(shown.server.url, origin="http://evil.example")
    with Page(shown.server.url, origin=shown.server.url.rstrip("/")):
        pass


@pytest.fixture(params=["", "own"])
def opened(request, closing):
    """A drive by hand that other devices see: at every address of this machine, or at one."""
    made = Shown(watch_host=find_own_address() if request.param else "0.0.0.0")
    made.begin()
    made.tick(time=1.0)
    yield made
    closing.append(threading.Thread(target=made.server.close))
    closing[-1].start()


def refusal(url):
    with pytest.raises(urllib.error.HTTPError) as caught:
        get(url)
    with caught.value:
        return caught.value.code, caught.value.read().decode()


def test_another_device_needs_the_token(opened):
    outer = opened.server.outer_url
    base, token = outer.rstrip("/").rsplit("/", 1)
    assert "127.0.0.1" not in base
    for piece in ("", "live.css", "scene.json"):
        assert get(outer + piece)[0]
    other = token[:-1] + ("y" if token.endswith("x") else "x")
    for wrong in ("/", f"/{other}/", "//", f"/{token}x/", "/live.css", f"/x/{token}/"):
        code, text = refusal(base + wrong)
        assert (code, text.count("\n")) == (403, 1)
        with pytest.raises(InvalidStatus):
            Page(base + wrong)
    get(opened.server.url)  # this machine's own page needs none


def test_another_device_watches_only(opened):
    with Page(opened.server.outer_url) as tablet, Page(opened.server.url) as own:
        assert tablet.text("watches_only") is True
        tablet.answer(0.0, wants=1.0, throttle=1.0)
        tablet.socket.send('{"action": "pause", "values": [1]}')
        assert "--watch-control" in tablet.text("refused")
        assert opened.board.control_lease.newest_input() is None
        own.answer(0.0, wants=1.0, throttle=0.5)
        for seat in iter(lambda: own.text("seat"), "you"):
            assert seat == "free"


def test_one_page_at_a_time_beeps_and_a_tablet_may_take_that_over(opened):
    with Page(opened.server.url) as own:
        with Page(opened.server.outer_url) as tablet:
            assert own.text("sound") == tablet.text("sound") == "free"
            own.socket.send('{"action": "sound", "values": [1]}')
            assert (own.text("sound"), tablet.text("sound")) == ("you", "another")
            tablet.socket.send('{"action": "sound", "values": [1]}')
            assert (own.text("sound"), tablet.text("sound")) == ("another", "you")
            own.socket.send('{"action": "sound", "values": [0]}')  # it has nothing to give back
        assert own.text("sound") == "free", "a page that is closed beeps no longer"


def test_with_control_the_first_device_drives_and_a_second_one_watches(closing):
    shown = Shown(watch_host=find_own_address(), watch_control=True)
    closing.append(threading.Thread(target=shown.server.close))
    shown.begin()
    shown.tick(time=1.0)
    with Page(shown.server.outer_url) as first, Page(shown.server.outer_url) as second:
        first.answer(0.0, wants=1.0, throttle=1.0)
        for seat in iter(lambda: first.text("seat"), "you"):
            assert seat == "free"
        second.answer(0.0, wants=1.0, throttle=0.1)
        for seat in iter(lambda: second.text("seat"), "another"):
            assert seat == "free"
        assert shown.board.control_lease.newest_input() == ManualInput(throttle=1.0)
    closing[-1].start()


def test_without_a_watch_host_no_token_opens_anything(shown):
    assert shown.server.outer_url == ""
    with pytest.raises(urllib.error.HTTPError) as caught:
        get(shown.server.url, Host=f"{find_own_address()}:80")
    caught.value.close()


def test_a_foreign_address_cannot_be_served():
    with pytest.raises(SimulatorError, match=r"192\.0\.2\.1, port"):
        PageServer(PageState(steady_clock.now), access=PageAccess(watch_host="192.0.2.1"))


def test_a_page_hears_header_path_and_frames(shown):
    shown.tick(time=1.0, x=0.0, y=0.0, speed=5.0)
    shown.tick(time=2.0, x=5.0, y=0.0, speed=5.0)
    shown.begin()
    with Page(shown.server.url) as page:
        assert page.text("header")["about"] == {"sim": "test"}
        np.testing.assert_allclose(np.frombuffer(page.bytes(page_messages.PATH), "<f8"), [0, 0, 5, 5, 0, 5])
        assert np.frombuffer(page.bytes(page_messages.FRAME), "<f8")[0] == 2.0


def test_who_comes_before_the_drive_is_told_when_it_begins(shown):
    with Page(shown.server.url) as page:
        shown.board.publish_text("said", "compiling")
        assert page.text("said") == "compiling"
        shown.begin()
        shown.tick(time=1.0)
        assert page.text("header")["by_hand"] is True
        assert page.bytes(page_messages.FRAME)


def test_a_slow_page_gets_a_few_frames_and_then_the_newest_only(shown):
    shown.begin()
    shown.tick(time=1.0)
    with Page(shown.server.url) as page:
        numbers = [frame_number(page.bytes(page_messages.FRAME)) for _ in range(module.MAX_FRAMES_AHEAD)]
        assert numbers == [1.0, 2.0, 3.0]
        with pytest.raises(TimeoutError):
            page.socket.recv(timeout=0.2)  # it has answered nothing: nothing more comes
        shown.tick(time=77.0)
        page.answer(numbers[-1])
        assert np.frombuffer(page.bytes(page_messages.FRAME), "<f8")[0] == 77.0


def test_a_page_that_answers_drives_and_a_second_one_watches(shown):
    shown.begin()
    shown.tick(time=1.0)
    with Page(shown.server.url) as first, Page(shown.server.url) as second:
        first.answer(0.0, wants=1.0, steer=0.5, throttle=1.0)
        for seat in iter(lambda: first.text("seat"), "you"):
            assert seat == "free"
        assert shown.board.control_lease.newest_input() == ManualInput(steer=0.5, throttle=1.0)
        second.answer(0.0, wants=1.0, steer=-1.0)
        for seat in iter(lambda: second.text("seat"), "another"):
            assert seat == "free"
        first.answer(0.0, wants=0.0)  # lets go
        assert first.text("seat") == "free"
        second.answer(0.0, wants=1.0, steer=-1.0)
        for seat in iter(lambda: second.text("seat"), "you"):
            assert seat == "free"


def test_nobody_drives_by_hand_what_has_a_driver():
    shown = Shown(by_hand=False)
    try:
        shown.begin()
        shown.tick(time=1.0)
        with Page(shown.server.url) as page:
            page.answer(0.0, wants=1.0, throttle=1.0)
            page.bytes(page_messages.FRAME)
            page.answer(1.0, wants=1.0, throttle=1.0)
            for _ in range(3):
                page.answer(frame_number(page.bytes(page_messages.FRAME)), wants=1.0, throttle=1.0)
            assert shown.board.control_lease.newest_input() is None
    finally:
        shown.server.close()


@pytest.mark.parametrize("bad", [b"", b"x" * 55, "text", struct.pack("<7d", *[float("nan")] * 7)])
def test_nonsense_is_hung_up_on_and_the_server_goes_on(shown, bad):
    shown.begin()
    shown.tick(time=1.0)
    with Page(shown.server.url) as page:
        page.socket.send(bad)
        with suppress(ConnectionClosed):
            for _ in page.socket:
                pass  # what was on its way
        assert page.socket.close_code == module.WRONG_DATA
    with Page(shown.server.url) as page:
        assert page.bytes(page_messages.FRAME)


def test_camera_bytes_come_as_they_are_and_once(shown):
    shown.begin()
    image = Image(b"\xff\xd8 not looked at", decode=lambda data: pytest.fail("decoded"))
    shown.tick(time=1.0, image=image)
    with Page(shown.server.url) as page:
        assert page.bytes(page_messages.CAMERA) == image.data
        shown.tick(time=2.0, image=Image(b"second", decode=None))
        page.answer(1.0)
        assert page.bytes(page_messages.CAMERA) == b"second"


def test_a_driver_s_picture_comes_as_jpeg(shown):
    shown.begin()
    picture = np.zeros((40, 60, 3), np.uint8)
    picture[:, :30, 0] = 255
    shown.driver.debug = picture
    shown.tick(time=1.0)
    with Page(shown.server.url) as page:
        seen = np.asarray(Picture.open(BytesIO(page.bytes(page_messages.DEBUG))))
    assert seen.shape == (40, 60, 3)
    assert np.abs(seen.astype(int) - picture).mean() < 4.0  # JPEG loses a little at the edge


@pytest.mark.parametrize("odd", ["text", np.zeros((4, 4)), np.zeros((4, 4, 3)), np.zeros((0, 4, 3), np.uint8), [[1]]])
def test_what_is_no_picture_is_not_shown(odd):
    assert module._encode_debug_image(odd) == b""


def test_the_end_is_told_with_its_reason(shown):
    shown.begin()
    shown.tick(time=1.0)
    with Page(shown.server.url) as page:
        page.text("header")
        shown.server.close("the driver raised")
        assert page.text("over") == "the driver raised"
        with pytest.raises(ConnectionClosed):
            page.socket.recv(timeout=TIMEOUT)


def test_a_taken_port_is_said(shown):
    with pytest.raises(SimulatorError, match="cannot serve the page"):
        PageServer(PageState(steady_clock.now), int(shown.server.url.rstrip("/").rsplit(":", 1)[1]))
    with pytest.raises(SimulatorError, match="port 70000"):
        PageServer(PageState(steady_clock.now), 70000)


def test_a_board_does_not_grow_for_ever():
    board = PageState(steady_clock.now)
    for k in range(2 * MAX_TEXTS):
        board.publish_text("said", str(k))
    assert len(board.texts) == MAX_TEXTS


LEFT, RIGHT = ManualInput(steer=1.0), ManualInput(steer=-1.0)


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def make():
    clock = Clock()
    return clock, ControlLease(clock)


def test_nobody_drives_at_first():
    _, seat = make()
    assert (seat.holder, seat.newest_input()) == (None, None)


def test_the_first_page_drives_and_the_second_only_watches():
    _, seat = make()
    assert seat.request_control(1, LEFT)
    assert not seat.request_control(2, RIGHT)
    assert (seat.holder, seat.newest_input()) == (1, LEFT)


def test_the_newest_wish_counts():
    _, seat = make()
    seat.request_control(1, LEFT)
    seat.request_control(1, RIGHT)
    assert seat.newest_input() == RIGHT


def test_a_silent_page_asks_for_nothing_and_loses_the_wheel():
    clock, seat = make()
    seat.request_control(1, LEFT)
    clock.now += 0.99 * LEASE_TIMEOUT_S
    assert seat.newest_input() == LEFT
    clock.now += 0.02 * LEASE_TIMEOUT_S
    assert (seat.holder, seat.newest_input()) == (None, None)
    assert seat.request_control(2, RIGHT)
    assert not seat.request_control(1, LEFT)


def test_who_leaves_frees_the_seat_and_nobody_else_does():
    _, seat = make()
    seat.request_control(1, LEFT)
    seat.release_control(2)
    assert seat.newest_input() == LEFT
    seat.release_control(1)
    assert seat.newest_input() is None


def test_the_dead_man_is_a_quarter_of_a_second():
    assert LEASE_TIMEOUT_S == 0.25
