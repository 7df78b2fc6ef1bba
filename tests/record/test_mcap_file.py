"""Recordings as other readers of MCAP see them."""

import pytest
import zstandard
from helpers.small_drives import CONTROLS, small_drive
from helpers.synthetic_drives import state_at
from mcap import records
from mcap.reader import NonSeekingReader, make_reader
from mcap.stream_reader import StreamReader
from mcap_ros2.decoder import DecoderFactory

from trailbrake.record.format import MESSAGE, MESSAGE_HEAD
from trailbrake.state.tables import CONTROL_COLUMNS, STATE_COLUMNS, controls_row, state_row


@pytest.mark.parametrize("reader_class", ["seeking", "streaming"])
def test_an_independent_reader_decodes_every_field(tmp_path, reader_class):
    path = small_drive(tmp_path / "a.mcap")
    seen = {}
    with path.open("rb") as file:
        factories = [DecoderFactory()]
        if reader_class == "seeking":
            reader = make_reader(file, validate_crcs=True, decoder_factories=factories)
            assert reader.get_header().profile == "ros2", "that of its encodings: rosbags opens no other"
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
