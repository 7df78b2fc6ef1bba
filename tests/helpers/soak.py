"""What the soaks of `serve` share: their duration, hostile threads, and the memory of the host."""

import os
import random
import threading
import time
from contextlib import contextmanager

SECONDS = float(os.environ.get("TRAILBRAKE_SOAK_S", "60"))  # s under abuse, per host
WARM_UP_S = 10.0  # s after which memory counts
MAX_GROWTH_MB = 30.0


def read_memory(pid):
    """Return the resident memory of a process in MB (Linux)."""
    with open(f"/proc/{pid}/status") as status:
        return next(float(line.split()[1]) / 1024.0 for line in status if line.startswith("VmRSS"))


@contextmanager
def hostile(*acts, pause=0.002):
    """Call each of `acts` with a seeded generator, again and again, in a thread of its own; fail if one raises."""
    done, errors = threading.Event(), []

    def run(act, seed):
        rng = random.Random(seed)
        try:
            while not done.wait(pause):
                act(rng)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(act, seed)) for seed, act in enumerate(acts)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert errors == []


class Watch:
    """Counts what a stranger sees of a host, and follows its memory.

    Attributes:
        seen: samples.
        longest_gap: s between two samples.
        served_tenths: tenths of the time in which there was a sample.
    """

    def __init__(self, process):
        self.process, self.seen, self.longest_gap = process, 0, 0.0
        self.memory, self.served_tenths = [], set()
        self._last = self._began = time.monotonic()
        self._next = self._began + WARM_UP_S

    def note_sample(self):
        now = time.monotonic()
        self.longest_gap = max(self.longest_gap, now - self._last)
        self.seen, self._last = self.seen + 1, now
        self.served_tenths.add(int(10.0 * (now - self._began) / SECONDS))

    def goes_on(self):
        """Return whether the time is not over; fail if the host has ended."""
        now = time.monotonic()
        assert self.process.poll() is None, "the host has ended"
        if now >= self._next:
            self.memory.append(read_memory(self.process.pid))
            self._next = now + 1.0
        return now - self._began < SECONDS

    def check(self, name, summary):
        """Print the figures; fail if memory has grown, or the stranger was not served all the time."""
        first, last = (self.memory[0], self.memory[-1]) if self.memory else (0.0, 0.0)
        loop = summary["loop"]
        print(
            f"\n{name}: {SECONDS:g} s, memory {first:.1f} -> {last:.1f} MB (most {max(self.memory, default=0):.1f}), "
            f"{self.seen} samples, longest gap {self.longest_gap:.3f} s, ticks {loop['ticks']} "
            f"p50 {loop['p50_us']:.0f} p99.9 {loop['p999_us']:.0f} longest {loop['longest_us']:.0f} us, "
            f"late {summary['late']}, rejected {summary.get('rejected')}, messages in {summary.get('messages_in')}"
        )
        assert last - first < MAX_GROWTH_MB
        assert len(self.served_tenths & set(range(10))) >= 9, self.served_tenths  # a busy machine may miss one
