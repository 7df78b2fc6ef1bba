"""`serve assetto`, `forza` and `beamng` under hostile clients for long, TRAILBRAKE_SOAK_S seconds each.

Not part of the default run: `pytest -m soak tests/soak`. Each host must still serve a decent client at the end. Nobody
reads what the hosts print meanwhile: their standard error is a pipe of 64 KiB.
"""

import math
import signal
import socket
import struct
import sys
import time

import pytest
from helpers.ports import free_udp_port
from helpers.processes import command
from helpers.soak import Watch, hostile
from helpers.waiting import let_pass, wait_for

from trailbrake.sims.assetto import codec, spec
from trailbrake.transport.shm import SharedMemory

pytestmark = [pytest.mark.soak, pytest.mark.skipif(sys.platform != "linux", reason="memory by /proc, pages as files")]

ODD = (math.nan, math.inf, -math.inf, 1e30, -1e30, 1e-30, 3e38, 0.0, 1.0, -1.0)


def stop(serve):
    serve.process.send_signal(signal.SIGTERM)
    assert serve.end(patience=600.0) == 0, serve.said
    assert not any("Traceback" in line for line in serve.said)


def test_assetto(tmp_path):
    """Car 0 belongs to the vandals; car 1 to a client that must be served all the time."""
    memory = SharedMemory(tmp_path)

    def write(name, data):
        (tmp_path / name).write_bytes(data)  # truncates, then writes

    def scribble(rng):
        data = bytearray(rng.randbytes(72))
        data[40] = rng.choice((0, 0, 1, 2))
        for place in (0, 4, 8, 12, 16, 44, 48, 52, 56, 60, 64):
            if rng.random() < 0.7:
                struct.pack_into("<f", data, place, rng.choice((*ODD, rng.gauss(0.0, 1e3), 0.5)))
        write(spec.controls_name(0), bytes(data)[: rng.choice((0, 1, 40, 71, 72, 72, 72, 72))])

    def command_session(rng):
        scale = rng.choice((*ODD, 10.0, 100.0))
        write(spec.SIM_STATE_V1, struct.pack("<4Bf", 0, rng.random() < 0.02, rng.random() < 0.5, 0, max(scale, 0.5)
              if math.isfinite(scale) else scale))  # fmt: skip
        write(spec.SIM_STATE_V0, rng.randbytes(rng.choice((0, 1, 3))))

    def draw(rng):
        write(spec.DEBUG_LINES, rng.randbytes(rng.choice((0, 3, 4, 1000, 16384))))

    def disturb(rng):
        name = rng.choice((spec.car_name(0), spec.public_name(0), spec.public_name(1)))
        if (tmp_path / name).exists():
            write(name, rng.randbytes(rng.choice((0, 4, 100, 4096))))
        place = tmp_path / spec.controls_name(0)
        if rng.random() < 0.02:
            place.unlink(missing_ok=True)

    with command("serve", "assetto", "--track=kartwerk", "--cars=2", "--json", shm=tmp_path) as serve:
        serve.until("ready ")
        page = memory.create_page(spec.controls_name(1))
        page.write(codec.encode_controls(codec.CarControls(gas=0.3, clutch=1.0, autoshift_active=1)))
        watch, last, car = Watch(serve.process), 0, None
        with hostile(scribble, command_session, draw, disturb):
            while watch.goes_on():
                car = car or memory.open_page(spec.car_name(1))
                data = b"" if car is None else car.read(codec.CAR_SIZE)
                if len(data) == codec.CAR_SIZE and codec.decode_packet_id(data) != last:
                    last = codec.decode_packet_id(data)
                    watch.note_sample()
                    seen = codec.decode_car(data)
                    assert all(map(math.isfinite, (*seen.position, *seen.velocity, seen.rpm, seen.speed_kmh)))
                let_pass(0.002)
        for name in (spec.SIM_STATE_V0, spec.SIM_STATE_V1, spec.DEBUG_LINES, spec.controls_name(0)):
            (tmp_path / name).unlink(missing_ok=True)
        # A decent client of the vandals' car: to the pits, and off.
        page.write(codec.encode_controls(codec.CarControls(brake=1.0, clutch=1.0)))
        mine = memory.create_page(spec.controls_name(0))
        mine.write(codec.encode_controls(codec.CarControls(clutch=1.0, teleport_to=1)))
        let_pass(1.0)
        drive = codec.CarControls(gas=0.5, clutch=1.0, autoshift_active=1, autoclutch_on_start=1)
        mine.write(codec.encode_controls(drive))
        wait_for(lambda: codec.decode_car(memory.open_page(spec.car_name(0)).read(codec.CAR_SIZE)).speed_kmh >= 10.0)
        stop(serve)
        watch.check("assetto", serve.summary)


def test_forza(tmp_path):
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    udp.settimeout(60.0)  # a busy machine; the longest gap is printed
    pad_port = free_udp_port()
    vandals = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(3)]

    def send(vandal, data):
        vandal.sendto(data, ("127.0.0.1", pad_port))

    def flood(rng):
        for _ in range(200):
            send(vandals[0], rng.randbytes(12))

    def bulk(rng):
        for _ in range(10):
            send(vandals[1], rng.randbytes(rng.choice((0, 1, 11, 13, 1400, 60000))))

    def pause(rng):
        send(vandals[2], struct.pack("<H2B4h", rng.choice((0x10, 0x8000, 0x1000, 0)), 0, 255, 0, 0, 0, 0))

    with command("serve", "forza", "--track=plain", "--json", f"--send=127.0.0.1:{udp.getsockname()[1]}",
                 f"--pad-port={pad_port}", shm=tmp_path) as serve:  # fmt: skip
        serve.until("ready ")
        watch = Watch(serve.process)
        with hostile(flood, bulk, pause):
            while watch.goes_on():
                data = udp.recv(1000)
                watch.note_sample()
                assert len(data) == 324
                floats = struct.unpack_from("<57f", data, 4)
                assert all(map(math.isfinite, floats[1:20]))
        deadline, speed, presses = time.monotonic() + 60.0, 0.0, 0
        while speed < 5.0:  # a decent pad, which sees IsRaceOn 0 and presses Start
            data = udp.recv(1000)
            (is_on,) = struct.unpack_from("<i", data)
            presses += 1
            button = 0x10 if not is_on and presses % 10 == 0 else 0
            vandals[0].sendto(struct.pack("<H2B4h", button, 0, 255, 0, 0, 0, 0), ("127.0.0.1", pad_port))
            (speed,) = struct.unpack_from("<f", data, 256)
            assert time.monotonic() < deadline, "a decent client does not drive away"
        stop(serve)
        watch.check("forza", serve.summary)
    for one in (udp, *vandals):
        one.close()


def test_beamng(tmp_path):
    """One decent controller in the midst of vandals at its port: its lockstep may be disturbed, not ended."""
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    udp.settimeout(0.5)
    port = free_udp_port()
    vandals = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]

    def flood(rng):
        for _ in range(50):
            vandals[0].sendto(rng.randbytes(rng.choice((0, 8, 511, 512, 513, 9000))), ("127.0.0.1", port))

    def command_wildly(rng):
        values = [rng.choice((*ODD, 1e9, 1e300)) for _ in range(63)]
        vandals[1].sendto(struct.pack("<64d", rng.choice((math.nan, 0.0, 5.0, 1e9)), *values), ("127.0.0.1", port))

    with command("serve", "beamng", "--track=plain", "--json", f"--send=127.0.0.1:{udp.getsockname()[1]}",
                 f"--receive-port={port}", shm=tmp_path) as serve:  # fmt: skip
        serve.until("ready ")
        watch, nan = Watch(serve.process), math.nan

        def answer(throttle):
            try:
                data = udp.recv(2000)
            except TimeoutError:
                return math.nan
            watch.note_sample()
            message = struct.unpack("<111d", data)
            assert all(map(math.isfinite, message))
            reply = struct.pack("<64d", message[0] + 1.0, throttle, 0.0, 0.0, *[nan] * 9, 0.0, *[0.0] * 50)
            udp.sendto(reply, ("127.0.0.1", port))
            return message[17]

        with hostile(flood, command_wildly):
            while watch.goes_on():
                answer(0.3)
        deadline = time.monotonic() + 60.0
        while not answer(0.5) > 5.0:
            assert time.monotonic() < deadline, "a decent client does not drive away"
        stop(serve)
        watch.check("beamng", serve.summary)
    for one in (udp, *vandals):
        one.close()
