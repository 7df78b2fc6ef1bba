"""`record` and `replay` as a user runs them: a real session from a file and over the wire, tables, and refusals."""

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from trailbrake.analysis.lap_table import lap_table
from trailbrake.analysis.report import payload
from trailbrake.analysis.traces import traces
from trailbrake.cli.main import run
from trailbrake.errors import UsageError
from trailbrake.record.reader import Recording
from trailbrake.run.record import record
from trailbrake.sims.forza.blocks import Dash, Gap, Sled
from trailbrake.sims.forza.codec import Packet, encode
from trailbrake.sims.forza.spec import RecordOptions
from trailbrake.transport.udp import Udp


@pytest.fixture
def session(shared):
    return shared / "data" / "forza_recorded.csv.gz"


def free_port():
    probe = Udp()
    probe.close()
    return probe.port


def shown(path):
    """Everything that a report shows of a recording."""
    recording = Recording.open(path)
    return payload(recording, traces(recording), lap_table(recording.laps)), recording


@pytest.mark.slow
def test_replayed_over_udp_the_report_is_that_of_the_file(session, tmp_path):
    from trailbrake.sims.forza.replay import replay

    from_file = record("forza", source=session, out=tmp_path / "file")
    port, heard = free_port(), {}
    lines = []
    thread = threading.Thread(
        target=lambda: heard.update(
            record(
                "forza", RecordOptions(listen=f"127.0.0.1:{port}"), out=tmp_path / "live", seconds=8.0, say=lines.append
            )
        )
    )
    thread.start()
    for _ in range(500):
        if lines:
            break
        time.sleep(0.01)
    time.sleep(0.1)
    sent = replay(session, ("127.0.0.1", port), 40.0)
    thread.join()
    assert sent.datagrams == from_file["link"]["received"] == heard["link"]["received"] == 2785
    file, file_recording = shown(from_file["recording"])
    live, live_recording = shown(heard["recording"])
    assert live == file
    for name, column in file_recording.state.items():
        if name != "age":  # wall time
            assert np.array_equal(live_recording.state[name], column, equal_nan=True), name
    assert file["laps"][0]["speed"] is not None
    # The lossless file beside it plays the same again.
    again = record(
        "forza", RecordOptions(raw=tmp_path / "again.forza"), source=Path(heard["raw"]), out=tmp_path / "again"
    )
    assert shown(again["recording"])[0] == file
    assert again["datagrams"] == 2785


def test_with_a_table_there_is_only_the_table(session, tmp_path, capsys):
    yaml = tmp_path / "y.yaml"
    yaml.write_text(f"output_filename: {tmp_path / 'o.csv'}\nformat: csv\nparameter_list: [speed, gear]\n")
    assert run(["record", "--sim", "forza", "--from", str(session), "-c", str(yaml), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["rows"] == 2785
    assert (result["recording"], result["raw"], result["report"]) == (None, None, None)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["o.csv", "y.yaml"]
    assert len((tmp_path / "o.csv").read_bytes().split(b"\r\n")) == 2787


def test_the_original_s_command_line_works(session, tmp_path, capsys):
    out = tmp_path / "o.tsv"
    assert run(["record", "5300", str(out), "--sim=forza", f"--from={session}", "-v", "-f", "tsv", "-p", "fh4"]) == 0
    assert out.read_text().splitlines()[0].split("\t")[:3] == ["is_race_on", "timestamp_ms", "engine_max_rpm"]
    assert "2785 samples" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["record", "--sim=forza"], "nothing to record; --live listens to a game, --from reads a file"),
        (["record", "--sim=assetto", "--live"], "no recorder for this simulator, got assetto"),
        (["record", "--sim=forza", "--live", "--from=x"], "either --live or --from"),
        (["record", "--sim=forza", "--from=nowhere.csv"], "nowhere.csv: no such file"),
        (["record", "--sim=forza", "--live", "--seconds=-1"], "--seconds"),
        (["record", "--sim=forza", "--live", "-c", "no.yaml"], "no.yaml: cannot read the settings"),
        (["record", "--sim=forza", "--live", "-f", "xml", "1", "o"], "no such format, got xml"),
        (["replay", "nowhere.csv", "--to=127.0.0.1:9"], "nowhere.csv: no such file"),
        (["replay", __file__, "--to=127.0.0.1:9"], "no session of a simulator"),
    ],
)
def test_refusals_are_one_line(arguments, message, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("TRAILBRAKE_RECORDINGS", str(tmp_path))
    assert run(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_sim_without_a_recorder_is_refused():
    with pytest.raises(UsageError, match="there is no recorder for assetto"):
        record("assetto")


def test_replay_says_what_it_sent(session, capsys):
    receiver = Udp()
    assert run(["replay", str(session), f"--to=127.0.0.1:{receiver.port}", "--pace=max", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["datagrams"], result["bytes"], result["pace"]) == (2785, 2785 * 324, "max")
    assert result["recorded_s"] == pytest.approx(96.2, abs=0.1)
    assert len(receiver.receive()[0]) == 324
    receiver.close()
    assert run(["replay", str(session), "--to=127.0.0.1:9", "--pace=0"]) == 2
    assert "--pace: no pace" in capsys.readouterr().err


@pytest.mark.slow
def test_a_process_records_until_it_is_told_to_stop(tmp_path):
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "trailbrake", "record", "--sim=forza", "--live", f"--listen=127.0.0.1:{port}",
         f"--out={tmp_path}", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert "listening" in process.stderr.readline()
    sender = Udp()
    for i in range(30):
        sender.send(
            encode(Packet(Sled(1, i * 16), Gap(), Dash(cur_race_time=1 + i / 60, speed=3.0), tail=b"\0")),
            ("127.0.0.1", port),
        )
    sender.close()
    time.sleep(0.5)
    process.terminate()
    out, err = process.communicate(timeout=30)
    result = json.loads(out)
    assert process.returncode == 0, err
    assert (result["link"]["received"], result["datagrams"]) == (30, 30)
    assert len(Recording.open(result["recording"])) == 30


def test_silence_is_no_recording(tmp_path, capsys):
    command = ["record", "--sim=forza", "--live", "--listen=127.0.0.1:0", "--seconds=0.1", f"--out={tmp_path}"]
    assert run(command) == 1
    assert "nothing was recorded; trailbrake doctor forza says why" in capsys.readouterr().err
