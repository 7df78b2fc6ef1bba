"""Short flags, names that a shell completes, and which flag a word without one may belong to.

The simulators whose sub-commands a command line needs.
"""

import sys
from collections.abc import Sequence

from cyclopts.completion import CompletionContext
from cyclopts.field_info import FieldInfo

from trailbrake.errors import UsageError
from trailbrake.sims import registry
from trailbrake.simulator import AnySimulator
from trailbrake.system.user_module import is_python_file

SHORT_FLAGS = {"-s": "--sim", "-d": "--driver", "-t": "--track", "-c": "--car", "-l": "--laps"}
_NAMED = ("track", "car", "driver", "sim")


def choose_short_flag(field: FieldInfo, taken: frozenset[str]) -> str | None:
    """Return the short flag of a field, of whichever verb; None for most."""
    return next((short for short, flag in SHORT_FLAGS.items() if flag == f"--{field.name}"), None)


def spell_out(token: str) -> str:
    """Return a token with the long form of a short flag."""
    flag, equals, value = token.partition("=")
    return SHORT_FLAGS.get(flag, flag) + equals + value


def list_names(kind: str) -> Sequence[str]:
    """Return the names that a track, car, driver or sim can have, without files; () for other kinds."""
    if kind == "track":
        from trailbrake.tracks.track_library import track_names

        return track_names()
    if kind == "car":
        from trailbrake.cars.car_library import car_names

        return car_names()
    if kind == "driver":
        from trailbrake.drivers.loading.driver_registry import driver_names

        return driver_names()
    from trailbrake.sims.registry import simulator_names

    return simulator_names() if kind == "sim" else ()


def complete_name(context: CompletionContext) -> Sequence[str]:
    """Return the names for the flag that a shell completes."""
    return list_names(context.argument.name.lstrip("-"))


def guess_flag(word: str) -> str:
    """Return a flag with the word, as a user may have meant it; "" where nothing says which."""
    if word.isdecimal():
        return f"--laps {word}"
    if word.endswith((".py", ".fmu")) or word.startswith("policy:"):
        return f"--driver {word}"
    return next((f"--{kind} {word}" for kind in _NAMED if word.partition("@")[0] in list_names(kind)), "")


INSTALL = "--install-completion"  # in place of a verb: the shell learns all sub-commands


def choose_simulators(name: str) -> list[AnySimulator]:
    """Return the simulator called `name` alone where it is one, else all; broken ones are reported on stderr."""
    if name in registry.simulator_names() or is_python_file(name):
        return [registry.find(name)]
    listing = registry.list_simulators()
    for problem in listing.problems:
        print(f"trailbrake: {problem}", file=sys.stderr)
    return listing.simulators


def choose_simulators_with(tool: str, name: str) -> list[AnySimulator]:
    """Return those of `choose_simulators` that have a tool; UsageError where `name` is a simulator without it."""
    chosen = choose_simulators(name)
    able = [simulator for simulator in chosen if tool in simulator.tools]
    if name and len(chosen) == 1 and not able:
        hint = f'its Simulator may name one: tools={{"{tool}": ...}}' if is_python_file(name) else ""
        raise UsageError(f"{chosen[0].name} has no {tool}", where=name, hint=hint)
    return able


def command_name(simulator: AnySimulator, name: str) -> str:
    """Return the sub-command's name: the simulator's, or FILE.py as the user wrote it."""
    return name if is_python_file(name) else simulator.name
