"""Our end of the wire, against a simulator of plain `struct` and against our host."""

import math
from struct import pack, unpack

import numpy as np
import pytest
from helpers.beamng.contracts import make_torques_contract
from helpers.ports import free_udp_port

from trailbrake.driving.session_recording import LinkRecordingSession
from trailbrake.errors import SimulatorError, UsageError
from trailbrake.roles import LeavesUnchanged
from trailbrake.sims.beamng import spec
from trailbrake.sims.beamng.codec import CommandMessage, encode_command
from trailbrake.sims.beamng.link import Link, PassiveLink, make_link
from trailbrake.sims.beamng.spec import LiveOptions
from trailbrake.sims.registry import find
from trailbrake.state import Controls, Phase, WheelTorque
from trailbrake.transport.rendezvous import lookup_port, publish_port
from trailbrake.transport.udp import UdpSocket


class Simulator:
    """Sends given bytes, and unpacks the answers."""

    def __init__(self, folder, **options):
        self.udp = UdpSocket()
        publish_port(folder, spec.simulator_rendezvous_name(0), self.udp.port)
        self.link = Link(LiveOptions(simulink_time=0.0005, **options), doors=folder)
        self.link.open(0.0)
        self.to = ("127.0.0.1", lookup_port(folder, spec.controller_rendezvous_name(0)))

    def send(self, *ids, raw=None):
        for message_id in ids:
            self.udp.send(pack("<111d", message_id, *[0.0] * 110), self.to)
        if raw is not None:
            self.udp.send(raw, self.to)

    def answers(self):
        found = []
        while (got := self.udp.receive()) is not None:
            assert len(got[0]) == 512
            found.append(unpack("<64d", got[0]))
        return found

    def exchange(self, *ids, now=0.0, controls=None):
        """Send, let the link read and write; return the id of the answer, None where there is none."""
        self.send(*ids)
        self.link.read(now)
        self.link.write(Controls() if controls is None else controls)
        answers = self.answers()
        return answers[-1][0] if answers else None


@pytest.fixture
def make(tmp_path):
    made = []

    def simulator(**options):
        made.append(Simulator(tmp_path, **options))
        return made[-1]

    yield simulator
    for one in made:
        one.link.close()
        one.udp.close()


@pytest.mark.parametrize(("how", "ids"), [("counter", [1, 2, 3]), ("echo", [7, 8, 9]), ("echo_delayed", [0, 7, 8])])
def test_ids_of_answers(make, how, ids):
    sim = make(reply_id=how)
    assert [sim.exchange(k) for k in (7, 8, 9)] == ids


def test_a_counted_id_counts_the_messages_that_it_answers(make):
    sim = make(ping_time=0.002)
    assert sim.exchange(0) == 1
    assert sim.exchange(1, 2, 3) == 4
    assert sim.exchange(5) == 6, "message 4 was lost on the way"
    assert (sim.link.counters.passed_over, sim.link.counters.lost) == (2, 1)


def test_ids_of_answers_never_go_back_for_a_backlog_alone(make):
    """Finding J1: the game refuses ids below the highest so far, here all up to 1500."""
    sim = make()
    for k in range(1500):
        assert sim.exchange(k, now=0.005 * k) == k + 1
    sim.link.read(7.5)
    assert sim.exchange(1500, 1501, 1502, now=7.56) is None, "held back once: it may have come too late"
    assert sim.exchange(now=7.56) == 1503
    assert (sim.link.counters.timeouts, sim.link.counters.resyncs) == (0, 0)
    assert sim.exchange(1503, now=7.57) == 1504


def test_a_controller_that_is_always_late_answers_every_second_time(make):
    sim = make()
    ids = [sim.exchange(3 * k, 3 * k + 1, 3 * k + 2, now=0.02 * k) for k in range(6)]
    assert [i for i in ids if i is not None] == sorted(i for i in ids if i is not None)
    assert len([i for i in ids if i is not None]) >= 3
    assert sim.link.counters.timeouts == 0


def test_a_lost_answer_is_a_timeout_of_the_game_and_ids_start_anew(make):
    sim = make()
    for k in range(100):
        sim.exchange(k, now=0.005 * k)
    for look in range(40):  # the answer to 99 was lost: the game waits for 2 s
        sim.link.read(0.5 + 0.05 * look)
    assert sim.exchange(100, now=2.5) == 1
    assert sim.exchange(101, now=2.505) == 2
    assert (sim.link.counters.timeouts, sim.link.counters.resyncs) == (1, 0)


def test_a_controller_that_was_away_for_longer_than_the_time_out_starts_anew(make):
    sim = make()
    sim.exchange(0)
    sim.send(1)
    sim.link.read(0.0)
    sim.send(2)  # 4.5 s have passed
    sim.link.write(Controls())
    assert sim.answers() == []
    assert sim.exchange(now=4.5) == 1
    assert (sim.link.counters.timeouts, sim.link.counters.resyncs) == (1, 0)


def test_a_controller_that_was_away_for_nearly_the_time_out_goes_on(make):
    """One unanswered message: the game still waits for it, and refuses ids that start anew."""
    sim = make()
    sim.exchange(0)
    sim.send(1)
    assert sim.exchange(now=1.95) == 2
    assert sim.link.counters.timeouts == 0


def test_after_a_time_out_a_whole_window_is_open_again(make):
    sim = make(ping_time=0.002)  # four messages may be unanswered
    for k in range(10):
        sim.exchange(k, now=0.001 * k)
    sim.send(10, 11, 12, 13)
    sim.send(14, 15, 16, 17)  # after the time-out
    assert sim.exchange(now=2.1) == 4
    assert sim.exchange(18, now=2.101) == 5


def test_id_0_after_many_others_is_a_simulator_that_was_started_anew(make):
    sim = make()
    for k in range(200):
        sim.exchange(k, now=0.005 * k)
    assert sim.exchange(0, now=1.6) == 1
    assert sim.exchange(1, now=1.605) == 2
    assert sim.link.counters.resyncs == 1


def test_a_simulator_that_was_started_anew_right_after_an_answer_may_have_received_it(make):
    sim = make()
    for k in range(200):
        sim.exchange(k, now=0.005 * k)
    assert sim.exchange(0, now=1.0) == 201
    assert sim.exchange(1, now=1.005) == 202
    assert sim.link.counters.resyncs == 1


def test_one_answer_per_message(make):
    sim = make()
    sim.exchange(0)
    sim.link.write(Controls())
    sim.link.write(Controls())
    assert sim.answers() == []


def test_old_and_repeated_ids_are_dropped_until_the_simulator_must_have_been_restarted(make):
    sim = make()
    sim.exchange(41)
    assert sim.exchange(41, 40, 7, now=0.5) is None
    assert sim.link.counters.old == 3
    sim.link.read(2.1)
    assert sim.exchange(0, now=2.2) == 1
    assert sim.link.counters.resyncs == 1
    assert sim.link.read(2.3).sequence == 0


def test_rubbish_is_dropped_and_counted(make):
    sim = make()
    for size in (1, 512, 887, 889, 5000):
        sim.send(raw=bytes(size))
    for bad in (math.nan, math.inf, -math.inf, 1e300):
        sim.send(bad)
    assert sim.exchange(0) == 1
    for bad in (math.nan, -1.0, 0.5, 1.5, 1e300):
        sim.send(bad)
    assert not sim.link.has_new_sample()
    assert (sim.link.counters.wrong_size, sim.link.counters.bad_ids) == (5, 9)
    sim.send(raw=pack("<111d", 1.0, *[math.inf] * 110))
    sim.send(raw=pack("<111d", 2.0, *[math.nan] * 110))
    assert math.isnan(sim.link.read(0.0).yaw)


@pytest.fixture
def stranger():
    made = UdpSocket()
    yield made
    made.close()


def test_a_second_sender_has_no_effect_and_is_said_once(make, stranger, capsys):
    sim = make()
    assert sim.exchange(0) == 1
    rng = np.random.default_rng(5)
    for k in range(1, 200):
        for raw in (rng.bytes(888), pack("<111d", 4e15, *[50.0] * 110), pack("<111d", k, *[50.0] * 110), b"x"):
            stranger.send(raw, sim.to)
        assert sim.exchange(k, now=0.005 * k) == k + 1
        assert sim.link.read(0.005 * k).speed == 0.0
    counters = sim.link.counters
    assert (counters.foreign, counters.received, counters.lost, counters.resyncs) == (4 * 199, 200, 0, 0)
    lines = [line for line in capsys.readouterr().err.splitlines() if "second sender" in line]
    assert lines == [
        f"beamng: datagrams of a second sender, 127.0.0.1:{stranger.port}, are ignored while "
        f"127.0.0.1:{sim.udp.port} sends: does a second simulator run?"
    ]


def test_garbage_before_the_game_does_not_hold_the_wire(make, stranger):
    sim = make()
    for raw in (bytes(10), np.random.default_rng(3).bytes(888), pack("<111d", math.nan, *[0.0] * 110)):
        stranger.send(raw, sim.to)
    assert sim.exchange(0) == 1
    assert sim.link.counters.foreign == 0


def test_a_restarted_simulator_sends_from_another_port(make, stranger):
    sim = make()
    for k in range(5):
        sim.exchange(k, now=0.1 * k)
    for now in (0.5, 0.7, 0.9, 1.1):
        stranger.send(pack("<111d", 0.0, *[0.0] * 110), sim.to) if now > 1.0 else None
        state = sim.link.read(now)
    assert (state.phase, state.sequence) == (Phase.DRIVING, 0)
    assert sim.link.counters.resyncs == 1


def test_a_hang_of_ours_is_no_silence_of_the_game(make, stranger):
    """A driver hangs for 5 s; a stranger's message waits before the game's."""
    sim = make()
    sim.exchange(0, now=0.0)
    stranger.send(pack("<111d", 0.0, *[50.0] * 110), sim.to)
    sim.send(1)
    state = sim.link.read(5.0)
    assert (state.sequence, state.speed) == (1, 0.0)
    assert sim.link.counters.foreign == 1


def test_one_wrong_high_id_does_not_make_the_good_ones_old(make):
    sim = make()
    assert sim.exchange(0) == 1
    for wrong in (4e15, 1000.0, 2.0**53 - 1.0):
        assert sim.exchange(wrong) is None
    assert [sim.exchange(k) for k in (1, 2, 3)] == [2, 3, 4]
    counters = sim.link.counters
    assert (counters.jumps, counters.old, counters.lost, counters.resyncs) == (3, 0, 0, 0)


def test_a_second_message_confirms_that_the_ids_have_jumped(make):
    sim = make()
    assert sim.exchange(0) == 1
    assert sim.exchange(5000) is None
    assert sim.exchange(5001) == 2, "ids of answers do not jump along"
    assert (sim.link.counters.lost, sim.link.counters.resyncs) == (5000, 0)
    assert sim.exchange(7_205_001, 7_205_002) == 3  # an hour of 0.5 ms: a resync, and no loss
    assert (sim.link.counters.lost, sim.link.counters.resyncs) == (5000, 1)


def test_a_flooded_port_does_not_hold_a_read(make, stranger):
    sim = make()
    sim.exchange(0)
    flood, left = sim.link._udp, 3000

    class Endless:
        def receive(self):
            nonlocal left
            left -= 1
            return b"flood", ("127.0.0.1", 1)

        send, close, wait_readable = flood.send, flood.close, flood.wait_readable

    sim.link._udp = Endless()
    sim.link.has_new_sample()
    sim.link.read(0.1)
    assert left > 2000


def test_a_close_without_a_release_leaves_the_brake_on(make):
    """A second Ctrl-C comes while the car is still brought to a stop."""
    sim = make()
    sim.exchange(0, controls=Controls(throttle=1.0))
    sim.link.close()
    (answer,) = sim.answers()
    assert (answer[0], answer[1], answer[2]) == (2.0, 0.0, 1.0)


def test_a_close_after_the_release_sends_nothing_more(make):
    sim = make()
    sim.exchange(0, controls=Controls(throttle=1.0))
    sim.link.release()
    sim.link.close()
    assert len(sim.answers()) == 1


def test_silence_is_lost(make):
    sim = make()
    assert sim.link.read(0.0).phase == Phase.LOST
    sim.exchange(0, now=0.0)
    assert (sim.link.read(0.2).phase, sim.link.read(0.2).age) == (Phase.DRIVING, 0.2)
    assert sim.link.read(0.3).phase == Phase.LOST
    sim.exchange(1, now=5.0)
    assert sim.link.read(5.0).phase == Phase.DRIVING
    assert sim.link.counters.stale == 1


def test_torques_go_out_with_the_wire_s_sign_and_pedals_with_none(make):
    sim = make()
    sim.send(0)
    sim.link.read(0.0)
    wheels = (WheelTorque(100.0, 10.0), WheelTorque(brake_torque=20.0), WheelTorque(), WheelTorque(-5.0, 0.0))
    sim.link.write(Controls(steer=0.25, throttle=0.5, wheels=wheels))
    (answer,) = sim.answers()
    assert answer[1:4] == (0.5, 0.0, -0.25)
    assert answer[5:14] == (-10.0, -20.0, 0.0, 0.0, 100.0, 0.0, 0.0, -5.0, 1.0)
    sim.exchange(1)
    sim.send(2)
    sim.link.read(0.0)
    sim.link.write(Controls(brake=1.0))
    (answer,) = sim.answers()
    assert all(math.isnan(v) for v in answer[4:13])
    assert answer[13] == 0.0


def test_release_leaves_the_brake_on_and_the_torques_to_the_car(make):
    sim = make()
    sim.exchange(0, controls=Controls(throttle=1.0))
    sim.link.release()
    (answer,) = sim.answers()
    assert (answer[0], answer[1], answer[2], answer[13]) == (2.0, 0.0, 1.0, 0.0), "as the answer to what comes next"


def test_open_says_what_is_missing(tmp_path):
    clock = iter(range(100))
    link = Link(LiveOptions(wait=3.0), doors=tmp_path, idle=lambda: next(clock))
    with pytest.raises(SimulatorError, match=r"no message from the simulator.*within 3 s.*setup beamng"):
        link.open(0.0)
    with pytest.raises(SimulatorError, match="not open"):
        link.write(Controls())


@pytest.mark.parametrize(("options", "said"), [
    ({"listen": "nonsense"}, "--listen"), ({"peer": "127.0.0.1:70000"}, "--peer"),
])  # fmt: skip
def test_a_wrong_address_is_one_line(options, said):
    with pytest.raises(UsageError, match=said):
        Link(LiveOptions(**{"listen": "127.0.0.1:0", **options})).open(0.0)


# ---- With our host --------------------------------------------------------------------------------------


@pytest.mark.parametrize("reply_id", ["counter", "echo", "echo_delayed"])
@pytest.mark.parametrize("simulink", [0.0005, 0.001, 0.005])
def test_every_habit_is_in_lockstep_with_the_strict_host(session, reply_id, simulink):
    session.serve(simulink_time=simulink)
    link = session.connect(simulink_time=simulink, reply_id=reply_id)
    for k in range(30):  # the first two commands differ: see `StrictWindow` on ids that are one behind
        assert session.exchange(link, Controls(throttle=k / 100)).sequence == k
    assert session.host.read_counters()["timeouts"] == 0


@pytest.mark.parametrize("window", ["strict", "beamng"])
def test_after_a_pause_both_ends_are_in_lockstep_again(session, window):
    session.serve(simulink_time=0.0005, window=window)
    link = session.connect(simulink_time=0.0005)
    session.exchange(link, times=100)
    session.tick(11000)  # two time-outs and a bit
    session.exchange(link, times=5)
    steps, sent = session.plant.steps, session.host.read_counters()["messages_out"]
    session.exchange(link, times=50)
    assert session.plant.steps - steps == session.host.read_counters()["messages_out"] - sent == 50
    assert (link.counters.timeouts, link.counters.resyncs) == (1, 0)


@pytest.mark.parametrize("window", ["strict", "beamng"])
def test_a_client_that_is_killed_and_one_that_comes_after_it(session, window):
    session.serve(simulink_time=0.0005, block_timeout=0.2, window=window)
    first = session.connect(simulink_time=0.0005)
    session.exchange(first, times=100)
    first._udp.close()  # without a release
    second = session.connect(simulink_time=0.0005)
    session.host._couplings[0].controller_address = (
        "127.0.0.1",
        lookup_port(session.folder, spec.controller_rendezvous_name(0)),
    )
    state = session.exchange(second, times=50)
    assert state.sequence >= 149
    assert session.host.read_counters()["vehicles"][0]["timeouts"] >= 1


def test_a_host_that_is_killed_and_one_that_comes_after_it(session):
    session.serve(simulink_time=0.0005)
    link = session.connect(simulink_time=0.0005)
    session.exchange(link, times=100)
    session.host.close()
    for _ in range(10):
        session.now += 0.25
        link.read(session.now)
    session.serve(simulink_time=0.0005)
    link._peer = None  # the doors are the same; behind private ones the port is another
    assert session.exchange(link, times=50).sequence == 49
    assert link.counters.resyncs == 1


def test_the_link_may_be_there_first(session):
    link = session.connect(simulink_time=0.0005)
    session.serve(simulink_time=0.0005)
    assert session.exchange(link, times=10).sequence == 9


def test_nan_is_sent_as_it_is_in_what_the_link_says_that_it_leaves_unchanged(make):
    simulator = make()
    assert isinstance(simulator.link, LeavesUnchanged)
    assert {"steer", "throttle", "brake", "custom"} == simulator.link.LEAVES
    simulator.send(0)
    simulator.link.read(0.01)
    simulator.link.write(Controls(steer=math.nan, throttle=math.nan, brake=math.nan, custom=(math.nan,)))
    (answer,) = simulator.answers()
    assert all(math.isnan(value) for value in answer[1:4])


def test_the_controls_of_others_stay_and_the_simulator_goes_on(session, monkeypatch):
    session.serve(simulink_time=0.0005)
    link = PassiveLink(find("beamng").watch_options(LiveOptions(simulink_time=0.0005)), doors=session.folder)
    link.open(session.now)
    session.links.append(link)
    driven = CommandMessage(throttle=0.5, brake=0.125, steering=-0.25)
    with monkeypatch.context() as others:  # these have driven before, by the same wire
        others.setattr(PassiveLink, "_encode_reply", lambda _, k: encode_command(driven._replace(message_id=k)))
        session.exchange(link, times=3)
    before = session.plant.steps
    for _ in range(500):
        assert session.exchange(link, Controls(brake=1.0)).phase is Phase.DRIVING
    link.release()
    session.tick(3)
    (controls,) = session.plant.inputs[-1]
    assert (controls.steer, controls.throttle, controls.brake) == (0.25, 0.5, 0.125)
    assert session.plant.steps - before >= 500


def test_every_answer_leaves_every_control_alone(tmp_path):
    simulator = UdpSocket()
    publish_port(tmp_path, spec.simulator_rendezvous_name(0), simulator.port)
    link = PassiveLink(LiveOptions(take=False), doors=tmp_path)
    link.open(0.0)
    to = ("127.0.0.1", lookup_port(tmp_path, spec.controller_rendezvous_name(0)))
    try:
        for k in range(3):
            simulator.send(pack("<111d", float(k), *[0.0] * 110), to)
            link.read(0.005 * k)
            values = unpack("<64d", simulator.receive()[0])
            assert values[0] == k + 1
            assert all(value != value for value in values[1:14]), "NaN: do not touch"
        assert link.read(1.0).phase is Phase.LOST
        assert simulator.receive() is None
    finally:
        link.close()
        assert simulator.receive() is None, "and no brake at the end"
        simulator.close()


def test_the_options_choose_the_link(tmp_path):
    assert type(make_link(LiveOptions(), doors=tmp_path)) is Link
    assert type(make_link(LiveOptions(take=False), doors=tmp_path)) is PassiveLink
    assert not make_link(LiveOptions(take=False), doors=tmp_path).ACCEPTS
    assert find("beamng").watch_options(LiveOptions()).take is False


def test_a_contract_has_no_answer_that_changes_nothing(tmp_path):
    contract = tmp_path / "c.csv"
    contract.write_text(make_torques_contract())
    with pytest.raises(UsageError, match="--contract: a contract's answers always set its controls"):
        PassiveLink(find("beamng").watch_options(LiveOptions(contract=contract)), doors=tmp_path)


def test_messages_become_samples_with_signals_and_are_answered():
    simulator, port = UdpSocket(), free_udp_port()
    options = spec.RecordOptions(peer=f"127.0.0.1:{simulator.port}", signals=("beamng.throttle_input",))
    with LinkRecordingSession(find("beamng"), options, port) as recording:
        assert list(recording.record_available(0.0)) == []
        values = [0.0] * 110
        values[1], values[16] = 0.75, 20.0  # throttle_input, groundspeed
        found = []
        for k in range(3):
            simulator.send(pack("<111d", float(k), *values), ("127.0.0.1", port))
            recording.wait(1.0)
            found += recording.record_available(0.005 * k)
        states = [state for state, _ in found]
        assert [state.sequence for state in states] == [0, 1, 2]
        assert [state.speed for state in states] == [20.0] * 3
        assert [signal.name for signal in recording.signals] == ["beamng.throttle_input"]
        assert states[0].signals.values == (0.75,)
        assert [unpack("<64d", simulator.receive()[0])[0] for _ in range(3)] == [1.0, 2.0, 3.0]
        assert recording.summary()["link"]["received"] == 3
        for k in (60000.0, 60001.0):
            simulator.send(pack("<111d", k, *values), ("127.0.0.1", port))
        recording.wait(1.0)
        assert len(list(recording.record_available(0.02))) == 1
        assert list(recording.events) == ["the simulator counts its messages anew"]
    simulator.close()
