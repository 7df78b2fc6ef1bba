"""What `record` refuses of a wire without files, and what it takes from a link that only watches."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from helpers.line_simulator import write_simulator

from trailbrake.driving.link_recording import LinkRecordingSession
from trailbrake.driving.session_recording import record_session
from trailbrake.driving.simulator_check import check_simulator
from trailbrake.errors import UsageError
from trailbrake.record.recording_reader import Recording
from trailbrake.sims.registry import find
from trailbrake.state import CarState


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
