"""Watching a car whose controls stay with others."""

from struct import pack, unpack

import pytest
from helpers.beamng.contracts import make_torques_contract

from trailbrake.driving.link_recording import LinkRecordingSession
from trailbrake.errors import UsageError
from trailbrake.sims.beamng import spec
from trailbrake.sims.beamng.codec import CommandMessage, encode_command
from trailbrake.sims.beamng.link import Link
from trailbrake.sims.beamng.passive_link import PassiveLink, make_link
from trailbrake.sims.beamng.spec import LiveOptions
from trailbrake.sims.registry import find
from trailbrake.state import Controls, Phase
from trailbrake.transport.rendezvous import lookup_port, publish_port
from trailbrake.transport.udp import UdpSocket


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


def free_port():
    probe = UdpSocket()
    port = probe.port
    probe.close()
    return port


def test_messages_become_samples_with_signals_and_are_answered():
    simulator, port = UdpSocket(), free_port()
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
        assert recording.stream.sequence == 3
        assert recording.summary()["link"]["received"] == 3
        for k in (60000.0, 60001.0):
            simulator.send(pack("<111d", k, *values), ("127.0.0.1", port))
        recording.wait(1.0)
        assert len(list(recording.record_available(0.02))) == 1
        assert [event.text for event in recording.stream.events] == ["the simulator counts its messages anew"]
    simulator.close()
