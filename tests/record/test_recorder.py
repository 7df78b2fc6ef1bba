import errno
import io
import math
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from mcap import records
from mcap.reader import NonSeekingReader, make_reader
from mcap.stream_reader import StreamReader
from mcap_ros2.decoder import DecoderFactory
from synthetic_drives import LapDone, record_drive, state_at

from trailbrake.errors import UsageError
from trailbrake.record import Recorder, Recording, Threaded, writer
from trailbrake.record.container import McapFile
from trailbrake.record.format import MESSAGE, MESSAGE_HEAD
from trailbrake.record.names import safe_name
from trailbrake.state import Controls, Image, WheelTorque
from trailbrake.state.tables import CONTROL_COLUMNS, STATE_COLUMNS, controls_row, state_row

WHEELS = tuple(WheelTorque(10.0 * i, 5.0 * i) for i in range(4))
# Every field has a value: NaN would not equal itself.
SETTINGS = {c.name: 0.5 for c in CONTROL_COLUMNS if "torque" not in c.name and c.name != "gear"}
CONTROLS = Controls(**SETTINGS | {"steer": 0.25}, gear=3, wheels=WHEELS)


def tick(recorder, i, dt=0.003):
    recorder.tick(state_at(i * dt, 50.0 * i * dt, 50.0, 0.5, i * dt, i), CONTROLS)


def small_drive(path, ticks=40, dt=0.03):
    recorder = Recorder(path)
    recorder.start({"sim": "synthetic", "seed": 1})
    recorder.map([[0, 0], [1, 0]], [[0, 1], [1, 1]], [[0, -1], [1, -1]], closed=False)
    recorder.plan([0.0, 1.0], [0.0, 1.0], [0.0, 0.0], [10.0, 11.0])
    for i in range(ticks):
        tick(recorder, i, dt)
    recorder.event(0.3, "Überholt 追い越し")
    recorder.lap(LapDone(1, 1.17, True, (0.5, 0.67)))
    recorder.lap(LapDone(2, 1.25, False, (), "three wheels off", 0.5, 2))
    recorder.close()
    return recorder.path


@pytest.mark.parametrize("reader_class", ["seeking", "streaming"])
def test_an_independent_reader_decodes_every_field(tmp_path, reader_class):
    path = small_drive(tmp_path / "a.mcap")
    seen = {}
    with path.open("rb") as file:
        factories = [DecoderFactory()]
        if reader_class == "seeking":
            reader = make_reader(file, validate_crcs=True, decoder_factories=factories)
            summary = reader.get_summary()
            assert summary.statistics.message_count == 2 * 40 + 5
            assert summary.statistics.channel_message_counts == {1: 40, 2: 40, 3: 2, 4: 1, 5: 1, 6: 1}
            assert [a.name for a in reader.iter_attachments()] == ["about.json"]
        else:
            reader = NonSeekingReader(file, validate_crcs=True, decoder_factories=factories)
        for _, channel, message, decoded in reader.iter_decoded_messages():
            seen.setdefault(channel.topic, []).append((message.log_time, decoded))
    assert {k: len(v) for k, v in seen.items()} == {
        "/state": 40, "/controls": 40, "/lap": 2, "/event": 1, "/map": 1, "/plan": 1
    }  # fmt: skip
    for i, ((log_time, state), (_, controls)) in enumerate(zip(seen["/state"], seen["/controls"], strict=True)):
        wanted = state_at(i * 0.03, 50.0 * i * 0.03, 50.0, 0.5, i * 0.03, i)
        assert log_time == round(i * 0.03 * 1e9)
        for column, value in zip(STATE_COLUMNS, state_row(wanted), strict=True):
            assert getattr(state, column.name) == pytest.approx(value, rel=0, abs=0, nan_ok=True), column
        for column, value in zip(CONTROL_COLUMNS, controls_row(CONTROLS), strict=True):
            assert getattr(controls, column.name) == value
    first, second = (lap for _, lap in seen["/lap"])
    assert (first.number, first.time_s, first.valid, list(first.sectors_s)) == (1, 1.17, True, [0.5, 0.67])
    assert (second.number, second.valid, list(second.sectors_s)) == (2, False, [])
    assert (second.invalid_reason, second.off_track_s, second.contacts) == ("three wheels off", 0.5, 2)
    assert seen["/event"][0][1].text == "Überholt 追い越し"
    assert seen["/event"][0][0] == 300_000_000
    assert list(seen["/map"][0][1].right_y) == [-1, -1]
    assert list(seen["/plan"][0][1].speed) == [10.0, 11.0]


def test_the_message_index_points_at_the_messages(tmp_path):
    path = small_drive(tmp_path / "a.mcap")
    inside, pointed_at = b"", 0
    with path.open("rb") as file:
        for record in StreamReader(file, emit_chunks=True).records:
            if isinstance(record, records.Chunk):
                inside = zstandard.decompress(record.data)
            elif isinstance(record, records.MessageIndex):
                for time, offset in record.records:
                    opcode, _, channel, _, log_time, _ = MESSAGE_HEAD.unpack_from(inside, offset)
                    assert (opcode, channel, log_time) == (MESSAGE, record.channel_id, time)
                    pointed_at += 1
            elif isinstance(record, records.ChunkIndex):
                file_at = path.read_bytes()
                assert file_at[record.chunk_start_offset] == 0x06
                assert all(file_at[at] == 0x07 for at in record.message_index_offsets.values())
    assert pointed_at == 2 * 40 + 5


def test_a_seeded_drive_gives_the_same_bytes_twice(tmp_path):
    first = record_drive(tmp_path / "a.mcap", laps=1, rate=50.0)
    second = record_drive(tmp_path / "b.mcap", laps=1, rate=50.0)
    assert first.path.read_bytes() == second.path.read_bytes()


def test_a_paused_or_lost_clock_is_recorded_all_the_same(tmp_path):
    recorder = Recorder(tmp_path / "a.mcap")
    times = [1.0, 1.1, math.nan, math.inf, -3.0, 1e300, *[1.1] * 1200, 0.5]
    for i, time in enumerate(times):
        recorder.tick(state_at(time, i, 50.0, 0.5, 0.0, i), CONTROLS)
    recorder.event(math.nan, "no clock")
    recorder.close()
    recording = Recording.open(recorder.path)
    assert recording.state["sequence"].tolist() == list(range(len(times)))
    assert recording.state["time"][[1, 3, 4, -1]].tolist() == [1.1, math.inf, -3.0, 0.5]
    assert recording.events[0].time == 0.5


def test_existing_files_are_never_overwritten(tmp_path):
    wanted = tmp_path / "runs" / "fahrt über ünïcode 走行.mcap"
    made = [Recorder(wanted) for _ in range(3)]
    for recorder in made:
        recorder.close()
    assert [r.path.name for r in made] == [
        "fahrt über ünïcode 走行.mcap", "fahrt über ünïcode 走行-2.mcap", "fahrt über ünïcode 走行-3.mcap"
    ]  # fmt: skip
    assert all(len(Recording.open(r.path)) == 0 for r in made)


def test_a_folder_that_cannot_be_made_is_one_clear_line(tmp_path):
    (tmp_path / "file").write_text("")
    for bad in (tmp_path / "file" / "a.mcap", tmp_path / ("n" * 300 + ".mcap"), tmp_path / "nul\0l.mcap"):
        with pytest.raises(UsageError, match="cannot create the recording") as caught:
            Recorder(bad)
        assert "\n" not in str(caught.value)


@given(st.text())
def test_safe_names_are_safe(text):
    name = safe_name(text)
    assert name
    assert not set(name) & set('/\\:*?"<>|\0\n ')
    assert len(name.encode()) <= 130
    assert not name.startswith((".", "-"))
    assert not name.endswith(".")


def test_safe_names_keep_letters_and_avoid_devices():
    assert safe_name("assetto/spa: my driver.py:Fast") == "assetto-spa-my-driver.py-Fast"
    assert safe_name("走行 å") == "走行-å"
    assert safe_name("CON.txt") == "_CON.txt"
    assert safe_name("../..") == "drive"


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
    tap = Threaded(recorder) if threaded else recorder
    tap.start({"sim": "synthetic"})
    for i in range(8000):
        tick(tap, i)
    tap.lap(LapDone(1, 24.0, True, ()))
    tap.event(24.0, "the end")
    tap.close()
    assert "No space left on device" in tap.error
    assert "\n" not in tap.error
    recording = Recording.open(tmp_path / "full.mcap")
    assert recording.truncated
    assert len(recording) + tap.dropped == 8000
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
    assert 100 < len(recording) == 3000 - recorder.dropped


def test_a_disk_that_is_full_from_the_first_byte(tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "create", lambda path: (FullDisk(path, "w"), path))
    recorder = Recorder(tmp_path / "a.mcap")
    recorder.start({})
    recorder.map([[0, 0]], [[0, 1]], [[0, -1]], closed=False)
    tick(recorder, 0)
    recorder.close()
    assert "No space left" in recorder.error
    assert recorder.dropped == 1


KILLED = """
import os, signal, sys
sys.path[:0] = {paths!r}
from test_recorder import Recorder, tick
recorder = Recorder({path!r})
recorder.start({{"sim": "synthetic"}})
for i in range(1000):
    tick(recorder, i)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
def test_a_killed_process_leaves_what_it_has_driven(tmp_path):
    script = KILLED.format(paths=[str(Path(__file__).parent), *sys.path], path=str(tmp_path / "a.mcap"))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    recording = Recording.open(tmp_path / "a.mcap")
    assert recording.truncated
    assert recording.about == {"sim": "synthetic"}
    assert 3.0 - recording.state["time"][-1] <= 0.51


class StuckDisk:
    """A sink that takes nothing until it is let go."""

    def __init__(self, behind):
        self.behind, self.go = behind, threading.Event()
        self.abandon, self.close, self.attach = behind.abandon, behind.close, behind.attach

    def append(self, chunk):
        self.go.wait()
        self.behind.append(chunk)


def test_a_stuck_disk_costs_frames_and_never_a_wait(tmp_path):
    recorder = Recorder(tmp_path / "a.mcap")
    disk = recorder.sink = StuckDisk(recorder.sink)
    tap = Threaded(recorder)
    for i in range(20_000):  # 60 s; the queue holds half of that
        tick(tap, i)
    assert 5_000 < tap.dropped < 15_000
    disk.go.set()
    tap.close()
    assert tap.error == ""
    recording = Recording.open(tap.path)
    assert not recording.truncated
    assert len(recording) == 20_000 - tap.dropped


def test_a_disk_that_hangs_for_good_does_not_hang_us(tmp_path, monkeypatch):
    monkeypatch.setattr("trailbrake.record.threaded.PATIENCE", 0.05)
    recorder = Recorder(tmp_path / "a.mcap")
    disk = recorder.sink = StuckDisk(recorder.sink)
    tap = Threaded(recorder)
    tick(tap, 0)
    tap.close()
    assert "a disk that does not answer" in tap.error
    disk.go.set()
    for thread in threading.enumerate():
        if thread.name == "recorder":
            thread.join()
    disk.abandon()


def test_odd_texts_in_about_and_events(tmp_path):
    recorder = Recorder(tmp_path / "a.mcap")
    recorder.start({"driver": Path("x.py"), "file": "half \ud800 surrogate", "nan": math.nan})
    recorder.event(0.0, "zero \0 inside, half \ud800 surrogate")
    recorder.event(0.0, "")
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
    recorder.lap(LapDone(1, 1.2, True, ()))
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
