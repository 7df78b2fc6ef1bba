"""What programs and drivers of a race day may use: their environment, their folder, and their limits.

The process of a heat gets namespaces of its own with a loopback of its own, which it shares with its program. A program
is confined once more inside of it, so that it cannot reach the process that judges it.
"""

import json
import os
import re
import shutil
import site
import subprocess
import sys
import tempfile
from pathlib import Path

from trailbrake.drivers.loading.driver_registry import driver_names
from trailbrake.race.plan import EntryLimits, RaceEntry
from trailbrake.simulator import ANY_CAR_DRIVER
from trailbrake.system.confinement import Confinement, confined_command, measure_tree

PROBE_LIMIT_S = 30.0  # s that the probe of the system may take
LEAST_HEAT_MEMORY = 2048  # MB: a world, its kernels and their compiler
_OWN_PROCESSES = 8  # those that confine an entry, and the heat's
_KERNELS = "NUMBA_CACHE_DIR"
# What programs need to run, and nothing that may be a secret.
_KEPT = re.compile(
    r"PATH|LD_LIBRARY_PATH|DYLD_\w+|LANG|LANGUAGE|LC_\w+|TZ|VIRTUAL_ENV|PYTHONPATH|PYTHONHOME|PYTHONUTF8|PYTHONWARNINGS"
    r"|TRAILBRAKE_\w+|NUMBA_\w+|CUDA_\w+|NVIDIA_\w+|(OMP|MKL|OPENBLAS|NUMEXPR)_NUM_THREADS"
    r"|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|NUMBER_OF_PROCESSORS|PROCESSOR_\w+|PROGRAMFILES.*|PROGRAMDATA",
    re.IGNORECASE,
)


def make_environment(limits: EntryLimits, home: Path) -> dict[str, str]:
    """Return the environment of an entry whose home and temporary folder is `home`."""
    kept = {name: value for name, value in os.environ.items() if _KEPT.fullmatch(name) or name in limits.environment}
    if site.ENABLE_USER_SITE:  # packages of the user are found by the home otherwise
        kept.setdefault("PYTHONUSERBASE", site.getuserbase())
    own = dict.fromkeys(("HOME", "TMPDIR", "TEMP", "TMP", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"), str(home))
    if sys.platform == "win32":
        own |= dict.fromkeys(("USERPROFILE", "APPDATA", "LOCALAPPDATA"), str(home))
    return kept | own


def is_foreign(entry: RaceEntry) -> bool:
    """Return whether an entry is somebody's own program or file, not a driver that ships with trailbrake."""
    return bool(entry.command) or entry.driver not in (*driver_names(), ANY_CAR_DRIVER)


def confine_heat(
    command: list[str], grid: tuple[RaceEntry, ...], limits: EntryLimits, folders: tuple[Path, ...]
) -> tuple[list[str], dict[str, str]]:
    """Return the command line of a heat's process within its limits, and its environment.

    Args:
        command: the heat's.
        grid: its entries.
        limits: theirs.
        folders: that it may write to; the first one is its home.
    """
    home = folders[0]
    environment = make_environment(limits, home)
    if all(not is_foreign(entry) for entry in grid):
        return command, environment
    writable = [str(folder) for folder in folders]
    kernels = environment.get(_KERNELS)
    if kernels and any(is_foreign(entry) and not entry.command for entry in grid):
        # A driver runs in this process: what it wrote there would be run by the next drive.
        environment[_KERNELS] = shutil.copytree(kernels, str(home / "kernels"), dirs_exist_ok=True)
    elif kernels:
        writable.append(kernels)
    confined = Confinement(
        memory=limits.memory and max(limits.memory, LEAST_HEAT_MEMORY), processes=limits.processes,
        open_files=limits.open_files, file_size=limits.file_size, cpu=limits.cpu, network=limits.network,
        writable=tuple(writable) if limits.read_only else (),
    )  # fmt: skip
    return confined_command(confined, command), environment


def confine_program(
    command: list[str], limits: EntryLimits, home: Path, failure: int
) -> tuple[list[str], dict[str, str]]:
    """Return a program's command line within its limits, and its environment, in which the port is to be added.

    Args:
        command: the program's.
        limits: the entry's.
        home: the folder that it may write to.
        failure: a descriptor to which the reason is written if the program cannot be started.
    """
    confined = Confinement(
        memory=limits.memory, processes=limits.processes, open_files=limits.open_files, file_size=limits.file_size,
        cpu=limits.cpu, network=True, writable=(str(home),) if limits.read_only else (), failure=failure,
    )  # fmt: skip
    environment = make_environment(limits, home)
    for name in [name for name in environment if name.startswith("TRAILBRAKE_") and name not in limits.environment]:
        del environment[name]  # ours, and not the program's business
    return confined_command(confined, command), environment


def find_excess(process: int, limits: EntryLimits) -> str:
    """Return what all processes below `process` together use too much of, "" = nothing."""
    count, megabytes = measure_tree(process)
    if limits.processes and count > limits.processes + _OWN_PROCESSES:
        return f"more than {limits.processes} processes"
    allowed = limits.memory and max(limits.memory, LEAST_HEAT_MEMORY)
    if allowed and megabytes > allowed:
        return f"more than {allowed} MB of memory"
    return ""


def describe_confinement(limits: EntryLimits) -> str:
    """Return in one line what this system keeps entries from, found by trying."""
    if sys.platform == "win32":
        return "entries use the network, memory and files as you do: Windows sets them no limits here"
    with tempfile.TemporaryDirectory() as folder:
        status = Path(folder) / "status"
        probe = Confinement(network=limits.network, writable=(folder,) if limits.read_only else (), status=str(status))
        try:
            subprocess.run(confined_command(probe, [sys.executable, "-I", "-S", "-c", ""]), stdin=subprocess.DEVNULL,
                           capture_output=True, timeout=PROBE_LIMIT_S, check=True)  # fmt: skip
            missing = list(json.loads(status.read_text(encoding="utf-8")))
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            missing = [f"no namespaces: {type(error).__name__}"]
    if any(text.startswith("no namespaces") for text in missing):
        return (
            f"entries use the network and the files as you do; memory and processes are limited ({'; '.join(missing)})"
        )
    kept = ["" if limits.network else "the network", "your processes", "writing files" if limits.read_only else ""]
    cut = ", ".join(part for part in kept if part)
    return f"entries are cut off from {cut}" + (f" ({'; '.join(missing)})" if missing else "")
