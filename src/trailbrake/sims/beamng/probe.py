"""`probe beamng`: measures the round trip of a message, and proposes simulinkTime and pingTime.

The probe answers every message with the brake on. The computing time of the controller is an option: that of a driver
is `loop` in the summary of a drive.

A simulator that keeps its own pace sends at that pace, whenever answers arrive. So in the second half of the time each
answer is held back until the simulator has used up its window and waits: what comes then has waited for the answer.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from trailbrake.errors import UsageError
from trailbrake.histogram import DurationHistogram
from trailbrake.sims.beamng import spec
from trailbrake.sims.beamng.link import Link
from trailbrake.sims.beamng.timing import PHYSICS_STEP, compute_timing, expected_speed
from trailbrake.simulator_tools import ProbeTool
from trailbrake.state import Controls

MARGIN = 1.2  # proposed period over the computing time
_QUIET_PERIODS, _QUIET_S = 3.0, 0.005  # without a message after which the simulator waits: periods, and s besides
_POLL_S = 0.0005  # s of sleep while `open` waits for the first message


@dataclass(frozen=True, kw_only=True)
class ProbeOptions(spec.LiveOptions):
    """Measure round trips to a simulator, and propose simulinkTime and pingTime.

    Attributes:
        seconds: how long to measure.
        compute: s that the controller computes for a message: `loop` of `drive --json`.
        listen: our HOST:PORT, for states.
        peer: the simulator's HOST:PORT, for commands.
        reply_id: id of an answer.
        simulink_time: s, as set in the simulator. Default: the contract's, or 0.005.
        ping_time: s, as set in the simulator. Default: the contract's, or 0.00001.
        generation: the simulator's.
        contract: the CSV file with the signals of generation 2.
        vehicle: the vehicle, from 0.
        wait: seconds to wait for the first message.
        brake_torque: N m, mean of the wheels at full brake pedal, where a contract lists brake torques in place of the
            pedal.
        take: take the car.
    """

    seconds: float = 5.0
    compute: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for flag, value, most in (("--seconds", self.seconds, 3600.0), ("--compute", self.compute, 1.0)):
            if not 0.0 <= value <= most:
                raise UsageError("out of range", where=flag, expected=f"0 to {most:g} s", got=f"{value:g}")


def run(
    options: ProbeOptions, say: Callable[[str], None], clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Measure, and return the measured times and the proposed settings by name.

    Args:
        options: addresses and duration.
        say: receives lines for the user.
        clock: returns the time, s.

    Raises:
        SimulatorError: no message arrives from the simulator.
    """
    trips, exchanges = DurationHistogram(), 0

    def idle() -> float:
        time.sleep(_POLL_S)
        return clock()

    link = Link(options, idle=idle)
    say(options.timing.describe_timing())
    link.open(clock())
    try:
        began = now = clock()
        first = last = None
        while now - began < 0.5 * options.seconds:
            if not link.has_new_sample():
                link.wait(options.seconds)
                now = clock()
                continue
            state = link.read(clock())
            link.write(Controls(brake=1.0))
            now = clock()
            exchanges += 1
            first, last = first or state, state
        paced_s = now - began
        quiet = _QUIET_PERIODS * options.timing.message_period + _QUIET_S
        while first is not None and now - began < options.seconds:
            now = _measure_round_trip(link, trips, clock, quiet)
        simulated = last.time - first.time if first is not None and last is not None else 0.0
        link.release()
    finally:
        link.close()
    pace = simulated / paced_s if paced_s > 0.0 else math.nan
    return {"exchanges": exchanges, **_summarize_measurement(options, trips, pace, say)}


def _measure_round_trip(link: Link, trips: DurationHistogram, clock: Callable[[], float], quiet: float) -> float:
    """Answer a simulator that waits, and add the time until its next message; return the new `now`.

    Args:
        link: open.
        trips: of round trips; changed.
        clock: returns the time, s.
        quiet: s without a message after which the simulator waits.
    """
    heard_at = now = clock()
    while now - heard_at < quiet:
        if link.has_new_sample():
            link.read(now)
            heard_at = clock()
        else:
            link.wait(quiet)
        now = clock()
    link.write(Controls(brake=1.0))
    answered_at = clock()
    link.wait(spec.STALE_S)
    now = clock()
    if link.has_new_sample():
        trips.add_duration(now - answered_at)
    return now


def _summarize_measurement(
    options: ProbeOptions, trips: DurationHistogram, pace: float, say: Callable[[str], None]
) -> dict[str, float]:
    """Return the measured times and the proposed settings; warn if the controller is too slow for the period."""
    compute, network, present = options.compute, trips.percentile(0.99), options.timing.message_period
    period = min(max(math.ceil(MARGIN * compute / PHYSICS_STEP), 1) * PHYSICS_STEP, spec.LONGEST_PERIOD)
    ping, expected = network, math.nan
    if math.isfinite(network):
        if expected_speed(compute_timing(period, ping), network + compute, compute) < 1.0:
            ping += compute  # an answer takes both times: more messages must be allowed without an answer
        expected = expected_speed(compute_timing(period, ping), network + compute, compute)
    if compute > present:
        say(
            f"the controller computes {compute * 1e3:.3g} ms for a period of {present * 1e3:g} ms: the "
            f"simulator will be slower than real time; set simulinkTime to {period:g} or more"
        )
    return {
        "round_trip_p50_us": trips.percentile(0.5) * 1e6,
        "round_trip_p99_us": network * 1e6,
        "round_trip_p999_us": trips.percentile(0.999) * 1e6,
        "sim_over_real": pace,
        "period_s": present,
        "unanswered": options.timing.unanswered,
        "expected_sim_over_real": expected_speed(options.timing, network + compute, compute),
        "proposed_simulink_time_s": period,
        "proposed_ping_time_s": ping,
        "proposed_expected_sim_over_real": expected,
    }


PROBE = ProbeTool(ProbeOptions, run)
