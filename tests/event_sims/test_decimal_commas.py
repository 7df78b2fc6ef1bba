"""Whole drives with simulators of computers that write 0,5, in .NET's words: the same to the bit as with 0.5.

The simulator's end is our host, whose texts go through a computer that writes and reads numbers as .NET does there: a
point in a number separates thousands, and is nothing.
"""

import json
import re

import numpy as np
import pytest

import trailbrake
from trailbrake.record.recording_reader import Recording
from trailbrake.sims.donkeycar import codec as donkeycar_codec
from trailbrake.transport import socketio

SIMULATORS = ("trend", "udacity_pid", "udacity_mpc", "udacity", "donkeycar")
NUMBER = re.compile(r'(":\s*"?-?\d+|[\[,]\s*-?\d+)\.(\d+)(?=[\d.eE+-]*"?\s*[,}\]])')


def write_in_locale(text):
    return NUMBER.sub(r"\1,\2", text)


def read_in_locale(value):
    """Return a message as a program reads it there."""
    if isinstance(value, dict):
        return {key: read_in_locale(item) for key, item in value.items()}
    if isinstance(value, list):
        return [read_in_locale(item) for item in value]
    if isinstance(value, str) and re.fullmatch(r"-?[\d.,]+([eE][-+]?\d+)?", value):
        return value.replace(".", "").replace(",", ".")
    return value


def read_text(text):
    """Return a JSON text as it is there: the parser takes the letters of a number, and the computer reads them."""
    return json.dumps(read_in_locale(json.loads(text, parse_float=lambda text: float(text.replace(".", "")))))


def put_in_locale(monkeypatch):
    """Let the hosts of this process write and read as such a computer."""
    pop, receive = socketio.SocketIoClient.pop_frames, socketio.SocketIoClient.receive_frame

    def pop_frames(self):
        return [write_in_locale(text) for text in pop(self)]

    def receive_frame(self, text, now):
        return receive(self, "42" + read_text(text[2:]) if text.startswith("42") else text, now)

    monkeypatch.setattr(socketio.SocketIoClient, "pop_frames", pop_frames)
    monkeypatch.setattr(socketio.SocketIoClient, "receive_frame", receive_frame)
    encode, decode = donkeycar_codec.encode_message, donkeycar_codec.decode_control
    monkeypatch.setattr(donkeycar_codec, "encode_message", lambda kind, data=None: (
        write_in_locale(encode(kind, data)) if kind in (donkeycar_codec.TELEMETRY, donkeycar_codec.STARTING_LINE)
        else encode(kind, data)))  # fmt: skip
    monkeypatch.setattr(donkeycar_codec, "decode_control", lambda data: decode(read_in_locale(data)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sim", "extent"),
    [*((sim, {"laps": 0, "seconds": 3.0}) for sim in SIMULATORS),
     *(pytest.param(sim, {"laps": 1}, marks=pytest.mark.faults) for sim in SIMULATORS)],
)  # fmt: skip
def test_a_drive_is_the_same_in_either_way_of_writing(sim, extent, tmp_path, monkeypatch):
    def drive():
        result = trailbrake.drive(sim=sim, out=tmp_path, report=False, **extent)
        recording = Recording.open(result["recording"])
        return result, {**recording.state, **recording.controls}

    with_points, driven = drive()
    put_in_locale(monkeypatch)
    for name, values in drive()[1].items():
        np.testing.assert_array_equal(values, driven[name], err_msg=name)
    assert np.ptp(driven["speed"]) > 1.0
    assert with_points["ended"] == "done"
    assert len(with_points["laps"]) == extent["laps"]
