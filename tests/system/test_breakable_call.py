"""A call is broken off from another thread, whatever Python it is in. These wait for an exception, not for a time."""

import contextlib
import queue
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest
from helpers.waiting import hang, wait_for

from trailbrake.system import breakable_call
from trailbrake.system.breakable_call import BreakableCall, CallBroken
from trailbrake.system.signals import handle_stop_signals


def loop():
    while True:
        pass


def wait_for_a_lock():
    queue.Queue().get()


def catch_exceptions():
    while True:
        with contextlib.suppress(Exception):
            loop()


def catch_everything_at_first():
    for _ in range(3):
        with contextlib.suppress(BaseException):
            hang()
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
    "call", [loop, hang, wait_for_a_lock, catch_exceptions, catch_everything_at_first, replace_the_handler]
)
def test_a_call_in_the_main_thread_is_broken_off(call):
    requests = []
    breakable = BreakableCall()
    with handle_stop_signals(lambda: requests.append(1), breakable):
        assert break_until_over(call, breakable)
        assert requests == []
        signal.raise_signal(signal.SIGINT)  # and Ctrl-C works as before
        assert requests == [1]


def test_windows_has_no_signals_of_threads(monkeypatch):
    monkeypatch.setattr(breakable_call, "sys", SimpleNamespace(platform="win32"))
    monkeypatch.delattr(signal, "pthread_kill", raising=False)
    breakable = BreakableCall()
    with handle_stop_signals(lambda: pytest.fail("a user's signal"), breakable):
        assert break_until_over(loop, breakable)


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
        wait_for(breakable.handle_signal)
        time.sleep(0.0)
        breakable.clear_requests()
    assert requests == []


BREAK_AND_PROFILE = """
import faulthandler, sys
from trailbrake.system import breakable_call
from trailbrake.system.breakable_call import BreakableCall, CallBroken
from trailbrake.system.signals import handle_stop_signals

faulthandler.dump_traceback_later(60.0, exit=True)
breakable, broken = BreakableCall(), 0
with handle_stop_signals(lambda: None, breakable):
    for _ in range(12):  # the last of them by an exception, too
        try:
            breakable.break_off()
        except CallBroken:
            broken += 1
    breakable.clear_requests()
sys.setprofile(lambda frame, event, argument: None)
(lambda: None)()
print("profiled after", broken)
"""


def test_a_profiler_works_after_a_call_that_was_hard_to_break_off():
    run = subprocess.run([sys.executable, "-c", BREAK_AND_PROFILE], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, "profiled after 4\n"), run.stderr


def test_the_interpreter_s_own_way_is_used_after_eight_signals_in_vain():
    breakable, broken = BreakableCall(), []
    with handle_stop_signals(lambda: None, breakable):
        for number in range(1, 13):
            try:
                breakable.break_off()
            except CallBroken:
                broken.append(number)
        breakable.clear_requests()
        try:
            breakable.break_off()
        except CallBroken:
            broken.append("again")
    assert broken == [9, 10, 11, 12]


def test_one_request_is_enough_in_another_thread():
    ready, broken = queue.Queue(), []

    def work():
        ready.put(BreakableCall())
        try:
            loop()
        except CallBroken:
            broken.append(1)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    ready.get().break_off()
    thread.join(20.0)
    assert broken == [1]


def test_requests_are_forgotten_when_the_call_is_over():
    requests = []
    breakable = BreakableCall()
    with handle_stop_signals(lambda: requests.append(1), breakable):
        assert not breakable.handle_signal()
        breakable.break_off()
        assert breakable.handle_signal()
        breakable.clear_requests()
        assert not breakable.handle_signal()
        breakable.is_active = True
        signal.raise_signal(signal.SIGINT)  # a user's, during the next call
        assert requests == [1]
