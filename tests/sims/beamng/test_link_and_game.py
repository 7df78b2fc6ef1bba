"""Our link against a game that was written from the protocol's description alone, in virtual time."""

import pytest
from helpers.beamng_game import CoupledGame, FaultPlan

from trailbrake.sims.beamng import spec
from trailbrake.sims.beamng.link import Link
from trailbrake.sims.beamng.spec import LiveOptions
from trailbrake.state import Controls
from trailbrake.transport.rendezvous import lookup_port, publish_port
from trailbrake.transport.udp import UdpSocket

POLL_S = 0.05  # s between two reads of a link that waits, as the drive loop has it
MOMENT_S = 0.0005  # s that an exchange over loopback takes


class LinkedPort:
    """The game's port, with our link behind it: it answers whenever the game looks, unless it is late.

    `late` are s of virtual time by which the controller is late once a second.
    """

    def __init__(self, folder, timing, late):
        self.folder, self.late, self.now, self.late_at, self.away_until = folder, late, 0.0, 1.0, 0.0
        self.udp = UdpSocket()
        publish_port(folder, spec.simulator_rendezvous_name(0), self.udp.port)
        self.link = Link(LiveOptions(simulink_time=timing[0], ping_time=timing[1]), doors=folder)
        self.link.open(0.0)
        self.to = ("127.0.0.1", lookup_port(folder, spec.controller_rendezvous_name(0)))

    def clock(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds

    def send(self, data):
        self.udp.send(data, self.to)

    def reopen(self):
        self.udp.close()
        self.udp = UdpSocket()
        publish_port(self.folder, spec.simulator_rendezvous_name(0), self.udp.port)
        self.link._peer = None  # behind private doors the port is another

    def receive(self, timeout_s):
        deadline = self.now + timeout_s
        while True:
            self._run_controller()
            if (got := self.udp.receive()) is not None:
                self.now += MOMENT_S
                return got[0]
            if self.now >= deadline:
                return None
            self.now = min(self.now + POLL_S, deadline)

    def _run_controller(self):
        if self.now < self.away_until:
            return
        if self.now >= self.late_at:
            self.away_until = self.now + self.late
            self.late_at = self.away_until + 1.0
            return
        self.link.read(self.now)
        self.link.write(Controls(throttle=0.3))

    def close(self):
        self.link.close()
        self.udp.close()


def run_game(folder, timing, late, faults, seconds=60.0):
    """Return the game's statistics and the link's counters after so many s of virtual time."""
    port = LinkedPort(folder, timing, late)
    try:
        game = CoupledGame(port, timing, faults)
        return game.run(seconds), port.link.counters
    finally:
        port.close()


@pytest.mark.parametrize("late", [0.02, 0.3])
@pytest.mark.parametrize("timing", [(0.005, 0.00001), (0.001, 0.002), (0.0005, 0.002)])
def test_no_answer_is_refused_and_a_lost_one_costs_one_time_out(tmp_path, timing, late):
    counts, link = run_game(tmp_path, timing, late, FaultPlan(lose_answers=0.003, seed=5), 10.0)
    assert counts.answers_lost > 0
    assert counts.answers_refused == 0
    assert counts.longest_block_s <= 2.1
    assert counts.messages_answered >= 0.998 * (counts.messages_sent - counts.answers_lost)
    assert link.timeouts == counts.time_outs
    assert link.resyncs == 0


@pytest.mark.parametrize("timing", [(0.005, 0.00001), (0.0005, 0.002)])
def test_a_game_that_is_started_anew_is_one_resync(tmp_path, timing):
    counts, link = run_game(tmp_path, timing, 0.02, FaultPlan(restarts=(2.0, 5.0), lose_answers=0.0005, seed=5), 8.0)
    assert link.resyncs == counts.restarts == 2
    assert counts.answers_refused == 0
    assert counts.last_accepted_at_s > 5.5, "at most one time-out before the end"


def test_a_controller_that_was_away_for_longer_than_a_time_out_is_in_lockstep_again(tmp_path):
    counts, link = run_game(tmp_path, (0.005, 0.00001), 4.5, FaultPlan(), 40.0)
    assert counts.answers_refused == 0
    assert link.timeouts > 5
    assert counts.messages_sent - counts.answers_accepted <= 3 * counts.time_outs  # it never runs ahead of the answers
