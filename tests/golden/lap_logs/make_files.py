"""Writes the files beside it: laps of `helpers/lap_log_files.py` in formats of others, by libraries of others.

    python make_files.py LDPARSER.py

It needs gpxpy, simplekml, pynmea2, pyirsdk and libibt from PyPI, and ldparser.py of github.com/gotzl/ldparser. The .ibt
file, which no library writes, is built by `write_ibt` and read by pyirsdk and libibt: `ibt.json` has what they find.
"""

import importlib.util
import json
import struct
import sys
from datetime import datetime, timedelta
from pathlib import Path

import gpxpy.gpx
import irsdk
import libibt
import numpy as np
import pynmea2
import simplekml

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))
from helpers.lap_log_files import BEGUN, make_laps, place_degrees, write_ibt  # noqa: E402


def write_ld(module, path, laps):
    """Channels of several rates: float32, int16 and int32 with decimals; beacons in the .ldx by hand."""
    lat, lon = place_degrees(laps)
    channels = [
        ("Ground Speed", "km/h", np.float32, 20, 0, 3.6 * laps.speed),
        ("Throttle Pos", "%", np.int16, 20, 1, 100.0 * laps.throttle),
        ("Brake Pos", "%", np.int16, 20, 1, 100.0 * laps.brake),
        ("Engine RPM", "rpm", np.int16, 10, 0, laps.rpm[::2]),
        ("Gear", "", np.int16, 10, 0, laps.gear[::2]),
        ("GPS Latitude", "deg", np.int32, 20, 7, lat),
        ("GPS Longitude", "deg", np.int32, 20, 7, lon),
        ("G Force Lat", "G", np.float32, 20, 0, -laps.acceleration_y / 9.80665),
        ("Damper Pos FL", "mm", np.float32, 20, 0, laps.speed),
    ]
    event = struct.calcsize(module.ldHead.fmt)
    venue = event + struct.calcsize(module.ldEvent.fmt)
    vehicle = venue + struct.calcsize(module.ldVenue.fmt)
    place = vehicle + struct.calcsize(module.ldVehicle.fmt)
    size = struct.calcsize(module.ldChan.fmt)
    data = place + size * len(channels)
    about = module.ldEvent("test", "1", "", venue, module.ldVenue("Round the lake", vehicle, module.ldVehicle(
        "lake car", 0, "", "")))  # fmt: skip
    head = module.ldHead(place, data, event, about, "A. Person", "lake car", "Round the lake",
                         datetime(2026, 5, 9, 13, 16, 19), "")  # fmt: skip
    made, before = [], 0
    for name, unit, kind, rate, decimals, values in channels:
        after = place + size if len(made) + 1 < len(channels) else 0
        channel = module.ldChan(None, place, before, after, data, len(values), kind, rate, 0, 1, 1, decimals,
                                name, name[:7], unit)  # fmt: skip
        whole = np.round(values * 10.0**decimals)
        channel._data = values if kind == np.float32 else (whole + 1e-6 * np.sign(whole)) / 10.0**decimals
        before, place, data = place, place + size, data + len(values) * np.dtype(kind).itemsize
        made.append(channel)
    module.ldData(head, made).write(path)
    line = float(np.interp(0.0, laps.along, laps.time))
    times = [line, *(line + np.cumsum(laps.lap_times))]
    beacons = "".join(f'<Marker Version="100" ClassName="BCN" Name="{k}, id=99" Flags="77" Time="{t * 1e6:.9g}"/>'
                      for k, t in enumerate(times))  # fmt: skip
    Path(path).with_suffix(".ldx").write_text(
        '<?xml version="1.0"?>\n<LDXFile Version="1.6"><Layers><Layer><MarkerBlock><MarkerGroup Name="Beacons"'
        f' Index="3">{beacons}</MarkerGroup></MarkerBlock></Layer></Layers></LDXFile>\n'
    )


def write_gps(laps):
    """A track of gpxpy, a path and a gx:Track of simplekml, sentences of pynmea2."""
    lat, lon = place_degrees(laps)
    moments = [BEGUN + timedelta(seconds=t) for t in laps.time.tolist()]
    places = [(round(b, 8), round(a, 8), round(z, 2)) for a, b, z in zip(lat, lon, laps.z, strict=True)]
    gpx, track, part = gpxpy.gpx.GPX(), gpxpy.gpx.GPXTrack(name="Round the lake"), gpxpy.gpx.GPXTrackSegment()
    gpx.tracks.append(track)
    track.segments.append(part)
    part.points += [gpxpy.gpx.GPXTrackPoint(b, a, elevation=z, time=t)
                    for (a, b, z), t in zip(places, moments, strict=True)]  # fmt: skip
    (HERE / "laps.gpx").write_text(gpx.to_xml())
    kml = simplekml.Kml()
    kml.newlinestring(name="Round the lake").coords = [p for p, lap in zip(places, laps.lap, strict=True) if lap == 1]
    kml.save(HERE / "road.kml")
    kml = simplekml.Kml()
    timed = kml.newgxtrack(name="Round the lake")
    timed.newwhen([t.isoformat(timespec="milliseconds").replace("+00:00", "Z") for t in moments])
    timed.newgxcoord(places)
    kml.save(HERE / "laps.kml")
    lines = []
    for k, moment in enumerate(moments):
        clock = moment.strftime("%H%M%S.%f")[:10]
        place = (write_minutes(lat[k], 2), "N", write_minutes(lon[k], 3), "W")
        knots = f"{laps.speed[k] / 0.5144444444444445:.3f}"
        high = f"{laps.z[k]:.2f}"
        lines.append(pynmea2.GGA("GP", "GGA", (clock, *place, "1", "09", "0.9", high, "M", "46.0", "M", "", "")))
        lines.append(pynmea2.RMC("GP", "RMC", (clock, "A", *place, knots, "", moment.strftime("%d%m%y"), "", "")))
    (HERE / "laps.nmea").write_bytes("".join(f"{line}\r\n" for line in lines).encode())


def write_minutes(degrees, width):
    whole, part = divmod(abs(degrees), 1.0)
    return f"{int(whole):0{width}d}{60.0 * part:010.7f}"


def read_ibt_of_others(path):
    """Return what both readers find: their rows, laps, and some values."""
    first, second = irsdk.IBT(), libibt.ibt(str(path))
    first.open(str(path))
    rows = [0, 100, 500]
    table = second.laps.to_pydict()
    return {
        "names": first.var_headers_names, "count": len(first.get_all("Speed")),
        "values": {name: [first.get(row, name) for row in rows] for name in ("SessionTime", "Lat", "Speed", "Lap")},
        "rows": rows, "laps_ms": {key: [float(v) for v in table[key]] for key in ("num", "start_time", "end_time")},
        "speed_of_the_other": [second.channels["Speed"].column("Speed")[row].as_py() for row in rows],
    }  # fmt: skip


if __name__ == "__main__":
    spec = importlib.util.spec_from_file_location("ldparser", sys.argv[1])
    ldparser = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ldparser)
    write_ld(ldparser, str(HERE / "laps.ld"), make_laps(20.0, laps=2))
    write_gps(make_laps(5.0, laps=2))
    path = write_ibt(HERE / "laps.ibt", make_laps(20.0, laps=1, start=-100.0, beyond=60.0), "A. Person")
    (HERE / "ibt.json").write_text(json.dumps(read_ibt_of_others(path), indent=1) + "\n")
