"""A stub of BeamNG's game side (generation 1), written from the description of its protocol alone.

`GameWindow` is the game's window algorithm, without clock or socket. `CoupledGame` runs it and a point-mass car in real
time, in bursts of 0.5 ms steps once per graphics frame; `FaultPlan` says what goes wrong. From the folder `tests`:

    python -m helpers.beamng_game --seconds 60 --lose-answers 0.01 --freeze 20:3 --restart 40

Statistics are printed as JSON at the end, also after SIGINT and SIGTERM. `answers_received` counts all datagrams:
accepted, refused by id, lost by the plan, of a wrong size. `messages_sent` includes messages that the plan lost. A
message counts as answered if an accepted answer was read after it was sent and before the `unanswered`-th message
after it was sent (the next one, for a window of 1). One accepted answer thus answers up to `unanswered` messages;
`accepted_per_sent` is the plain quotient. The last messages of a run or of a loaded script may stay unanswered.

Choices where the description leaves room:

* Datagrams that are not 512 bytes are discarded before the algorithm sees them, as are lost ones: neither ends a wait.
* A frame computes the steps due since the frame before, at most 50 ms of them: longer blocks are never caught up.
* Freezes and restarts wait for the end of a block. A frozen game reads nothing; a silent one runs on.
* A restart opens new sockets: unread answers are gone, messages come from another port, the car is at its start.
* Pedals and steering act from the next graphics frame on, wheel torques from the next step on.
"""

import argparse
import json
import math
import random
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from helpers.beamng_car import COMMAND, START, STEP_S, PointMassCar, command_is_in_range

BLOCK_TIMEOUT_S = 2.0
LONGEST_FRAME_S = 0.05


class StepOutcome(NamedTuple):
    """What one physics step did: the id to send or None; whether the datagram was accepted, refused; a time-out."""

    send_id: int | None = None
    accepted: bool = False
    refused: bool = False
    timed_out: bool = False


class GameWindow:
    """The game's window algorithm for a controller's period and round trip, in s. `step` runs it once."""

    def __init__(self, simulink_time=0.005, ping_time=0.00001):
        self.send_skips = math.ceil(simulink_time / STEP_S) - 1
        self.unanswered = math.ceil(ping_time / simulink_time)
        self.sent = self.highest = self.since = self.next_id = 0

    @property
    def blocks(self):
        """Whether the next step waits for a datagram, at most `BLOCK_TIMEOUT_S`. Else it reads without waiting."""
        # Not `>=`: after an id of NaN no comparison holds, and the window is full.
        return self.since >= self.send_skips and not self.sent - self.highest < self.unanswered

    def step(self, answer_id=None):
        """Run one physics step with the id of the datagram that it read, None if none came, and return its outcome."""
        came, blocks = answer_id is not None, self.blocks
        refused = came and answer_id <= self.highest  # NaN is not refused
        if came and not refused:
            self.highest = answer_id
        if self.since < self.send_skips:
            self.since += 1
            return StepOutcome(None, came and not refused, refused)
        if blocks and not came:
            self.sent = self.highest = 0
            return StepOutcome(timed_out=True)
        if blocks and refused and self.highest != 0:
            return StepOutcome(refused=True)
        self.next_id, self.sent, self.since = self.next_id + 1, self.sent + 1, 0
        return StepOutcome(self.next_id - 1, came and not refused, refused)


@dataclass
class FaultPlan:
    """What goes wrong; all times in s since the start, of the simulator if `simulator_time`, else of the wall clock."""

    lose_answers: float = 0.0  # probability that an answer is lost before the game reads it
    lose_messages: float = 0.0
    freezes: tuple = ()  # (at, s): the game stands still for s of the wall clock
    silences: tuple = ()  # (at, s): all state messages are lost
    restarts: tuple = ()  # the script is loaded anew
    simulator_time: bool = False
    seed: int = 0


class GameStatistics:
    """Counts of one run; times in s of the wall clock, freezes and blocks included."""

    def __init__(self):
        self.messages_sent = self.messages_answered = self.messages_lost = 0
        self.answers_received = self.answers_accepted = self.answers_refused = self.answers_lost = 0
        self.answers_of_wrong_size = self.answers_out_of_range = 0
        self.time_outs = self.freezes = self.restarts = self.physics_steps = 0
        self.wall_s = self.blocked_s = self.longest_block_s = self.longest_between_accepted_s = 0.0
        self.first_accepted_at_s = self.last_accepted_at_s = None
        self.refused_ids = []

    def count_accepted(self, now_s, messages, in_range):
        between_s = now_s - (now_s if self.last_accepted_at_s is None else self.last_accepted_at_s)
        self.longest_between_accepted_s = max(self.longest_between_accepted_s, between_s)
        self.first_accepted_at_s, self.last_accepted_at_s = self.first_accepted_at_s or now_s, now_s
        self.answers_accepted += 1
        self.answers_out_of_range += not in_range
        self.messages_answered += messages

    def summarize(self):
        """Return all counts and their quotients as a dictionary."""
        simulator_s, sent = self.physics_steps * STEP_S, max(self.messages_sent, 1)
        rates = {"simulator_s": simulator_s, "simulator_per_wall": simulator_s / self.wall_s if self.wall_s else 0.0}
        rates |= {"answered_per_sent": self.messages_answered / sent, "accepted_per_sent": self.answers_accepted / sent}
        return rates | vars(self)


class UdpPort:
    """The game's two sockets: a bound one for answers, a connected one for messages."""

    def __init__(self, listen, peer):
        self.listen, self.peer, self.sockets = listen, peer, ()
        self.reopen()

    def reopen(self):
        self.close()
        self.receiver, self.sender = self.sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in "rs"]
        self.receiver.bind(self.listen)
        self.listen = self.receiver.getsockname()
        self.sender.connect(self.peer)

    def receive(self, timeout_s):
        self.receiver.settimeout(timeout_s)
        try:
            return self.receiver.recv(2048)
        except (BlockingIOError, TimeoutError):
            return None

    def send(self, data):
        for _ in range(2):  # the first try may end in the error of an earlier message that met no controller
            with suppress(ConnectionError):
                return self.sender.send(data)

    def close(self):
        for each in self.sockets:
            each.close()


class CoupledGame:
    """The game: window, car, faults and pace, on a `UdpPort` or what has its methods.

    `window_times` are the arguments of `GameWindow`; `clock` returns s of the wall clock, `sleep` waits for s.
    """

    def __init__(
        self, port, window_times=(0.005, 0.00001), faults=None, *,
        frame_rate=60.0, pose=START, clock=time.perf_counter, sleep=time.sleep,
    ):  # fmt: skip
        self.port, self.window_times, self.faults = port, window_times, faults or FaultPlan()
        self.frame_s, self.pose, self.clock, self.sleep = 1.0 / frame_rate, pose, clock, sleep
        self.statistics = GameStatistics()
        # A stream each: the losses of one direction do not depend on those of the other.
        self.answer_losses, self.message_losses = (random.Random(f"{self.faults.seed} {way}") for way in "am")
        restarts = [(at, None) for at in self.faults.restarts]
        self.events = sorted([*self.faults.freezes, *restarts], key=lambda event: event[0])
        self._load_script()

    def run(self, seconds=math.inf):
        self.start = frame = self.clock()
        self.end, due_s = self.start + seconds, 0.0
        try:
            while (now := self.clock()) < self.end:
                due_s, frame = due_s + min(now - frame, LONGEST_FRAME_S), now
                self.car.latch_frame()
                while due_s >= STEP_S and self.clock() < self.end:
                    self._run_step()
                    due_s -= STEP_S
                self._sleep_until(frame + self.frame_s)
        finally:
            self.statistics.wall_s = self.clock() - self.start
        return self.statistics

    def _run_step(self):
        counts = self.statistics
        while self.events and self.events[0][0] <= self._elapsed():
            self._act_on_event(self.events.pop(0)[1])
        self.car.step()
        counts.physics_steps += 1
        blocks, before = self.window.blocks, self.clock()
        answer = self._receive(BLOCK_TIMEOUT_S if blocks else 0.0)
        if blocks:
            blocked = self.clock() - before
            counts.blocked_s, counts.longest_block_s = counts.blocked_s + blocked, max(counts.longest_block_s, blocked)
            if answer is None and blocked < BLOCK_TIMEOUT_S and self.clock() >= self.end:
                return  # the run ends in a block that is no time-out yet
        outcome = self.window.step(None if answer is None else answer[0])
        counts.time_outs += outcome.timed_out
        if outcome.accepted:
            self.car.apply_command(answer)
            counts.count_accepted(self.clock() - self.start, self.pending, command_is_in_range(answer))
            self.pending = 0
        elif outcome.refused:
            counts.answers_refused += 1
            counts.refused_ids.append(answer[0])
        if outcome.send_id is not None:
            self._send(outcome.send_id)

    def _receive(self, timeout_s):
        """Return the 64 doubles of the next answer that the plan does not lose, None if none comes in time."""
        deadline, counts = min(self.clock() + timeout_s, self.end), self.statistics
        while (data := self.port.receive(max(deadline - self.clock(), 0.0) if timeout_s else 0.0)) is not None:
            counts.answers_received += 1
            if len(data) != COMMAND.size:
                counts.answers_of_wrong_size += 1
            elif self.answer_losses.random() < self.faults.lose_answers:
                counts.answers_lost += 1
            else:
                return COMMAND.unpack(data)
        return None

    def _send(self, message_id):
        self.statistics.messages_sent += 1
        self.pending = min(self.pending + 1, max(self.window.unanswered, 1))
        silent = any(at <= self._elapsed() < at + seconds for at, seconds in self.faults.silences)
        if silent | (self.message_losses.random() < self.faults.lose_messages):
            self.statistics.messages_lost += 1
        else:
            self.port.send(self.car.encode_state(message_id))

    def _load_script(self):
        self.window, self.car = GameWindow(*self.window_times), PointMassCar(self.pose)
        self.pending = 0  # newest messages without an accepted answer, as many as can still be answered

    def _act_on_event(self, freeze_s):
        if freeze_s is None:
            self.statistics.restarts += 1
            self.port.reopen()
            self._load_script()
        else:
            self.statistics.freezes += 1
            self._sleep_until(self.clock() + freeze_s)

    def _elapsed(self):
        simulator_s = self.statistics.physics_steps * STEP_S
        return simulator_s if self.faults.simulator_time else self.clock() - self.start

    def _sleep_until(self, moment):
        if (wait := min(moment, self.end) - self.clock()) > 0.0:
            self.sleep(wait)


def main(arguments=None):
    def address(text):
        return text.rpartition(":")[0], int(text.rpartition(":")[2])

    def floats(text):
        return tuple(float(part) for part in text.replace(",", ":").split(":"))

    parser = argparse.ArgumentParser("beamng_game", description="A stub of BeamNG's game side over UDP.")
    add = parser.add_argument
    add("--peer", type=address, default=("127.0.0.1", 64890), metavar="HOST:PORT", help="the controller")
    add("--listen", type=address, default=("127.0.0.1", 64891), metavar="HOST:PORT", help="for its answers")
    numbers = {"simulink-time": 0.005, "ping-time": 0.00001, "seconds": math.inf, "frame-rate": 60.0}
    for name, default in (numbers | {"lose-answers": 0.0, "lose-messages": 0.0, "seed": 0}).items():
        add(f"--{name}", type=type(default), default=default, help=f"default {default}")
    for name, text in {"freeze": "stop the game", "silence": "lose all messages"}.items():
        add(f"--{name}", type=floats, action="append", default=[], metavar="AT:SECONDS", help=text)
    add("--restart", type=float, action="append", default=[], metavar="AT", help="load the script anew")
    add("--fault-clock", choices=["wall", "simulator"], default="wall", help="what AT and silences count")
    add("--pose", type=floats, default=START, metavar="X,Y,Z,YAW", help="m and rad, where the car starts: --pose=...")
    add("--json", action="store_true", help="one line instead of indented JSON")
    o = parser.parse_args(arguments)
    on_simulator_clock = o.fault_clock == "simulator"
    faults = FaultPlan(o.lose_answers, o.lose_messages, o.freeze, o.silence, o.restart, on_simulator_clock, o.seed)
    port = UdpPort(o.listen, o.peer)
    game = CoupledGame(port, (o.simulink_time, o.ping_time), faults, frame_rate=o.frame_rate, pose=o.pose)
    print(f"listens on {port.listen}, sends to {port.peer}", file=sys.stderr, flush=True)
    with suppress(KeyboardInterrupt):
        game.run(o.seconds)
    port.close()
    print(json.dumps(game.statistics.summarize(), indent=None if o.json else 2))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    main()
