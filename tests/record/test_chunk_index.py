"""Rows by the file's own index, without unpacking its chunks."""

import struct

import numpy as np
import pytest
from helpers.synthetic_drives import record_drive

from trailbrake.record import mcap_scan, row_reader
from trailbrake.record.chunk_index import ChunkLocation, read_log_times
from trailbrake.record.recording_reader import Recording


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
