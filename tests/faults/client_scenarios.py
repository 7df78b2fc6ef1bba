"""Carries out a fault at our client's end and compares what happens with what is declared."""

import itertools
import re
import resource
import signal
import time

from helpers.waiting import let_pass, wait_until

from faults.checks import Findings, brakes_or_nothing
from faults.outcomes import CAMERA_FAULTS, DRIVER_FAULTS, SHIM_FAULTS, SIGNALS, STREAM_FAULTS
from faults.stop_judge import STAYS_S, judge_stop
from faults.stream_faults import Undisturbed, make_stream_fault
from faults.trace import STANDS_MPS, is_braking, is_released, is_safe
from trailbrake.errors import TrailbrakeError

FAULT_S = {
    "telemetry frozen 0.2 s": 0.2, "telemetry frozen 5 s": 5.0, "20 % loss": 2.0,
    **dict.fromkeys(CAMERA_FAULTS, 3.0),
}  # fmt: skip
USUAL_FAULT_S = 1.5
UNDISTURBED_S = 2.5
EXIT_S = 30.0  # at most, from a car that stands to the end of the process: a call may have to be broken off
END_LIMIT_S = 60.0  # from Ctrl-C at speed: the stop, then up to 20 s for what a slow disk has not taken yet
REAL_TIME_SHARE = 0.75
LONGEST_GAP_S = 0.6  # between two commands of an undisturbed drive on a busy machine


def run_client_cell(rig, cell, suspend_s=30.0):
    """Run one cell at `rig`; return (Findings, whether the rig can take another fault)."""
    findings = Findings()
    fault = cell.fault
    rig.wait_for_speed(20.0)
    if fault in STREAM_FAULTS or fault in CAMERA_FAULTS:
        damage_stream(rig, cell, findings)
    elif fault in DRIVER_FAULTS:
        rig.pull_trigger(fault)
        expect_stop(rig, cell, findings, time.monotonic())
    elif fault in SIGNALS:
        rig.client.send_signal(getattr(signal, SIGNALS[fault]))
        expect_stop(rig, cell, findings, time.monotonic())
    elif fault in SHIM_FAULTS:
        rig.pull_trigger(fault)
        expect_undisturbed(rig, findings, UNDISTURBED_S)
        end_by_signal(rig, cell, findings)
    else:
        OTHER_FAULTS[fault](rig, cell, findings, suspend_s)
    findings.check(not rig.client_tracebacks(), f"a traceback: {rig.client.lines[-3:]}")
    if cell.outcome.line and fault != "second client":
        findings.check(
            any(re.search(cell.outcome.line, line) for line in rig.client.lines),
            f"no line with {cell.outcome.line!r} but {rig.client.lines[-3:]}",
        )
    return findings, rig.client.is_running and not findings.failures


def damage_stream(rig, cell, findings):
    outcome, door = cell.outcome, rig.door
    rig.has_steady_clock = False
    duration = FAULT_S.get(cell.fault, USUAL_FAULT_S)
    began, states = time.monotonic(), door.states
    door.stream = make_stream_fault(cell.fault, rig.wire.view, is_stream=door.is_stream)
    wait_until(lambda: not rig.client.is_running, duration, 0.02)
    if outcome.wire_says != "the drive":
        expect_on_wire(rig, outcome, findings, began, door.states - states)
        judge_stop(rig.trace, rig.wire, findings, began)
    findings.check(rig.client.is_running, f"the client has ended: {rig.client.lines[-2:]}")
    door.stream = Undisturbed()
    expect_drive(rig, outcome, findings, time.monotonic())


def expect_on_wire(rig, outcome, findings, began, new_states):
    """Compare the commands since `began` with what the wire must say."""
    says = outcome.wire_says
    if says == "nothing":
        findings.check(new_states < 20, f"the simulator went on: {new_states} states")
        return
    first = {
        "brake": lambda: rig.trace.first_time(began, is_braking),
        "no throttle": lambda: rig.trace.first_time(began, is_released),
        "brake, then let go": lambda: rig.trace.first_time(began, is_safe),
        "brake or nothing": lambda: brakes_or_nothing(rig.trace, began),
    }[says]()
    findings.note("safe_s", first)
    if says == "brake, then let go":
        findings.check(any(map(is_braking, rig.trace.commands_since(began))), "it never brakes")
    findings.check(
        first is not None and first <= outcome.safe_s,
        f"the wire must say {says!r} within {outcome.safe_s} s, but {describe_commands(rig, began, first)}",
    )


def describe_commands(rig, began, first):
    last = rig.trace.commands[-1]
    return f"{'never did' if first is None else f'after {first:.2f} s'}; last {last[1]} at {last[0] - began:.2f} s"


def expect_drive(rig, outcome, findings, since):
    took = wait_until(lambda: rig.drives_since(since), max(outcome.car_s, 3.0) * 4.0, 0.02)
    findings.note("back_s", took)
    findings.check(
        took is not None and took <= outcome.car_s,
        f"must drive again within {outcome.car_s} s, took {took}: {rig.describe()}",
    )


def expect_stop(rig, cell, findings, began):
    """The drive ends: safe controls on the wire, a car that stands, exit code and recording."""
    outcome, trace = cell.outcome, rig.trace
    if outcome.exit_code == -signal.SIGKILL:
        code = rig.client.wait_for_exit(20.0)
        findings.check(code == outcome.exit_code, f"exit code {code}: {rig.client.lines[-2:]}")
        expect_abandoned(rig, outcome, findings, began)
    else:
        stood = wait_until(lambda: trace.speed < STANDS_MPS or not rig.client.is_running, outcome.car_s + 4.0, 0.01)
        findings.note("car_s", stood)
        seen = [command for when, command in trace.commands[-20000:] if when >= began]
        wanted = is_braking if outcome.wire_says == "brake" else is_released
        stop = trace.first_time(began, is_safe)
        findings.note("safe_s", stop)
        findings.check(any(map(wanted, seen)), f"the wire must say {outcome.wire_says!r}: {seen[-1:]}")
        findings.check(
            stop is not None and stop <= outcome.safe_s,
            f"no safe controls within {outcome.safe_s} s: {describe_commands(rig, began, stop)}",
        )
        code = rig.client.wait_for_exit(outcome.car_s + EXIT_S)
        findings.check(
            stood is not None and trace.speed < 2.0 * STANDS_MPS, f"the car does not stand: {rig.describe()}"
        )
        findings.check(code == outcome.exit_code, f"exit code {code}, not {outcome.exit_code}: {rig.client.lines[-2:]}")
        let_pass(STAYS_S)
        judge_stop(trace, rig.wire, findings, began, outcome.car_s)
    expect_recording(rig, outcome, findings, began)


def expect_abandoned(rig, outcome, findings, began):
    """The client was killed: its host must make the car safe, or wait for the next one."""
    trace, door = rig.trace, rig.door
    before = trace.speed
    if outcome.car == "waits":
        let_pass(1.0)
        states = door.states
        went_on = wait_until(lambda: door.states - states >= 20, 1.0)
        findings.check(went_on is None, f"the simulator goes on: {door.states - states} states in {went_on} s")
        return
    limit = STANDS_MPS if outcome.car == "stands" else max(0.85 * before, STANDS_MPS)
    took = wait_until(lambda: door.read_speed() < limit, outcome.car_s + 4.0, 0.01)
    findings.note("car_s", took)
    findings.check(took is not None and took <= outcome.car_s, f"the car goes on at {door.read_speed():.1f} m/s")
    judge_stop(trace, rig.wire, findings, began)


def expect_recording(rig, outcome, findings, until=None):
    """Read the recording; without jumps of the clock it must last from the first command to `until`."""
    try:
        first, last, rows = rig.recorded_span()
    except (OSError, TrailbrakeError, LookupError) as error:
        findings.check(False, f"the recording cannot be read: {error!r}")
        return
    findings.check(rows >= 10, f"only {rows} rows in the recording")
    findings.note("recorded_s", last - first)
    if until is None or not rig.has_steady_clock:
        return
    driven = until - rig.drive_began
    # Worlds of a busy machine are slower than real time; a second may be missing where the process was killed.
    wanted = REAL_TIME_SHARE * driven - (1.0 if outcome.recording == "to the last second" else 0.3)
    findings.check(last - first >= wanted, f"{driven:.1f} s were driven, {last - first:.1f} s recorded")


def expect_undisturbed(rig, findings, seconds):
    """The drive goes on for `seconds`: no gap between commands."""
    began = time.monotonic()
    wait_until(lambda: not rig.client.is_running, seconds, 0.05)
    times = [began, *(when for when, _ in rig.trace.commands[-20000:] if when >= began), time.monotonic()]
    gap = max(b - a for a, b in itertools.pairwise(times))
    findings.note("gap_s", gap)
    findings.check(gap < LONGEST_GAP_S * rig.patience, f"no command for {gap:.2f} s: {rig.describe()}")
    findings.check(rig.client.is_running, f"the client has ended: {rig.client.lines[-2:]}")


def end_by_signal(rig, cell, findings):
    """End the drive by Ctrl-C: 0, and the recording is there."""
    rig.client.send_signal(signal.SIGINT)
    code = rig.client.wait_for_exit(END_LIMIT_S)
    findings.check(code == 0, f"Ctrl-C ends it with {code}: {rig.client.lines[-2:]}")
    expect_recording(rig, cell.outcome, findings)


def kill_peer(rig, cell, findings, _):
    began = time.monotonic()
    rig.host.send_signal(signal.SIGKILL)
    rig.host.wait_for_exit(5.0)
    states = rig.door.states
    wait_until(lambda: rig.client.has_said("silent"), 5.0, 0.02)
    let_pass(0.3)
    expect_on_wire(rig, cell.outcome, findings, began, rig.door.states - states)
    end_by_signal(rig, cell, findings)


def lose_peer(rig, cell, findings, _):
    began = time.monotonic()
    rig.host.send_signal(signal.SIGKILL)
    states = rig.door.states
    code = rig.client.wait_for_exit(cell.outcome.car_s)
    findings.note("car_s", time.monotonic() - began)
    expect_on_wire(rig, cell.outcome, findings, began, rig.door.states - states)
    findings.check(code == cell.outcome.exit_code, f"exit code {code}: {rig.client.lines[-2:]}")
    expect_recording(rig, cell.outcome, findings)


def restart_peer(rig, cell, findings, _):
    rig.has_steady_clock = False
    rig.host.send_signal(signal.SIGKILL)
    rig.host.wait_for_exit(5.0)
    wait_until(lambda: rig.client.has_said("silent"), 5.0, 0.02)
    rig.start_host()
    expect_drive(rig, cell.outcome, findings, time.monotonic())


def add_client(rig, cell, findings, _):
    second = rig.make_client()
    try:
        expect_undisturbed(rig, findings, UNDISTURBED_S)
        code = second.wait_for_exit(30.0)
        findings.check(code == 2, f"the second client ends with {code}: {second.lines[-2:]}")
        findings.check(
            sum(line.startswith("trailbrake: ") for line in second.lines) == 1, f"not one line: {second.lines[-3:]}"
        )
        expect_undisturbed(rig, findings, 0.5)
    finally:
        second.close()


def add_host(rig, cell, findings, _):
    rig.door.intrude(1.0)
    expect_undisturbed(rig, findings, 1.0)


def suspend(rig, cell, findings, suspend_s):
    programs = (rig.client, rig.host)
    for program in programs:
        program.send_signal(signal.SIGSTOP)
    let_pass(suspend_s)
    for program in programs:
        program.send_signal(signal.SIGCONT)
    expect_drive(rig, cell.outcome, findings, time.monotonic())


def fill_disk(rig, cell, findings, _):
    """Let the recording grow no further: the system refuses the next write, as a full disk does."""
    size = rig.recordings()[-1].stat().st_size
    resource.prlimit(rig.client.pid, resource.RLIMIT_FSIZE, (size + 5000, resource.RLIM_INFINITY))
    expect_undisturbed(rig, findings, UNDISTURBED_S)
    end_by_signal(rig, cell, findings)


OTHER_FAULTS = {
    "peer killed in mid-corner": kill_peer,
    "peer gone for a minute": lose_peer,
    "peer restarted": restart_peer,
    "second client": add_client,
    "second host": add_host,
    "machine suspended for 30 s": suspend,
    "disk full while recording": fill_disk,
}
