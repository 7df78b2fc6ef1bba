"""`probe beamng`: what a message and its answer take, and which two times to set in the simulator.

It answers with the brake on for a while. A driver of ours can be asked meanwhile, so that what it computes is measured
with what this end of the wire takes; nobody does what it says. How long another controller computes has to be told.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from trailbrake.errors import UsageError
from trailbrake.histogram import Durations
from trailbrake.sims.beamng import spec
from trailbrake.sims.beamng.link import Link
from trailbrake.sims.beamng.timing import PHYSICS_STEP, as_meant, expected_speed
from trailbrake.state import CarState, Controls

MARGIN = 1.2  # by which a proposed period is longer than the slowest of a hundred computations
_LOOK = 0.0005  # s between looks while there is no message


@dataclass(frozen=True, kw_only=True)
class Options(spec.LiveOptions):
    """Measure round trips to a simulator, and propose simulinkTime and pingTime.

    Attributes:
        seconds: how long to measure.
        compute: s that another controller takes for one message, without the wire.
        driver: whose computing is measured, as `drive --driver` takes it.
        track: what that driver is told of the road; a track's name or file.
        car: and of the car.
        listen: our HOST:PORT, where states come in.
        peer: the simulator's HOST:PORT, where commands go.
        reply_id: what an answer's id is: counter, echo or echo_delayed.
        simulink_time: s, as set in the simulator.
        ping_time: s, as set in the simulator.
        generation: 1 or 2, as the simulator's.
        contract: the CSV file that lists the signals of generation 2.
        vehicle: which of several vehicles.
        wait: seconds to wait for the first message.
    """

    seconds: float = 5.0
    compute: float = 0.0
    driver: str = ""
    track: str = "hartmoor"
    car: str = "gt3"

    def __post_init__(self) -> None:
        super().__post_init__()
        for flag, value, most in (("--seconds", self.seconds, 3600.0), ("--compute", self.compute, 1.0)):
            if not 0.0 <= value <= most:
                raise UsageError("out of range", where=flag, expected=f"0 to {most:g} s", got=f"{value:g}")


def run(
    options: Options,
    say: Callable[[str], None],
    answer: Callable[[CarState], object] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Any]:
    """Measure, and return what was found and what to set.

    Args:
        options: where, and for how long.
        say: for warnings.
        answer: asks the driver of the options.
        clock: s.

    Raises:
        SimulatorError: there is no simulator.
    """
    trips, work = Durations(), Durations()

    def idle() -> float:
        time.sleep(_LOOK)
        return clock()

    link = Link(options, idle=idle)
    say(spec.about(options))
    link.open(clock())
    try:
        began = now = clock()
        first = last = None
        answered = math.nan
        while now - began < options.seconds:
            if not link.fresh():
                link.wait(options.seconds)
                now = clock()
                continue
            came = clock()
            state = link.read(came)
            if answer is not None:
                answer(state)
            link.write(Controls(brake=1.0))
            now = clock()
            if first is not None:  # a driver may compile at its first
                work.add(now - came)
            if math.isfinite(answered):
                trips.add(came - answered)
            answered = now
            first, last = first or state, state
        simulated = last.time - first.time if first is not None and last is not None else 0.0
        link.release()
    finally:
        link.close()
    return _judge(options, trips, work, simulated / (now - began) if now > began else math.nan, say)


def _judge(
    options: Options, trips: Durations, work: Durations, speed: float, say: Callable[[str], None]
) -> dict[str, Any]:
    compute = options.compute + work.percentile(0.99)
    network, usual = trips.percentile(0.99), trips.percentile(0.5)
    measured = math.isfinite(compute + network)
    steps = math.ceil(MARGIN * compute / PHYSICS_STEP) if measured else 0
    period = min(steps * PHYSICS_STEP, spec.LONGEST_PERIOD) if measured else math.nan
    ping = network
    if measured and expected_speed(as_meant(period, ping), network + compute, compute) < 1.0:
        ping += compute  # an answer is under way for both, and so many messages must be let go unanswered
    if compute > options.timing.step:
        say(
            f"the controller computes {compute * 1e3:.3g} ms for a period of {options.timing.step * 1e3:g} ms: the "
            f"simulator will be slower than real time; set simulinkTime to {period:g} or more"
        )
    return {
        "exchanges": trips.count + 1 if trips.count else 0,
        "round_trip_p50_us": usual * 1e6,
        "round_trip_p99_us": network * 1e6,
        "round_trip_p999_us": trips.percentile(0.999) * 1e6,
        "compute_p99_us": compute * 1e6,
        "sim_over_real": speed,
        "period_s": options.timing.step,
        "unanswered": options.timing.unanswered,
        "expected_sim_over_real": expected_speed(options.timing, network + compute, compute),
        "proposed_simulink_time_s": period,
        "proposed_ping_time_s": ping,
        "proposed_expected_sim_over_real": (
            expected_speed(as_meant(period, ping), network + compute, compute) if measured else math.nan
        ),
    }
