"""Many stops of a live drive on one wire, seeded: rates, delays, losses and late drivers that the wire can have.

    python -m tests.faults.stops trend --count 50 --seed 1

Each stop is a signal or a failure of the driver while the car is at speed. Streams go through a proxy that delays each
direction by up to 120 ms; Forza's packets are late and lost; Assetto Corsa and BeamNG have a driver that is late.
"""

import argparse
import json
import random
import signal
import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path

from helpers.waiting import let_pass

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from faults.checks import Findings  # the path above comes first
from faults.client_rig import ClientRig
from faults.client_scenarios import expect_stop
from faults.client_table import CLIENT
from faults.outcomes import RAISING_FAULTS, SIGNALS, Cell
from faults.stream_faults import Delayed, lossy_queue
from faults.wires import WIRES

LONGEST_DELAY_S = 0.12  # each way
SETTLE_S = 1.5  # s that a wire has its delay before the stop
STOPS = [*RAISING_FAULTS, "driver answers NaN", "driver answers None", *(name for name in SIGNALS if name != "SIGKILL")]
PATIENCE = 2.5  # factor on limits: other work on the machine, and delays that the cells do not have


def spoil_wire(rig, draw):
    """Give the wire of a rig a delay, a loss or a late driver; return it in words."""
    if rig.door.is_stream:
        low, high = sorted(draw.uniform(0.0, LONGEST_DELAY_S) for _ in range(2))
        if draw.random() < 0.5:
            low = high  # a steady delay
        rig.door.stream = Delayed(low, high, draw.randrange(1 << 30))
        rig.door.commands = Delayed(low, high, draw.randrange(1 << 30))
        return f"{1e3 * low:.0f} to {1e3 * high:.0f} ms each way"
    if rig.wire.name == "forza":
        loss, delay = draw.uniform(0.0, 0.3), draw.uniform(0.0, 0.1)
        rig.door.stream = lossy_queue(loss=loss, delay=delay, jitter=0.3 * delay)
        return f"{100 * loss:.0f} % lost, {1e3 * delay:.0f} ms late"
    late = draw.uniform(0.0, 0.1)
    rig.late.write_text(f"{late}", encoding="utf-8")
    return f"driver late by {1e3 * late:.0f} ms a second"


def run_stop(rig, fault, draw):
    """Run one stop; return (Findings, the wire's fault in words)."""
    findings = Findings()
    outcome = CLIENT[fault][rig.wire.name]
    rig.wait_for_speed(60.0)
    spoilt = spoil_wire(rig, draw)
    rig.has_steady_clock = False
    let_pass(SETTLE_S + draw.uniform(0.0, 1.0))
    rig.wait_for_speed(60.0)
    began = time.monotonic()
    if fault in SIGNALS:
        rig.client.send_signal(getattr(signal, SIGNALS[fault]))
    else:
        rig.pull_trigger(fault)
    slower = replace(outcome, safe_s=PATIENCE * outcome.safe_s, car_s=PATIENCE * outcome.car_s)
    expect_stop(rig, Cell(rig.wire.name, "client", fault, slower), findings, began)
    return findings, spoilt


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.faults.stops", description=__doc__)
    parser.add_argument("wire", choices=sorted(WIRES))
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rests, failed = [], 0
    for number in range(options.count):
        draw = random.Random(1000 * options.seed + number)
        fault = draw.choice(STOPS)
        rig = ClientRig(WIRES[options.wire])
        try:
            findings, spoilt = run_stop(rig, fault, draw)
        except AssertionError as error:
            findings, spoilt = Findings(), "no drive"
            findings.failures.append(str(error)[:300])
        finally:
            rig.close()
        failed += bool(findings.failures)
        rests += [findings.times["rest_s"]] if "rest_s" in findings.times else []
        print(number, fault, spoilt, findings.times, *findings.failures, sep="; ", flush=True)
    print(json.dumps({
        "wire": options.wire, "seed": options.seed, "stops": options.count, "failed": failed,
        "rest_s": {"median": statistics.median(rests), "worst": max(rests)} if rests else None,
    }))  # fmt: skip
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
