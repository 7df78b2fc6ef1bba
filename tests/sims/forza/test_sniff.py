"""The wire as named fields."""

from pathlib import Path

import pytest

from trailbrake.errors import SimulatorError
from trailbrake.sims.forza.sniff import SniffOptions, watch
from trailbrake.transport.udp import UdpSocket

GOLDEN = Path(__file__).parents[2] / "golden" / "wire" / "forza"


def test_every_field_with_its_official_name_and_unit():
    probe, sender = UdpSocket(), UdpSocket()
    probe.close()
    with watch(SniffOptions(listen=f"127.0.0.1:{probe.port}", wait=0.0)) as look:
        assert {f.group for f in look()} == {"wire"}
        sender.send(bytes.fromhex((GOLDEN / "fm2023.hex").read_text()), ("127.0.0.1", probe.port))
        fields = {(f.group, f.name): (f.value, f.unit) for f in look()}
    sender.close()
    assert fields["dash", "Speed"] == ("33.5", "m/s")
    assert fields["dash", "TireTempFrontLeft"] == ("180.5", "deg F")
    assert fields["sled", "WheelOnRumbleStripFrontRight"] == ("1", "bool")
    assert fields["extra", "TrackOrdinal"] == ("1640", "id")
    assert fields["wire", "phase"] == ("driving", "")
    assert (fields["wire", "formats"], fields["wire", "lengths"]) == (("fm2023: 1", ""), ("", ""))
    assert len([g for g, _ in fields if g != "wire"]) == 90


def test_a_taken_port():
    taken = UdpSocket()
    with pytest.raises(SimulatorError, match="--listen"), watch(SniffOptions(listen=f"127.0.0.1:{taken.port}")):
        pass
    taken.close()
