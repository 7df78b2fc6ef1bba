"""Cut and damaged files are read up to the damage."""

import contextlib
import io
import struct

import lz4.frame
import numpy as np
import pytest
from helpers.small_drives import tick
from helpers.synthetic_drives import record_drive
from hypothesis import given, settings
from hypothesis import strategies as st

from trailbrake.errors import DataError, TrailbrakeError
from trailbrake.record import Recorder, Recording
from trailbrake.record.mcap_scan import ChunkLocation, unpack_chunk


def all_of(recording):
    """Touch everything there is."""
    columns = [recording.state[c] for c in recording.state] + [recording.controls[c] for c in recording.controls]
    return columns, recording.laps, recording.events, recording.road_map, recording.plan, recording.truncated


def test_a_file_cut_anywhere_is_readable_up_to_the_cut_or_cleanly_refused(drive, tmp_path):
    data, path, longest, refused = drive.read_bytes(), tmp_path / "cut.mcap", 0, 0
    cuts = sorted({*range(0, 64), *range(64, len(data), 211), *range(len(data) - 40, len(data))})
    for cut in cuts:
        path.write_bytes(data[:cut])
        try:
            recording = Recording.open(path)
        except DataError:
            assert not longest, "refused although a shorter cut was readable"
            refused += 1
            continue
        all_of(recording)
        assert recording.truncated
        rows = len(recording)
        assert rows >= longest
        longest = rows
        assert recording.state["sequence"].tolist() == list(range(rows))
    assert longest == 40
    assert refused < len(cuts) / 2


@settings(max_examples=150)
@given(st.data())
def test_damaged_bytes_never_give_anything_but_our_errors(drive, tmp_path_factory, data):
    content = bytearray(drive.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(8, len(content) - 1))
        content[at] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.mcap"
    path.write_bytes(content)
    with contextlib.suppress(TrailbrakeError):
        all_of(Recording.open(path))


def test_a_damaged_chunk_is_left_out(tmp_path):
    recorder = record_drive(tmp_path / "a.mcap", laps=1, rate=50.0)
    content = bytearray(recorder.path.read_bytes())
    content[len(content) // 3] ^= 0xFF  # not where the lap is
    recorder.path.write_bytes(content)
    recording = Recording.open(recorder.path)
    assert recording.truncated
    assert len(recording.laps) == 1
    gaps = np.diff(recording.state["sequence"])
    assert (gaps > 1).sum() == 1
    assert gaps.max() <= 27


def test_a_tail_of_zeros_is_a_cut(drive, tmp_path):
    path = tmp_path / "zeros.mcap"
    path.write_bytes(drive.read_bytes()[:-500] + bytes(5000))
    recording = Recording.open(path)
    assert recording.truncated
    assert len(recording) == 40


def test_an_absurd_record_length_is_a_cut(drive, tmp_path):
    path = tmp_path / "a.mcap"
    path.write_bytes(drive.read_bytes()[:-8] + struct.pack("<BQ", 6, 2**63))
    assert len(Recording.open(path)) == 40


def test_a_packed_chunk_gives_no_more_than_it_claims():
    data = lz4.frame.compress(bytes(1 << 24))
    chunk = struct.pack("<QQQII", 0, 1, 10, 0, 3) + b"lz4" + struct.pack("<Q", len(data)) + data
    assert unpack_chunk(io.BytesIO(chunk), ChunkLocation(0, len(chunk))) == bytes(10)


def test_lines_whose_arrays_differ_in_length_are_one_error(tmp_path):
    recorder = Recorder(tmp_path / "drive.mcap")
    recorder.start({"sim": "synthetic"})
    recorder.store_plan([0.0, 1.0], [0.0], [0.0, 0.0], [10.0, 11.0])
    tick(recorder, 0)
    recorder.close()
    with pytest.raises(DataError, match="/plan: a line's arrays have different lengths"):
        _ = Recording.open(recorder.path).plan
