"""The doctor, on a clock of the test's own, against ports in every kind of trouble."""

from pathlib import Path

import pytest
from helpers.ports import free_udp_port

from trailbrake.cli.main import run_command_line
from trailbrake.sims.forza import doctor
from trailbrake.transport.udp import UdpSocket

GOLDEN = Path(__file__).parents[2] / "golden" / "wire" / "forza"


def golden(case):
    return bytes.fromhex((GOLDEN / f"{case}.hex").read_text())


@pytest.fixture
def free_port():
    return free_udp_port()


@pytest.fixture(autouse=True)
def time_passes_by_the_clock_alone(monkeypatch):
    wait = UdpSocket.wait_readable
    monkeypatch.setattr(UdpSocket, "wait_readable", lambda udp, seconds: wait(udp, min(seconds, 0.001)))


def examined(port, datagrams=(), others=(), **options):
    """Let `datagrams` come in while the doctor listens; return {name: finding}."""
    senders = [UdpSocket(), UdpSocket()]
    now, queue = [0.0], [(senders[0], d) for d in datagrams] + [(senders[1], d) for d in others]

    def clock():
        now[0] += 0.1
        while queue and now[0] > 0.15:  # the door is open by now
            sender, data = queue.pop(0)
            sender.send(data, ("127.0.0.1", port))
        return now[0]

    options = {"listen": f"0.0.0.0:{port}", "pad": "none", "seconds": 0.6} | options
    found = {f.name: f for f in doctor.examine(doctor.DoctorOptions(**options), clock)}
    for sender in senders:
        sender.close()
    assert all(f.advice for f in found.values() if f.verdict != "ok"), "a trouble without advice"
    return found


def verdicts(found):
    return {name: finding.verdict for name, finding in found.items()}


def test_all_is_well(free_port):
    found = examined(free_port, [golden("fh")])
    assert set(verdicts(found).values()) == {"ok"}
    assert "fh (1)" in found["format"].found
    assert "127.0.0.1" in found["packets"].found


def test_nothing_comes(free_port):
    found = examined(free_port)
    assert verdicts(found) == {"address": "ok", "port number": "ok", "port": "ok", "packets": "problem",
                               "loopback": "unknown", "firewall": "unknown", "pad": "ok"}  # fmt: skip
    assert str(free_port) in found["packets"].advice
    assert "CheckNetIsolation" in found["loopback"].advice


def test_the_port_is_taken():
    taken = UdpSocket(("0.0.0.0", 0))
    found = examined(taken.port)
    assert verdicts(found)["port"] == "problem"
    assert "forward" in found["port"].advice
    assert "packets" not in found
    taken.close()


def test_strange_lengths(free_port):
    found = examined(free_port, [bytes(100), bytes(100), bytes(7)])
    assert found["lengths"].verdict == "problem"
    assert "1 of 7 bytes, 2 of 100 bytes" in found["lengths"].found
    assert "232, 311, 323, 324" in found["lengths"].advice
    assert examined(free_port, [bytes(7), golden("fh")])["lengths"].verdict == "unknown"


def test_race_off(free_port):
    found = examined(free_port, [golden("fh_paused")] * 3)
    assert found["driving"].verdict == "problem"
    assert "IsRaceOn" in found["driving"].found


def test_the_poor_format(free_port):
    assert examined(free_port, [golden("sled")])["format"].verdict == "problem"


def test_a_second_sender(free_port):
    found = examined(free_port, [golden("fh")], [golden("dash")])
    assert found["senders"].verdict == "problem"


def test_free_roam_has_no_line(free_port):
    from trailbrake.sims.forza.blocks import Dash, HorizonBlock, Sled
    from trailbrake.sims.forza.codec import Packet, encode_packet

    found = examined(
        free_port, [encode_packet(Packet(Sled(1, 5), HorizonBlock(), Dash(cur_race_time=3.0), tail=b"\0"))]
    )
    assert found["driving line"].verdict == "unknown"


@pytest.mark.parametrize(("listen", "verdict"), [("127.0.0.1:0", "problem"), ("0.0.0.0:0", "ok")])
def test_the_address(listen, verdict):
    assert examined(0, listen=listen)["address"].verdict == verdict


def test_a_game_s_own_ports():
    assert examined(5300, listen="0.0.0.0:5300")["port number"].verdict == "problem"


def test_no_pad(free_port):
    found = examined(free_port, pad="joystick")
    assert found["pad"].verdict == "problem"
    assert "recording does not" in found["pad"].advice


def test_as_a_verb(free_port, capsys):
    code = run_command_line(["doctor", "forza", f"--listen=127.0.0.1:{free_port}", "--seconds=0.1", "--pad=none"])
    assert code == 1
    assert "PROBLEM" in capsys.readouterr().out
