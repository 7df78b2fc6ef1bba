import json

import numpy as np
import pytest
from helpers.small_drives import CONTROLS
from helpers.synthetic_drives import record_drive, state_at
from mcap.reader import NonSeekingReader
from mcap.writer import CompressionType, Writer

from trailbrake.errors import DataError, UsageError
from trailbrake.record import Recording
from trailbrake.record.format import WIRE_DELAY
from trailbrake.record.recorder import Recorder
from trailbrake.state.tables import CONTROL_COLUMNS, STATE_COLUMNS, controls_row, state_from_row, state_row


def test_round_trip(drive):
    recording = Recording.open(drive)
    assert not recording.truncated
    assert len(recording) == 40
    assert recording.about == {"sim": "synthetic", "seed": 1}
    for i in range(40):
        row = [recording.state[c.name][i] for c in STATE_COLUMNS]
        wanted = state_at(i * 0.03, 50.0 * i * 0.03, 50.0, 0.5, i * 0.03, i)
        np.testing.assert_array_equal(row, state_row(wanted))
        np.testing.assert_array_equal(state_row(state_from_row(row)), state_row(wanted))
    for column, value in zip(CONTROL_COLUMNS, controls_row(CONTROLS), strict=True):
        assert (recording.controls[column.name] == value).all()
    assert [(lap.number, lap.time_s, lap.valid, lap.sectors_s) for lap in recording.laps] == [
        (1, 1.17, True, (0.5, 0.67)), (2, 1.25, False, ())
    ]  # fmt: skip
    assert recording.laps[0].end == 1.17
    assert (recording.laps[1].invalid_reason, recording.laps[1].contacts) == ("three wheels off", 2)
    assert [lap.row for lap in recording.laps] == [40, 40]
    assert [(e.time, e.text) for e in recording.events] == [(0.3, "Überholt 追い越し")]
    assert recording.road_map.left.tolist() == [[0, 1], [1, 1]]
    assert recording.road_map.closed is False
    assert recording.plan.speed.tolist() == [10.0, 11.0]


def test_columns_are_a_mapping_with_hints(drive):
    state = Recording.open(drive).state
    assert list(state) == [c.name for c in STATE_COLUMNS]
    assert len(state) == len(STATE_COLUMNS)
    assert state["x"] is state["x"]
    with pytest.raises(KeyError, match="did you mean speed"):
        state["spead"]


def test_no_map_and_no_plan(tmp_path):
    recorder = record_drive(tmp_path / "a.mcap", laps=1, rate=20.0, with_plan=False)
    recording = Recording.open(recorder.path)
    assert recording.road_map is None
    assert recording.plan is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "an empty file"),
        (b"time_s,x_m\r\n1,2\r\n", "not a recording, expected an MCAP file"),
        (b"\x89MCAP0\r\n", "cut before anything was in it"),
    ],
)
def test_foreign_files_are_refused(tmp_path, content, message):
    path = tmp_path / "foreign.mcap"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        Recording.open(path)
    assert str(path) in str(caught.value)


def test_missing_files_and_folders_are_refused(tmp_path):
    for path in (tmp_path / "none.mcap", tmp_path):
        with pytest.raises(UsageError, match="cannot read the recording"):
            Recording.open(path)


def rewritten(source, out, rename=None, drop="", version=None):
    """Write the messages again with another writer: other ids, other chunks, lz4; perhaps other columns."""
    with source.open("rb") as file, out.open("wb") as target:
        writer = Writer(target, chunk_size=3000, compression=CompressionType.LZ4)
        writer.start()
        writer.register_schema("unused", "", b"")
        ids = {}
        for schema, channel, message in NonSeekingReader(file).iter_messages():
            lines, payload = schema.data.decode().splitlines(), message.data
            if channel.topic == "/state":
                fields = [line.split()[1] for line in lines]
                if drop:
                    at = fields.index(drop)
                    payload = payload[: 4 + 8 * at] + payload[12 + 8 * at :]
                    lines.pop(at)
            lines = [line.replace(*rename) if rename else line for line in lines]
            if channel.id not in ids:
                schema_id = writer.register_schema(schema.name, schema.encoding, "\n".join(lines).encode())
                metadata = dict(channel.metadata)
                if version is not None and metadata:
                    metadata["schema_version"] = version
                ids[channel.id] = writer.register_channel(channel.topic, "cdr", schema_id, metadata)
            writer.add_message(ids[channel.id], message.log_time, payload, message.publish_time, message.sequence)
        writer.add_attachment(0, 0, "about.json", "application/json", json.dumps({"sim": "again"}).encode())
        writer.finish()
    return out


def test_a_file_that_another_tool_has_rewritten(drive, tmp_path):
    ours, theirs = Recording.open(drive), Recording.open(rewritten(drive, tmp_path / "b.mcap"))
    assert theirs.about == {"sim": "again"}
    assert not theirs.truncated
    assert theirs.laps == ours.laps
    assert theirs.events == ours.events
    for name in ours.state:
        np.testing.assert_array_equal(theirs.state[name], ours.state[name])
    for name in ours.controls:
        np.testing.assert_array_equal(theirs.controls[name], ours.controls[name])


def test_columns_may_come_and_go_between_versions(drive, tmp_path):
    older = Recording.open(rewritten(drive, tmp_path / "b.mcap", drop="pitch", rename=("yaw_rate", "retired")))
    assert np.isnan(older.state["pitch"]).all()
    assert np.isnan(older.state["yaw_rate"]).all()
    np.testing.assert_array_equal(older.state["retired"], Recording.open(drive).state["yaw_rate"])
    np.testing.assert_array_equal(older.state["roll"], Recording.open(drive).state["roll"])


@pytest.mark.parametrize("version", ["2", "0", "one", ""])
def test_another_schema_version_is_refused(drive, tmp_path, version):
    with pytest.raises(DataError, match="newer trailbrake, expected schema version 1 to 1"):
        Recording.open(rewritten(drive, tmp_path / "b.mcap", version=version))


def test_rows_that_are_not_floats_are_refused(drive, tmp_path):
    path = rewritten(drive, tmp_path / "b.mcap", rename=("float64 x ", "string x "))
    with pytest.raises(DataError, match="not a row of float64"):
        len(Recording.open(path))


def test_a_message_that_lacks_a_field_is_refused(drive, tmp_path):
    recording = Recording.open(rewritten(drive, tmp_path / "b.mcap", rename=("contacts", "touches")))
    with pytest.raises(DataError, match=r"/lap: expected the fields time_s, .*contacts.* got .*touches"):
        recording.laps  # noqa: B018
    assert len(recording.events) == 1


def test_an_mcap_file_of_somebody_else(tmp_path):
    path = tmp_path / "other.mcap"
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start()
        channel = writer.register_channel("/imu", "json", 0)
        writer.add_message(channel, 0, b"{}", 0)
        writer.finish()
    with pytest.raises(DataError, match="not of trailbrake, expected /state, got") as caught:
        Recording.open(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(("stated", "read"), [(0.005, 0.005), (0, 0.0), (-1.0, 0.0), (7.0, 0.0), ("x", 0.0)])
def test_the_delay_of_the_wire_is_one_or_none(tmp_path, stated, read):
    recorder = Recorder(tmp_path / "a.mcap")
    recorder.start({"sim": "beamng", WIRE_DELAY: stated})
    recorder.close()
    assert Recording.open(recorder.path).wire_delay == read
