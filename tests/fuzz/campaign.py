"""Runs a fuzzing campaign: `python -m fuzz.campaign --seconds 60`, from `tests`; `make fuzz` does so.

Each target has a process of its own, forked where the system can, so that the package is imported and its kernels are
loaded once. Atheris guides it by coverage, where it is installed (Linux: `pip install atheris`); otherwise the
mutations are blind. Each day has its own seed, so short runs add up; --corpus keeps what Atheris has found, --ledger
counts the cases, and --thin gives the time to the targets that have had the fewest.

A finding is minimised and printed as text; with --out it is also written to a file, which belongs into
`tests/fuzz/seeds/TARGET/found_...` together with the repair. Exit code 1 if there are findings.
"""

import argparse
import contextlib
import importlib.util
import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fuzz import ledger
from fuzz.scratch import find_ramdisk

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "trailbrake"
MOST_MEMORY_MB = 3000
HANG_S = 25
SCRATCH = "TRAILBRAKE_FUZZ_SCRATCH"
MOST_FINDINGS = 20  # of one target
GROWTH_AFTER = 2000  # cases after which memory is measured for the first time: caches are full then
MOST_GROWTH_MB = 200.0


def has_atheris() -> bool:
    """Return whether Atheris is installed."""
    return importlib.util.find_spec("atheris") is not None


def kernel_modules() -> list[str]:
    """Return the modules whose functions numba compiles: their bytecode must stay as it is."""
    uses = re.compile(r"^\s*from trailbrake\.kernels", re.M)
    paths = (path for path in PACKAGE.rglob("*.py") if uses.search(path.read_text(encoding="utf-8")))
    names = (".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in paths)
    return ["trailbrake.kernels", *(name.removesuffix(".__init__") for name in names)]


def memory_mb() -> float:
    """Return the resident memory of this process, MB; 0 where the system does not say."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return 0.0
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


class Worker:
    """Counts the cases of one target, keeps its findings, and ends the process after its share."""

    def __init__(self, target: Any, cases: int, seconds: float, report: Path) -> None:
        self.target, self._most, self._report = target, cases, report
        self._end = time.monotonic() + seconds
        self._begin = time.monotonic()
        self._memory = 0.0
        self.count = self.accepted = 0
        self.findings: dict[str, tuple[str, bytes]] = {}

    def run(self, data: bytes) -> None:
        """Run one case."""
        from fuzz.fuzz_target import FindingError

        data = bytes(data[: self.target.max_bytes])
        self.count += 1
        if self.count == GROWTH_AFTER:
            self._memory = memory_mb()
        try:
            self.accepted += self.target.run_case(data)
        except FindingError as error:
            place = describe_place(error)
            if place not in self.findings or len(data) < len(self.findings[place][1]):
                self.findings[place] = str(error), data
        if (
            self.count >= self._most
            or (self.count % 16 == 0 and time.monotonic() >= self._end)
            or len(self.findings) >= MOST_FINDINGS
        ):
            self.finish()

    def finish(self) -> None:
        """Write the report and end the process."""
        end = time.monotonic()
        now = memory_mb()
        growth = now - self._memory if self._memory else 0.0
        if growth > MOST_GROWTH_MB:
            self.findings["memory"] = f"{self.target.name}: memory grew by {growth:.0f} MB", b""
        found = [
            {"place": place, "text": text, "data": minimise(self.target, place, data).hex()}
            for place, (text, data) in self.findings.items()
        ]
        result = {
            "cases": self.count, "accepted": self.accepted, "seconds": end - self._begin, "memory": now,
            "growth": growth, "findings": found,
        }  # fmt: skip
        self._report.write_text(json.dumps(result), encoding="utf-8")
        sys.stdout.flush()
        os._exit(0)


def describe_place(error: BaseException) -> str:
    """Return type, file and line of what a finding came from: one place is reported once."""
    cause = error.__cause__
    if cause is None:
        return re.sub(r"[\d.]+", "N", str(error))[:60]
    trace, place = cause.__traceback__, ""
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if "trailbrake" in name:
            place = f"{Path(name).name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(cause).__name__} {place}"


def minimise(target: Any, place: str, data: bytes, seconds: float = 10.0) -> bytes:
    """Return a shorter case with a finding at the same place: cut in halves, quarters, and so on."""
    from fuzz.fuzz_target import FindingError

    def still_found(case: bytes) -> bool:
        try:
            target.run_case(case)
        except FindingError as error:
            return describe_place(error) == place
        return False

    end, size = time.monotonic() + seconds, max(len(data) // 2, 1)
    while size and time.monotonic() < end:
        at, shorter = 0, False
        while at < len(data) and time.monotonic() < end:
            case = data[:at] + data[at + size :]
            if still_found(case):
                data, shorter = case, True
            else:
                at += size
        if not shorter:
            size //= 2
    return data


def load_targets(engine: str) -> dict[str, Any]:
    """Return the table of targets; for Atheris, with the package instrumented."""
    if engine == "atheris":
        import atheris

        packages = ["trailbrake", "yaml", "mcap"]  # not tomllib: its grammar would take the time
        # It prints a line for each module.
        with contextlib.redirect_stderr(io.StringIO()), atheris.instrument_imports(packages, exclude=kernel_modules()):
            from fuzz.targets import TARGETS
    else:
        from fuzz.targets import TARGETS
    return dict(TARGETS)


def make_custom_mutator(mutator: Any, seeds: list[bytes]) -> Callable[[bytes, int, int], bytes]:
    """Return what Atheris calls for a new case: two of three keep the format readable, the others are its own.

    Some begin at a seed again: most of what covers something new is damaged.
    """
    import atheris

    from fuzz.structure import apply_mutator

    def change_case(data: bytes, size: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if rng.random() < 0.33:
            return bytes(atheris.Mutate(data, size))
        changed = apply_mutator(mutator, rng.choice(seeds) if rng.random() < 0.4 else bytes(data), rng)
        return changed if len(changed) <= size else bytes(atheris.Mutate(data, size))

    return change_case


def fuzz_target(target: Any, arguments: argparse.Namespace, report: Path) -> None:
    """Fuzz one target in this process, which ends."""
    from fuzz.mutation import mutated_cases

    if SCRATCH not in os.environ:
        os.environ[SCRATCH] = str(report.parent)  # it is removed with the campaign's folder
    warnings.filterwarnings("error", category=RuntimeWarning, module="trailbrake")  # as the tests do
    worker = Worker(target, arguments.cases, arguments.seconds, report)
    seeds = target.read_seeds()
    for data in seeds.values():
        worker.run(data)
    if arguments.engine != "atheris":
        for case in mutated_cases(
            list(seeds.values()), target.tokens, target.max_bytes, str(arguments.seed), target.mutator
        ):
            worker.run(case)
    import atheris

    corpus = (arguments.corpus or report.parent) / f"corpus_{target.name}"
    corpus.mkdir(parents=True, exist_ok=True)
    for name, data in seeds.items():
        (corpus / name).write_bytes(data)
    words = report.with_suffix(".dict")
    escaped = ("".join(f"\\x{byte:02x}" for byte in token) for token in target.tokens if 0 < len(token) <= 64)
    words.write_text("".join(f'"{text}"\n' for text in escaped), encoding="ascii")
    flags = [
        str(corpus), f"-max_len={target.max_bytes}", f"-seed={arguments.seed}", f"-timeout={HANG_S}",
        f"-rss_limit_mb={MOST_MEMORY_MB}", f"-artifact_prefix={report}.", "-verbosity=0", "-reload=0",
        "-len_control=0",  # otherwise only short cases at first, which are no files
    ]  # fmt: skip
    if target.tokens:
        flags.append(f"-dict={words}")
    run: Callable[[bytes], None] = worker.run
    more = (
        {} if target.mutator is None else {"custom_mutator": make_custom_mutator(target.mutator, list(seeds.values()))}
    )
    atheris.Setup([sys.argv[0], *flags], run, **more)
    atheris.Fuzz()


def run_forked(target: Any, arguments: argparse.Namespace, report: Path, log: Path) -> int:
    """Fuzz one target in a child of this process; return its exit code."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        with log.open("wb") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        fuzz_target(target, arguments, report)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(99)


def run_target(target: Any, arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Fuzz one target in a process of its own; return its report."""
    report, log = folder / "report.json", folder / "log"
    if hasattr(os, "fork"):
        code = run_forked(target, arguments, report, log)
    else:
        words = [sys.executable, "-m", "fuzz.campaign", "--worker", target.name, "--report", str(report)]
        words += ["--cases", str(arguments.cases), "--seconds", str(arguments.seconds), "--seed", str(arguments.seed)]
        words += ["--engine", arguments.engine] + (["--corpus", str(arguments.corpus)] if arguments.corpus else [])
        with log.open("wb") as file:
            code = subprocess.run(words, cwd=Path(__file__).parents[1], stdout=file, stderr=file).returncode
    if report.is_file():
        return dict(json.loads(report.read_text(encoding="utf-8")))
    left = sorted(folder.glob("report.json.*"))  # what libFuzzer keeps of a case that hangs or fills the memory
    data = left[0].read_bytes() if left and left[0].is_file() else b""
    lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    text = next((line for line in lines if "ERROR" in line), lines[-1] if lines else "no output")
    found = {"place": "process", "text": f"{target.name}: exit code {code}, {text[:300]}", "data": data.hex()}
    return {"cases": 0, "accepted": 0, "seconds": 0.0, "memory": 0.0, "growth": 0.0, "findings": [found]}


def load_kernels(target: Any) -> None:
    """Run the seeds of a target, for the children to inherit the kernels that they need: loading takes seconds."""
    from fuzz.fuzz_target import FindingError

    for data in target.read_seeds().values():
        with contextlib.suppress(FindingError):  # the child finds it too
            target.run_case(data)


def choose_names(names: list[str], arguments: argparse.Namespace) -> list[str]:
    """Return the targets of this campaign: all, those of --target, a share by the seed, or the thin half."""
    names = arguments.target or names
    if arguments.thin:
        counts = ledger.read_ledger(arguments.ledger)
        names = sorted(names, key=lambda name: counts.get(name, {}).get("cases", 0))[: (len(names) + 1) // 2]
    if 0 < arguments.share < len(names):
        first = arguments.seed * arguments.share
        names = [names[(first + k) % len(names)] for k in range(arguments.share)]
    return names


def print_finding(name: str, finding: dict[str, str], out: Path | None) -> None:
    """Print a finding, and write its bytes below `out`."""
    data = bytes.fromhex(finding["data"])
    print(f"    {finding['text']}\n    at {finding['place']}, {len(data)} bytes: {data[:400]!r}", flush=True)
    if out is not None:
        label = re.sub(r"\W+", "_", finding["place"]).strip("_").lower()
        (out / name).mkdir(parents=True, exist_ok=True)
        (out / name / f"found_{label}").write_bytes(data)


def main() -> int:
    """Run the campaign that the command line describes; return the exit code."""
    parser = argparse.ArgumentParser(description="Fuzz the decoders and loaders.")
    parser.add_argument("--target", action="append", default=[], help="only this one; once for each")
    parser.add_argument("--seconds", type=float, default=60.0, help="for all targets together")
    parser.add_argument("--share", type=int, default=0, help="only so many targets, by the seed; 0 = all")
    parser.add_argument("--cases", type=int, default=1 << 60, help="of each target at most")
    parser.add_argument("--seed", type=int, default=int(time.time() // 86400), help="default: the day")
    parser.add_argument("--engine", choices=("atheris", "blind"), default="atheris" if has_atheris() else "blind")
    parser.add_argument("--out", type=Path, help="folder for findings")
    parser.add_argument("--corpus", type=Path, help="folder that keeps what Atheris has found interesting")
    parser.add_argument("--ledger", type=Path, help="file to which the cases are added")
    parser.add_argument("--thin", action="store_true", help="only the half with the fewest cases in the ledger")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--report", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    targets = load_targets(arguments.engine)
    if arguments.worker:
        fuzz_target(targets[arguments.worker], arguments, arguments.report)
    if arguments.thin and arguments.ledger is None:
        parser.error("--thin needs --ledger")
    names = choose_names(list(targets), arguments)
    arguments.seconds /= len(names)
    print(f"{len(names)} targets, {arguments.seconds:.1f} s each, engine {arguments.engine}, seed {arguments.seed}")
    print(f"{'target':24}{'cases':>11}{'accepted':>10}{'per s':>9}{'MB':>7}{'growth':>8}  findings", flush=True)
    total, findings = 0, 0
    with tempfile.TemporaryDirectory(prefix="trailbrake-campaign-", dir=find_ramdisk()) as folder:
        if hasattr(os, "fork"):
            os.environ[SCRATCH] = folder
            for name in names:
                load_kernels(targets[name])
        for number, name in enumerate(names):
            made = Path(folder) / str(number)
            made.mkdir()
            result = run_target(targets[name], arguments, made)
            rate = result["cases"] / max(result["seconds"], 1e-3)
            print(
                f"{name:24}{result['cases']:>11}{result['accepted']:>10}{rate:>9.0f}{result['memory']:>7.0f}"
                f"{result['growth']:>8.1f}  {len(result['findings'])}",
                flush=True,
            )
            for finding in result["findings"]:
                print_finding(name, finding, arguments.out)
            if arguments.ledger is not None:
                ledger.add_result(arguments.ledger, name, result)
            total, findings = total + result["cases"], findings + len(result["findings"])
    print(f"{total} cases, {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
