"""A call is broken off from another thread, whatever Python it is in. These wait for an exception, not for a time."""

import contextlib
import queue
import signal
import threading
import time

import pytest

from trailbrake.system.breakable_call import BreakableCall, CallBroken
from trailbrake.system.signals import handle_stop_signals


def loop():
    while True:
        pass


def sleep():
    time.sleep(600.0)


def wait_for_a_lock():
    queue.Queue().get()


def catch_exceptions():
    while True:
        with contextlib.suppress(Exception):
            loop()


def catch_everything_at_first():
    for _ in range(3):
        with contextlib.suppress(BaseException):
            time.sleep(600.0)
    loop()


def replace_the_handler():
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        loop()
    finally:
        signal.signal(signal.SIGINT, before)


def break_until_over(call, breakable):
    """Do `call`, which another thread breaks off; return whether it was."""
    over = threading.Event()

    def work():
        while not over.wait(0.05):
            if breakable.is_active:
                breakable.break_off()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        breakable.is_active = True
        try:
            call()
        finally:
            breakable.is_active = False
    except CallBroken:
        return True
    finally:
        over.set()
        thread.join()
        breakable.clear_requests()
    return False


@pytest.mark.parametrize(
    "call", [loop, sleep, wait_for_a_lock, catch_exceptions, catch_everything_at_first, replace_the_handler]
)
def test_a_call_in_the_main_thread_is_broken_off(call):
    requests = []
    breakable = BreakableCall()
    with handle_stop_signals(lambda: requests.append(1), breakable):
        assert break_until_over(call, breakable)
        assert requests == []
        signal.raise_signal(signal.SIGINT)  # and Ctrl-C works as before
        assert requests == [1]


def test_a_call_in_another_thread_is_broken_off():
    broken = []
    thread = threading.Thread(target=lambda: broken.append(break_until_over(loop, BreakableCall())), daemon=True)
    thread.start()
    thread.join(60.0)
    assert broken == [True]


def test_a_signal_of_an_attempt_that_comes_too_late_does_nothing():
    requests = []
    breakable = BreakableCall()
    with handle_stop_signals(lambda: requests.append(1), breakable):
        breakable.break_off()
        deadline = time.monotonic() + 60.0
        while not breakable.handle_signal() and time.monotonic() < deadline:
            pass
        time.sleep(0.0)
        breakable.clear_requests()
    assert requests == []
