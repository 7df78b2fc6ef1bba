import contextlib
import json
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap.reader import NonSeekingReader
from mcap.writer import CompressionType, Writer
from synthetic_drives import record_drive, state_at
from test_recorder import CONTROLS, small_drive

from trailbrake.errors import DataError, TrailbrakeError, UsageError
from trailbrake.record import Recording, migrate, reader
from trailbrake.state.tables import CONTROL_COLUMNS, STATE_COLUMNS, controls_row, state_from_row, state_row


@pytest.fixture(scope="module")
def drive(tmp_path_factory):
    return small_drive(tmp_path_factory.mktemp("drive") / "a.mcap")


def all_of(recording):
    """Touch everything there is."""
    columns = [recording.state[c] for c in recording.state] + [recording.controls[c] for c in recording.controls]
    return columns, recording.laps, recording.events, recording.road_map, recording.plan, recording.truncated


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


def test_a_file_cut_anywhere_is_readable_up_to_the_cut_or_cleanly_refused(drive, tmp_path):
    data, path, longest, refused = drive.read_bytes(), tmp_path / "cut.mcap", 0, 0
    cuts = sorted({*range(0, 64), *range(64, len(data), 211), *range(len(data) - 40, len(data))})
    for cut in cuts:
        path.write_bytes(data[:cut])
        try:
            recording = Recording.open(path)
        except DataError:
            assert not longest, "refused although a shorter cut was readable"
            refused += 1
            continue
        all_of(recording)
        assert recording.truncated
        rows = len(recording)
        assert rows >= longest
        longest = rows
        assert recording.state["sequence"].tolist() == list(range(rows))
    assert longest == 40
    assert refused < len(cuts) / 2


@settings(max_examples=150)
@given(st.data())
def test_damaged_bytes_never_give_anything_but_our_errors(drive, tmp_path_factory, data):
    content = bytearray(drive.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(8, len(content) - 1))
        content[at] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.mcap"
    path.write_bytes(content)
    with contextlib.suppress(TrailbrakeError):
        all_of(Recording.open(path))


def test_a_damaged_chunk_is_left_out(tmp_path):
    recorder = record_drive(tmp_path / "a.mcap", laps=1, rate=50.0)
    content = bytearray(recorder.path.read_bytes())
    content[len(content) // 3] ^= 0xFF  # not where the lap is
    recorder.path.write_bytes(content)
    recording = Recording.open(recorder.path)
    assert recording.truncated
    assert len(recording.laps) == 1
    gaps = np.diff(recording.state["sequence"])
    assert (gaps > 1).sum() == 1
    assert gaps.max() <= 27


def test_a_tail_of_zeros_is_a_cut(drive, tmp_path):
    path = tmp_path / "zeros.mcap"
    path.write_bytes(drive.read_bytes()[:-500] + bytes(5000))
    recording = Recording.open(path)
    assert recording.truncated
    assert len(recording) == 40


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


def test_an_older_schema_version_is_migrated(drive, monkeypatch):
    def kilometres(state, controls):
        return state | {"x": state["x"] / 1000.0}, controls

    monkeypatch.setattr(reader, "SCHEMA_VERSION", 2)
    monkeypatch.setattr(migrate, "SCHEMA_VERSION", 2)
    monkeypatch.setitem(migrate.STEPS, 1, kilometres)
    recording = Recording.open(drive)
    assert recording.state["x"][10] == pytest.approx(state_at(0.3, 15.0, 50.0, 0.5, 0.3, 10).x / 1000.0)


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


def test_an_absurd_record_length_is_a_cut(drive, tmp_path):
    path = tmp_path / "a.mcap"
    path.write_bytes(drive.read_bytes()[:-8] + struct.pack("<BQ", 6, 2**63))
    assert len(Recording.open(path)) == 40
