"""`Recorder`: the Tap that writes a drive to a file while it is driven.

Ticks are packed into a block of memory; every half second of simulator time the block goes to the file as
one compressed chunk, and so does the end of a lap. A file that is cut anywhere, or whose writer was killed,
reads up to its last whole chunk.
"""

import json
import math
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from trailbrake.laps import LapRecord, Rewind
from trailbrake.record import cdr
from trailbrake.record.file_names import create_file
from trailbrake.record.format import (
    ABOUT,
    CAMERA,
    CAMERA_FRAME,
    CAMERA_LAYOUT,
    CONTROLS,
    CONTROLS_LENGTH,
    EVENT,
    EVENT_LAYOUT,
    LAP,
    LAP_LAYOUT,
    MAP,
    MAP_LAYOUT,
    MESSAGE,
    MESSAGE_FIELDS,
    MESSAGE_HEAD,
    PLAN,
    PLAN_LAYOUT,
    PNG,
    REQUEST,
    REQUEST_LAYOUT,
    REWIND,
    REWIND_LAYOUT,
    SIGNALS_NUMBER,
    STATE,
    STATE_LENGTH,
    TICK,
    TOPICS,
    WIRE,
    Topic,
    make_signals_topic,
    tick_dtype,
)
from trailbrake.record.mcap_file import Chunk, RecordingSink, make_message_chunk
from trailbrake.record.parted_file import PartedFile, PartLimits
from trailbrake.state import CarState, Controls, Image, Signal
from trailbrake.state.commands import requested_fields
from trailbrake.state.tables import controls_row, state_row

CHUNK_SECONDS = 0.5  # simulator time; the most that a cut file loses
CHUNK_ROWS = 512  # bounds the memory where simulator time stands still
MAX_TIME = 9.0e9  # s; a later time does not fit the format's nanoseconds
_NS = 1e9
_LONGEST_TICK = 10 * _NS  # ns between the end of a lap and the tick behind it
_STATE_OFFSET = MESSAGE_HEAD.size + 4 + 8 * len(state_row(CarState()))


class Recorder:
    """Writes state, controls and picture of every tick, laps, events, the map and the plan to an MCAP file.

    The drive goes on whatever the disk does: after the first failed write nothing more is written, `error` has the
    reason in one line, `dropped_ticks` counts the ticks that are missing from the file, and what was written stays
    readable.

    Args:
        path: the file to create. An existing file is never touched: `path` has the name that was free.
        pictures: whether to keep the camera's images: most of the file's size, where there is a camera.
        signals: the selected signals, which every state carries.
        limits: of each file of the recording; a longer drive has several.

    Attributes:
        path: the file that is written, the first one of a long drive.
        paths: all files of the recording so far.
        error: why recording stopped, "" while it has not.
        sink: where the chunks go.

    Raises:
        UsageError: the file cannot be created.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        pictures: bool = True,
        signals: Sequence[Signal] = (),
        limits: PartLimits | None = None,
    ) -> None:
        stream, self.path = create_file(Path(path))
        self.paths = [self.path]
        self.error = ""
        self._dropped_ticks = 0
        self._block_rows = 0  # ticks in the block
        self._sequence = 0
        self._time = 0  # ns, newest good log time
        self._flush_at = 0  # ns, when the block goes to the file
        self._block = bytearray(TICK.size * CHUNK_ROWS)
        self._other_records: list[tuple[int, bytes]] = []  # (topic number, message record) of everything but ticks
        self._keeps_pictures = pictures
        self._last_image: Image | None = None
        self._picture_records: list[tuple[int, bytes]] = []  # the same, of the camera
        self._custom: tuple[float, ...] = ()  # free values that were last sent
        self._closed = False
        self.sink: RecordingSink
        self._signals = _SignalBlock(len(signals)) if signals else None
        try:
            topics = (*TOPICS, make_signals_topic(signals)) if signals else TOPICS
            parts = PartedFile(self.path, stream, topics, limits)
            self.sink, self.paths = parts, parts.paths
        except OSError as error:
            stream.close()
            self.sink = _NullSink()
            self.mark_failed(error)

    @property
    def dropped_ticks(self) -> int:
        """Ticks that are not in the file."""
        return self._dropped_ticks + self.sink.lost_rows

    def mark_failed(self, error: Exception) -> None:
        """Stop recording and keep the reason. Later ticks are counted as dropped."""
        if not self.error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            self.error = f"{self.path}: recording stopped, got {reason}; what was recorded before is readable"

    def start(self, about: dict[str, Any]) -> None:
        """Store the description of the drive. Values of `about` that JSON does not know are stored as their text."""
        self._attach_json(ABOUT, about)

    def store_wire_counters(self, counters: dict[str, Any]) -> None:
        """Store the counters of both ends of the wire, at the end of a drive."""
        self._attach_json(WIRE, counters)

    def _attach_json(self, name: str, values: dict[str, Any]) -> None:
        if not self.error:
            text = json.dumps(values, ensure_ascii=False, indent=1, default=str)
            try:
                self.sink.attach_file(name, "application/json", text.encode("utf-8", "backslashreplace"))
            except OSError as error:
                self.mark_failed(error)

    def store_map(self, centre: Any, left: Any, right: Any, closed: bool) -> None:
        """Store the road. Each argument is an (n, 2) array of x and y, m."""
        values: dict[str, Any] = {"closed": bool(closed)}
        for name, points in (("centre", centre), ("left", left), ("right", right)):
            array = np.asarray(points, dtype=np.float64)
            values[f"{name}_x"], values[f"{name}_y"] = array[:, 0], array[:, 1]
        self._queue_message(MAP, cdr.encode_message(MAP_LAYOUT, values), self._time)
        self.flush()

    def store_plan(self, s: Any, x: Any, y: Any, speed: Any) -> None:
        """Store the planned line: distance, position (m) and speed (m/s) at its points."""
        self._queue_message(PLAN, cdr.encode_message(PLAN_LAYOUT, {"s": s, "x": x, "y": y, "speed": speed}), self._time)
        self.flush()

    def tick(self, state: CarState, controls: Controls) -> None:
        """Store one tick."""
        if self.error:
            self._dropped_ticks += 1
            return
        seconds = state.time
        if 0.0 <= seconds < MAX_TIME:  # false for NaN too: such a row keeps the last good log time
            self._time = round(seconds * _NS)
        time = self._time
        if not self._flush_at - CHUNK_SECONDS * _NS <= time < self._flush_at or self._block_rows == CHUNK_ROWS:
            self.flush()
            self._flush_at = time + int(CHUNK_SECONDS * _NS)
        sequence = self._sequence
        TICK.pack_into(
            self._block, self._block_rows * TICK.size,
            MESSAGE, STATE_LENGTH, STATE.number, sequence, time, time, cdr.HEADER, *state_row(state),
            MESSAGE, CONTROLS_LENGTH, CONTROLS.number, sequence, time, time, cdr.HEADER, *controls_row(controls),
        )  # fmt: skip
        self._block_rows += 1
        if self._signals is not None:
            self._signals.add_row(sequence, time, state.signals.values)
        if controls.command is not None or controls.custom != self._custom:
            self._queue_request(controls)
        image = state.image
        if self._keeps_pictures and image is not self._last_image:  # a camera may be slower than the wire
            self._last_image = image
            if image is not None and image.data:
                self._queue_picture(image.data, time)
        self._sequence = (sequence + 1) & 0xFFFFFFFF

    def store_rows(self, state: NDArray[np.float64], controls: NDArray[np.float64]) -> None:
        """Store many ticks at once, as `tick` would one by one.

        Args:
            state: (n, columns of the state), n up to CHUNK_ROWS; the first column is the time, s, from 0 to MAX_TIME.
            controls: (n, columns of the controls).
        """
        self.flush()
        rows = len(state)
        block = np.zeros(rows, tick_dtype(state.shape[1], controls.shape[1]))
        times = np.round(state[:, 0] * _NS).astype(np.uint64)
        for name, topic, length, values in (
            ("state", STATE, STATE_LENGTH, state), ("controls", CONTROLS, CONTROLS_LENGTH, controls),
        ):  # fmt: skip
            part = block[name]
            part["opcode"], part["length"], part["channel"], part["cdr"] = MESSAGE, length, topic.number, cdr.HEADER
            part["sequence"] = self._sequence + np.arange(rows)
            part["log"] = part["publish"] = times
            part["row"] = values
        try:
            self.sink.append_chunk(_tick_chunk(block.tobytes(), rows))
        except OSError as error:
            self._dropped_ticks += rows
            self.mark_failed(error)
        self._sequence += rows
        self._time = int(times[-1])

    def store_lap(self, record: LapRecord) -> None:
        """Store a finished lap, and everything before it."""
        values = {
            "number": record.number,
            "time_s": record.time_s,
            "valid": bool(record.valid),
            "sectors_s": np.array(list(record.sectors_s), dtype=np.float64),
            "invalid_reason": record.invalid_reason,
            "off_track_s": record.off_track_s,
            "contacts": int(record.contacts),
        }
        end = round(record.end * _NS) if math.isfinite(record.end) else self._time
        near = end >= 0 and 0 <= self._time - end <= _LONGEST_TICK
        self._queue_message(LAP, cdr.encode_message(LAP_LAYOUT, values), end if near else self._time)
        self.flush()

    def store_rewind(self, rewind: Rewind) -> None:
        """Store what the simulator has undone, right after the first tick behind it."""
        values = {"samples": rewind.samples, "seconds": rewind.seconds}
        self._queue_message(REWIND, cdr.encode_message(REWIND_LAYOUT, values), self._time)
        if rewind.samples:
            self.store_event(math.nan, f"the simulator was rewound: {rewind.seconds:.1f} s are undone")
        self.flush()

    def store_event(self, time: float, text: str) -> None:
        """Store that `text` happened at simulator time `time` (s)."""
        log_time = round(time * _NS) if 0.0 <= time < MAX_TIME else self._time
        self._queue_message(EVENT, cdr.encode_message(EVENT_LAYOUT, {"text": text}), log_time)
        if len(self._other_records) >= CHUNK_ROWS:
            self.flush()

    def _queue_request(self, controls: Controls) -> None:
        sent: dict[str, Any] = {}
        if controls.command is not None:
            sent = {name: getattr(controls.command, name) for name in requested_fields(controls.command)}
            if "lines" in sent:  # a picture in the game, sent at any rate
                sent["lines"] = len(sent["lines"])
        if controls.custom != self._custom:
            self._custom = sent["custom"] = controls.custom
        text = msgspec.json.encode(sent).decode()
        self._queue_message(REQUEST, cdr.encode_message(REQUEST_LAYOUT, {"json": text}), self._time)

    def _queue_picture(self, data: bytes, time: int) -> None:
        seconds, rest = divmod(time, int(_NS))
        # LAST_TIME is beyond what 32 bits of seconds hold: the log time is the one to go by.
        values = {"sec": seconds & 0x7FFFFFFF, "nanosec": rest, "frame_id": CAMERA_FRAME,
                  "format": "png" if data.startswith(PNG) else "jpeg", "data": data}  # fmt: skip
        self._picture_records.append(
            (CAMERA.number, self._encode_record(CAMERA, cdr.encode_message(CAMERA_LAYOUT, values), time))
        )

    def _queue_message(self, topic: Topic, message: bytes, log_time: int) -> None:
        self._other_records.append((topic.number, self._encode_record(topic, message, log_time)))

    def _encode_record(self, topic: Topic, message: bytes, log_time: int) -> bytes:
        length = MESSAGE_FIELDS + len(message)
        return MESSAGE_HEAD.pack(MESSAGE, length, topic.number, self._sequence, log_time, log_time) + message

    def flush(self) -> None:
        """Pass everything that is held to the sink."""
        if self.error:
            self._dropped_ticks += self._block_rows
        else:
            rows = self._block_rows
            try:
                if rows:
                    self.sink.append_chunk(_tick_chunk(bytes(memoryview(self._block)[: rows * TICK.size]), rows))
                    rows = 0
                if self._signals is not None and self._signals.rows:
                    self.sink.append_chunk(self._signals.take_chunk())
                # A chunk of their own: a reader of laps need not unpack images.
                for messages in (self._picture_records, self._other_records):
                    if messages:
                        self.sink.append_chunk(make_message_chunk(messages))
            except OSError as error:
                self._dropped_ticks += rows
                self.mark_failed(error)
        self._block_rows = 0
        self._other_records, self._picture_records = [], []

    def close(self) -> None:
        """Flush and complete the file. Closing twice is harmless."""
        if self._closed:
            return
        self._closed = True
        self.flush()
        try:
            if self.error:
                self.sink.abandon()
            else:
                self.sink.close()
        except OSError as error:
            self.mark_failed(error)


class _SignalBlock:
    """Rows that wait to be written, each a message record of fixed size.

    Args:
        width: values in a row.

    Attributes:
        rows: how many wait.
    """

    def __init__(self, width: int) -> None:
        self.rows = 0
        self._width = width
        self._row = struct.Struct(f"<BQHIQQ4s{width}d")
        self._length = MESSAGE_FIELDS + 4 + 8 * width
        self._missing = (math.nan,) * width
        self._data = bytearray()
        self._times: list[int] = []

    def add_row(self, sequence: int, time: int, values: tuple[float, ...]) -> None:
        """Add the values of one tick.

        Args:
            sequence: the tick's.
            time: its log time, ns.
            values: of the signals; other than `width` of them, as before the first sample, count as missing.
        """
        if len(values) != self._width:
            values = self._missing
        self._data += self._row.pack(
            MESSAGE, self._length, SIGNALS_NUMBER, sequence, time, time, cdr.HEADER, *values
        )  # fmt: skip
        self._times.append(time)
        self.rows += 1

    def take_chunk(self) -> Chunk:
        """Return the rows as a chunk of their own, and forget them."""
        starts = np.arange(self.rows, dtype=np.uint64) * np.uint64(self._row.size)
        # Counts no rows: those of a tick that is dropped are counted with its state.
        chunk = Chunk(
            bytes(self._data), np.array(self._times, dtype=np.uint64), {SIGNALS_NUMBER: (slice(None), starts)}, 0
        )
        self._data, self._times, self.rows = bytearray(), [], 0
        return chunk


class _NullSink:
    """The sink of a recorder whose file could not be made."""

    lost_rows = 0

    def attach_file(self, name: str, media_type: str, data: bytes) -> None:
        """Store nothing."""

    def append_chunk(self, chunk: Chunk) -> None:
        """Store nothing."""

    def close(self) -> None:
        """Nothing to close."""

    def abandon(self) -> None:
        """Nothing to leave."""


def _tick_chunk(data: bytes, rows: int) -> Chunk:
    # Both messages of a tick carry the same log time, at the same place of every block.
    times = np.ndarray((rows,), dtype="<u8", buffer=data, offset=15, strides=(TICK.size,)).astype(np.uint64)
    starts = np.arange(rows, dtype=np.uint64) * np.uint64(TICK.size)
    every = slice(None)
    offsets = {STATE.number: (every, starts), CONTROLS.number: (every, starts + np.uint64(_STATE_OFFSET))}
    return Chunk(data, times, offsets, rows)
