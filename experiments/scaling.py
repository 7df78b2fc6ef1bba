"""Estimates training on 1 to 1000 nodes by measured costs and a simulation: the section `scaling` of docs/figures.md.

`python experiments/scaling.py --measure` trains for a minute on this machine, times reductions here, and keeps the
costs in experiments/results (extra `rl`); without it the section is written from the kept ones.
"""

import argparse
import json
import math
import statistics
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from figures_page import RESULTS, write_section

COSTS = RESULTS / "scaling.json"
NODES = (1, 2, 4, 10, 30, 100, 300, 1000)
CARS, STEPS = 512, 125  # of a worker, and of an iteration: the defaults of `train rl`
BARRIERS = 26  # reductions in an iteration: 24 minibatches, and two sets of moments
NUMBERS = 17_000  # of a gradient, float64
STATE_BYTES = 230_000  # of a checkpoint, which the command receives after each iteration
LATENCY, BANDWIDTH = 100e-6, 1.25e9  # s and bytes/s between two nodes: 10 Gbit/s Ethernet, assumed
DRAWS = 400  # iterations that are simulated


@dataclass(frozen=True)
class MeasuredCosts:
    """Costs on one processor.

    Attributes:
        sampling: s for a step of one car, world and actor.
        learning: s for a step of one car, all passes.
        spread: standard deviation of the logarithm of an iteration's time, by which nodes differ at a barrier.
        reduction: s for a reduction of a gradient between two processes of one machine.
        machine: one line.
    """

    sampling: float
    learning: float
    spread: float
    reduction: float
    machine: str


def measure_costs() -> MeasuredCosts:
    """Train for a while and time reductions, here."""
    from trailbrake.train.rl.curves import read_curves
    from trailbrake.train.rl.options import RlOptions
    from trailbrake.train.rl.training import train_policy

    with tempfile.TemporaryDirectory() as folder:
        options = RlOptions(out=Path(folder) / "run", iterations=40, evaluate_every=1000, cars=CARS)
        train_policy(options)
        rows = read_curves(options.out / "progress.jsonl")[5:]
    per_step = [1.0 / row["steps_per_cpu_s"] for row in rows]
    shares = [row["learning_share"] for row in rows]
    learning = statistics.median(cost * share for cost, share in zip(per_step, shares, strict=True))
    sampling = statistics.median(per_step) - learning
    spread = float(np.std(np.log(per_step)))
    return MeasuredCosts(sampling, learning, spread, measure_reduction(), "one processor of the machine of figures.md")


def measure_reduction() -> float:
    """Return the median time of a reduction between two learners of this machine, s."""
    import time

    from trailbrake.train.rl.worker_crew import LearnerGroup

    groups = [LearnerGroup(rank, 2) for rank in range(2)]
    port = groups[0].open_store("127.0.0.1")
    arrays = [np.ones(NUMBERS) for _ in groups]
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda group: group.join(("127.0.0.1", port), "127.0.0.1"), groups))
        times = []
        for _ in range(300):
            began = time.perf_counter()
            list(threads.map(LearnerGroup.average, groups, arrays))
            times.append(time.perf_counter() - began)
    return statistics.median(times)


def reduction_time(nodes: int, costs: MeasuredCosts) -> float:
    """Return the time of a ring reduction over nodes, s: 2 (N - 1) messages in a row, each 1/N of the numbers.

    Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations" (2009).
    """
    if nodes == 1:
        return 0.0
    return costs.reduction + 2.0 * (nodes - 1) * (LATENCY + 8.0 * NUMBERS / nodes / BANDWIDTH)


def simulate_iteration(nodes: int, cars: int, costs: MeasuredCosts, rng: np.random.Generator) -> dict[str, float]:
    """Return the mean times (s) of an iteration by what they go into.

    Each node's work between two barriers is drawn from a logarithmic normal distribution; all wait for the slowest.
    """
    sampling = cars * STEPS * costs.sampling
    learning = cars * STEPS * costs.learning / (BARRIERS - 2)
    mean = -0.5 * costs.spread**2
    slowest = {
        name: float(np.exp(rng.normal(mean, costs.spread, (DRAWS, nodes))).max(axis=1).mean())
        for name in ("sampling", "learning")
    }
    return {
        "sampling": sampling,
        "learning": learning * (BARRIERS - 2),
        "waiting": sampling * (slowest["sampling"] - 1.0) + learning * (BARRIERS - 2) * (slowest["learning"] - 1.0),
        "reductions": BARRIERS * reduction_time(nodes, costs),
        "state": (0.0 if nodes == 1 else LATENCY * math.log2(nodes)) + STATE_BYTES / BANDWIDTH,
    }


def list_iterations(costs: MeasuredCosts, cars_of: "dict[int, int]") -> "dict[int, str]":
    """Return efficiency, and what most of the time goes into, by number of nodes."""
    rng = np.random.default_rng(0)
    found, first = {}, 0.0
    for nodes, cars in cars_of.items():
        parts = simulate_iteration(nodes, cars, costs, rng)
        total = sum(parts.values())
        rate = nodes * cars * STEPS / total
        first = first or rate
        worst = max(parts, key=lambda name: parts[name])
        found[nodes] = f"{100.0 * rate / first / nodes:.0f} %, {worst} {100.0 * parts[worst] / total:.0f} %"
    return found


def build_section(costs: MeasuredCosts) -> str:
    """Return the section."""
    more = list_iterations(costs, dict.fromkeys(NODES, CARS))
    fixed = list_iterations(costs, {nodes: 4096 // nodes for nodes in NODES if nodes <= 4096 // 16})
    lines = [f"| nodes | {CARS} cars on each | 4096 cars in all |", "|---|---|---|"]
    lines += [f"| {nodes} | {more[nodes]} | {fixed.get(nodes, '')} |" for nodes in NODES]
    return "\n".join(lines) + (
        f"\n\nCosts: {1e6 * costs.sampling:.2f} us of sampling and {1e6 * costs.learning:.2f} us of learning for a step"
        f" of a car, {1e3 * costs.reduction:.2f} ms for a reduction of {NUMBERS} numbers between two processes of one"
        f" machine; assumed between nodes: {1e6 * LATENCY:.0f} us a message, {BANDWIDTH / 1e9:.2f} GB/s."
    )


def main() -> None:
    """Measure if that is wanted, and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true", help="measure the costs on this machine first")
    if parser.parse_args().measure:
        COSTS.write_text(json.dumps(asdict(measure_costs()), indent=1) + "\n", encoding="utf-8")
    write_section("scaling", build_section(MeasuredCosts(**json.loads(COSTS.read_text(encoding="utf-8")))))


if __name__ == "__main__":
    main()
