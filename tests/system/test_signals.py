import os
import signal
import subprocess
import sys
import threading

import pytest

from trailbrake.system.breakable_call import StopInsisted
from trailbrake.system.signals import (
    CHILD_VARIABLE,
    CTRL_CLOSE,
    CTRL_LOGOFF,
    CTRL_SHUTDOWN,
    LONGEST_S,
    STOP_S,
    ConsoleEndHandler,
    handle_console_end,
    handle_stop_signals,
    reclaim_stop_signals,
)

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX systems")


def test_the_first_signal_is_a_request_and_the_second_an_interrupt():
    asked = []
    before = signal.getsignal(signal.SIGINT)
    with handle_stop_signals(lambda: asked.append(1)):
        signal.raise_signal(signal.SIGINT)
        assert asked == [1]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert asked == [1]
    assert signal.getsignal(signal.SIGINT) is before


def test_sigterm_asks_too_and_handlers_come_back():
    asked = []
    before = signal.getsignal(signal.SIGTERM)
    with handle_stop_signals(lambda: asked.append(1)):
        signal.raise_signal(signal.SIGTERM)
    assert asked == [1]
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_handler_of_a_driver_s_runs_after_ours_whatever_it_does():
    heard = []

    def own(number, frame):
        heard.append("own")
        sys.exit()

    before = signal.getsignal(signal.SIGTERM)
    reclaim_stop_signals()  # none are handled
    with handle_stop_signals(lambda: heard.append("ours")):
        signal.signal(signal.SIGTERM, own)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        reclaim_stop_signals()
        signal.raise_signal(signal.SIGTERM)
        assert heard == ["ours"]
        with pytest.raises(StopInsisted):
            signal.raise_signal(signal.SIGINT)
    assert heard == ["ours", "own"]
    assert signal.getsignal(signal.SIGTERM) is before


def test_in_another_thread_nothing_happens():
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def work():
        with handle_stop_signals(lambda: None):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


def test_a_child_is_asked_to_stop_by_the_end_of_its_input():
    code = (
        "import threading\n"
        "from trailbrake.system.signals import handle_stop_signals\n"
        "stop = threading.Event()\n"
        "with handle_stop_signals(stop.set):\n"
        "    print('ready', flush=True)\n"
        "    print('asked' if stop.wait(20) else 'never asked')\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, CHILD_VARIABLE: "1"},
    )  # fmt: skip
    with process:
        assert process.stdout.readline() == "ready\n"
        said, _ = process.communicate()  # closes its input
    assert (said, process.returncode) == ("asked\n", 0)


@posix
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGQUIT"])
def test_whoever_sends_a_signal_twice_insists(name):
    number, requests = getattr(signal, name), []
    before = signal.getsignal(number)
    with handle_stop_signals(lambda: requests.append(1)):
        signal.raise_signal(number)
        with pytest.raises(StopInsisted):
            signal.raise_signal(number)
    assert requests == [1]
    assert signal.getsignal(number) is before


@posix
def test_a_terminal_that_is_closed_never_insists_because_shells_repeat_the_signal():
    requests = []
    with handle_stop_signals(lambda: requests.append(1)):
        for _ in range(3):
            signal.raise_signal(signal.SIGHUP)
    assert requests


@posix
def test_a_closed_terminal_that_the_process_was_started_to_ignore_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with handle_stop_signals(lambda: pytest.fail("nohup")):
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


@posix
@pytest.mark.parametrize("name", ["SIGINT", "SIGQUIT"])
def test_a_program_in_the_background_hears_the_keys_signals(name):
    number, requests = getattr(signal, name), []
    before = signal.signal(number, signal.SIG_IGN)  # as a shell starts it with `&`
    try:
        with handle_stop_signals(lambda: requests.append(1)):
            signal.raise_signal(number)
    finally:
        signal.signal(number, before)
    assert requests == [1]


HANG_UP = """
import os, signal, sys
from trailbrake.system.signals import handle_stop_signals
out = os.fdopen(int(sys.argv[1]), "w")
stopped = []
with handle_stop_signals(lambda: stopped.append(1)):
    print("ready", file=out, flush=True)
    while not stopped:
        signal.pause()
    print("a line for nobody", file=sys.stderr, flush=True)
    print("another", flush=True)
    print("ended in order", file=out, flush=True)
"""


@posix
def test_when_the_terminal_is_gone_lines_for_it_go_nowhere():
    import pty

    master, terminal = pty.openpty()
    reading, writing = os.pipe()
    # A session of its own, whose terminal this is: its end is told by the system, as when a window is closed.
    process = subprocess.Popen(
        [sys.executable, "-c", f"import fcntl, termios; fcntl.ioctl(1, termios.TIOCSCTTY, 0)\n{HANG_UP}", str(writing)],
        stdin=terminal, stdout=terminal, stderr=terminal, pass_fds=[writing], start_new_session=True,
    )  # fmt: skip
    os.close(terminal)
    os.close(writing)
    patience = threading.Timer(30.0, process.kill)  # closes the pipe that is read below
    patience.start()
    with os.fdopen(reading) as said:
        assert said.readline() == "ready\n"
        os.close(master)
        assert said.readline() == "ended in order\n"
    patience.cancel()
    assert process.wait(20.0) == 0


@pytest.mark.parametrize("event", [CTRL_CLOSE, CTRL_LOGOFF, CTRL_SHUTDOWN])
def test_an_event_that_ends_the_process_requests_a_quick_stop_once_and_then_holds_windows_up(event):
    seen = []
    handler = ConsoleEndHandler(seen.append, seen.append)
    assert handler(event)
    assert seen == [STOP_S, LONGEST_S], "the stop first, then the wait"
    assert handler(event)
    assert seen == [STOP_S, LONGEST_S, LONGEST_S]


@pytest.mark.parametrize("event", [0, 1])
def test_keys_are_signals_and_left_to_python(event):
    handler = ConsoleEndHandler(lambda seconds: pytest.fail("no end"), lambda seconds: pytest.fail("no wait"))
    assert not handler(event)


@pytest.mark.skipif(sys.platform == "win32", reason="a console of Windows has them")
def test_other_systems_have_no_such_events():
    with handle_console_end(lambda seconds: pytest.fail("no end")):
        pass
