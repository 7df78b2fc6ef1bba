"""Recording a car that the player or the game's AI drives."""

from pathlib import Path
from struct import pack, unpack

import pytest
from helpers.ports import free_udp_port

from trailbrake.errors import UsageError
from trailbrake.sims.beamng.recorder import RECORDER, ListenSettings, RecordingSession, build_settings
from trailbrake.sims.beamng.spec import RecordOptions
from trailbrake.transport.udp import UdpSocket


def test_there_is_no_table_and_no_file(tmp_path):
    with pytest.raises(UsageError, match="into no table"):
        build_settings(RecordOptions(), None, Path("a.csv"))
    with pytest.raises(UsageError, match="no files of this simulator's messages"):
        RecordingSession(RecordOptions(), ListenSettings(), tmp_path / "a.raw")
    assert RECORDER.suffix == ""


def test_messages_become_samples_with_signals_and_are_answered():
    simulator, port = UdpSocket(), free_udp_port()
    options = RecordOptions(peer=f"127.0.0.1:{simulator.port}", signals=("beamng.throttle_input",))
    with RecordingSession(options, build_settings(options, port, None)) as recording:
        assert list(recording.record_available(0.0)) == []
        values = [0.0] * 110
        values[1], values[16] = 0.75, 20.0  # throttle_input, groundspeed
        found = []
        for k in range(3):
            simulator.send(pack("<111d", float(k), *values), ("127.0.0.1", port))
            recording.wait(1.0)
            found += recording.record_available(0.005 * k)
        states = [state for state, lap in found if lap is None]
        assert [state.sequence for state in states] == [0, 1, 2]
        assert [state.speed for state in states] == [20.0] * 3
        assert [signal.name for signal in recording.signals] == ["beamng.throttle_input"]
        assert states[0].signals.values == (0.75,)
        assert [unpack("<64d", simulator.receive()[0])[0] for _ in range(3)] == [1.0, 2.0, 3.0]
        assert recording.stream.sequence == 3
        assert recording.summary()["link"]["received"] == 3
    simulator.close()
