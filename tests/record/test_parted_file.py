"""A long drive in several files, each of which opens by itself."""

import errno
import io
import itertools
import os
import threading
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from helpers.long_drives import LAP_TICKS, TICKS, record_long_drive
from helpers.small_drives import CONTROLS, tick
from helpers.synthetic_drives import state_at
from mcap.reader import make_reader

from trailbrake.errors import UsageError
from trailbrake.record import Recorder, Recording, parted_file, write_in_thread
from trailbrake.record.parted_file import ONE_FILE, PartLimits, make_part_limits


def test_a_file_ends_at_the_end_of_a_lap_or_a_tenth_later(parts, tmp_path):
    assert [path.name for path in parts] == ["a.mcap", "a_part2.mcap", "a_part3.mcap", "a_part4.mcap"]
    lengths = [len(Recording.open(path, join=False)) for path in parts]
    assert all(length % LAP_TICKS == 0 for length in lengths[:-1]), lengths
    assert all(1000 <= length <= 1100 for length in lengths[:-1]), lengths
    endless = record_long_drive(tmp_path / "b.mcap", PartLimits(seconds=10.0, bytes=0), laps=False).paths
    lengths = [len(Recording.open(path, join=False)) for path in endless]
    assert sum(lengths) == TICKS
    assert all(1050 <= length <= 1150 for length in lengths[:-1]), lengths


def test_each_file_opens_by_itself(parts):
    first = Recording.open(parts[0], join=False)
    at = len(first)
    for number, path in enumerate(parts[1:], 2):
        part = Recording.open(path)
        assert part.paths == [path]
        assert part.about == {**first.about, "part": number}
        assert not part.truncated
        np.testing.assert_array_equal(part.road_map.left, first.road_map.left)
        np.testing.assert_array_equal(part.plan.speed, first.plan.speed)
        assert part.state["sequence"].tolist() == list(range(at, at + len(part)))
        assert part.signals["beamng.fuel"].tolist() == list(range(at, at + len(part)))
        assert next(lap.row for lap in part.laps) == LAP_TICKS
        assert all(picture.row < len(part) for picture in part.pictures())
        at += len(part)
    assert at == TICKS


def test_the_library_of_the_format_reads_each_part_from_its_own_time_on(parts):
    for path in parts:
        with path.open("rb") as file:
            reader = make_reader(file, validate_crcs=True)
            times = [message.log_time for _, _, message in reader.iter_messages(["/state", "/map", "/plan"])]
        sequence = Recording.open(path, join=False).state["sequence"]
        assert min(times) == int(sequence[0]) * 10_000_000


def test_a_limit_of_bytes(tmp_path):
    paths = record_long_drive(tmp_path / "a.mcap", PartLimits(seconds=0.0, bytes=200_000)).paths
    sizes = [path.stat().st_size for path in paths]
    assert len(paths) >= 3
    assert all(200_000 <= size < 260_000 for size in sizes[:-1]), sizes
    assert len(Recording.open(paths[0])) == TICKS


def test_only_the_first_file_and_the_newest_ones_are_kept(tmp_path):
    recorder = record_long_drive(tmp_path / "a.mcap", PartLimits(seconds=5.0, bytes=0, files=3))
    names = [path.name for path in recorder.paths]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    assert names == ["a.mcap", "a_part7.mcap", "a_part8.mcap"]
    whole = Recording.open(recorder.path)
    assert whole.truncated  # as after any file that is missing
    sequence = whole.state["sequence"]
    assert (sequence[0], sequence[-1]) == (0, TICKS - 1)
    assert np.sum(np.diff(sequence) > 1) == 1  # one gap
    assert Recording.open(recorder.paths[1]).about["part"] == 7


def test_a_file_that_cannot_be_deleted_is_tried_again_and_one_that_is_gone_is_no_matter(tmp_path, monkeypatch):
    refused, unlink = [], Path.unlink

    def refuse_once(path, **options):
        if not refused:
            refused.append(path.name)
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        unlink(path)  # by its user, just before
        unlink(path, **options)

    monkeypatch.setattr(Path, "unlink", refuse_once)
    recorder = record_long_drive(tmp_path / "a.mcap", PartLimits(seconds=5.0, bytes=0, files=3))
    assert refused == ["a_part2.mcap"]
    assert recorder.error == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == [path.name for path in recorder.paths]
    assert len(recorder.paths) == 3


def test_a_clock_that_is_set_back_ends_no_file_early(tmp_path):
    recorder = Recorder(tmp_path / "a.mcap", limits=PartLimits(seconds=10.0, bytes=0))
    for start in (0.0, 3600.0, 1e6, 5.0):
        for i in range(200):
            recorder.tick(state_at(start + i * 0.01, i, 50.0, 0.5, 0.0, i), CONTROLS)
    recorder.close()
    assert len(recorder.paths) == 1


def test_an_older_file_with_the_name_of_a_part_is_kept(tmp_path):
    (tmp_path / "a_part2.mcap").write_bytes(b"older")
    paths = record_long_drive(tmp_path / "a.mcap", PartLimits(seconds=20.0, bytes=0)).paths
    assert paths[1].name == "a_part2-2.mcap"
    assert (tmp_path / "a_part2.mcap").read_bytes() == b"older"
    assert len(Recording.open(paths[0])) == TICKS


class FullDisk(io.FileIO):
    """A file on a disk that is full."""

    def write(self, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("threaded", [False, True])
@pytest.mark.parametrize("refusal", ["name", "bytes"])
def test_a_disk_that_refuses_the_next_file_ends_the_recording_and_not_the_drive(
    refusal, threaded, tmp_path, monkeypatch
):
    def refuse(path):
        if refusal == "name":
            raise UsageError("cannot create the recording", where=str(path), got="No space left on device")
        return FullDisk(path, "w"), path

    recorder = Recorder(tmp_path / "a.mcap", limits=PartLimits(seconds=10.0, bytes=0))
    monkeypatch.setattr(parted_file, "create_file", refuse)
    tap = write_in_thread(recorder) if threaded else recorder
    tap.start({"sim": "synthetic"})
    for i in range(TICKS):
        tick(tap, i)
    tap.close()
    assert "No space left on device" in tap.error
    recording = Recording.open(tmp_path / "a.mcap", join=False)
    assert not recording.truncated  # whole, up to its end
    assert len(recording) > 3000 / 3
    assert len(recording) + tap.dropped_ticks == TICKS


def test_the_drive_does_not_wait_for_a_slow_change_of_files(tmp_path, monkeypatch):
    """The new file is made by the writing thread: the driving thread goes on while it hangs."""
    go, create = threading.Event(), parted_file.create_file

    def create_late(path):
        assert threading.current_thread().name == "recorder"
        assert go.wait(60.0)
        return create(path)

    monkeypatch.setattr(parted_file, "create_file", create_late)
    recorder = write_in_thread(Recorder(tmp_path / "a.mcap", limits=PartLimits(seconds=10.0, bytes=0)))
    recorder.start({"sim": "synthetic"})
    for i in range(TICKS):
        tick(recorder, i)
    assert len(recorder.paths) == 1
    go.set()
    recorder.close()
    assert recorder.error == ""
    assert len(recorder.paths) > 1
    assert len(Recording.open(recorder.path)) == TICKS - recorder.dropped_ticks


def test_the_memory_of_the_writer_grows_by_an_index_entry_a_chunk(tmp_path):
    recorder = Recorder(tmp_path / "a.mcap", limits=ONE_FILE)
    recorder.start({"sim": "synthetic"})
    numbers = itertools.count()
    chunk_ticks = 5  # of 0.1 s

    def record_chunks(count):
        for _, i in zip(range(count * chunk_ticks), numbers, strict=False):
            recorder.tick(state_at(i * 0.1, 5.0 * i, 50.0, 0.5, i * 0.1, i), CONTROLS)

    tracemalloc.start()
    try:
        record_chunks(200)
        before = tracemalloc.get_traced_memory()[0]
        record_chunks(1000)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    recorder.close()
    assert grown < 1000 * 250, "700 bytes a chunk are 5 MB an hour"


@pytest.mark.parametrize("given", [(-1.0, 0.0), (0.0, float("nan")), (float("inf"), 1.0)])
def test_lengths_that_cannot_be(given):
    with pytest.raises(UsageError, match="no length of a file"):
        make_part_limits(*given)


@pytest.mark.parametrize("given", [(60.0, 512.0, -1), (60.0, 512.0, 1), (60.0, 512.0, 2), (0.0, 0.0, 8)])
def test_numbers_of_files_that_cannot_be(given):
    with pytest.raises(UsageError, match="--keep-parts"):
        make_part_limits(*given)


def test_the_units_of_the_flags():
    assert make_part_limits(60.0, 512.0) == PartLimits()
    assert make_part_limits(60.0, 512.0, 8).files == 8
    assert make_part_limits(0.0, 0.0) == ONE_FILE


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    return record_long_drive(tmp_path_factory.mktemp("parts") / "a.mcap", PartLimits(seconds=10.0, bytes=0)).paths
