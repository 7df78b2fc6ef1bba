"""The other side of the bridge, as a stranger's program in the prefix: `in_prefix.py game|client|echo ...`.

For a Windows Python; standard library only, and nothing of ours. It says on its output what it sees, one line each.
"""

import ctypes
import mmap
import statistics
import struct
import sys
import time

P = "AcTools.CSP.NewBehaviour.CustomAI."
CONTROLS, CAR = f"{P}CarControls0.v0", f"{P}Car0.v0"


def say(*words):
    print(*words, flush=True)


def there(name):
    """OpenFileMapping, which unlike `mmap` makes nothing."""
    kernel = ctypes.WinDLL("kernel32")
    kernel.OpenFileMappingW.restype = ctypes.c_void_p
    handle = kernel.OpenFileMappingW(4, 0, name)
    if handle:
        kernel.CloseHandle(ctypes.c_void_p(handle))
    return bool(handle)


def section(name, size):
    return mmap.mmap(-1, size, tagname=name)


def game(golden):
    """Run a session: answer CarControls0 by Car0, the golden message with a packet_id that moves."""
    graphics, physics = section("acpmf_graphics", 296), section("acpmf_physics", 580)
    graphics[:8] = struct.pack("<ii", 1, 2)  # packet 1, live
    physics[:4] = struct.pack("<i", 5000)  # for 15 s
    message = bytes.fromhex(golden)
    held = {}
    packet, seen = 0, b""
    while True:
        if CONTROLS not in held and there(CONTROLS):
            held[CONTROLS], held[CAR] = section(CONTROLS, 72), section(CAR, 672)
            say("taken")
        if held:
            packet += 1
            physics[:4] = struct.pack("<i", 5000 + packet)
            held[CAR][4:672] = message[4:]
            held[CAR][:4] = struct.pack("<i", packet)
            if (now := held[CONTROLS][:72]) != seen:
                seen = now
                say("controls", now.hex())
        time.sleep(0.003)


def client(controls):
    """Take car 0 with these controls, and say what comes back."""
    page = section(CONTROLS, 72)
    page[:72] = bytes.fromhex(controls)
    car = section(CAR, 672)
    packet, stale = 0, True
    while True:
        data = car[:672]
        (now,) = struct.unpack_from("<i", data)
        if now != packet:
            if stale:
                say("car", data.hex())
            packet, moved = now, time.monotonic()
            stale = False
        elif packet and not stale and time.monotonic() - moved > 0.5:
            stale = True
            say("stale", packet)
        time.sleep(0.001)


def echo(times, at):
    """Write a number, wait for it to come back, `times` over; say the quantiles of the way there and back, in us.

    The number is the float at `at` of the controls, and of the car where the host answers by what it applies.
    """
    out, back = section(CONTROLS, 72), section(CAR, 672)
    at, there = (int(number) for number in at.split(":"))
    out[8:12] = struct.pack("<f", 1.0)  # the clutch is let go
    took = []
    for number in range(1, int(times) + 1):
        word = struct.pack("<f", number / 65536 % 1.0)
        began = time.perf_counter()
        out[at : at + 4] = word
        while back[there : there + 4] != word:
            if time.perf_counter() - began > 20.0:
                say("no answer to", number)
                return
        took.append((time.perf_counter() - began) * 1e6)
    took = sorted(took[len(took) // 10 :])
    quantiles = (took[int(q * (len(took) - 1))] for q in (0.05, 0.5, 0.95, 0.99, 0.999))
    say("round", *(f"{q:.1f}" for q in quantiles), f"{statistics.fmean(took):.1f}")
    time.sleep(60.0)


if __name__ == "__main__":
    {"game": game, "client": client, "echo": echo}[sys.argv[1]](*sys.argv[2:])
