"""A recorder whose disk stalls or hangs."""

import threading

from helpers.small_drives import tick

from trailbrake.record import Recorder, Recording, write_in_thread


class StuckDisk:
    """A sink that takes nothing until it is let go."""

    def __init__(self, behind):
        self.behind, self.go = behind, threading.Event()
        self.abandon, self.close, self.attach_file = behind.abandon, behind.close, behind.attach_file

    def append_chunk(self, chunk):
        self.go.wait()
        self.behind.append_chunk(chunk)


def test_a_stuck_disk_costs_frames_and_never_a_wait(tmp_path):
    recorder = Recorder(tmp_path / "a.mcap")
    disk = recorder.sink = StuckDisk(recorder.sink)
    tap = write_in_thread(recorder)
    for i in range(20_000):  # 60 s; the queue holds half of that
        tick(tap, i)
    assert 5_000 < tap.dropped_ticks < 15_000
    disk.go.set()
    tap.close()
    assert tap.error == ""
    recording = Recording.open(tap.path)
    assert not recording.truncated
    assert len(recording) == 20_000 - tap.dropped_ticks


def test_a_disk_that_hangs_for_good_does_not_hang_us(tmp_path, monkeypatch):
    monkeypatch.setattr("trailbrake.record.writer_thread.CLOSE_TIMEOUT_S", 0.05)
    recorder = Recorder(tmp_path / "a.mcap")
    disk = recorder.sink = StuckDisk(recorder.sink)
    tap = write_in_thread(recorder)
    tick(tap, 0)
    tap.close()
    assert "a disk that does not answer" in tap.error
    disk.go.set()
    for thread in threading.enumerate():
        if thread.name == "recorder":
            thread.join()
    disk.abandon()
