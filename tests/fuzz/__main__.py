"""Fuzzes targets until a time is over: `python -m fuzz --seconds 600`, from `tests`; `make fuzz` does so.

By Atheris, guided by coverage, where it is installed: each target in a child process, which ends at its first finding.
Else Hypothesis draws the cases. A finding is printed and its bytes are written below `build/fuzz`; they belong into
`tests/fuzz/seeds/TARGET/found_...` together with the repair. Exit code 1 if there are findings.
"""

import argparse
import contextlib
import importlib.util
import io
import os
import re
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, seed, settings

ROOT = Path(__file__).resolve().parents[2]
FOUND = ROOT / "build" / "fuzz"
MOST_MEMORY_MB = 3000
HANG_S = 25
ROUND_CASES = 100  # that Hypothesis draws from one seed


def list_kernel_modules() -> list[str]:
    """Return the modules whose functions numba compiles: their bytecode must stay as it is."""
    uses = re.compile(r"^\s*from trailbrake\.kernels", re.M)
    paths = (path for path in ROOT.glob("src/trailbrake/**/*.py") if uses.search(path.read_text(encoding="utf-8")))
    names = (".".join(path.relative_to(ROOT / "src").with_suffix("").parts) for path in paths)
    return ["trailbrake.kernels", *(name.removesuffix(".__init__") for name in names)]


def load_targets(*, instrumented: bool) -> dict[str, Any]:
    """Return the table of targets; for Atheris, with the package instrumented."""
    if not instrumented:
        from fuzz.targets import TARGETS

        return TARGETS
    import atheris

    packages = ["trailbrake", "yaml", "mcap"]  # not tomllib: its grammar would take the time
    # It prints a line for each module.
    with contextlib.redirect_stderr(io.StringIO()), atheris.instrument_imports(packages, exclude=list_kernel_modules()):
        from fuzz.targets import TARGETS
    return TARGETS


def fuzz_with_hypothesis(target: Any, seconds: float, first_seed: int) -> bool:
    """Draw cases of a target until the time is over; print a finding, minimised, and return whether there is one."""
    from fuzz.cases import build_cases

    end, number, last = time.monotonic() + seconds, first_seed << 20, b""
    while time.monotonic() < end:

        @seed(number)
        @settings(max_examples=ROUND_CASES, database=None, deadline=None, suppress_health_check=list(HealthCheck))
        @given(build_cases(target))
        def run_cases(case: bytes) -> None:
            nonlocal last
            if time.monotonic() < end:
                last = case
                target.run_case(case)

        try:
            run_cases()
        except Exception:
            traceback.print_exc()
            _keep_finding(target.name, last)
            return True
        number += 1
    return False


def fuzz_with_atheris(target: Any, seconds: float, first_seed: int) -> bool:
    """Fuzz a target in a child process until the time is over or it finds something; return whether it has."""
    folder = Path(tempfile.mkdtemp(prefix="trailbrake-fuzz-"))
    child = os.fork()
    if child:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        for path in sorted(folder.glob("found_*")):  # a case that hangs or fills the memory
            _keep_finding(target.name, path.read_bytes())
        shutil.rmtree(folder)
        return code != 0
    try:
        import atheris

        tempfile.tempdir = str(folder)  # for the files of cases: a child that is killed leaves them
        corpus, words = folder / "corpus", folder / "words"
        corpus.mkdir()
        for name, data in target.read_seeds().items():
            (corpus / name).write_bytes(data)
        escaped = ("".join(f"\\x{byte:02x}" for byte in token) for token in target.tokens if 0 < len(token) <= 64)
        words.write_text("".join(f'"{text}"\n' for text in escaped), encoding="ascii")
        flags = [
            str(corpus), f"-dict={words}", f"-max_len={target.max_bytes}", f"-seed={first_seed}", f"-timeout={HANG_S}",
            f"-rss_limit_mb={MOST_MEMORY_MB}", f"-artifact_prefix={folder}/found_", f"-max_total_time={seconds:.0f}",
            "-verbosity=0", "-reload=0", "-len_control=0",  # otherwise only short cases at first, which are no files
        ]  # fmt: skip

        def run_case(data: bytes) -> None:
            try:
                target.run_case(data)
            except Exception:
                _keep_finding(target.name, data)
                raise

        atheris.Setup([sys.argv[0], *flags], run_case)
        atheris.Fuzz()  # ends the process
    except Exception:
        traceback.print_exc()
    finally:
        os._exit(99)


def _keep_finding(name: str, data: bytes) -> None:
    path = FOUND / name / f"found_{len(data)}_bytes"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    print(f"{name}: {path}, {data[:400]!r}", flush=True)


def main() -> int:
    """Fuzz the targets that the command line names; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Fuzz the decoders and loaders.")
    parser.add_argument("targets", nargs="*", help="names of targets; none = all")
    parser.add_argument("--seconds", type=float, default=60.0, help="for all targets together")
    parser.add_argument("--share", type=int, default=0, help="only so many of them, in turn by the seed; 0 = all")
    parser.add_argument("--seed", type=int, default=int(time.time() // 86400), help="default: the day")
    arguments = parser.parse_args()
    guided = importlib.util.find_spec("atheris") is not None
    targets = load_targets(instrumented=guided)
    names = arguments.targets or list(targets)
    if 0 < arguments.share < len(names):
        names = [names[(arguments.seed * arguments.share + k) % len(names)] for k in range(arguments.share)]
    seconds = max(arguments.seconds / len(names), 1.0 if guided else 0.0)  # Atheris counts whole seconds
    print(f"{len(names)} targets, {seconds:.1f} s each, {'Atheris' if guided else 'Hypothesis'}, seed {arguments.seed}")
    warnings.filterwarnings("error", category=RuntimeWarning, module="trailbrake")  # as the tests do
    found = []
    for name in names:
        print(name, flush=True)
        fuzz_target = fuzz_with_atheris if guided else fuzz_with_hypothesis
        if fuzz_target(targets[name], seconds, arguments.seed):
            found.append(name)
    print(f"{len(names)} targets, {'findings in ' + ', '.join(found) if found else 'no findings'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
