import errno
import io
import math
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.small_drives import CONTROLS, tick
from helpers.synthetic_drives import LapDone, record_drive, state_at
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

from trailbrake.laps import LapRecord
from trailbrake.record import Recorder, Recording, write_in_thread
from trailbrake.record.mcap_file import McapFile
from trailbrake.state import CarState, Controls, DebugLine, Image, Pose, SimCommand
from trailbrake.state.tables import controls_row, state_row


def test_a_seeded_drive_gives_the_same_bytes_twice(tmp_path):
    first = record_drive(tmp_path / "a.mcap", laps=1, rate=50.0)
    second = record_drive(tmp_path / "b.mcap", laps=1, rate=50.0)
    assert first.path.read_bytes() == second.path.read_bytes()


def test_a_paused_or_lost_clock_is_recorded_all_the_same(tmp_path):
    recorder = Recorder(tmp_path / "a.mcap")
    times = [1.0, 1.1, math.nan, math.inf, -3.0, 1e300, *[1.1] * 1200, 0.5]
    for i, time in enumerate(times):
        recorder.tick(state_at(time, i, 50.0, 0.5, 0.0, i), CONTROLS)
    recorder.store_event(math.nan, "no clock")
    recorder.close()
    recording = Recording.open(recorder.path)
    assert recording.state["sequence"].tolist() == list(range(len(times)))
    assert recording.state["time"][[1, 3, 4, -1]].tolist() == [1.1, math.inf, -3.0, 0.5]
    assert recording.events[0].time == 0.5


class FullDisk(io.FileIO):
    """A file on a disk that takes `room` bytes more, and then says so as the kernel does."""

    room = 0

    def write(self, data):
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = bytes(data)[: self.room]
        self.room -= len(taken)
        return super().write(taken)


@pytest.mark.parametrize("threaded", [False, True])
@pytest.mark.parametrize("room", [0, 3, 200_000])
def test_a_full_disk_ends_the_recording_and_not_the_drive(tmp_path, room, threaded):
    recorder = Recorder(tmp_path / "a.mcap")
    recorder.sink.abandon()
    stream = FullDisk(tmp_path / "full.mcap", "w")
    stream.room = 100_000  # for the beginning
    recorder.sink = McapFile(stream)
    stream.room = room
    tap = write_in_thread(recorder) if threaded else recorder
    tap.start({"sim": "synthetic"})
    for i in range(8000):
        tick(tap, i)
    tap.store_lap(LapDone(1, 24.0, True, ()))
    tap.store_event(24.0, "the end")
    tap.close()
    assert "No space left on device" in tap.error
    assert "\n" not in tap.error
    recording = Recording.open(tmp_path / "full.mcap")
    assert recording.truncated
    assert len(recording) + tap.dropped_ticks == 8000
    assert (len(recording) > 500) == (room == 200_000)
    assert recording.state["sequence"].tolist() == list(range(len(recording)))


def test_the_kernels_own_file_size_limit(tmp_path):
    resource = pytest.importorskip("resource", reason="Windows has no such limit")
    recorder = Recorder(tmp_path / "a.mcap")
    recorder.start({"sim": "synthetic"})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        for i in range(3000):
            tick(recorder, i)
        recorder.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "recording stopped, got File too large" in recorder.error
    recording = Recording.open(recorder.path)
    assert 100 < len(recording) == 3000 - recorder.dropped_ticks


def test_a_disk_that_is_full_from_the_first_byte(tmp_path, monkeypatch):
    monkeypatch.setattr("trailbrake.record.recorder.create_file", lambda path: (FullDisk(path, "w"), path))
    recorder = Recorder(tmp_path / "a.mcap")
    recorder.start({})
    recorder.store_map([[0, 0]], [[0, 1]], [[0, -1]], closed=False)
    tick(recorder, 0)
    recorder.close()
    assert "No space left" in recorder.error
    assert recorder.dropped_ticks == 1


KILLED = """
import os, signal, sys
sys.path[:0] = {paths!r}
from helpers.small_drives import Recorder, tick
recorder = Recorder({path!r})
recorder.start({{"sim": "synthetic"}})
for i in range(1000):
    tick(recorder, i)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
def test_a_killed_process_leaves_what_it_has_driven(tmp_path):
    script = KILLED.format(paths=[str(Path(__file__).parent), *sys.path], path=str(tmp_path / "a.mcap"))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    recording = Recording.open(tmp_path / "a.mcap")
    assert recording.truncated
    assert recording.about == {"sim": "synthetic"}
    assert 3.0 - recording.state["time"][-1] <= 0.51


def test_odd_texts_in_about_and_events(tmp_path):
    recorder = Recorder(tmp_path / "a.mcap")
    recorder.start({"driver": Path("x.py"), "file": "half \ud800 surrogate", "nan": math.nan})
    recorder.store_event(0.0, "zero \0 inside, half \ud800 surrogate")
    recorder.store_event(0.0, "")
    recorder.close()
    recorder.close()
    recording = Recording.open(recorder.path)
    assert recording.about["driver"] == "x.py"
    assert [e.text for e in recording.events] == ["zero   inside, half \\ud800 surrogate", ""]


def picture(i):
    """Return what a JPEG is to a recording: bytes that do not shrink. The third tells which it is."""
    return b"\xff\xd8" + bytes([i % 256]) + np.random.default_rng(i).bytes(1000 + i)


def with_pictures(path, ticks=40, **options):
    recorder = Recorder(path, **options)
    recorder.start({})
    for i in range(ticks):
        state = state_at(i * 0.03, 1.5 * i, 50.0, 0.5, i * 0.03, i)
        if i % 3 == 0:
            state.image = Image(picture(i), lambda data: data)
        recorder.tick(state, CONTROLS)
    recorder.store_lap(LapDone(1, 1.2, True, ()))
    recorder.close()
    return recorder.path


def test_an_independent_reader_sees_the_camera_s_pictures_as_they_came(tmp_path):
    path = with_pictures(tmp_path / "a.mcap")
    with path.open("rb") as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
        seen = [(s.name, m.log_time, d) for s, _, m, d in reader.iter_decoded_messages(["/camera"])]
    assert {name for name, _, _ in seen} == {"sensor_msgs/msg/CompressedImage"}
    assert [bytes(message.data) for _, _, message in seen] == [picture(i) for i in range(0, 40, 3)]
    for i, (_, log_time, message) in zip(range(0, 40, 3), seen, strict=True):
        assert message.header.stamp.sec * 10**9 + message.header.stamp.nanosec == log_time == round(i * 0.03 * 1e9)
        assert (message.format, message.header.frame_id) == ("jpeg", "camera")


def test_pictures_are_read_back_with_the_rows_that_they_belong_to(tmp_path):
    recording = Recording.open(with_pictures(tmp_path / "a.mcap"))
    found = list(recording.pictures())
    assert [one.row for one in found] == list(range(0, 40, 3))
    assert all(one.data == picture(one.row) for one in found)
    assert len(recording) == 40
    assert [lap.time_s for lap in recording.laps] == [1.2]


def test_pictures_can_be_left_out_and_empty_ones_are_none(tmp_path):
    path = with_pictures(tmp_path / "a.mcap", pictures=False)
    kept = sum(len(picture(i)) for i in range(0, 40, 3))
    assert path.stat().st_size < with_pictures(tmp_path / "b.mcap").stat().st_size - 0.9 * kept
    assert list(Recording.open(path).pictures()) == []
    recorder = Recorder(tmp_path / "c.mcap")
    state = state_at(0.0, 0.0, 1.0, 0.0, 0.0, 0)
    state.image = Image(b"", lambda data: data)  # a world asked directly: nothing was encoded
    recorder.tick(state, CONTROLS)
    recorder.close()
    assert list(Recording.open(recorder.path).pictures()) == []


def test_a_cut_recording_gives_the_pictures_of_the_rows_that_are_left(tmp_path):
    path = with_pictures(tmp_path / "a.mcap", ticks=400)
    whole = path.read_bytes()
    for share in (0.3, 0.55, 0.9):
        path.write_bytes(whole[: int(share * len(whole))])
        recording = Recording.open(path)
        rows = [one.row for one in recording.pictures()]
        assert rows == list(range(0, 400, 3))[: len(rows)]
        assert all(row < len(recording) for row in rows)
        assert len(rows) > 0.2 * share * len(recording)


def test_a_picture_that_stays_for_several_ticks_is_kept_once(tmp_path):
    """A camera may be slower than the wire: the same object in every state until there is another."""
    recorder = Recorder(tmp_path / "a.mcap")
    recorder.start({})
    shown = [Image(picture(i), lambda data: data) for i in range(4)]
    for i in range(40):
        state = state_at(i * 0.003, 1.5 * i, 50.0, 0.5, i * 0.003, i)
        state.image = shown[i // 10] if i != 25 else None
        recorder.tick(state, CONTROLS)
    recorder.close()
    found = list(Recording.open(recorder.path).pictures())
    # After a gap without a picture the same one counts anew.
    assert [(one.row, one.data == picture(number)) for one, number in zip(found, (0, 1, 2, 2, 3), strict=True)] == [
        (0, True), (10, True), (20, True), (26, True), (30, True)
    ]  # fmt: skip


def test_commands_and_free_values_of_a_driver_are_kept(tmp_path):
    recorder = Recorder(tmp_path / "a.mcap")
    recorder.start({})
    sent = [
        Controls(custom=(1.0, 2.0)), Controls(custom=(1.0, 2.0)),
        Controls(custom=(3.0,), command=SimCommand(teleport=Pose(1.0, 2.0, yaw=0.5))), Controls(custom=(3.0,)),
        Controls(custom=(3.0,), command=SimCommand(to_pits=True, lines=[DebugLine((0, 0, 0), (1, 1, 1))] * 7)),
    ]  # fmt: skip
    for k, controls in enumerate(sent):
        recorder.tick(CarState(time=0.1 * k), controls)
    recorder.close()
    place = {"x": 1.0, "y": 2.0, "z": None, "yaw": 0.5}
    assert Recording.open(recorder.path).requests == [
        (0, {"custom": [1.0, 2.0]}), (2, {"teleport": place, "custom": [3.0]}), (4, {"to_pits": True, "lines": 7})
    ]  # fmt: skip


def test_many_rows_at_once_are_the_ticks_one_by_one(tmp_path):
    states = [CarState(time=0.1 * k, sequence=k, x=1.5 * k, speed=15.0, gear=2) for k in range(700)]
    controls = [Controls(steer=0.001 * k) for k in range(700)]
    one, many = Recorder(tmp_path / "one.mcap"), Recorder(tmp_path / "many.mcap")
    for recorder in (one, many):
        recorder.start({})
    for state, control in zip(states, controls, strict=True):
        one.tick(state, control)
    rows = np.array([state_row(state) for state in states]), np.array([controls_row(control) for control in controls])
    for start in range(0, 700, 512):
        many.store_rows(*(table[start : start + 512] for table in rows))
    lap = LapRecord(1, 60.0, True, (), "", 0.0, 0, 69.0)
    for recorder in (one, many):
        recorder.store_lap(lap)
        recorder.close()
    first, second = Recording.open(one.path), Recording.open(many.path)
    assert not second.truncated
    for name in first.state:
        assert np.array_equal(first.state[name], second.state[name], equal_nan=True), name
    for name in first.controls:
        assert np.array_equal(first.controls[name], second.controls[name], equal_nan=True), name
    assert list(second.laps) == list(first.laps)
