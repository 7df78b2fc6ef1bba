"""Recordings as MoTeC files: NAME.ld with the channels, NAME.ldx beside it with the laps, for i2 and the like.

The format is not published; the layout follows what open readers of it agree on: a header with pointers, blocks of
event, venue and vehicle, a linked list of channel descriptions, and the samples of each channel. Samples are float32 at
an even rate. Beacons in the .ldx are the ends of laps in microseconds since the first sample.
"""

import math
import struct
from datetime import datetime
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import DataError, OsErrors, UsageError
from trailbrake.record.recording_reader import Recording
from trailbrake.record.run_frame import sample_evenly
from trailbrake.units import DEG, KMH, RPM, G

RATE = 100.0  # samples per second
SAME_BEACON = 0.05  # s between the begin of a lap and the end of that before it
MAX_SAMPLES = 20_000_000  # of one channel: 55 hours


class MotecChannel(NamedTuple):
    """A channel of the log: its name and unit there, the recorded column, and the factor from SI."""

    name: str
    short: str
    unit: str
    column: str
    factor: float


CHANNELS = (
    MotecChannel("Ground Speed", "Speed", "km/h", "speed", 1.0 / KMH),
    MotecChannel("Throttle Pos", "Throttle", "%", "throttle", 100.0),
    MotecChannel("Brake Pos", "Brake", "%", "brake", 100.0),
    MotecChannel("Steering Pos", "Steer", "%", "steer", 100.0),  # of the lock, positive to the left
    MotecChannel("Gear", "Gear", "", "gear", 1.0),
    MotecChannel("Engine RPM", "RPM", "rpm", "engine_speed", 1.0 / RPM),
    MotecChannel("G Force Lat", "G Lat", "G", "acceleration_y", 1.0 / G),  # positive to the left
    MotecChannel("G Force Long", "G Long", "G", "acceleration_x", 1.0 / G),
    MotecChannel("Yaw Rate", "Yaw", "deg/s", "yaw_rate", 1.0 / DEG),
    MotecChannel("Car Coord X", "X", "m", "x", 1.0),
    MotecChannel("Car Coord Y", "Y", "m", "y", 1.0),
    MotecChannel("Car Coord Z", "Z", "m", "z", 1.0),
    *(MotecChannel(f"Wheel Load {wheel.upper()}", f"Load {wheel.upper()}", "N", f"{wheel}_load", 1.0)
      for wheel in ("fl", "fr", "rl", "rr")),
)  # fmt: skip

HEADER = struct.Struct("<I4xII20xI24xHHHI8sHHI4x16s16x16s16x64s64s64x64s64x1024xI66x64s126x")
_EVENT = struct.Struct("<64s64s1024sH")
_VENUE = struct.Struct("<64s1034xH")
_VEHICLE = struct.Struct("<64s128xI32s32s")
CHANNEL = struct.Struct("<IIIIHHHHhhhh32s8s12s40x")
MARKER, _PRO_LOGGING = 0x40, 0xC81A4
_DEVICE = (1, 0x4240, 0xF, 0x1F44, b"ADL", 420, 0xADB0)  # the logger that readers know
_FLOAT = (7, 4)  # kind and bytes of a sample


def export_motec(recording: Recording, out: str | Path) -> int:
    """Write NAME.ld and NAME.ldx and return the number of samples of each channel.

    Args:
        recording: the drive; what it does not have is left out.
        out: the .ld file.

    Raises:
        DataError: there are no rows in it.
        UsageError: the files cannot be written, or `out` has another suffix.
    """
    out = Path(out)
    if out.suffix.lower() != ".ld":
        raise UsageError("a MoTeC log has the suffix .ld", where="--out", got=str(out))
    if not len(recording):
        raise DataError("nothing was recorded, so there is nothing to export", where=str(recording.path))
    sampled = sample_evenly(recording, RATE, tuple(channel.column for channel in CHANNELS))
    at = sampled["time"]
    if len(at) > MAX_SAMPLES:
        raise DataError("too long for a MoTeC log", where=str(recording.path), got=f"{len(at)} samples")
    known = [channel for channel in CHANNELS if np.isfinite(sampled[channel.column]).any()]
    values = [np.nan_to_num(sampled[channel.column]) * channel.factor for channel in known]
    driven = np.concatenate([[0.0], np.cumsum(np.nan_to_num(sampled["speed"][1:]) / RATE)])
    known.append(MotecChannel("Distance", "Dist", "m", "", 1.0))
    values.append(driven)
    with OsErrors("cannot write the export", where=str(out)):
        out.write_bytes(encode_log(recording.about, known, values))
        out.with_suffix(".ldx").write_text(_encode_laps(recording, float(at[0])), encoding="utf-8")
    return len(at)


def encode_log(
    about: dict[str, object], channels: list[MotecChannel], values: list[NDArray[np.float64]], rate: int = int(RATE)
) -> bytes:
    """Return the bytes of the .ld file; `values` has one array for each of `channels`, in the unit of the log."""
    event_at = HEADER.size
    venue_at = event_at + _EVENT.size
    vehicle_at = venue_at + _VENUE.size
    channels_at = vehicle_at + _VEHICLE.size
    data_at = channels_at + CHANNEL.size * len(channels)
    begun = _parse_date(about.get("started"))
    car, track, driver = (_encode_text(about.get(key), 64) for key in ("car", "track", "driver"))
    date, clock = (begun.strftime(form).encode() for form in ("%d/%m/%Y", "%H:%M:%S"))
    parts = [
        HEADER.pack(MARKER, channels_at, data_at, event_at, *_DEVICE, len(channels), date, clock,
                     driver, car, track, _PRO_LOGGING,
                     _encode_text(about.get("sim"), 64)),
        _EVENT.pack(_encode_text(about.get("sim"), 64), b"", b"", venue_at),
        _VENUE.pack(track, vehicle_at),
        _VEHICLE.pack(car, 0, b"", b""),
    ]  # fmt: skip
    samples = [np.asarray(column, "<f4").tobytes() for column in values]
    place = data_at
    for number, (channel, data) in enumerate(zip(channels, samples, strict=True)):
        here = channels_at + number * CHANNEL.size
        before = here - CHANNEL.size if number else 0
        after = here + CHANNEL.size if number + 1 < len(channels) else 0
        parts.append(CHANNEL.pack(before, after, place, len(data) // 4, 0x2EE1 + number, *_FLOAT, rate, 0, 1, 1, 0,
                                   channel.name.encode(), channel.short.encode(), channel.unit.encode()))  # fmt: skip
        place += len(data)
    return b"".join([*parts, *samples])


def _encode_text(value: object, size: int) -> bytes:
    """Return a value as ASCII text of at most `size` bytes, the last one free."""
    return " ".join(str(value or "").split()).encode("ascii", "replace")[: size - 1]


def _parse_date(value: object) -> datetime:
    try:
        return datetime.fromisoformat(str(value))
    except ValueError:
        return datetime(2000, 1, 1)


def _encode_laps(recording: Recording, first: float) -> str:
    """Return the .ldx file: a beacon at the begin and end of each lap, the number of laps, the fastest one."""
    laps = [lap for lap in recording.laps if math.isfinite(lap.end) and lap.end >= first]
    ends = [(f"Lap.{lap.number}", lap.end) for lap in laps]
    begins = [(f"Begin.{lap.number}", lap.end - lap.time_s) for lap in laps]
    # Where a lap begins and none ends: behind an out lap.
    begins = [each for each in begins if each[1] - first > SAME_BEACON and
              all(abs(each[1] - end) > SAME_BEACON for _, end in ends)]  # fmt: skip
    beacons = "".join(
        f'<Marker Version="100" ClassName="BCN" Name={quoteattr(name)} Flags="77" Time="{(at - first) * 1e6:.9g}"/>'
        for name, at in sorted(begins + ends, key=lambda each: each[1])
    )
    details = f'<String Id="Total Laps" Value="{len(laps)}"/>'
    if laps:
        best = min(laps, key=lambda lap: (not lap.valid, lap.time_s))
        minutes, seconds = divmod(best.time_s, 60.0)
        details += f'<String Id="Fastest Time" Value="{minutes:.0f}:{seconds:06.3f}"/>'
        details += f'<String Id="Fastest Lap" Value="{best.number}"/>'
    return (
        '<?xml version="1.0"?>\n<LDXFile Locale="C" DefaultLocale="C" Version="1.6"><Layers><Layer><MarkerBlock>'
        f'<MarkerGroup Name="Beacons" Index="3">{beacons}</MarkerGroup></MarkerBlock><RangeBlock/></Layer>'
        f"<Details>{details}</Details></Layers></LDXFile>\n"
    )
