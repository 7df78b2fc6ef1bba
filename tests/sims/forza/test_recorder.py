"""The recorder: a user's YAML against a socket, the lossless file beside it, laps, and what goes wrong."""

import csv
import gzip
import io
import json
from pathlib import Path

import numpy as np
import pytest

from trailbrake.errors import DataError, SimulatorError, UsageError
from trailbrake.sims.forza import codec
from trailbrake.sims.forza.blocks import Dash, HorizonBlock, Sled
from trailbrake.sims.forza.codec import Packet
from trailbrake.sims.forza.raw import read_raw
from trailbrake.sims.forza.recorder import RecordingSession, build_settings
from trailbrake.sims.forza.spec import RecordOptions
from trailbrake.transport.udp import UdpSocket

GOLDEN = Path(__file__).parents[2] / "golden" / "wire" / "forza"


def rows_of(data):
    return list(csv.reader(io.StringIO(data.decode(), newline="")))


def golden(case):
    return bytes.fromhex((GOLDEN / f"{case}.hex").read_text())


def datagram(i, **dash):
    return codec.encode_packet(
        Packet(Sled(1, i * 16), HorizonBlock(), Dash(speed=float(i), cur_race_time=1.0 + i / 60.0, **dash), tail=b"\0")
    )


class Recording:
    """A session that listens on a free port, and a socket that sends to it."""

    def __init__(self, output=None, **options):
        options.setdefault("listen", "127.0.0.1:0")
        made = RecordOptions(**options)
        self.session = RecordingSession(made, build_settings(made, None, output))
        self.udp = UdpSocket()
        self.to = ("127.0.0.1", self.session._udp.port)

    def hear(self, *datagrams):
        for data in datagrams:
            self.udp.send(data, self.to)
        return list(self.session.record_available(1.0))

    def close(self):
        self.session.close()
        self.udp.close()


@pytest.fixture
def record():
    made = []

    def start(*args, **options):
        made.append(Recording(*args, **options))
        return made[-1]

    yield start
    for recording in made:
        recording.close()


def test_a_users_yaml_works_unchanged(record, tmp_path):
    yaml = tmp_path / "y.yaml"
    out = tmp_path / "forza_data.csv"
    yaml.write_text(
        f"port: 0\noutput_filename: {out}\nformat: csv\nappend: False\npacket_format: fh4\nparameter_list:\n"
        "- norm_driving_line\n- speed\n- angular_velocity_y\n- wall_clock\n"
    )
    recording = record(config=yaml)
    recording.hear(golden("fh"), golden("fh_paused"), golden("fh"))  # one of a pause, and one twice
    rows = rows_of(out.read_bytes())
    assert rows[0] == ["norm_driving_line", "speed", "angular_velocity_y", "wall_clock"]
    assert rows[1][:3] == ["37", "33.5", "0.25"]
    assert len(rows) == 2
    assert not recording.session.warnings


def test_without_a_list_the_first_packet_makes_the_columns(record, tmp_path):
    out = tmp_path / "t.tsv"
    recording = record(out)
    recording.hear(golden("fh_paused"))
    assert not out.exists()
    recording.hear(golden("fm2023"))
    header, row = out.read_text().splitlines()
    assert header.split("\t")[-1] == "track_ordinal"
    assert row.split("\t")[-2:] == ["0.500000", "1640"]


def test_another_format_than_expected_is_read_and_said_once(record, tmp_path):
    recording = record(tmp_path / "t.csv", format="csv", packet_format="dash")
    recording.hear(datagram(0), datagram(1), datagram(2))
    assert list(recording.session.warnings) == [
        "expected dash packets, got fh: they are read by their length; cells that they do not have stay empty"
    ]
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 4


def test_the_raw_file_has_everything_that_came_in_order(record, tmp_path):
    recording = record(raw=tmp_path / "r.forza")
    sent = [golden("fh"), b"rubbish", golden("fh_paused"), golden("sled")]
    recording.hear(*sent)
    recording.session.close()
    got = list(read_raw(tmp_path / "r.forza"))
    assert [data for data, _ in got] == sent
    assert [at for _, at in got] == sorted(at for _, at in got)
    assert got[0][1] > 1_700_000_000_000_000_000
    assert recording.session.summary()["datagrams"] == 4


def test_samples_come_with_the_last_lap_time_that_they_show(record):
    recording = record()
    came = recording.hear(datagram(0), datagram(1), datagram(2, lap_no=1, last_lap_time=92.5), datagram(3, lap_no=1))
    assert [last_lap for _, last_lap in came] == [0.0, 0.0, 92.5, 0.0]
    assert [state.speed for state, _ in came] == [0.0, 1.0, 2.0, 3.0]


def test_it_forwards(record):
    receiver = UdpSocket()
    record(forward=f"127.0.0.1:{receiver.port}").hear(b"anything")
    assert receiver.receive()[0] == b"anything"
    receiver.close()


def test_a_taken_port_and_a_wrong_name_are_one_line(tmp_path):
    taken = UdpSocket(("0.0.0.0", 0))
    options = RecordOptions()
    with pytest.raises(SimulatorError, match="cannot listen on"):
        RecordingSession(options, build_settings(options, taken.port, None))
    taken.close()
    yaml = tmp_path / "y.yaml"
    yaml.write_text("parameter_list: [sped]")
    with pytest.raises(UsageError, match="got sped; did you mean speed"):
        build_settings(RecordOptions(config=yaml), None, None)


def read(source, tmp_path, **options):
    options = RecordOptions(**options)
    with RecordingSession(options, build_settings(options, None, options_output(tmp_path, options)), source) as session:
        states = []
        while not session.ended:
            session.wait(0.0)
            states += [state for state, _ in session.record_available(0.0)]
        return session, states


def options_output(tmp_path, options):
    return tmp_path / f"out.{options.format}"


@pytest.mark.slow
def test_the_real_recording_from_csv_to_raw_and_back_to_the_same_table(shared, tmp_path):
    source = shared / "data" / "forza_recorded.csv.gz"
    session, states = read(source, tmp_path, format="csv", raw=tmp_path / "r.forza")
    assert len(states) == 2785
    assert session.stream.counters.late == session.stream.counters.duplicates == session.stream.counters.rejected == 0
    assert states[-1].time - states[0].time == pytest.approx(96.23, abs=0.05)
    table = (tmp_path / "out.csv").read_bytes()
    (tmp_path / "again").mkdir()
    read(tmp_path / "r.forza", tmp_path / "again", format="csv")
    assert (tmp_path / "again" / "out.csv").read_bytes() == table
    # The values are those of the file, as doubles of their 32 bits.
    theirs, ours = rows_of(gzip.decompress(source.read_bytes())), rows_of(table)
    assert ours[0] == theirs[0]
    assert (
        np.array(ours[1:], np.float64).astype(np.float32) == np.array(theirs[1:], np.float64).astype(np.float32)
    ).all()


def test_other_files_are_refused(tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        read(tmp_path / "none.csv", tmp_path)
    (tmp_path / "x.csv").write_text(json.dumps({"a": 1}))
    with pytest.raises(DataError, match="no table of Forza packets"):
        read(tmp_path / "x.csv", tmp_path)


def test_a_table_without_a_clock_is_read_at_a_rate_and_says_which(tmp_path):
    path = tmp_path / "forza_data.csv"
    path.write_text("norm_driving_line,speed,angular_velocity_y\n" + "-3,17.5,0.5\n" * 301)
    for rate, taken in ((0.0, 60.0), (30.0, 30.0)):
        options = RecordOptions(rate=rate)
        session = RecordingSession(options, build_settings(options, None, None), path)
        states = []
        while not session.ended:
            states += [state for state, _ in session.record_available(0.0)]
        session.close()
        assert len(states) == 301
        assert states[-1].time - states[0].time == pytest.approx(300 / taken, abs=1e-4)
        assert (session.stream.counters.lost, session.stream.counters.duplicates) == (0, 0)
        assert np.isnan(states[-1].x)
        assert states[-1].gear is None
        (line,) = session.warnings
        assert line.startswith(f"forza_data.csv has no column of time: its rows count as {taken:g} per second")


def test_a_live_wire_takes_no_rate(record):
    with pytest.raises(UsageError, match="a live wire has its own rate"):
        record(rate=30.0)


def test_signals_are_selected_and_those_of_a_table_without_their_column_are_unknown(record, tmp_path):
    recording = record(signals=("forza.boost", "forza.wheel_*.rumble"))
    ((state, _),) = recording.hear(golden("fh"))
    assert [signal.name for signal in recording.session.signals] == list(state.signals)
    assert state.signals["forza.wheel_rr.rumble"] == 0.5
    path = tmp_path / "t.csv"
    path.write_text("speed,boost\n5,-14.5\n6,-14.5\n")
    options = RecordOptions(signals=("forza.boost", "forza.torque"))
    with RecordingSession(options, build_settings(options, None, None), path) as session:
        state = next(session.record_available(0.0))[0]
    assert state.signals["forza.boost"] == pytest.approx(-14.5 * 6894.757)
    assert np.isnan(state.signals["forza.torque"])
    with pytest.raises(UsageError, match="unknown signal"):
        record(signals=("forza.bost",))
