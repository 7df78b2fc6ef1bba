"""A wire in memory, a clock that is moved by hand, and drivers in a line each."""

from trailbrake.roles import LinkCounters
from trailbrake.state import CarState, Controls, Phase

PERIOD = 1.0 / 333.0


def state(time=0.0, sequence=1, speed=20.0, **more):
    return CarState(time=time, sequence=sequence, speed=speed, **more)


class FakeCar:
    """A Link and its Pace in one: `script` says what each wait brings, "new" or "old"; it goes on as it ended.

    A new sample is `step` s of simulator time later; the car speeds up by the throttle and slows by the brake.
    """

    SUPPLIES = ACCEPTS = frozenset()

    def __init__(self, script=("new",), step=PERIOD, speed=20.0, period=PERIOD):
        self.script, self.step, self.speed, self.period = list(script), step, speed, period
        self.counters = LinkCounters()
        self.now = self.time = 100.0
        self.sequence, self.waits, self.arrived = 0, 0, 100.0
        self.written = []
        self.dead = ""

    # pace

    def wait_for_sample(self, link, rehearse=None):
        kind = self.script[min(self.waits, len(self.script) - 1)]
        self.waits += 1
        if kind == "new":
            self.now += PERIOD
            self.arrived = self.now
            self.time += self.step if self.sequence else 0.0
            self.sequence += 1
            last = self.written[-1] if self.written else Controls()
            self.speed = max(self.speed + (5.0 * last.throttle - 10.0 * last.brake) * self.step, 0.0)
        else:
            self.now += 0.05
        return self.now

    def end_reason(self):
        return self.dead

    # link

    def read(self, now):
        age = now - self.arrived
        return state(self.time, self.sequence, self.speed, age=age, phase=Phase.LOST if age > 0.25 else Phase.DRIVING)

    def write(self, controls):
        self.written.append(controls)


class FakeDriver:
    NEEDS = frozenset()

    def __init__(self, answer=None):
        self.answer = answer or (lambda state, dt: Controls(throttle=0.5))
        self.seen = []

    def reset(self, course):
        pass

    def act(self, state, dt):
        self.seen.append((state.sequence, dt))
        return self.answer(state, dt)


class FakeTap:
    def __init__(self):
        self.seen = []

    def start(self, about):
        pass

    def tick(self, state, controls):
        self.seen.append((state.sequence, controls))

    def close(self):
        pass


class PaperTime:
    """Stands for the module `time`: only sleeping lets time pass, and each look `look_s`.

    Attributes:
        slept: each sleep, s.
    """

    def __init__(self, now=0.0, look_s=0.0):
        self.now, self.look_s, self.slept = now, look_s, []

    def perf_counter(self):
        self.now += self.look_s
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds
