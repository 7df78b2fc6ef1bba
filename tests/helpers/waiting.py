"""Waiting for what happens: the place where tests sleep, so that no other has to.

A test waits for a condition by `wait_until` or `wait_for`. `let_pass` is for what has a length of its own: a fault that
lasts, a simulator that has to go on by itself. A program under test that must hang does `HANG`.
"""

import time

HANG = "__import__('time').sleep(600.0)"  # a statement of a driver or program; ends with whoever kills it


def wait_until(condition, timeout_s, poll_s=0.004):
    """Return the seconds until `condition()` was true; None where it was not within `timeout_s`."""
    began = time.monotonic()
    while True:
        if condition():
            return time.monotonic() - began
        if time.monotonic() - began > timeout_s:
            return None
        time.sleep(poll_s)


def wait_for(find, timeout_s=60.0, poll_s=0.004):
    """Return the first answer of `find()` that is true; fail where none is within `timeout_s`."""
    found = []
    wait_until(lambda: found.append(find()) or found[-1], timeout_s, poll_s)
    assert found[-1], f"nothing came within {timeout_s} s"
    return found[-1]


def let_pass(seconds):
    """Let time pass in which something lasts; a test that waits for an end uses `wait_for`."""
    time.sleep(seconds)


def hang():
    """Hang, as a driver may: for as long as a test could last."""
    time.sleep(600.0)
