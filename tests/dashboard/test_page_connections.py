"""The limits of the live page's server, over real sockets."""

import contextlib
import socket
import time
import urllib.error
import urllib.request

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from trailbrake.dashboard import page_connections, server
from trailbrake.dashboard.page_connections import MAX_CONNECTIONS
from trailbrake.dashboard.server import PageServer, PageState
from trailbrake.system import steady_clock

SOON = 20.0


@contextlib.contextmanager
def serving():
    made = PageServer(PageState(steady_clock.now))
    try:
        yield made
    finally:
        made.close()


def address(made):
    return "127.0.0.1", int(made.url.rstrip("/").rsplit(":", 1)[1])


def ends(connection, seconds=SOON):
    """Return whether the other end hangs up."""
    connection.settimeout(seconds)
    try:
        return connection.recv(1000) == b""
    except TimeoutError:
        return False
    except OSError:  # reset
        return True


def get(url, **headers):
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=SOON) as answer:
        return answer.status


def test_every_answer_forbids_frames_and_foreign_scripts():
    with serving() as made:
        for path, host in (("", None), ("main.js", None), ("nothing", None), ("", "evil.example")):
            request = urllib.request.Request(made.url + path, headers={"Host": host} if host else {})
            try:
                answer = urllib.request.urlopen(request, timeout=SOON)
            except urllib.error.HTTPError as error:
                answer = error
            with answer:
                assert answer.headers["X-Frame-Options"] == "DENY"
                policy = answer.headers["Content-Security-Policy"]
                assert "frame-ancestors 'none'" in policy
                assert "default-src 'none'" in policy
                assert "unsafe" not in policy
                assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_half_requests_without_end_cost_a_few_descriptors_and_the_page_goes_on(capfd):
    with serving() as made, contextlib.ExitStack() as stack:
        crowd = []
        for number in range(300):
            if number % 20 == 0:  # else they come quicker than they are accepted, and the system drops some for seconds
                assert get(made.url) == 200
            crowd.append(stack.enter_context(socket.create_connection(address(made), timeout=SOON)))
            crowd[-1].sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        assert get(made.url) == 200
        gone = sum(ends(connection, 0.01) for connection in crowd[:100])
        deadline = time.monotonic() + SOON
        while gone < 100 and time.monotonic() < deadline:
            gone = sum(ends(connection, 0.01) for connection in crowd[:100])
        assert gone == 100
        assert len(made._server.server_state.connections) <= MAX_CONNECTIONS + 1
    assert capfd.readouterr().err == ""


def test_a_request_that_never_ends_is_hung_up_on(monkeypatch):
    monkeypatch.setattr(page_connections, "REQUEST_S", 0.2)
    with serving() as made, socket.create_connection(address(made)) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\n")
        assert ends(slow)


def test_an_open_page_outlives_the_crowd_and_the_time_for_a_request(monkeypatch):
    monkeypatch.setattr(page_connections, "REQUEST_S", 0.2)
    with serving() as made, contextlib.ExitStack() as stack:
        page = stack.enter_context(connect(made.url.replace("http", "ws") + "live", proxy=None, open_timeout=SOON))
        slow = stack.enter_context(socket.create_connection(address(made)))
        assert ends(slow)
        for number in range(2 * MAX_CONNECTIONS):
            if number % 20 == 0:
                assert get(made.url) == 200
            stack.enter_context(socket.create_connection(address(made), timeout=SOON))
        assert get(made.url) == 200
        made._state.publish_text("said", "still here")
        assert page.recv(SOON)


def test_too_many_pages_are_refused(monkeypatch):
    monkeypatch.setattr(server, "MAX_PAGES", 2)
    with serving() as made, contextlib.ExitStack() as stack:
        url = made.url.replace("http", "ws") + "live"
        for _ in range(2):
            stack.enter_context(connect(url, proxy=None, open_timeout=SOON))
        with pytest.raises((InvalidStatus, ConnectionClosed)), connect(url, proxy=None, open_timeout=SOON) as third:
            third.recv(SOON)
