"""Carries out a fault at our host's end and compares what happens with what is declared."""

import json
import math
import signal
import socket
import struct
import time

from helpers.waiting import let_pass, wait_until

from faults.checks import Findings
from faults.outcomes import SIGNALS
from faults.page_door import CAR_PUBLIC
from faults.strangers import CallStranger
from faults.stream_faults import SHARE
from faults.trace import STANDS_MPS
from faults.wire_views import seeded

DAMAGE_S = 1.5


def run_host_cell(rig, cell, suspend_s=30.0):
    """Run one cell at `rig`; return (Findings, whether the rig can take another fault)."""
    findings = Findings()
    rig.wait_for_speed(20.0)
    if cell.fault in SIGNALS:
        end_host(rig, cell, findings)
    else:
        SCENARIOS[cell.fault](rig, cell, findings, suspend_s)
    findings.check(not any("Traceback" in line for line in rig.host.lines), f"a traceback: {rig.host.lines[-3:]}")
    return findings, rig.host.is_running and not findings.failures


def expect_driven(rig, cell, findings, since):
    took = wait_until(lambda: rig.is_driven_since(since), max(4.0 * cell.outcome.car_s, 10.0), 0.02)
    findings.note("back_s", took)
    findings.check(
        took is not None and took <= cell.outcome.car_s,
        f"the car must be driven within {cell.outcome.car_s} s, took {took}: {rig.describe()}",
    )


def replace_values(data, wire, value):
    """Return the command `data` with `value` in place of its numbers."""
    if wire.is_stream:
        found = json.loads(data[data.index(b"{") : data.rindex(b"}") + 1])
        as_text = isinstance(found.get("throttle"), str)
        found |= {key: str(value) if as_text else value for key in ("throttle", "steering_angle", "steering")
                  if key in found}  # fmt: skip
        return data[: data.index(b"{")] + json.dumps(found).encode() + data[data.rindex(b"}") + 1 :]
    changed = bytearray(data)
    if wire.name == "assetto":
        struct.pack_into("<5f", changed, 0, *[value] * 5)
    elif wire.name == "beamng":
        struct.pack_into("<3d", changed, 8, *[value] * 3)
    return bytes(changed)


def scramble(data, wire, draw):
    if wire.name == "assetto":  # 40: no teleport, which any client may command
        return draw.randbytes(40) + bytes(16) + draw.randbytes(16)
    if wire.name == "beamng":  # the id stays: a random one of 1e300 ends every later command, as in the game
        return data[:8] + draw.randbytes(len(data) - 8)
    if wire.name == "forza":  # no buttons: Start pauses the game
        return b"\0\0" + draw.randbytes(10)
    return bytes(draw.choices(range(32, 123), k=len(data)))


def make_change(fault, wire):
    """Return the function that damages commands."""
    draw = seeded()
    held = []

    def reorder(data):
        held.append(data)
        if len(held) < 2:
            return []
        late, now = held
        held.clear()
        return [now, late]

    def damage(change):
        # Simulators of events send nothing more until a command that they can read: there it follows the damaged one.
        after = (lambda data: [data]) if wire.is_stream else (lambda data: [])
        return lambda data: [change(data), *after(data)] if draw.random() < SHARE else [data]

    return {
        "20 % loss": lambda data: [] if draw.random() < 0.2 else [data],
        "duplicates": lambda data: [data, data],
        "reordering": reorder,
        "truncated": damage(lambda data: data[: len(data) // 2]),
        "garbage": damage(lambda data: scramble(data, wire, draw)),
        "NaN": damage(lambda data: replace_values(data, wire, math.nan)),
        "infinity": damage(lambda data: replace_values(data, wire, math.inf)),
    }[fault]


def damage_commands(rig, cell, findings, _):
    rig.stranger.change = make_change(cell.fault, rig.wire)
    wait_until(lambda: not rig.host.is_running, DAMAGE_S, 0.02)
    rig.stranger.change = lambda data: [data]
    findings.check(rig.host.is_running, f"the host has ended: {rig.host.lines[-2:]}")
    expect_driven(rig, cell, findings, time.monotonic())


def freeze_commands(rig, cell, findings, _):
    seconds = 0.2 if "0.2" in cell.fault else 5.0
    before, began = rig.trace.speed, time.monotonic()
    rig.stranger.frozen = True
    if cell.outcome.car == "rolls out":
        took = wait_until(lambda: rig.trace.speed < 0.9 * before, seconds, 0.01)
        findings.note("car_s", took)
        findings.check(took is not None, f"the car does not slow down: {before:.1f} to {rig.trace.speed:.1f} m/s")
    wait_until(lambda: not rig.host.is_running, seconds - (time.monotonic() - began), 0.02)
    if cell.outcome.car == "waits":
        count = rig.trace.count_speeds_since(began + 0.5)
        findings.check(count < 20, f"the simulator goes on: {count} states")
    rig.stranger.frozen = False
    expect_driven(rig, cell, findings, time.monotonic())


def shift_ids(rig, cell, findings, _):
    forward = cell.fault == "clock jumps forward"
    rig.stranger.shift = 720_000 if forward else -720_000
    began = time.monotonic()
    if not forward:  # the game ignores lower ids, and so its physics waits, but for a message every two seconds
        taken = wait_until(lambda: rig.trace.count_speeds_since(began + 0.3) >= 20, DAMAGE_S, 0.05)
        findings.check(taken is None, f"ids from before are taken: 20 states in {taken} s")
        rig.stranger.shift = 0
    expect_driven(rig, cell, findings, time.monotonic())


def kill_client(rig, cell, findings, _):
    before, stranger = rig.trace.speed, rig.stranger
    stranger.die()
    if cell.outcome.car in ("stands", "rolls out") and rig.wire.name in WATCHERS:
        watch = WATCHERS[rig.wire.name](rig)
        limit = STANDS_MPS if cell.outcome.car == "stands" else 0.9 * before
        took = wait_until(lambda: watch() < limit, cell.outcome.car_s + 2.0, 0.01)
        findings.note("car_s", took)
        findings.check(took is not None and took <= cell.outcome.car_s, f"the car goes on: {watch():.1f} m/s")
    elif cell.outcome.car == "waits":
        let_pass(1.5)
        if rig.wire.name not in ("donkeycar", "trend"):  # there a new client begins at rest
            rig.stranger = rig.make_stranger()
            wait_until(lambda: rig.trace.speeds, 10.0, 0.01)
            first = rig.trace.speeds[0][1] if rig.trace.speeds else 0.0
            findings.check(abs(first - before) < 2.0, f"the world has gone on: {before:.1f} to {first:.1f} m/s")
    if rig.stranger is stranger:
        rig.stranger = rig.make_stranger()
    rig.wait_for_speed()


def watch_public_page(rig):
    """Return a function that reads the speed from the page which the game publishes for all."""
    return lambda: struct.unpack_from("<f", (rig.pages / CAR_PUBLIC).read_bytes(), 16)[0] / 3.6


def watch_datagrams(rig):
    """Return a function that reads the speed from Data Out, which goes on without a pad."""

    def read():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
            listener.bind(("127.0.0.1", rig.state_port))
            listener.settimeout(1.0)
            return rig.wire.view.speed(listener.recv(4096))

    return read


WATCHERS = {"assetto": watch_public_page, "forza": watch_datagrams}


def restart_client(rig, cell, findings, _):
    rig.stranger.die()
    let_pass(0.3)
    rig.stranger = rig.make_stranger()
    expect_driven(rig, cell, findings, time.monotonic())


def add_client(rig, cell, findings, _):
    began = time.monotonic()
    second = CallStranger(rig.wire, rig.command_port)
    findings.check(wait_until(lambda: second.trace.speeds, 1.0) is None, "the second client is served too")
    second.die()
    expect_driven(rig, cell, findings, began)


def add_host(rig, cell, findings, _):
    second = rig.start_host()
    try:
        code = second.wait_for_exit(30.0)
        findings.check(code == 2, f"the second host ends with {code}: {second.lines[-2:]}")
        lines = [line for line in second.lines if line.startswith("trailbrake: ")]
        findings.check(len(lines) == 1, f"not one line: {second.lines[-3:]}")
    finally:
        second.close()
    expect_driven(rig, cell, findings, time.monotonic())


def suspend(rig, cell, findings, suspend_s):
    rig.host.send_signal(signal.SIGSTOP)
    let_pass(suspend_s)
    rig.host.send_signal(signal.SIGCONT)
    expect_driven(rig, cell, findings, time.monotonic())


def set_clock_back(rig, cell, findings, _):
    rig.host.send_signal(signal.SIGUSR1)
    let_pass(1.0)
    expect_driven(rig, cell, findings, time.monotonic())


def end_host(rig, cell, findings):
    began = time.monotonic()
    rig.host.send_signal(getattr(signal, SIGNALS[cell.fault]))
    code = rig.host.wait_for_exit(max(cell.outcome.car_s, 5.0))
    findings.note("exit_s", time.monotonic() - began)
    findings.check(code == cell.outcome.exit_code, f"exit code {code}: {rig.host.lines[-2:]}")
    if cell.outcome.exit_code == 0:
        findings.check(bool(rig.host.output) and json.loads(rig.host.output[0])["ended"] == "stopped",
                       f"no summary: {rig.host.output[:1]}")  # fmt: skip
        if rig.wire.transport == "pages":
            left = sorted(page.name for page in rig.pages.iterdir() if "CarControls" not in page.name)
            findings.check(not left, f"pages of the host are left: {left}")
        return
    rig.host = rig.start_host()  # after a kill the addresses are free again
    rig.host.wait_for_line("ready")
    if rig.wire.transport == "tcp":
        rig.replace_stranger()
    rig.wait_for_speed()


SCENARIOS = {
    "peer killed in mid-corner": kill_client,
    "peer restarted": restart_client,
    "telemetry frozen 0.2 s": freeze_commands,
    "telemetry frozen 5 s": freeze_commands,
    **dict.fromkeys(
        ("20 % loss", "duplicates", "reordering", "truncated", "garbage", "NaN", "infinity"), damage_commands
    ),
    "clock jumps forward": shift_ids,
    "clock jumps back": shift_ids,
    "second client": add_client,
    "second host": add_host,
    "machine suspended for 30 s": suspend,
    "clock of the system set back": set_clock_back,
}
