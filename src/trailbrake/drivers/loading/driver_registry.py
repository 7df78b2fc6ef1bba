"""Finds drivers: by name in this folder and `originals/`, or in a user's file: Python, FMU, or a learned policy."""

import difflib
import importlib
import inspect
from collections.abc import Mapping, Sequence
from inspect import Parameter
from pathlib import Path
from types import ModuleType
from typing import Any

from trailbrake.drivers.loading import gains, policy
from trailbrake.drivers.loading.fmu import FmuDriver
from trailbrake.errors import DataError, DriverError, UsageError, describe_value, raised_at, suggest_names
from trailbrake.roles import Driver, PlansOnCourse, SendsCommands, SendsCustomValues, Tunable
from trailbrake.state.commands import COMMAND_FIELDS
from trailbrake.state.controls import MAX_CUSTOM_VALUES
from trailbrake.state.signals import is_signal_name
from trailbrake.state.tables import STATE_FIELDS
from trailbrake.system.user_module import import_user_file, is_python_file, split_file_text

COURSE_PARTS = frozenset({"track", "car"})  # what COURSE_NEEDS may name
_NO_KEYWORDS = (Parameter.POSITIONAL_ONLY, Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
_FOLDER = Path(__file__).parents[1]


def driver_names() -> list[str]:
    """Return the names of the drivers that ship with the package, sorted."""
    return sorted(_driver_modules())


def original_names() -> list[str]:
    """Return the names of those among them that reproduce programs of others, faults included."""
    return sorted(name for name, module in _driver_modules().items() if ".originals." in module)


def list_roadless_drivers(supplied: frozenset[str], accepted: frozenset[str]) -> list[str]:
    """Return the names of the drivers that steer on a road that is not known, through a wire with these fields."""
    excluded = {"cruise", "manual", "survey", *original_names()}  # they do not steer, or have a purpose of their own
    if "wheels.drive_torque" not in accepted:
        excluded |= {name for name in driver_names() if name.endswith("_torque")}
    classes = {name: builtin_driver_class(name) for name in driver_names() if name not in excluded}
    return [name for name, cls in classes.items() if not declared_course_needs(cls, name) and supplied >= cls.NEEDS]


def _driver_modules() -> dict[str, str]:
    """Return {driver name: module}: the folder is the list."""
    own = {path.stem: f"trailbrake.drivers.{path.stem}" for path in _FOLDER.glob("[!_]*.py")}
    replicas = (_FOLDER / "originals").glob("*_seed.py")
    originals = {path.stem: f"trailbrake.drivers.originals.{path.stem}" for path in replicas}
    return own | originals


def load_driver(spec: str, config: Path | None = None, constants: Sequence[str] = ()) -> Driver:
    """Return a new driver.

    Args:
        spec: one of `driver_names()`; `FILE.py` or `FILE.py:Class` (default class: Driver, else the only class in the
            file with an `act` method); `FILE.fmu`, a co-simulation FMU; `policy:FILE`, an output of
            `trailbrake train`; or `policy:any`, the one that comes with the package.
        config: a file with gains (`gains.py`); its tables for other drivers are ignored, but for a misspelled name.
        constants: KEY=VALUE: gains over those of the file; of a driver without gains the numbers that its constructor
            takes, of an FMU its parameters.

    Raises:
        UsageError: no such name or file, or no such constant.
        DataError: the file does not load or holds no driver; the message names file and line. Or wrong gains.
        DriverError: the constructor raised, or the class lacks NEEDS, reset or act.
    """
    values = gains.parse_gains(constants)
    if spec.endswith(".fmu"):
        if config is not None:
            raise UsageError("an FMU has no gains file of ours", where="--config", hint="its parameters are its own")
        return FmuDriver(Path(spec), values)
    if spec.startswith(policy.PREFIX):
        if config is not None or values:
            raise UsageError("a policy has no gains", where="--config, --gain", hint="train it again")
        return policy.load_policy_driver(policy.find_policy_file(spec))
    cls, where = find_driver_class(spec)
    name = Path(spec.rpartition(":")[0] if ".py:" in spec else spec).name.removesuffix(".py")
    tables = gains.read_gains(config) if config is not None else {}
    table = tables.get(name)
    if table is None and (wrong := difflib.get_close_matches(name, tables.keys() - _driver_modules().keys(), 1)):
        raise DataError("no such driver", where=f"{config}, [{gains.TABLE}.{wrong[0]}]", hint=f"did you mean {name}?")
    if table is not None and not isinstance(cls, Tunable):
        raise DataError("this driver has no gains", where=f"{config}, [{gains.TABLE}.{name}]",
                        hint="--gain NAME=NUMBER sets constants of its constructor")  # fmt: skip
    arguments: list[Any] = []
    if isinstance(cls, Tunable):
        if table is not None:
            gains.build_gains(cls.Gains, table, f"{config}, [{gains.TABLE}.{name}]")
        if table is not None or values:
            arguments.append(gains.build_gains(cls.Gains, {**(table or {}), **values}, "--gain"))
        values = {}
    else:
        values = _fit_constants(cls, values)
    try:
        driver = cls(*arguments, **values)
    except (Exception, SystemExit) as error:
        place = raised_at(error)
        raised = f"the constructor raised {type(error).__name__}: {describe_value(error)}"
        raise DriverError(raised, where=place or where,
                          hint="" if place else "--gain NAME=NUMBER gives it a number") from error  # fmt: skip
    declared_needs(driver, where)
    return driver  # type: ignore[no-any-return]


def _fit_constants(cls: Any, values: Mapping[str, float]) -> dict[str, float]:
    """Return the numbers for the constructor of a driver without gains, in the types of its defaults."""
    known = {
        name: parameter.default
        for name, parameter in inspect.signature(cls).parameters.items()
        if isinstance(parameter.default, float | int)
        or (parameter.default is parameter.empty and parameter.kind not in _NO_KEYWORDS)
    }
    for name in values:
        if name not in known:
            raise UsageError(f"this driver has no constant {name}", where="--gain",
                             hint=suggest_names(name, list(known)) if known else "it has none")  # fmt: skip
    return {name: gains.fit_constant(name, value, known[name], "--gain") for name, value in values.items()}


def find_driver_class(spec: str) -> tuple[Any, str]:
    """Return the driver class that `spec` (a name, FILE.py or FILE.py:Class) names, and its name in error messages."""
    if is_python_file(spec):
        path, wanted = split_file_text(spec)
        module, where = import_user_file(path, "driver"), spec.rpartition(".py")[0] + ".py"
        cls = _driver_class_in(module, wanted, where)
    else:
        cls, where = builtin_driver_class(spec), spec
    return cls, where


def builtin_driver_class(name: str) -> Any:
    """Return the class of the driver that ships under `name`; UsageError if there is none."""
    modules = _driver_modules()
    if name not in modules:
        raise UsageError("no such driver", where="driver", got=name,
                         hint=suggest_names(name, sorted(modules)) + "; or FILE.py of your own")  # fmt: skip
    return importlib.import_module(modules[name]).Driver


def _driver_class_in(module: ModuleType, wanted: str, where: str) -> Any:
    classes = {
        name: value
        for name, value in inspect.getmembers(module, inspect.isclass)
        if value.__module__ == module.__name__ and hasattr(value, "act")
    }
    if wanted:
        if wanted not in classes:
            raise DataError("no such driver class", where=where, expected="a class with act(state, dt)", got=wanted,
                            hint=suggest_names(wanted, list(classes)) if classes else "")  # fmt: skip
        return classes[wanted]
    if "Driver" in classes:
        return classes["Driver"]
    if len(classes) == 1:
        return next(iter(classes.values()))
    raise DataError("holds no driver" if not classes else "holds several drivers", where=where,
                    expected="one class with act(state, dt), or one named Driver",
                    got=", ".join(classes) or "no such class",
                    hint="FILE.py:Class chooses one" if classes else "")  # fmt: skip


def declared_needs(driver: object, where: str) -> frozenset[str]:
    """Return the driver's NEEDS as a set, or raise DriverError where the driver's shape is wrong."""
    for method in ("reset", "act"):
        if not callable(getattr(driver, method, None)):
            raise DriverError(f"the driver has no {method}()", where=where, hint="see CONTRIBUTING.md, a driver")
    needs: Any = getattr(driver, "NEEDS", None)
    if needs is None:
        raise DriverError("NEEDS is missing", where=where, expected='a set of field names, as in NEEDS = {"x", "y"}')
    return _check_field_names(needs, "NEEDS", where)


def declared_uses(driver: object, where: str) -> frozenset[str]:
    """Return the driver's USES, fields beyond its NEEDS that it drives without; empty where it declares none."""
    return _check_field_names(getattr(driver, "USES", frozenset()), "USES", where)


def _check_field_names(names: Any, attribute: str, where: str) -> frozenset[str]:
    if not isinstance(names, set | frozenset | list | tuple) or not all(isinstance(name, str) for name in names):
        raise DriverError(f"{attribute} is no set of texts", where=where,
                          expected=f'a set of field names, as in {attribute} = {{"x", "y"}}',
                          got=repr(names)[:80])  # fmt: skip
    unknown = sorted(name for name in set(names) - STATE_FIELDS if not is_signal_name(name))
    if unknown:
        raise DriverError(f"{attribute} names a field that CarState does not have", where=where, got=unknown[0],
                          hint=suggest_names(unknown[0], sorted(STATE_FIELDS)))  # fmt: skip
    return frozenset(names)


def declared_course_needs(driver: object, where: str) -> frozenset[str]:
    """Return the driver's COURSE_NEEDS, empty where it declares none; DriverError where they cannot be used."""
    needs: Any = driver.COURSE_NEEDS if isinstance(driver, PlansOnCourse) else frozenset()
    if not isinstance(needs, set | frozenset | list | tuple) or not set(needs) <= COURSE_PARTS:
        raise DriverError("COURSE_NEEDS cannot be", where=where, expected='a set of "track" and "car"',
                          got=repr(needs)[:80])  # fmt: skip
    return frozenset(needs)


def declared_commands(driver: object, where: str) -> frozenset[str]:
    """Return the driver's COMMANDS as a set, empty where it has none; DriverError where they cannot be used."""
    return _check_command_names(driver.COMMANDS if isinstance(driver, SendsCommands) else (), "COMMANDS", where)


def declared_optional_commands(driver: object, where: str) -> frozenset[str]:
    """Return the driver's OPTIONAL_COMMANDS, which are left out where the simulator does not accept them."""
    return _check_command_names(getattr(driver, "OPTIONAL_COMMANDS", ()), "OPTIONAL_COMMANDS", where)


def _check_command_names(commands: Any, attribute: str, where: str) -> frozenset[str]:
    if not isinstance(commands, set | frozenset | list | tuple):
        raise DriverError(f"{attribute} is no set of texts", where=where,
                          expected=f'as in {attribute} = {{"teleport"}}', got=repr(commands)[:80])  # fmt: skip
    unknown = sorted(str(name) for name in set(commands) - COMMAND_FIELDS)
    if unknown:
        raise DriverError(f"{attribute} names what SimCommand does not have", where=where, got=unknown[0],
                          hint=suggest_names(unknown[0], sorted(COMMAND_FIELDS)))  # fmt: skip
    return frozenset(commands)


def declared_custom_values(driver: object, where: str) -> int:
    """Return how many free values the driver sends, its CUSTOM; 0 where it declares none."""
    count: Any = driver.CUSTOM if isinstance(driver, SendsCustomValues) else 0
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MAX_CUSTOM_VALUES:
        raise DriverError("CUSTOM is no number of free values", where=where, expected=f"0 to {MAX_CUSTOM_VALUES}",
                          got=repr(count)[:80])  # fmt: skip
    return count
