"""Collects what a cell has found: failures in words, and times in seconds."""

from faults.trace import is_braking


class Findings:
    """Failures and measured times of one cell."""

    def __init__(self):
        self.failures, self.times = [], {}

    def check(self, is_right, failure):
        if not is_right:
            self.failures.append(failure)

    def note(self, name, seconds):
        if seconds is not None:
            self.times[name] = round(seconds, 3)


def brakes_or_nothing(trace, began):
    """Return s from `began` after which every command brakes; the time of the last other command where none came."""
    last = max((when for when, command in trace.commands[-20000:] if not is_braking(command)), default=began)
    return max(last - began, 0.0)
