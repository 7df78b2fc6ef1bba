"""The messages as named fields, from a simulator on real sockets that waits for an answer to each."""

import math
from pathlib import Path

import pytest
from helpers.beamng.state_bytes import encode_state
from helpers.ports import free_udp_port

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.sims.beamng.codec import StateMessage as Message
from trailbrake.sims.beamng.codec import decode_command
from trailbrake.sims.beamng.sniff import SniffOptions, watch
from trailbrake.transport.udp import UdpSocket

GOLDEN = Path(__file__).parents[2] / "golden" / "wire" / "beamng"
PATIENCE = 10.0  # s, for another thread on a busy machine


@pytest.fixture
def simulator():
    udp = UdpSocket()
    yield udp
    udp.close()


def answer(simulator):
    assert simulator.wait_readable(PATIENCE)
    return decode_command(simulator.receive_data())


def test_every_slot_by_its_name_and_every_message_answered_without_a_touch(simulator):
    port = free_udp_port()
    options = SniffOptions(listen=f"127.0.0.1:{port}", peer=f"127.0.0.1:{simulator.port}", wait=0.0)
    with watch(options) as look:
        assert {f.name: f.value for f in look()} == {
            "messages": "0", "messages per second": "0", "of another size": "0",
        }  # fmt: skip
        to = ("127.0.0.1", port)
        simulator.send(b"no message", to)
        for last in (0.0, 1.0, 0.0):  # and one that came twice
            simulator.send(encode_state(Message(last)), to)
            command = answer(simulator)
        assert command.message_id == 2.0, "never lower than before"
        simulator.send(bytes.fromhex((GOLDEN / "state_count.hex").read_text()), to)
        command = answer(simulator)
        assert all(math.isnan(value) for value in command[1:-1]), "NaN leaves alone"
        fields = {(f.group, f.name): (f.value, f.unit) for f in look()}
    # state_count.hex counts its slots.
    assert fields["driver", "throttle"] == ("1", "")
    assert fields["driver", "steering"] == ("9", "deg, left +")
    assert fields["driver", "steering_input"] == ("10", "-1..1, right +")
    assert fields["kinematics", "posX"] == ("11", "m")
    assert fields["kinematics", "altitude"] == ("24", "m")
    assert fields["electrics", "ignitionLevel"] == ("25", "")
    assert fields["electrics", "wheelspeed"] == ("36", "m/s")
    assert fields["wheelFL", "angularVelocity"] == ("37", "rad/s")
    assert fields["wheelRR", "downForce"] == ("60", "N")
    assert [fields["custom", str(k)] for k in (1, 50)] == [("61", ""), ("110", "")]
    assert fields["wire", "messages"] == ("4", "")
    assert fields["wire", "of another size"] == ("1", "")
    assert len([group for group, _ in fields if group != "wire"]) == 110


def test_zeros_in_the_free_values_are_not_shown(simulator):
    port = free_udp_port()
    options = SniffOptions(listen=f"127.0.0.1:{port}", peer=f"127.0.0.1:{simulator.port}", wait=PATIENCE)
    with watch(options) as look:
        simulator.send(encode_state(Message(7.0, custom=(0.0, 2.5) + (0.0,) * 48)), ("127.0.0.1", port))
        found = {(f.group, f.name): f.value for f in look()}
    assert found["wire", "message_id"] == "7"
    assert [name for group, name in found if group == "custom"] == ["2"]


def test_a_taken_port_and_no_address(simulator):
    with pytest.raises(SimulatorError, match="--listen"), watch(SniffOptions(listen=f"127.0.0.1:{simulator.port}")):
        pass
    with pytest.raises(UsageError, match="--peer"), watch(SniffOptions(peer="nowhere")):
        pass
