"""`Recorder`: the Tap that writes a drive to a file while it is driven.

Ticks are packed into a block of memory; every half second of simulator time the block goes to the file as
one compressed chunk, and so does the end of a lap. A file that is cut anywhere, or whose writer was killed,
reads up to its last whole chunk.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from trailbrake.laps import LapRecord
from trailbrake.record import cdr
from trailbrake.record.container import Chunk, McapFile, Sink
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
    STATE,
    STATE_LENGTH,
    TICK,
    WIRE,
    Topic,
)
from trailbrake.record.names import create
from trailbrake.state import CarState, Controls
from trailbrake.state.tables import controls_row, state_row

CHUNK_SECONDS = 0.5  # simulator time; what a cut file loses at most
CHUNK_ROWS = 512  # bounds the memory where simulator time stands still
LAST_TIME = 9.0e9  # s; a later time does not fit the format's nanoseconds
_NS = 1e9
_STATE_OFFSET = MESSAGE_HEAD.size + 4 + 8 * len(state_row(CarState()))


class Recorder:
    """Writes state, controls and picture of every tick, laps, events, the map and the plan to an MCAP file.

    The drive must go on whatever the disk does: after the first failed write nothing more is written,
    `error` says why in one line, `dropped` counts the ticks that are missing from the file, and what was
    written stays readable.

    Args:
        path: the file to create. An existing file is never touched: see `path` for the name it got.
        pictures: whether to keep what the camera shows: most of the file's size, where there is a camera.

    Attributes:
        path: the file that is written.
        error: why recording stopped, "" while it has not.
        dropped: ticks that are not in the file.
        sink: where the chunks go.

    Raises:
        UsageError: the file cannot be created.
    """

    def __init__(self, path: str | Path, *, pictures: bool = True) -> None:
        stream, self.path = create(Path(path))
        self.error = ""
        self.dropped = 0
        self._rows = 0  # ticks in the block
        self._sequence = 0
        self._time = 0  # ns, newest good log time
        self._due = 0  # ns, when the block goes to the file
        self._block = bytearray(TICK.size * CHUNK_ROWS)
        self._aside: list[tuple[int, bytes]] = []  # (topic number, message record) of everything but ticks
        self._keeps_pictures = pictures
        self._pictures: list[tuple[int, bytes]] = []  # the same, of the camera
        self._closed = False
        self.sink: Sink
        try:
            self.sink = McapFile(stream)
        except OSError as error:
            stream.close()
            self.sink = _Nowhere()
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """Remember why recording ends. Ticks from here on are counted as dropped."""
        if not self.error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            self.error = f"{self.path}: recording stopped, got {reason}; what was recorded before is readable"

    def start(self, about: dict[str, Any]) -> None:
        """Store what is driven. `about` must be JSON-able; other values are stored as their text."""
        self._attach(ABOUT, about)

    def wire(self, figures: dict[str, Any]) -> None:
        """Store how the wire did, at the end of a drive: the counters of its two ends."""
        self._attach(WIRE, figures)

    def _attach(self, name: str, values: dict[str, Any]) -> None:
        if not self.error:
            text = json.dumps(values, ensure_ascii=False, indent=1, default=str)
            try:
                self.sink.attach(name, "application/json", text.encode("utf-8", "backslashreplace"))
            except OSError as error:
                self.fail(error)

    def map(self, centre: Any, left: Any, right: Any, closed: bool) -> None:
        """Store the road. Each argument is an (n, 2) array of x and y, m."""
        values: dict[str, Any] = {"closed": bool(closed)}
        for name, points in (("centre", centre), ("left", left), ("right", right)):
            array = np.asarray(points, dtype=np.float64)
            values[f"{name}_x"], values[f"{name}_y"] = array[:, 0], array[:, 1]
        self._put(MAP, cdr.encode(MAP_LAYOUT, values), self._time)
        self.flush()

    def plan(self, s: Any, x: Any, y: Any, speed: Any) -> None:
        """Store the planned line: distance, position (m) and speed (m/s) at its points."""
        self._put(PLAN, cdr.encode(PLAN_LAYOUT, {"s": s, "x": x, "y": y, "speed": speed}), self._time)
        self.flush()

    def tick(self, state: CarState, controls: Controls) -> None:
        """Store one tick."""
        if self.error:
            self.dropped += 1
            return
        seconds = state.time
        if 0.0 <= seconds < LAST_TIME:  # false for NaN too: such a row keeps the last good log time
            self._time = round(seconds * _NS)
        time = self._time
        if not self._due - CHUNK_SECONDS * _NS <= time < self._due or self._rows == CHUNK_ROWS:
            self.flush()
            self._due = time + int(CHUNK_SECONDS * _NS)
        sequence = self._sequence
        TICK.pack_into(
            self._block, self._rows * TICK.size,
            MESSAGE, STATE_LENGTH, STATE.number, sequence, time, time, cdr.HEADER, *state_row(state),
            MESSAGE, CONTROLS_LENGTH, CONTROLS.number, sequence, time, time, cdr.HEADER, *controls_row(controls),
        )  # fmt: skip
        self._rows += 1
        if self._keeps_pictures and state.image is not None and state.image.data:
            self._picture(state.image.data, time)
        self._sequence = (sequence + 1) & 0xFFFFFFFF

    def lap(self, record: LapRecord) -> None:
        """Store a lap as soon as it is finished, and everything before it."""
        values = {
            "number": record.number,
            "time_s": record.time_s,
            "valid": bool(record.valid),
            "sectors_s": np.array(list(record.sectors_s), dtype=np.float64),
            "invalid_reason": record.invalid_reason,
            "off_track_s": record.off_track_s,
            "contacts": int(record.contacts),
        }
        self._put(LAP, cdr.encode(LAP_LAYOUT, values), self._time)
        self.flush()

    def event(self, time: float, text: str) -> None:
        """Store that `text` happened at simulator time `time` (s)."""
        log_time = round(time * _NS) if 0.0 <= time < LAST_TIME else self._time
        self._put(EVENT, cdr.encode(EVENT_LAYOUT, {"text": text}), log_time)
        if len(self._aside) >= CHUNK_ROWS:
            self.flush()

    def _picture(self, data: bytes, time: int) -> None:
        seconds, rest = divmod(time, int(_NS))
        # LAST_TIME is beyond what 32 bits of seconds hold: the log time is the one to go by.
        values = {"sec": seconds & 0x7FFFFFFF, "nanosec": rest, "frame_id": CAMERA_FRAME,
                  "format": "png" if data.startswith(PNG) else "jpeg", "data": data}  # fmt: skip
        self._pictures.append((CAMERA.number, self._record(CAMERA, cdr.encode(CAMERA_LAYOUT, values), time)))

    def _put(self, topic: Topic, message: bytes, log_time: int) -> None:
        self._aside.append((topic.number, self._record(topic, message, log_time)))

    def _record(self, topic: Topic, message: bytes, log_time: int) -> bytes:
        length = MESSAGE_FIELDS + len(message)
        return MESSAGE_HEAD.pack(MESSAGE, length, topic.number, self._sequence, log_time, log_time) + message

    def flush(self) -> None:
        """Hand everything that is held to the sink."""
        if self.error:
            self.dropped += self._rows
        else:
            rows = self._rows
            try:
                if rows:
                    self.sink.append(_tick_chunk(bytes(memoryview(self._block)[: rows * TICK.size]), rows))
                    rows = 0
                # A chunk of their own: who reads laps need not unpack pictures.
                for messages in (self._pictures, self._aside):
                    if messages:
                        self.sink.append(_aside_chunk(messages))
            except OSError as error:
                self.dropped += rows
                self.fail(error)
        self._rows = 0
        self._aside, self._pictures = [], []

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
            self.fail(error)


class _Nowhere:
    """The sink of a recorder that could not even begin."""

    def attach(self, name: str, media_type: str, data: bytes) -> None:
        """Store nothing."""

    def append(self, chunk: Chunk) -> None:
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


def _aside_chunk(messages: list[tuple[int, bytes]]) -> Chunk:
    ordered = sorted(messages, key=lambda m: m[0])  # stable: a channel's messages become one slice
    sizes = [0, *(len(record) for _, record in ordered)]
    starts = np.cumsum(sizes, dtype=np.uint64)
    times = np.array([MESSAGE_HEAD.unpack_from(record)[4] for _, record in ordered], dtype=np.uint64)
    numbers = [number for number, _ in ordered]
    offsets = {}
    for number in dict.fromkeys(numbers):
        first = numbers.index(number)
        which = slice(first, first + numbers.count(number))
        offsets[number] = (which, starts[which])
    return Chunk(b"".join(record for _, record in ordered), times, offsets)
