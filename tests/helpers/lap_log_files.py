"""Laps of a person on a made road, as the truth, and the same laps as tools of others write them.

The writers follow the texts that describe the formats, not our readers.
"""

import math
import struct
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np

LATITUDE, LONGITUDE = 52.071, -1.0155  # degrees, of the start line
BEGUN = datetime(2026, 5, 9, 13, 16, 19, tzinfo=UTC)
LINE = 0.0  # m along the road


class Laps(NamedTuple):
    """Samples, (n,) each: s, m, m/s, m/s^2, rad/s, shares, rad/s. Lap times of laps 1, 2, ... in s."""

    time: np.ndarray
    along: np.ndarray  # m, unwrapped, 0 at the first line
    x: np.ndarray
    y: np.ndarray
    z: np.ndarray
    yaw: np.ndarray
    speed: np.ndarray
    acceleration_x: np.ndarray
    acceleration_y: np.ndarray
    yaw_rate: np.ndarray
    steering_wheel_angle: np.ndarray
    throttle: np.ndarray
    brake: np.ndarray
    gear: np.ndarray
    rpm: np.ndarray
    lap: np.ndarray
    lap_time: np.ndarray
    length: float
    lap_times: list[float]


def make_laps(rate=100.0, laps=3, start=-350.0, beyond=220.0):
    """Return an out lap from `start` m, whole laps, and `beyond` m of the next one; each lap is quicker by 1 %."""
    angle = np.linspace(0.0, 2.0 * math.pi, 40_001)
    radius = 170.0 + 45.0 * np.cos(2.0 * angle + 0.6) + 22.0 * np.cos(3.0 * angle)
    px, py = radius * np.cos(angle), radius * np.sin(angle)
    road = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(px), np.diff(py)))])
    length = float(road[-1])
    course = np.unwrap(np.arctan2(np.gradient(py, road), np.gradient(px, road)))
    bend = np.gradient(course, road)

    def pace(s):
        """Return the speed at s m: slower in bends, one percent quicker from lap to lap."""
        slow = np.interp(
            s % length,
            road,
            np.convolve(np.abs(np.r_[bend[-1001:-1], bend, bend[1:1001]]), np.full(2001, 1 / 2001), "valid"),
        )
        return (26.0 + 22.0 * np.exp(-160.0 * slow)) * (1.0 + 0.01 * np.clip(np.floor(s / length), 0, 5))

    fine = np.arange(start, laps * length + beyond, 0.05)
    clock = np.concatenate([[0.0], np.cumsum(0.05 / pace(fine[:-1] + 0.025))])
    time = np.arange(0.0, clock[-1], 1.0 / rate)
    along = np.interp(time, clock, fine)
    lines = np.interp(length * np.arange(laps + 1), fine, clock)
    speed = np.gradient(along, time)
    where = along % length
    yaw_rate = speed * np.interp(where, road, bend)
    ahead = np.gradient(speed, time)
    lap = np.floor(along / length) + 1.0
    begun = np.concatenate([[-10.0], lines])[np.clip(lap, 0, None).astype(int)]
    x, y = np.interp(where, road, px) - px[0], np.interp(where, road, py) - py[0]
    return Laps(
        time,
        along,
        x,
        y,
        4.0 + 2.0 * np.sin(2.0 * math.pi * where / length),
        np.interp(where, road, course),
        speed,
        ahead,
        speed * yaw_rate,
        yaw_rate,
        14.0 * 2.6 * yaw_rate / speed,
        np.clip(0.4 + ahead / 6.0, 0.0, 1.0),
        np.clip(-ahead / 8.0, 0.0, 1.0),
        np.clip(np.floor(speed / 9.0), 1.0, 6.0),
        3000.0 + 70.0 * speed,
        lap,
        time - begun,
        length,
        np.diff(lines).tolist(),
    )


def place_degrees(laps):
    """Return latitude and longitude (n,) in degrees, by the radii of the ellipsoid at the start line."""
    square = 0.00669437999014
    share = 1.0 - square * math.sin(math.radians(LATITUDE)) ** 2
    north = 6378137.0 * (1.0 - square) / share**1.5
    east = 6378137.0 / math.sqrt(share) * math.cos(math.radians(LATITUDE))
    return LATITUDE + np.degrees(laps.y / north), LONGITUDE + np.degrees(laps.x / east)


def write_rows(path, head, rows, separator=","):
    """Write a table: lines above, and rows of texts."""
    path.write_text("\n".join([*head, *(separator.join(row) for row in rows)]) + "\n", encoding="utf-8")
    return path


def write_racechrono_3(path, laps):
    """Format 3: a preamble, names, units, sources; the vehicle's values at half the rate of the others."""
    lat, lon = place_degrees(laps)
    head = [
        "This file is created using RaceChrono Pro v9.1.3 ( http://racechrono.com/ ).",
        "Format,3",
        'Session title,"Evening"',
        "Session type,Lap timing",
        'Track name,"Round the lake"',
        "Driver name,A. Person",
        "Created,09/05/2026,13:16",
        "Note,",
        "",
        "timestamp,fragment_id,lap_number,elapsed_time,distance_traveled,accuracy,altitude,latitude,longitude,"
        "speed,lateral_acc,longitudinal_acc,speed,x_acc,z_rate_of_rotation,rpm,throttle_pos,brake_pos",
        "unix time,,,s,m,m,m,deg,deg,m/s,G,G,m/s,G,deg/s,rpm,%,%",
        ",,,,,100: gps,100: gps,100: gps,100: gps,100: gps,calc,calc,calc,101: acc,102: gyro,200: obd,200: obd,"
        "200: obd",
    ]
    begun = BEGUN.timestamp()
    rows = [
        [
            f"{begun + t:.3f}",
            "0",
            f"{laps.lap[k]:.0f}" if laps.lap[k] > 0 else "",
            f"{t:.3f}",
            f"{laps.along[k] - laps.along[0]:.3f}",
            "0.4",
            f"{laps.z[k]:.2f}",
            f"{lat[k]:.8f}",
            f"{lon[k]:.8f}",
            f"{laps.speed[k]:.3f}",
            f"{-laps.acceleration_y[k] / 9.80665:.4f}",
            f"{laps.acceleration_x[k] / 9.80665:.4f}",
            f"{laps.speed[k]:.2f}",
            "0.0",
            f"{math.degrees(laps.yaw_rate[k]):.3f}",
            *(
                ("", "", "")
                if k % 2
                else (f"{laps.rpm[k]:.0f}", f"{100 * laps.throttle[k]:.2f}", f"{100 * laps.brake[k]:.2f}")
            ),
        ]
        for k, t in enumerate(laps.time.tolist())
    ]
    return write_rows(path, head, rows)


def write_racechrono_2(path, laps):
    """Format 2: one row of names with units in brackets and sources behind a star."""
    lat, lon = place_degrees(laps)
    head = [
        "This file is created using RaceChrono v6.0.1 ( http://racechrono.com/ ).",
        'Session title,"Evening"',
        "",
        "Time (s),Session fragment #,Lap #,Trap name,X-position (m),Y-position (m),Distance (m),Speed (m/s),"
        "Altitude (m),Elapsed time (s),Latitude (deg),Longitude (deg),Speed (m/s) *calc,"
        "Lateral acceleration (G) *calc,Longitudinal acceleration (G) *calc,RPM (rpm) *obd",
    ]
    rows = [
        [
            f"{BEGUN.timestamp() + t:.3f}",
            "0",
            f"{max(laps.lap[k], 0):.0f}",
            "",
            "0",
            "0",
            f"{laps.along[k] - laps.along[0]:.2f}",
            f"{laps.speed[k]:.3f}",
            f"{laps.z[k]:.2f}",
            f"{t:.3f}",
            f"{lat[k]:.8f}",
            f"{lon[k]:.8f}",
            "0",
            f"{laps.acceleration_y[k] / 9.80665:.4f}",
            f"{laps.acceleration_x[k] / 9.80665:.4f}",
            f"{laps.rpm[k]:.0f}",
        ]
        for k, t in enumerate(laps.time.tolist())
    ]
    return write_rows(path, head, rows)


def write_racebox(path, laps, unit=3.6):
    """RaceBox: lap times above the table, times of ISO 8601 to a millisecond, a speed without a unit."""
    lat, lon = place_degrees(laps)
    head = [
        "Format,RaceBox",
        "Track,Round the lake",
        *(f"Lap {k}, {lasted:.3f}, sectors, 1.0,1.0,1.0,0,1.0" for k, lasted in enumerate(laps.lap_times, 1)),
        "",
        "Record,Time,Latitude,Longitude,Altitude,Speed,GForceX,GForceY,GForceZ,Lap,GyroX,GyroY,GyroZ",
    ]
    rows = [
        [
            str(k + 1),
            (BEGUN + timedelta(seconds=t)).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            f"{lat[k]:.7f}",
            f"{lon[k]:.7f}",
            f"{laps.z[k]:.1f}",
            f"{unit * laps.speed[k]:.2f}",
            f"{laps.acceleration_x[k] / 9.80665:.3f}",
            f"{-laps.acceleration_y[k] / 9.80665:.3f}",
            "1.0",
            f"{max(laps.lap[k], 0):.0f}",
            "0.1",
            "0.2",
            f"{math.degrees(laps.yaw_rate[k]):.2f}",
        ]
        for k, t in enumerate(laps.time.tolist())
    ]
    return write_rows(path, head, rows)


def write_garage61(path, laps, lap=2):
    """Garage 61: one lap at 60 Hz, no time, units of the SDK, states in words."""
    lat, lon = place_degrees(laps)
    rows = [
        [
            f"{laps.speed[k]:.6f}",
            f"{laps.along[k] % laps.length / laps.length:.9f}",
            f"{lat[k]:.12f}",
            f"{lon[k]:.12f}",
            f"{laps.brake[k]:.5f}",
            f"{laps.throttle[k]:.5f}",
            f"{laps.rpm[k]:.3f}",
            f"{laps.steering_wheel_angle[k]:.6f}",
            f"{laps.gear[k]:.0f}",
            "1",
            "false",
            "false",
            f"{laps.acceleration_y[k]:.4f}",
            f"{laps.acceleration_x[k]:.4f}",
            "9.81",
            f"{laps.yaw[k]:.5f}",
            f"{laps.yaw_rate[k]:.5f}",
            "3",
        ]
        for k in np.flatnonzero(laps.lap == lap)
    ]
    head = (
        "Speed,LapDistPct,Lat,Lon,Brake,Throttle,RPM,SteeringWheelAngle,Gear,Clutch,ABSActive,DRSActive,"
        "LatAccel,LongAccel,VertAccel,Yaw,YawRate,PositionType"
    )
    return write_rows(path, [head], rows)


def write_game(path, laps):
    """A logger of a game: units in the names, y up, right positive, gears counted, pedals in percent."""
    rows = [
        [
            f"{1000 * t:.0f}",
            f"{laps.lap[k]:.0f}",
            f"{1000 * laps.lap_time[k]:.0f}",
            f"{laps.x[k]:.3f}",
            f"{laps.z[k]:.3f}",
            f"{laps.y[k]:.3f}",
            f"{3.6 * laps.speed[k]:.3f}",
            f"{100 * laps.throttle[k]:.2f}",
            f"{100 * laps.brake[k]:.2f}",
            f"{-math.degrees(laps.steering_wheel_angle[k]):.3f}",
            f"{laps.gear[k]:.0f}",
            f"{laps.rpm[k]:.1f}",
        ]
        for k, t in enumerate(laps.time.tolist())
    ]
    head = "Timestamp_ms;Lap;CurrentLapTimeMs;PosX;PosY;PosZ;Speed_kmh;Gas;Brake;SteerAngle_deg;Gear;Rpm"
    return write_rows(path, [head], rows, ";")


def write_motec_csv(path, laps):
    """The CSV of MoTeC's i2: quoted, details above, beacons, a row of units."""
    begins = laps.time[0] - laps.lap_time[laps.lap == 1][0] + laps.time[laps.lap == 1][0]
    beacons = np.concatenate([[begins], begins + np.cumsum(laps.lap_times)])
    head = [
        '"Format","MoTeC CSV File",,,"Workbook",""',
        '"Venue","Round the lake",,,"Worksheet",""',
        '"Vehicle","kart",,,"Vehicle Desc",""',
        '"Driver","A. Person",,,"Engine ID",""',
        '"Sample Rate","100.000","Hz"',
        f'"Beacon Markers","{" ".join(f"{beacon:.3f}" for beacon in beacons)}"',
        "",
        '"Time","Ground Speed","G Force Lat","G Force Long","Throttle Pos","Brake Pos","Engine RPM",'
        '"Car Coord X","Car Coord Y"',
        '"s","km/h","G","G","%","%","rpm","m","m"',
        "",
    ]
    rows = [
        [
            f'"{value}"'
            for value in (
                f"{t:.3f}",
                f"{3.6 * laps.speed[k]:.3f}",
                f"{laps.acceleration_y[k] / 9.80665:.4f}",
                f"{laps.acceleration_x[k] / 9.80665:.4f}",
                f"{100 * laps.throttle[k]:.2f}",
                f"{100 * laps.brake[k]:.2f}",
                f"{laps.rpm[k]:.0f}",
                f"{laps.x[k]:.3f}",
                f"{laps.y[k]:.3f}",
            )
        ]
        for k, t in enumerate(laps.time.tolist())
    ]
    return write_rows(path, head, rows)


def write_ibt(path, laps, driver='A. Person: "quick"'):
    """iRacing's disk file, as the SDK's header lays it out, built by hand; shares are called %."""
    lat, lon = place_degrees(laps)
    crossed = np.concatenate([[-1.0], laps.lap_times])
    shown = crossed[np.clip(laps.lap - 1, 0, len(laps.lap_times)).astype(int)]
    variables = [
        ("SessionTime", 5, "s", laps.time + 812.5),
        ("Lap", 2, "", laps.lap),
        ("Speed", 4, "m/s", laps.speed),
        ("VelocityX", 4, "m/s", laps.speed),
        ("VelocityY", 4, "m/s", -0.2 * laps.yaw_rate),
        ("IsOnTrack", 1, "", np.ones(len(laps.time))),
        ("PlayerTrackSurface", 2, "irsdk_TrkLoc", np.where(laps.lap < 1, 2, 3)),
        ("Lat", 5, "deg", lat),
        ("Lon", 5, "deg", lon),
        ("Alt", 4, "m", laps.z),
        ("Throttle", 4, "%", laps.throttle),
        ("Brake", 4, "%", laps.brake),
        ("Clutch", 4, "%", np.ones(len(laps.time))),
        ("Gear", 2, "", laps.gear),
        ("RPM", 4, "revs/min", laps.rpm),
        ("SteeringWheelAngle", 4, "rad", laps.steering_wheel_angle),
        ("YawRate", 4, "rad/s", laps.yaw_rate),
        ("LatAccel", 4, "m/s^2", laps.acceleration_y),
        ("LongAccel", 4, "m/s^2", laps.acceleration_x),
        ("LapDistPct", 4, "%", laps.along % laps.length / laps.length),
        ("LapLastLapTime", 4, "s", shown),
        ("LapCurrentLapTime", 4, "s", laps.lap_time),
        ("SessionFlags", 3, "irsdk_Flags", laps.gear),
    ]
    forms, place, described = {1: "?", 2: "<i4", 3: "<u4", 4: "<f4", 5: "<f8"}, 0, b""
    offsets = []
    for name, kind, unit, _ in variables:
        described += struct.pack("<iii?3x32s64s32s", kind, place, 1, False, name.encode(), b"described", unit.encode())
        offsets.append(place)
        place += np.dtype(forms[kind]).itemsize
    described += struct.pack("<iii?3x32s64s32s", 4, place, 6, True, b"LatAccel_ST", b"at 360 Hz", b"m/s^2")
    row = np.dtype(
        {
            "names": [v[0] for v in variables],
            "formats": [forms[v[1]] for v in variables],
            "offsets": offsets,
            "itemsize": place + 24,
        }
    )
    rows = np.zeros(len(laps.time), row)
    for name, _, _, values in variables:
        rows[name] = values
    text = (
        b"---\nWeekendInfo:\n TrackName: lake\n TrackDisplayName: Round the lake\n Date: 2026-05-09\nDriverInfo:\n"
        b" DriverCarIdx: 7\n Drivers:\n - CarIdx: 0\n   UserName: Pace Car\n   CarScreenName: safety\n"
        b" - CarIdx: 7\n   UserName: %s\n   CarScreenName: Formula Lake\n...\n" % driver.encode()
    )
    count, head = len(variables) + 1, 112 + 32
    text_at, rows_at = head + count * 144, head + count * 144 + len(text)
    rate = round(1.0 / (laps.time[1] - laps.time[0]))
    header = struct.pack("<10i8x", 2, 1, rate, 0, len(text), text_at, count, head, 1, place + 24)
    header += struct.pack("<iiii", 1, rows_at, 0, 0) + bytes(48)
    disk = struct.pack("<Qddii", int(BEGUN.timestamp()), 812.5, 812.5 + laps.time[-1], len(laps.lap_times), len(rows))
    path.write_bytes(header + disk + described + text + rows.tobytes())
    return path


def write_gps(path, laps):
    """A GPS receiver with a lap timer: places to a centimetre, height and speed; nothing of the car."""
    lat, lon = place_degrees(laps)
    rows = [
        [
            f"{t:.3f}",
            f"{lat[k]:.7f}",
            f"{lon[k]:.7f}",
            f"{laps.z[k]:.2f}",
            f"{3.6 * laps.speed[k]:.2f}",
            f"{laps.lap[k]:.0f}",
        ]
        for k, t in enumerate(laps.time.tolist())
    ]
    return write_rows(path, ["Time [s],Latitude,Longitude,Altitude [m],Speed [km/h],Lap"], rows)


def find_channel(log, column):
    """Return the first channel of a column of a LapLog that has values."""
    return next(each for each in log.channels if each.column == column and np.isfinite(each.values).any())
