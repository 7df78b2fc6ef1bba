"""The simulators whose sub-commands a command line needs."""

import sys

from trailbrake.sims import registry
from trailbrake.simulator import AnySimulator
from trailbrake.system.user_module import is_python_file

INSTALL = "--install-completion"  # in place of a verb: the shell learns all sub-commands


def choose_simulators(name: str) -> list[AnySimulator]:
    """Return the simulator called `name` alone where it is one, else all; broken ones are reported on stderr."""
    if name in registry.simulator_names() or is_python_file(name):
        return [registry.find(name)]
    listing = registry.list_simulators()
    for problem in listing.problems:
        print(f"trailbrake: {problem}", file=sys.stderr)
    return listing.simulators


def command_name(simulator: AnySimulator, name: str) -> str:
    """Return the sub-command's name: the simulator's, or FILE.py as the user wrote it."""
    return name if is_python_file(name) else simulator.name
