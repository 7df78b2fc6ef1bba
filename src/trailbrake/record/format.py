"""The recording format: an MCAP file whose messages are CDR-encoded flat structures with `ros2msg` schemas.

| topic | message | when |
|---|---|---|
| /state | one float64 per column of `STATE_COLUMNS` | every tick |
| /controls | one float64 per column of `CONTROL_COLUMNS` | every tick, right after its /state |
| /lap | number, time, valid and why not, sector times, time off the road, contacts | when a lap ends |
| /event | text | for every message of the supervisor, the driver or the link |
| /map | centre, left and right edge of the road | once |
| /plan | distance, x, y, speed of the planned line | once |
| /rewind | how many ticks the simulator has undone | when it sets the car back to where it was |
| /request | the command and the free values that a driver sent, as JSON | when it sends a command or other values |
| /signals | one float64 per selected signal of the simulator | every tick, where signals are selected |
| /camera | the encoded image, JPEG or PNG | with the tick that it belongs to, where the wire has a camera |

The attachment `about.json` describes the drive; `wire.json`, written at the end, holds the counters of the wire. Log
times are simulator time (ns); the writer reads no clock, so two recordings of one seeded drive differ only in `about`.
A tick's MCAP sequence number is its count from the start; other messages carry the count of the ticks before them,
which locates them even if the simulator's clock was set back.

The recorded schemas name the columns and fields, so a reader needs no table of its own: a column that was added later
reads as NaN, one that was removed stays readable. Only a changed *meaning* needs a new SCHEMA_VERSION (kept in the
/state channel's metadata) and a conversion in the reader.
"""

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from trailbrake.record import cdr
from trailbrake.state.signals import Signal
from trailbrake.state.tables import CONTROL_COLUMNS, SCHEMA_VERSION, STATE_COLUMNS, RecordColumn

PROFILE = "ros2"
ABOUT = "about.json"
WIRE_DELAY = "wire_delay_s"  # in ABOUT, of drives through an embedded host: s until an answer is in force there
WIRE = "wire.json"
PART_KEY = "part"  # in about.json of the second and every further file of a recording: which it is
VERSION_KEY = "schema_version"
SUFFIX = ".mcap"
MAGIC = b"\x89MCAP0\r\n"
MESSAGE = 0x05  # MCAP's opcode
RECORD_HEAD = 9  # opcode and length
MESSAGE_HEAD = struct.Struct("<BQHIQQ")  # opcode, length, channel, sequence, log time, publish time
MESSAGE_FIELDS = MESSAGE_HEAD.size - RECORD_HEAD


@dataclass(frozen=True)
class Topic:
    """One MCAP channel and its schema. `number` is the id of both."""

    number: int
    name: str
    schema_name: str
    definition: str
    metadata: dict[str, str] = field(default_factory=dict)


def _row_topic(number: int, name: str, schema_name: str, columns: tuple[RecordColumn, ...]) -> Topic:
    lines = [f"float64 {c.name}  # {c.quantity.unit}: {c.quantity.meaning}" for c in columns]
    return Topic(number, name, schema_name, "\n".join(lines) + "\n", {VERSION_KEY: str(SCHEMA_VERSION)})


def _message_topic(number: int, name: str, schema_name: str, layout: cdr.CdrLayout, comment: str) -> Topic:
    lines = [f"# {comment}", *(f"{kind} {field_name}" for field_name, kind in layout.items())]
    return Topic(number, name, schema_name, "\n".join(lines) + "\n")


LAP_LAYOUT: cdr.CdrLayout = {
    "time_s": "float64",
    "number": "uint32",
    "valid": "bool",
    "invalid_reason": "string",
    "off_track_s": "float64",
    "contacts": "uint32",
    "sectors_s": "float64[]",
}
REWIND_LAYOUT: cdr.CdrLayout = {"samples": "uint32", "seconds": "float64"}
REQUEST_LAYOUT: cdr.CdrLayout = {"json": "string"}
EVENT_LAYOUT: cdr.CdrLayout = {"text": "string"}
MAP_LAYOUT: cdr.CdrLayout = {"closed": "bool"} | {
    f"{part}_{axis}": "float64[]" for part in ("centre", "left", "right") for axis in "xy"
}
PLAN_LAYOUT: cdr.CdrLayout = dict.fromkeys(("s", "x", "y", "speed"), "float64[]")
# `sensor_msgs/msg/CompressedImage` of ROS 2, which viewers show as a picture; the header inside
# of it is laid out flat, as CDR does.
CAMERA_LAYOUT: cdr.CdrLayout = {
    "sec": "int32",
    "nanosec": "uint32",
    "frame_id": "string",
    "format": "string",
    "data": "uint8[]",
}
CAMERA_FRAME = "camera"
PNG = b"\x89PNG"  # first bytes of such an image; every other one is treated as JPEG
_SCHEMA_SEPARATOR = "=" * 80
_CAMERA_DEFINITION = f"""std_msgs/Header header
string format
uint8[] data
{_SCHEMA_SEPARATOR}
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
{_SCHEMA_SEPARATOR}
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
"""

STATE = _row_topic(1, "/state", "trailbrake/msg/State", STATE_COLUMNS)
CONTROLS = _row_topic(2, "/controls", "trailbrake/msg/Controls", CONTROL_COLUMNS)
LAP = _message_topic(3, "/lap", "trailbrake/msg/Lap", LAP_LAYOUT, "a finished lap; the log time is its end; times in s")
EVENT = _message_topic(4, "/event", "trailbrake/msg/Event", EVENT_LAYOUT, "what happened, in words")
MAP = _message_topic(5, "/map", "trailbrake/msg/Map", MAP_LAYOUT, "the road: centre and edges, m, world frame")
PLAN = _message_topic(6, "/plan", "trailbrake/msg/Plan", PLAN_LAYOUT, "the planned line: s, x, y in m, speed in m/s")
CAMERA = Topic(7, "/camera", "sensor_msgs/msg/CompressedImage", _CAMERA_DEFINITION)
SIGNALS_NUMBER, SIGNALS_NAME = 8, "/signals"
REWIND = _message_topic(9, "/rewind", "trailbrake/msg/Rewind", REWIND_LAYOUT,
                        "so many ticks before the last one are undone, and so many s of simulator time")  # fmt: skip
REQUEST = _message_topic(10, "/request", "trailbrake/msg/Request", REQUEST_LAYOUT,
                         "what a driver sent beside the controls: JSON, fields of SimCommand and `custom`")  # fmt: skip
TOPICS = (STATE, CONTROLS, LAP, EVENT, MAP, PLAN, CAMERA, REWIND, REQUEST)
NAMES_KEY = "names"  # in the metadata of /signals: JSON, the names of its columns with their dots


def make_signals_topic(signals: Sequence[Signal]) -> Topic:
    """Return the topic of the selected signals: one float64 column each, in their order."""
    lines = [f"float64 {s.column}  # {s.quantity.unit}: {s.quantity.meaning}" for s in signals]
    names = json.dumps([signal.name for signal in signals])
    definition = "\n".join(lines) + "\n"
    return Topic(SIGNALS_NUMBER, SIGNALS_NAME, "trailbrake/msg/Signals", definition, {NAMES_KEY: names})


# One tick is one fixed block of bytes, the two message records one behind the other: packed by one struct
# call, and read back as one array.
_STATE_WIDTH, _CONTROLS_WIDTH = len(STATE_COLUMNS), len(CONTROL_COLUMNS)
TICK = struct.Struct(f"<BQHIQQ4s{_STATE_WIDTH}dBQHIQQ4s{_CONTROLS_WIDTH}d")
STATE_LENGTH = MESSAGE_FIELDS + 4 + 8 * _STATE_WIDTH
CONTROLS_LENGTH = MESSAGE_FIELDS + 4 + 8 * _CONTROLS_WIDTH


def tick_dtype(state_columns: int, controls_columns: int) -> np.dtype[np.void]:
    """Return the array element behind one tick's two message records."""
    return np.dtype([("state", row_dtype(state_columns)), ("controls", row_dtype(controls_columns))])


def row_dtype(columns: int) -> np.dtype[np.void]:
    """Return the array element behind the message record of one row."""
    head = [("opcode", "u1"), ("length", "<u8"), ("channel", "<u2"), ("sequence", "<u4"), ("log", "<u8")]
    return np.dtype([*head, ("publish", "<u8"), ("cdr", "S4"), ("row", "<f8", (columns,))])


def parse_fields(definition: str) -> dict[str, str]:
    """Return {field name: type} of a schema that this format can hold. ValueError for any other."""
    found = {}
    for line in definition.splitlines():
        words = line.split("#")[0].split()
        if len(words) == 2 and words[0] in cdr.TYPES:
            found[words[1]] = words[0]
        elif words:
            raise ValueError(f"cannot read the field {line.strip()!r}")
    return found


def parse_column_names(definition: str) -> tuple[str, ...]:
    """Return the field names of a row schema, which must be all float64. ValueError otherwise."""
    found = parse_fields(definition)
    for name, kind in found.items():
        if kind != "float64":
            raise ValueError(f"not a row of float64: {kind} {name}")
    return tuple(found)
