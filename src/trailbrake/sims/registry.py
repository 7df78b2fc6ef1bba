"""Finds simulators: the folders here, entry points of other packages, and a user's own file.

`find` is called once, at the edge: by the command line, `connect`, environments and race plans. Everything below takes
the `Simulator` that it returns.
"""

import importlib
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from trailbrake.errors import DataError, TrailbrakeError, UsageError, suggest_names
from trailbrake.simulator import AnySimulator, Simulator, check_declaration
from trailbrake.system.user_module import import_user_file, is_python_file, split_file_text

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "trailbrake.simulators"  # group of the entry points; an entry point's name is the simulator's


class Listing(NamedTuple):
    """Every simulator that can be used, sorted by name, and what is wrong with the others."""

    simulators: list[AnySimulator]
    problems: list[TrailbrakeError]


def simulator_names() -> list[str]:
    """Return the names of the simulators that ship with the package, sorted: the folders beside this file."""
    return sorted(p.parent.name for p in Path(__file__).parent.glob("*/__init__.py"))


def find(text: str) -> AnySimulator:
    """Return the simulator that `text` names.

    Args:
        text: a name out of `simulator_names()`; the name of an entry point in the group `trailbrake.simulators` of an
            installed package; FILE.py, or FILE.py:NAME (by default SIMULATOR, else the file's only Simulator).

    Raises:
        UsageError: there is no such simulator or file, or another simulator has its name.
        DataError: the module cannot be imported, or what it declares is no proper Simulator.
    """
    if is_python_file(text):
        return _find_in_file(text)
    if text in simulator_names():
        return _built_in(text)
    plugins = _entry_points()
    if text in plugins:
        return _load_plugin(plugins[text])
    known = sorted({*simulator_names(), *plugins})
    raise UsageError("no such simulator", where="sim", got=text,
                     hint=suggest_names(text, known) + "; or FILE.py of your own")  # fmt: skip


def list_simulators() -> Listing:
    """Return all simulators that ship with the package or that other packages bring; one that is broken is left out."""
    found, problems = [_built_in(name) for name in simulator_names()], []
    for plugin in _plugin_entry_points():
        try:
            found.append(_load_plugin(plugin))
        except TrailbrakeError as error:
            problems.append(error)
    return Listing(sorted(found, key=lambda simulator: simulator.name), problems)


@cache
def _built_in(name: str) -> AnySimulator:
    simulator: AnySimulator = importlib.import_module(f"trailbrake.sims.{name}").SIMULATOR
    return simulator


def _find_in_file(text: str) -> AnySimulator:
    path, wanted = split_file_text(text)
    module = import_user_file(path, "simulator")
    simulator = check_declaration(_declared_in(module, wanted, str(path)), f"{path}, {wanted or 'SIMULATOR'}")
    if simulator.name in simulator_names() or simulator.name in _entry_points():
        raise UsageError("another simulator has this name", where=f"{path}, name", got=repr(simulator.name),
                         hint="choose another")  # fmt: skip
    return simulator


def _declared_in(module: ModuleType, wanted: str, where: str) -> object:
    values = vars(module)
    found = {name: value for name, value in values.items() if isinstance(value, Simulator)}
    if wanted:
        if wanted not in values:
            raise DataError("no such simulator in the file", where=where, got=wanted,
                            hint=suggest_names(wanted, list(found)) if found else "")  # fmt: skip
        return values[wanted]
    if "SIMULATOR" in values:
        return values["SIMULATOR"]
    if len(found) == 1:
        return next(iter(found.values()))
    raise DataError("holds several simulators" if found else "holds no simulator", where=where,
                    expected="SIMULATOR = Simulator(...)", got=", ".join(found) or "no Simulator",
                    hint="FILE.py:NAME chooses one" if found else "")  # fmt: skip


def _plugin_entry_points() -> "list[EntryPoint]":
    from importlib.metadata import entry_points  # reads every installed package's metadata: not for a built-in name

    return list(entry_points(group=ENTRY_POINTS))


def _entry_points() -> "dict[str, EntryPoint]":
    return {plugin.name: plugin for plugin in reversed(_plugin_entry_points())}


def _load_plugin(plugin: "EntryPoint") -> AnySimulator:
    package = plugin.dist.name if plugin.dist is not None else "?"
    where = f"package {package}, entry point {plugin.name} = {plugin.value}"
    if plugin.name in simulator_names():
        raise UsageError("another simulator has this name", where=where, hint="the package must choose another")
    try:
        value: Any = plugin.load()
    except TrailbrakeError:
        raise
    except (Exception, SystemExit) as error:
        raise DataError(f"raised {type(error).__name__} on import: {error}", where=where) from error
    simulator = check_declaration(value, where)
    if simulator.name != plugin.name:
        raise DataError("the simulator's name is not the entry point's", where=f"{where}, name",
                        expected=repr(plugin.name), got=repr(simulator.name))  # fmt: skip
    return simulator
