"""Recording a lap that somebody else drives."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from helpers.assetto.client_pages import file_of, put
from helpers.assetto.foreign_pages import let_go

from trailbrake.errors import UsageError
from trailbrake.record.recording_reader import Recording
from trailbrake.sims.assetto import spec
from trailbrake.sims.assetto.recorder import RECORDER, RecordingSession, RecordSettings, build_settings
from trailbrake.sims.assetto.spec import RecordOptions
from trailbrake.sims.assetto.wire import acpmf


def test_there_is_no_port_no_table_and_no_file(tmp_path):
    for port, output in ((5300, None), (None, Path("a.csv"))):
        with pytest.raises(UsageError, match="into no table"):
            build_settings(RecordOptions(), port, output)
    with pytest.raises(UsageError, match="no files of this simulator's messages"):
        RecordingSession(RecordOptions(), RecordSettings(), tmp_path / "a.raw")
    assert RECORDER.suffix == ""


def test_samples_laps_and_changes_of_the_session(told_session):
    session = told_session
    with RecordingSession(RecordOptions(), RecordSettings()) as recording:
        assert list(recording.record_available(session.now)) == []
        session.tick()
        ((state, lap),) = recording.record_available(session.now)
        assert lap is None
        assert [event.text for event in recording.stream.events] == ["live, practice"]
        graphics = session.folder / acpmf.GRAPHICS_NAME
        session.tick(5)
        page = acpmf.decode_graphics(graphics.read_bytes())._replace(completed_laps=1, i_last_time=61234)
        graphics.write_bytes(acpmf.encode_graphics(page).ljust(4096, b"\0"))
        ((later, lap),) = recording.record_available(session.now)
        assert later.sequence == state.sequence + 5
        assert (lap.number, lap.time_s) == (1, 61.234)
        assert recording.summary()["link"]["lost"] == 4


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="pages are files")
def test_a_drive_of_somebody_else_is_recorded_and_the_car_stays_his(tmp_path):
    """`record --sim assetto --live` in a process of its own, beside a client made of plain files."""
    from types import SimpleNamespace

    shm, out = tmp_path / "shm", tmp_path / "out"
    shm.mkdir()
    environment = {**os.environ, "TRAILBRAKE_SHM": str(shm)}
    command = [sys.executable, "-m", "trailbrake"]
    served = subprocess.Popen([*command, "serve", "assetto", "--track=pinegrove"], env=environment, text=True,
                              stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)  # fmt: skip
    stopped = threading.Event()
    try:
        for line in served.stderr:
            if line.startswith("ready "):
                break
        assert f"pages in {shm}" in line
        page = file_of(SimpleNamespace(folder=shm), spec.controls_name(0))

        def drive():
            while not stopped.wait(0.01):
                put(page, gas=0.5, clutch=1.0, autoshift_active=1)

        threading.Thread(target=drive, daemon=True).start()
        done = subprocess.run([*command, "record", "--sim=assetto", "--live", "--seconds=2", f"--out={out}"],
                              env=environment, capture_output=True, text=True, timeout=100)  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "samples; lost" in done.stdout
        (path,) = out.glob("*.mcap")
        recording = Recording.open(path)
        speed = recording.state["speed"]
        assert len(speed) > 300
        assert speed.max() > 2.0
        assert (out / path.with_suffix(".html").name).exists()
        watched = subprocess.run([*command, "watch", "--sim=assetto", "--seconds=0.5", "--port=0", "--json"],
                                 env=environment, capture_output=True, text=True, timeout=100)  # fmt: skip
        assert watched.returncode == 0, watched.stderr
        assert '"samples": ' in watched.stdout
    finally:
        stopped.set()
        served.terminate()
        served.stderr.close()
        served.wait(30)
        let_go()
