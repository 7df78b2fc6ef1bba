"""Clients as the protocol page describes real ones, in front of a served world in a process of its own.

Each is written from sections 1, 3 and 4 with plain files and struct, without our codec or link.
"""

import math
import mmap
import struct
import sys
import time
from contextlib import contextmanager

import pytest
from helpers.processes import command
from helpers.waiting import wait_for

from trailbrake.sims.assetto import spec
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="pages are files")]
PATIENCE = 60.0  # s
STEPS_PER_S = 333


class Client:
    """A stranger: makes his controls page of `size` bytes, and maps what the game answers, to write if he likes."""

    def __init__(self, folder, car, size=72, rate=333.0, scribbles=False):
        self.folder, self.car, self.size, self.rate, self.scribbles = folder, car, size, rate, scribbles
        self.controls = self.map(spec.controls_name(car), size)
        self.page = None
        self.values = {}

    def map(self, name, size):
        path = self.folder / name
        path.touch()
        with path.open("r+b") as file:
            file.truncate(max(size, path.stat().st_size))
            return mmap.mmap(file.fileno(), size)

    def put(self, **values):
        """Write one 72-byte block, cut to the size of the page, with one copy."""
        self.values = {"clutch": 1.0, **values}
        get = self.values.get
        flags = bytearray(24)
        for index, name in ((0, "gear_up"), (20, "teleport_to"), (21, "start"), (22, "change"), (23, "blip")):
            flags[index] = get(name, 0)
        data = struct.pack(
            "<5f24s6fB3x", get("gas", 0.0), get("brake", 0.0), get("clutch"), get("steer", 0.0), 0.0, bytes(flags),
            *get("pos", (0.0,) * 3), *get("dir", (0.0,) * 3), get("autoshift", 0),
        )  # fmt: skip
        data = data.ljust(self.size, b"\0")[: self.size]
        self.controls[: len(data)] = data

    def read(self):
        """Copy 672 bytes, then look whether packet_id is still the same; at most three times more."""
        if self.page is None:
            if not (self.folder / spec.car_name(self.car)).exists():
                return None
            self.page = self.map(spec.car_name(self.car), 672)
        for _ in range(4):
            data = self.page[:672]
            if self.page[:4] == data[:4]:
                break
        return data

    def drive(self, seconds, **values):
        """Loop for so many s of the simulator, as packet_id counts them; return its samples and the last data."""
        ids = []
        return self.loop(ids, lambda: not ids or ids[-1] - ids[0] < seconds * STEPS_PER_S, **values)

    def hold(self, seconds, **values):
        """Do so for s of the clock on the wall, whether the simulator goes on or not."""
        until = time.monotonic() + seconds
        return self.loop([], lambda: time.monotonic() < until, **values)

    def loop(self, ids, goes_on, **values):
        data, began = None, time.monotonic()
        while goes_on():
            assert time.monotonic() - began < PATIENCE, "the simulator does not go on"
            self.put(**values)
            data = self.read()
            if data is not None:
                ids.append(struct.unpack_from("<i", data)[0])
                if self.scribbles:
                    self.page[100:140] = b"\xff" * 40
            time.sleep(1.0 / self.rate)
        return ids, data


def number(data, kind, offset):
    return struct.unpack_from("<" + kind, data, offset)[0]


def speed_of(data):
    return number(data, "f", 36)


@contextmanager
def serving(folder, *flags, track="pinegrove"):
    """A served world, which is killed in the end."""
    with command("serve", "assetto", f"--track={track}", *flags, shm=folder) as host:
        host.until("ready ")
        yield


HELPERS = {"start": 1, "change": 1, "blip": 1}
KINDS = {
    # F: made before the game, 64 bytes; no room for the automatic box: he shifts up once. D, E: 68 bytes, by paddles.
    "64 bytes, before the host": {"size": 64, "before": True, "wish": {"gas": 0.5, **HELPERS}},
    "68 bytes, paddles": {"size": 68, "wish": {"gas": 0.5, "change": 1}},
    "72 bytes": {"size": 72, "wish": {"gas": 0.5, "autoshift": 1}},
    "76 bytes, the flag too late": {"size": 76, "wish": {"gas": 0.5, **HELPERS}},
    "256 bytes, clutch left pressed": {"size": 256, "wish": {"gas": 0.5, "clutch": 0.0, "autoshift": 1, **HELPERS}},
    "20 Hz, scribbles on Car": {"size": 72, "rate": 20.0, "scribbles": True, "wish": {"gas": 0.5, "autoshift": 1}},
}


def test_every_kind_of_client_drives_its_own_car(tmp_path):
    """Six at once, mixed with a car of ours; one is there before the host."""
    makers = [{k: v for k, v in kind.items() if k in ("size", "rate", "scribbles")} for kind in KINDS.values()]
    clients = [Client(tmp_path, 0, **makers[0])]
    clients[0].put(**KINDS["64 bytes, before the host"]["wish"])
    with serving(tmp_path, "--cars=7", "--no-classic"):
        clients += [Client(tmp_path, car, **makers[car]) for car in range(1, 6)]
        wishes = [kind["wish"] for kind in KINDS.values()]
        results = {}
        for _ in range(8):  # all of them by turns, in this one thread: a quarter of a second each round
            for car, (client, wish) in enumerate(zip(clients, wishes, strict=True)):
                results[car] = client.drive(0.06, **wish)
        for car, (ids, data) in results.items():
            assert data is not None, f"car {car} was never published"
            assert ids == sorted(ids), "packet_id went back"
            assert ids[-1] > 100
            assert speed_of(data) > 5.0, f"{list(KINDS)[car]} does not drive"
            assert sum(v * v for v in struct.unpack_from("<3f", data, 64)) == pytest.approx(1.0, abs=1e-5)
        ours = (tmp_path / spec.public_name(6)).read_bytes()
        assert number(ours, "f", 16) > 5.0, "the car that nobody has taken stands"
        assert not (tmp_path / spec.car_name(6)).exists()


def test_a_teleport_held_for_a_second(tmp_path):
    """B holds 2 for a second, then writes 0; E shifts up afterwards; the direction has a norm of 0.88."""
    with serving(tmp_path):
        client = Client(tmp_path, 0)
        client.drive(0.2, brake=1.0)
        data = client.read()
        x, y, z = struct.unpack_from("<3f", data, 88)
        look = struct.unpack_from("<3f", data, 64)
        there = (x + 30.0 * look[0], y, z + 30.0 * look[2])
        back = tuple(-0.88 * v for v in look)
        ids, data = client.drive(1.0, gas=1.0, autoshift=1, teleport_to=2, pos=there, dir=back)
        assert ids == sorted(ids)
        assert struct.unpack_from("<3f", data, 88) == pytest.approx(there, abs=1.0)
        assert struct.unpack_from("<3f", data, 64) == pytest.approx([-v for v in look], abs=0.02)
        assert speed_of(data) < 2.0
        assert client.controls[40] == 2  # the game never clears it
        _, data = client.drive(1.0, gas=0.6, autoshift=1)
        assert speed_of(data) > 5.0
        _, data = client.drive(0.1, brake=1.0, teleport_to=1)
        assert struct.unpack_from("<3f", data, 88) == pytest.approx((x, y, z), abs=0.5)


def test_a_killed_host_leaves_its_last_frame_and_the_next_one_takes_the_car_again(tmp_path):
    client = Client(tmp_path, 0)
    with serving(tmp_path):
        ids, _ = client.drive(0.5, gas=0.5, autoshift=1)
        assert ids[-1] > 50
    frozen, data = client.hold(0.3, gas=0.5, autoshift=1)
    assert len(set(frozen)) == 1  # it reads fine, and stands: packet_id alone tells
    assert speed_of(data) > 0.0
    with serving(tmp_path):
        wait_for(lambda: client.hold(0.1, gas=0.5, autoshift=1)[0][-1] != frozen[-1])
        _, data = client.drive(1.0, gas=0.5, autoshift=1)
        assert speed_of(data) > 3.0


class SimState:
    """A stranger's SimState page of one version: 4 bytes, or 8 with the time scale."""

    def __init__(self, folder, version):
        path = folder / (spec.SIM_STATE_V1 if version else spec.SIM_STATE_V0)
        path.write_bytes(struct.pack("<4Bf", 0, 0, 0, 0, 1.0)[: 8 if version else 4].ljust(4096, b"\0"))
        self.path, self.version = path, version

    def request(self, pause=0, collisions_off=0, sleep_ms=0, scale=1.0):
        data = struct.pack("<4Bf", pause, 0, collisions_off, sleep_ms, scale)
        with self.path.open("r+b") as file:
            file.write(data if self.version else data[:4])

    def remove(self):
        self.path.unlink()


def steps_per_second(client, seconds=0.3):
    """Steps of the simulation in a second of wall time, after the host has had time to find what was written."""
    client.hold(0.1, brake=1.0)
    began, first = time.monotonic(), number(client.read(), "i", 0)
    client.hold(seconds, brake=1.0)
    return (number(client.read(), "i", 0) - first) / (time.monotonic() - began)


@pytest.mark.parametrize("version", [0, 1])
def test_a_session_of_the_patch_from_the_structures_alone(tmp_path, version):
    """Pause, sleep, collisions, teleport on a hill and lines, with either version of SimState."""
    with serving(tmp_path, "--cars=2", "--park", track="serpent_pass"):
        client, other = Client(tmp_path, 0), Client(tmp_path, 1)
        for each in (client, other):
            each.drive(0.3, brake=1.0)
        sim = SimState(tmp_path, version)
        wait_for(lambda: steps_per_second(client) > 120.0)
        sim.request(pause=1)
        wait_for(lambda: steps_per_second(client) == 0.0)
        sim.request(sleep_ms=17)  # 3 + 17 ms a step
        wait_for(lambda: 12.0 < steps_per_second(client) < 60.0)
        if version:
            sim.request(scale=0.25)
            wait_for(lambda: 60.0 < steps_per_second(client) < 110.0)
        sim.request()
        wait_for(lambda: steps_per_second(client) > 120.0)

        # A hill: the steepest place of the pass, by a client that does not know its height and writes 0.
        road = load_track("serpent_pass").road
        steep = int(abs(road.column(RoadColumn.GRADE)).argmax())
        x, y, height, yaw = road.points(steep * road.spacing, 0.0)[0].tolist()
        ahead, look = (y, 0.0, x), (math.sin(yaw), 0.0, math.cos(yaw))
        client.drive(0.3, brake=1.0, teleport_to=2, pos=ahead, dir=look)
        _, data = client.drive(0.5, brake=1.0)
        place = struct.unpack_from("<3f", data, 88)
        assert (place[0], place[2]) == pytest.approx((ahead[0], ahead[2]), abs=0.5)
        assert place[1] == pytest.approx(height + 0.5, abs=0.5)  # of the centre of mass, on the road
        assert height > 100.0
        normal = struct.unpack_from("<3f", data, 148 + 24)
        assert normal[1] < 0.999, "the road climbs there"
        assert speed_of(data) < 0.5, "the brake holds the car on the grade"

        # Two cars at one place: with collisions off nothing pushes them apart.
        sim.request(collisions_off=1)
        other.drive(0.2, brake=1.0)
        for each in (client, other):
            each.drive(0.1, brake=1.0, teleport_to=2, pos=ahead, dir=look)
            each.drive(0.1, brake=1.0)
        places = [struct.unpack_from("<3f", each.drive(0.3, brake=1.0)[1], 88) for each in (client, other)]
        assert places[0] == pytest.approx(places[1], abs=0.3)
        sim.request()
        client.drive(0.2, brake=1.0)
        places = [struct.unpack_from("<3f", each.drive(0.5, brake=1.0)[1], 88) for each in (client, other)]
        assert sum((a - b) ** 2 for a, b in zip(*places, strict=True)) ** 0.5 > 0.5, "they push each other apart"

        if version:  # lines are the same beside either
            # Lines: the count last, as the page says.
            lines = tmp_path / spec.DEBUG_LINES
            body = b"".join(struct.pack("<6fI", *place, k, 1.0, 2.0, 0xFF00FF00) for k, place in enumerate(places))
            lines.write_bytes((struct.pack("<i", 2) + body).ljust(16384, b"\0"))
            client.drive(0.3, brake=1.0)
            with command("sniff", "assetto", shm=tmp_path) as sniff:
                sniff.end()
            assert "DebugLines" in sniff.out, sniff.out[-500:]
            assert "0xFF00FF00" in sniff.out
            lines.unlink()
        sim.remove()
