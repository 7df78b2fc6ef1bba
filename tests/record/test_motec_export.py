"""The log is taken apart by the offsets that an open reader documents (gotzl/ldparser), not by our layout."""

import re
import struct
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from helpers.synthetic_drives import record_drive

from trailbrake.errors import UsageError
from trailbrake.laps import LapTimer
from trailbrake.record import Recording
from trailbrake.record.motec_export import export_motec
from trailbrake.record.recorder import Recorder
from trailbrake.state import CarState, Controls


def text_at(data, place, size):
    return data[place : place + size].rstrip(b"\0").decode("ascii")


def read_log(data):
    """Return the header's texts and the channels: name to (unit, rate, values)."""
    first, samples = struct.unpack_from("<II", data, 0x08)
    texts = {"date": text_at(data, 0x5E, 16), "time": text_at(data, 0x7E, 16), "driver": text_at(data, 0x9E, 64),
             "vehicle": text_at(data, 0xDE, 64), "venue": text_at(data, 0x15E, 64)}  # fmt: skip
    event = struct.unpack_from("<I", data, 0x24)[0]
    venue = struct.unpack_from("<H", data, event + 0x480)[0]
    texts["event venue"] = text_at(data, venue, 64)
    channels, place, before = {}, first, 0
    while place:
        previous, following, start, count = struct.unpack_from("<IIII", data, place)
        assert previous == before
        kind, size, rate = struct.unpack_from("<HHH", data, place + 0x12)
        shift, multiplier, scale, decimals = struct.unpack_from("<hhhh", data, place + 0x18)
        assert (kind, size) == (7, 4)
        raw = np.frombuffer(data, "<f4", count, start)
        values = (raw / scale * 10.0**-decimals + shift) * multiplier
        channels[text_at(data, place + 0x20, 32)] = (text_at(data, place + 0x48, 12), rate, values)
        place, before = following, place
    assert samples == min(struct.unpack_from("<I", data, p)[0] for p in (first + 8,))
    assert struct.unpack_from("<I", data, 0x56)[0] == len(channels)
    return texts, channels


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return Recording.open(record_drive(tmp_path_factory.mktemp("drive") / "a.mcap", rate=40.0).path)


def test_the_channels_of_the_log(recording, tmp_path):
    count = export_motec(recording, tmp_path / "a.ld")
    texts, channels = read_log((tmp_path / "a.ld").read_bytes())
    assert (texts["driver"], texts["vehicle"], texts["venue"]) == ("on_rails", "point", "stadium")
    assert texts["event venue"] == "stadium"
    assert len(texts["date"].split("/")) == 3
    time = recording.state["time"]
    at = time[0] + np.arange(count) / 100.0
    unit, rate, speed = channels["Ground Speed"]
    assert (unit, rate, len(speed)) == ("km/h", 100, count)
    assert speed == pytest.approx(np.interp(at, time, recording.state["speed"] * 3.6), abs=1e-3)
    assert channels["Throttle Pos"][2].max() <= 100.0
    assert channels["Engine RPM"][0] == "rpm"
    assert channels["Distance"][2][-1] == pytest.approx(recording.state["speed"].mean() * (at[-1] - at[0]), rel=0.01)


def test_beacons_are_the_begins_and_ends_of_laps(recording, tmp_path):
    export_motec(recording, tmp_path / "a.ld")
    tree = ElementTree.fromstring((tmp_path / "a.ldx").read_text(encoding="utf-8"))
    beacons = [float(marker.get("Time")) for marker in tree.iter("Marker")]
    first = recording.laps[0]
    lines = [first.end - first.time_s, *(lap.end for lap in recording.laps)]  # the drive begins before the line
    assert beacons == pytest.approx([(at - recording.state["time"][0]) * 1e6 for at in lines], abs=1e3)
    details = {item.get("Id"): item.get("Value") for item in tree.iter("String")}
    assert details["Total Laps"] == "2"
    assert details["Fastest Lap"] == "1"


def test_what_the_recording_does_not_have_is_left_out(tmp_path):
    plain = Recording.open(record_drive(tmp_path / "plain.mcap", rate=20.0, laps=1, full=False).path)
    export_motec(plain, tmp_path / "plain.ld")
    _, channels = read_log((tmp_path / "plain.ld").read_bytes())
    assert "Engine RPM" not in channels
    assert {"Ground Speed", "Car Coord X", "Throttle Pos"} <= set(channels)


def test_refusals(recording, tmp_path):
    with pytest.raises(UsageError, match=r"suffix \.ld"):
        export_motec(recording, tmp_path / "a.csv")
    with pytest.raises(UsageError, match="cannot write"):
        export_motec(recording, tmp_path / "none" / "a.ld")


def test_beacons_stand_where_the_line_was_crossed(tmp_path):
    """Not at the tick behind it: laps of a car at a constant speed, at 60 Hz."""
    recorder, timer = Recorder(tmp_path / "a.mcap"), LapTimer(500.0, True)
    recorder.start({})
    for k in range(2400):
        recorder.tick(CarState(time=k / 60, speed=41.0), Controls())
        lap = timer.update(k / 60, 41.0 * k / 60 % 500.0)
        if lap is not None:
            recorder.store_lap(lap)
    recorder.close()
    export_motec(Recording.open(recorder.path), tmp_path / "a.ld")
    beacons = [float(t) * 1e-6 for t in re.findall(r'Time="([^"]+)"', (tmp_path / "a.ldx").read_text())]
    assert beacons == pytest.approx([500.0 / 41.0, 1000.0 / 41.0, 1500.0 / 41.0], abs=1e-6)
