"""A window and a controller in virtual time: no sockets, no clocks, and the truth about what answers what."""

import heapq
from dataclasses import dataclass, field

from trailbrake.sims.beamng.timing import PHYSICS_STEP
from trailbrake.sims.beamng.window import WindowAction

CATCH_UP = 0.05  # s behind which a simulator in real time does not try to make up for


class Peer:
    """A controller that works on one message after the other.

    Args:
        habit: takes the ids of the messages at hand and returns the id of the answer, which is to the newest of them.
        delay: s of network, there and back.
        compute: s of work on one message, and
        first: on the first.
        away: (from, to), s of wall time in which it does nothing.
        born: s of wall time before which what is sent to it is lost.
        drains: whether it takes all messages at hand at once; otherwise it answers them one by one.
    """

    def __init__(self, habit, delay=0.0, compute=0.0, away=(-1.0, -1.0), drains=False, first=None, born=0.0):
        self.born = born
        self.first = compute if first is None else first
        self.habit, self.delay, self.compute, self.away, self.drains = habit, delay, compute, away, drains
        self.queue, self.answers, self.free, self.count = [], [], 0.0, 0

    def receive(self, message_id, t):
        if t >= self.born:
            self.queue.append((t + self.delay / 2, message_id))

    def start(self):
        """When it begins with what is in the queue; infinity where nothing is."""
        if not self.queue:
            return float("inf")
        at = max(self.queue[0][0], self.free)
        return self.away[1] if self.away[0] <= at < self.away[1] else at

    def advance(self, t):
        while (at := self.start()) <= t:
            ids = [i for arrived, i in self.queue if arrived <= at] if self.drains else [self.queue[0][1]]
            self.queue = self.queue[len(ids) :]
            self.free = at + (self.compute if self.count else self.first)
            self.count += 1
            heapq.heappush(self.answers, (self.free + self.delay / 2, self.count, self.habit(ids), ids[-1]))

    def answer(self, t):
        """Return (reply id, id of the message that it answers) if one is there by `t`."""
        self.advance(t)
        return heapq.heappop(self.answers)[2:] if self.answers and self.answers[0][0] <= t else None

    def answer_at(self, deadline):
        """Return when the next answer arrives, at most `deadline`."""
        while True:
            known = self.answers[0][0] if self.answers else float("inf")
            following = self.start()
            if known <= following or following > deadline:
                return min(known, deadline)
            self.advance(following)


@dataclass
class Log:
    """What happened. `sends` and `timeouts`: (wall s, physics step); `ahead`: at each send, the messages under way."""

    sends: list = field(default_factory=list)
    timeouts: list = field(default_factory=list)
    accepted: list = field(default_factory=list)  # (wall s, physics step, id of the message that was answered)
    ahead: list = field(default_factory=list)
    blocking: int = 0  # receives in which the physics stood still
    read: int = 0  # datagrams that were there when they were looked for
    steps: int = 0
    wall: float = 0.0

    @property
    def speed(self):
        return self.steps * PHYSICS_STEP / self.wall


def couple(window, peer, wall, *, physics=0.0, real=True, timeout=2.0, skip=0.0):
    """Run a window against a peer for `wall` s of virtual wall time.

    Args:
        window: under test.
        peer: a controller.
        wall: s.
        physics: s of wall time that a step takes.
        real: whether a step is not begun before its time has come.
        timeout: s.
        skip: s at the beginning that are not counted in the speed.
    """
    log, t, began, newest, given_up = Log(), 0.0, 0, -1, -1
    due = 0.0
    while t < wall:
        if real:
            t = max(t, due)
            due = PHYSICS_STEP + (due if t - due < CATCH_UP else t)
        t += physics
        act, wait_start = window.step(), t
        while act is not WindowAction.DONE and t < wall:
            if act in (WindowAction.SEND, WindowAction.SEND_AND_WAIT):
                peer.receive(window.last_id, t)
                log.sends.append((t, log.steps))
                log.ahead.append(window.last_id - max(newest, given_up))
                if act is WindowAction.SEND:
                    break
                act, wait_start = WindowAction.WAIT, t
                continue
            got = peer.answer(t)
            if got is None and act is WindowAction.WAIT:
                t = peer.answer_at(wait_start + timeout)
                log.blocking += 1
                got = peer.answer(t)
            elif got is not None:
                log.read += 1
            if got is None:
                if act is WindowAction.WAIT:
                    t = wait_start + timeout
                    log.timeouts.append((t, log.steps))
                    given_up = window.last_id
                act = window.handle_no_reply()
            else:
                taken, act = window.handle_reply(got[0])
                newest = max(newest, got[1])
                if taken:
                    log.accepted.append((t, log.steps, got[1]))
        log.steps += 1
        if t < skip:
            began = log.steps
    log.wall = t - skip
    log.total, log.steps = log.steps, log.steps - began
    return log


def counter(start=1):
    state = [start - 1]

    def habit(ids):
        state[0] += 1
        return float(state[0])

    return habit


def echo(ids):
    return float(ids[-1])


def memory():
    """Return the habit of the stock models: the id of the message before, through a block that begins with 0."""
    state = [0.0]

    def habit(ids):
        before, state[0] = state[0], float(ids[-1])
        return before

    return habit


def not_a_number(ids):
    return float("nan")


def restarting(unanswered=1):
    """Return the habit of a client that counts, and begins again at 1 where it finds more than may be unanswered."""
    state = [0]

    def habit(ids):
        state[0] = 1 if len(ids) > unanswered else state[0] + 1
        return float(state[0])

    return habit
