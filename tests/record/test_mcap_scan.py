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
from trailbrake.record import Recorder, Recording, mcap_scan, row_reader
from trailbrake.record.mcap_scan import ChunkLocation, read_log_times, unpack_chunk


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


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return record_drive(tmp_path_factory.mktemp("drives") / "a.mcap", laps=3, rate=50.0).path


@pytest.fixture
def unpacked(monkeypatch):
    """The chunks that are unpacked from now on."""
    seen, unpack = [], mcap_scan.unpack_chunk
    monkeypatch.setattr(mcap_scan, "unpack_chunk", lambda file, place: seen.append(place) or unpack(file, place))
    return seen


def test_an_index_is_counted_by_its_length():
    place = ChunkLocation(10, 20)
    assert (place.count_messages(1), place.may_have({1})) == (None, True)
    place.add_index(1, 30, 6 + 16 * 25)
    place.add_index(3, 500, 6)
    assert [place.count_messages(channel) for channel in (1, 2, 3)] == [25, 0, 0]
    assert [place.may_have({channel}) for channel in (1, 2)] == [True, False]


def test_rows_laps_and_times_are_those_of_the_chunks(path):
    exact, quick = Recording.open(path), Recording.open(path, verify=False)
    assert len(quick) == len(exact)
    assert quick.laps == exact.laps
    assert np.abs(quick.row_times - exact.row_times).max() < 1e-9
    assert (exact.row_times == exact.state["time"]).all()
    for rows in (slice(0, 3), slice(-40, None), slice(100, 900, 7)):
        ours, theirs = quick.read_rows(rows, ("x", "steer")), exact.read_rows(rows, ("x", "steer"))
        assert (ours.state["x"] == theirs.state["x"]).all()
        assert (ours.controls["steer"] == theirs.controls["steer"]).all()
        assert (quick._rows.read_ticks(rows) == exact._rows.read_ticks(rows)).all()
    assert [quick._rows.find_row(tick) for tick in (0, 1, 777, 10**6)] == [0, 1, 777, len(exact)]
    assert not quick.truncated


def test_opening_unpacks_no_rows_and_a_place_unpacks_its_own(path, unpacked):
    recording = Recording.open(path, verify=False)
    assert len(recording) > 3000
    assert len(recording.row_times) == len(recording)
    assert not unpacked
    recording.read_rows(slice(1000, 1010))
    assert 1 <= len(unpacked) <= 2


def test_a_lap_is_found_by_a_few_chunks(path, unpacked, monkeypatch):
    monkeypatch.setattr(row_reader, "KEPT_BYTES", 0)
    recording = Recording.open(path, verify=False)
    _ = recording.laps
    rows = recording._rows._places
    assert len(set(map(id, unpacked)) & set(map(id, rows))) < 0.4 * len(rows)


def test_a_damaged_chunk_has_rows_without_values(path, tmp_path):
    content = bytearray(path.read_bytes())
    place = Recording.open(path)._rows._places[20]
    content[place.offset + place.length // 2] ^= 0xFF
    damaged = tmp_path / "a.mcap"
    damaged.write_bytes(content)
    recording = Recording.open(damaged, verify=False)
    assert len(recording) == len(Recording.open(path))
    assert not recording.truncated, "nothing of it has been read"
    missing = np.isnan(recording.state["time"])
    assert 0 < missing.sum() <= 27
    assert recording.truncated
    assert np.isfinite(recording.row_times).all()
    assert recording.laps == Recording.open(path).laps
    ticks = recording._rows.read_ticks(slice(None))
    assert (np.diff(ticks.astype(int)) >= 0).all()
    assert (ticks[~missing] == np.flatnonzero(~missing)).all()


def test_a_cut_file_is_counted_too(path, tmp_path):
    content = path.read_bytes()
    for size in (len(content) // 2, len(content) // 2 + 400, len(content) // 2 + 3000):
        cut = tmp_path / f"{size}.mcap"
        cut.write_bytes(content[:size])
        quick, exact = Recording.open(cut, verify=False), Recording.open(cut)
        assert len(quick) == len(exact) > 0
        assert quick.truncated


def test_more_rows_than_a_drive_has_are_counted_by_unpacking(path, monkeypatch):
    monkeypatch.setattr(row_reader, "MAX_INDEXED_ROWS", 100)
    recording = Recording.open(path, verify=False)
    assert recording._rows._index_counts is None
    assert len(recording) == len(Recording.open(path))


def test_an_index_that_the_file_does_not_have_gives_no_times(tmp_path):
    file = tmp_path / "a"
    file.write_bytes(bytes(6) + struct.pack("<4Q", 1_500_000_000, 0, 2_000_000_000, 31))
    place = ChunkLocation(0, 6)
    place.path = file
    place.add_index(1, 0, 6 + 16 * 4)
    times = read_log_times([ChunkLocation(0, 1), place], 1, [1, 4])
    assert times.tolist()[1:3] == [1.5, 2.0]
    assert np.isnan(times[[0, 3, 4]]).all()
