"""`record` and `replay` as a user runs them: a real session from a file and over the wire, tables, and refusals."""

import json
import signal
import threading
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from helpers.line_simulator import write_simulator
from helpers.ports import free_udp_port
from helpers.processes import command
from helpers.waiting import let_pass, wait_for

from trailbrake.analysis.lap_table import compare_laps
from trailbrake.analysis.lap_traces import trace_laps
from trailbrake.analysis.report import chart_data
from trailbrake.cli.main import run_command_line
from trailbrake.driving import session_recording as record
from trailbrake.driving.session_recording import LinkRecordingSession, record_session
from trailbrake.driving.simulator_check import check_simulator
from trailbrake.errors import UsageError
from trailbrake.record.recording_reader import Recording
from trailbrake.sims.forza.blocks import Dash, HorizonBlock, Sled
from trailbrake.sims.forza.codec import Packet, encode_packet
from trailbrake.sims.forza.spec import RecordOptions
from trailbrake.sims.registry import find
from trailbrake.state import CarState
from trailbrake.transport.capture import live_camera
from trailbrake.transport.capture.picture_scaling import decode_jpeg
from trailbrake.transport.udp import UdpSocket


@pytest.fixture
def session(shared):
    return shared / "data" / "forza_recorded.csv.gz"


def shown(path):
    """Everything that a report shows of a recording."""
    recording = Recording.open(path)
    return chart_data(recording, trace_laps(recording), compare_laps(recording.laps)), recording


@pytest.mark.slow
def test_replayed_over_udp_the_report_is_that_of_the_file(session, tmp_path, monkeypatch):
    from trailbrake.sims.forza.replay import replay

    rows, stops = [], []
    applied = record.applied_controls
    monkeypatch.setattr(record, "applied_controls", lambda state: rows.append(1) or applied(state))
    monkeypatch.setattr(record, "handle_stop_signals", lambda stop: stops.append(stop) or nullcontext())
    from_file = record_session(find("forza"), source=session, out=tmp_path / "file")
    once = len(rows)
    port, heard = free_udp_port(), {}
    lines = []
    thread = threading.Thread(
        target=lambda: heard.update(
            record_session(
                find("forza"), RecordOptions(listen=f"127.0.0.1:{port}"), out=tmp_path / "live", say=lines.append
            )
        )
    )
    thread.start()
    wait_for(lambda: lines)
    sent = replay(session, ("127.0.0.1", port), 40.0)
    try:
        wait_for(lambda: len(rows) >= 2 * once)
    finally:
        stops[-1]()
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
    again = record_session(
        find("forza"), RecordOptions(raw=tmp_path / "again.forza"), source=Path(heard["raw"]), out=tmp_path / "again"
    )
    assert shown(again["recording"])[0] == file
    assert again["datagrams"] == 2785


def test_with_a_table_there_is_only_the_table(session, tmp_path, capsys):
    yaml = tmp_path / "y.yaml"
    yaml.write_text(f"output_filename: {tmp_path / 'o.csv'}\nformat: csv\nparameter_list: [speed, gear]\n")
    assert run_command_line(["record", "--sim", "forza", "--from", str(session), "-c", str(yaml), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["rows"] == 2785
    assert (result["recording"], result["raw"], result["report"]) == (None, None, None)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["o.csv", "y.yaml"]
    assert len((tmp_path / "o.csv").read_bytes().split(b"\r\n")) == 2787


def test_the_original_s_command_line_works(session, tmp_path, capsys):
    out = tmp_path / "o.tsv"
    assert (
        run_command_line(
            ["record", "5300", str(out), "--sim=forza", f"--from={session}", "-v", "-f", "tsv", "-p", "fh4"]
        )
        == 0
    )
    assert out.read_text().splitlines()[0].split("\t")[:3] == ["is_race_on", "timestamp_ms", "engine_max_rpm"]
    assert "2785 samples" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["record", "--sim=forza"], "nothing to record; --live listens to a game, --from reads a file"),
        (["record", "--sim=donkeycar", "--live"], "no recorder for this simulator, got donkeycar"),
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
    assert run_command_line(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_sim_without_a_recorder_is_refused():
    with pytest.raises(UsageError, match="there is no recorder for donkeycar"):
        record_session(find("donkeycar"))


def test_replay_says_what_it_sent(session, capsys):
    receiver = UdpSocket()
    assert run_command_line(["replay", str(session), f"--to=127.0.0.1:{receiver.port}", "--pace=max", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["datagrams"], result["bytes"], result["pace"]) == (2785, 2785 * 324, "max")
    assert result["recorded_s"] == pytest.approx(96.2, abs=0.1)
    assert len(receiver.receive()[0]) == 324
    receiver.close()
    assert run_command_line(["replay", str(session), "--to=127.0.0.1:9", "--pace=0"]) == 2
    assert "--pace: no pace" in capsys.readouterr().err


@pytest.mark.slow
def test_a_process_records_until_it_is_told_to_stop(tmp_path):
    port = free_udp_port()
    words = ["--sim=forza", "--live", f"--listen=127.0.0.1:{port}", f"--out={tmp_path}", "--json"]
    with command("record", *words, shm=tmp_path) as recorder:
        recorder.wait_for_line("listening")
        sender = UdpSocket()
        for i in range(30):
            sender.send(
                encode_packet(
                    Packet(Sled(1, i * 16), HorizonBlock(), Dash(cur_race_time=1 + i / 60, speed=3.0), tail=b"\0")
                ),
                ("127.0.0.1", port),
            )
        sender.close()
        let_pass(0.5)
        recorder.send_signal(signal.SIGTERM)
        assert recorder.end(30.0) == 0, recorder.said
        result = recorder.summary
    assert (result["link"]["received"], result["datagrams"]) == (30, 30)
    assert len(Recording.open(result["recording"])) == 30


def test_silence_is_no_recording(tmp_path, capsys):
    command = ["record", "--sim=forza", "--live", "--listen=127.0.0.1:0", "--seconds=0.1", f"--out={tmp_path}"]
    assert run_command_line(command) == 1
    said = capsys.readouterr()
    assert "nothing was recorded; trailbrake doctor forza says why" in said.err
    assert "recording " not in said.out
    assert not list(tmp_path.glob("*.mcap")), "`last` would name it"


class GreyWindow:
    """A grabber of one grey window."""

    def grab_pixels(self):
        return np.full((30, 40, 4), 90, np.uint8)

    def find_trouble(self):
        return ""

    def close(self):
        pass


def test_a_person_s_drive_is_recorded_with_the_picture_of_the_window(tmp_path, monkeypatch):
    """What `train clone` learns from where a wire has no camera: a person's controls, and what the person saw."""
    opened = []
    monkeypatch.setattr(live_camera, "open_window", lambda option: opened.append(option.title) or GreyWindow())
    port = free_udp_port()

    def send(line):
        if line.startswith("listening"):
            sender = UdpSocket()
            for i in range(30):
                dash = Dash(cur_race_time=1 + i / 60, speed=3.0, accel=255)
                packet = Packet(Sled(1, i * 16), HorizonBlock(), dash, tail=b"\0")
                sender.send(encode_packet(packet), ("127.0.0.1", port))
            sender.close()

    options = RecordOptions(listen=f"127.0.0.1:{port}")
    result = record_session(
        find("forza"), options, out=tmp_path, seconds=0.5, camera="window:Forza,size=40x30", say=send
    )
    assert opened == ["Forza"]
    assert result["camera"]["pictures"] >= 1
    recording = Recording.open(result["recording"])
    pictures = list(recording.pictures())
    assert len(recording) == 30
    assert 1 <= len(pictures) <= 30
    assert recording.controls["throttle"][pictures[0].row] == 1.0
    assert float(decode_jpeg(pictures[0].data).mean()) == pytest.approx(90.0, abs=2.0)


def test_pictures_go_with_a_recording_of_ours_alone(tmp_path):
    with pytest.raises(UsageError, match="--camera: pictures go with a live recording of ours"):
        record_session(find("forza"), output=tmp_path / "table.tsv", camera="window:x")


def test_selected_signals_are_in_the_recording(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("speed,boost\n" + "5,-14.5\n" * 30)
    result = record_session(find("forza"), RecordOptions(signals=("forza.boost",)), source=table, out=tmp_path / "out")
    recording = Recording.open(Path(result["recording"]))
    assert {"forza.boost", "forza.power", "forza.wheel_rl.rumble"} <= set(recording.signals)  # a car is learned by them
    assert "forza.torque" not in recording.signals
    assert recording.signals["forza.boost"] == pytest.approx(np.full(30, -14.5 * 6894.757))


@pytest.mark.parametrize(
    ("sim", "given", "said"),
    [
        ("assetto", {"port": 5300}, "recorded from no port, got 5300; leave PORT out"),
        ("assetto", {"output": Path("a.csv")}, "recorded into no table, got a.csv; leave OUTPUT out"),
        ("beamng", {"output": Path("a.csv")}, "recorded into no table"),
        ("assetto", {"source": Path("a.raw")}, "--from: there are no files of this simulator's messages"),
        ("beamng", {"source": Path("a.raw")}, "--from: there are no files of this simulator's messages"),
    ],
)
def test_there_is_no_table_and_no_file(sim, given, said):
    with pytest.raises(UsageError, match=said):
        record_session(find(sim), **given)


RECORDER = """watch_options=lambda live: live, tools={"recorder": LinkRecorder(Record)}, """
OPTIONS = '''
from trailbrake.simulator_tools import LinkRecorder


@dataclass
class Record:
    """Options.

    Attributes:
        listen: where.
        verbose: print.
    """

    listen: str = "there"
    verbose: bool = False


SIMULATOR = Simulator(
    '''


def write_recorded(folder, old="", new=""):
    path = write_simulator(folder, "SIMULATOR = Simulator(\n    ", OPTIONS + RECORDER)
    path.write_text(path.read_text().replace(old, new) if old else path.read_text())
    return str(path)


def test_a_simulator_of_the_user_s_is_recorded_by_its_link(tmp_path):
    file = write_recorded(tmp_path)
    assert check_simulator(file) == []
    simulator, said = find(file), []
    wire = simulator.host.__init__.__globals__["WIRE"]

    def send(line):
        said.append(line)
        wire.append(CarState(time=1.0, sequence=7, speed=3.0))

    result = record_session(simulator, out=tmp_path / "out", seconds=0.2, say=send)
    assert (result["table"], result["raw"], result["rows"]) == (None, None, 0)
    assert said[0].startswith("listening")
    assert list(Recording.open(result["recording"]).state["speed"]) == [3.0]


def test_an_option_of_the_recorder_is_the_live_option_of_its_name(tmp_path):
    @dataclass
    class Options:
        listen: str = "127.0.0.1:9"
        verbose: bool = False

    seen = []
    simulator = find(
        write_recorded(tmp_path, "link=Link", "link=lambda live, **named: SEEN.append(live) or Link(live)")
    )
    simulator.host.__init__.__globals__["SEEN"] = seen
    with LinkRecordingSession(simulator, Options()), LinkRecordingSession(simulator, Options(), 5300):
        assert [live.listen for live in seen] == ["127.0.0.1:9", "127.0.0.1:5300"]


def test_it_needs_options_under_which_the_link_watches(tmp_path):
    file = write_recorded(tmp_path, "watch_options=lambda live: live, ", "")
    assert check_simulator(file) == ["recorder: a LinkRecorder needs the simulator's watch_options"]
