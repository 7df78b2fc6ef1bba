"""Finds drivers: by name in this folder, or in a user's own file: Python, FMU, or a learned policy."""

import importlib
import importlib.util
import inspect
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from trailbrake.drivers import gains, policy
from trailbrake.drivers.fmu import FmuDriver
from trailbrake.errors import DataError, DriverError, UsageError, near, raised_at
from trailbrake.roles import Driver
from trailbrake.state.tables import STATE_FIELDS

_NOT_DRIVERS = {"__init__", "load", "check", "gains", "fmu", "policy", "policy_file", "sample"}


def names() -> list[str]:
    """Return the names of the drivers that ship with the package, sorted."""
    return sorted(p.stem for p in Path(__file__).parent.glob("*.py") if p.stem not in _NOT_DRIVERS)


def load(spec: str, config: Path | None = None) -> Driver:
    """Return a new driver.

    Args:
        spec: a name out of `names()`, or `FILE.py`, or `FILE.py:Class` (default class: Driver, else the only
            class in the file with an `act` method), or `FILE.fmu`, a co-simulation FMU, or `policy:FILE`, what
            `trailbrake train` has learned.
        config: a file with gains (`gains.py`); what it says of other drivers is not looked at.

    Raises:
        UsageError: no such name or file.
        DataError: the file does not load, or holds no driver; the message names file and line. Wrong gains.
        DriverError: its constructor raised, or it lacks NEEDS, reset or act.
    """
    if spec.endswith(".fmu"):
        if config is not None:
            raise UsageError("an FMU has no gains file of ours", where="--config", hint="its parameters are its own")
        return FmuDriver(Path(spec))
    if spec.startswith(policy.PREFIX):
        if config is not None:
            raise UsageError("a policy has no gains", where="--config", hint="train it again")
        return policy.Driver(Path(spec.removeprefix(policy.PREFIX)))
    cls, where = find(spec)
    arguments = []
    name = Path(spec.rpartition(":")[0] if ".py:" in spec else spec).name.removesuffix(".py")
    table = gains.read(config).get(name) if config is not None else None
    if table is not None:
        if not hasattr(cls, "Gains"):
            raise DataError("this driver has no gains", where=f"{config}, [{gains.TABLE}.{name}]")
        arguments.append(gains.make(cls.Gains, table, f"{config}, [{gains.TABLE}.{name}]"))
    try:
        driver = cls(*arguments)
    except (Exception, SystemExit) as error:
        raise DriverError(
            f"the constructor raised {type(error).__name__}: {error}", where=raised_at(error) or where
        ) from error
    needs_of(driver, where)
    return driver  # type: ignore[no-any-return]


def find(spec: str) -> tuple[Any, str]:
    """Return the class that `spec` names, and what to call it in errors; see `load`."""
    path, _, wanted = spec.rpartition(".py")  # the last: a folder's name may hold one, as ".pyenv" does
    if spec.endswith(".py") or ".py:" in spec:
        module, where = _module(Path(path + ".py")), path + ".py"
        cls = _class_in(module, wanted.lstrip(":"), where)
    else:
        cls, where = driver_class(spec), spec
    return cls, where


def driver_class(name: str) -> Any:
    """Return the class of the driver that ships under `name`; UsageError if there is none."""
    if name not in names():
        raise UsageError("no such driver", where="driver", got=name,
                         hint=near(name, names()) + "; or FILE.py of your own")  # fmt: skip
    return importlib.import_module(f"trailbrake.drivers.{name}").Driver


def _module(path: Path) -> ModuleType:
    if not path.is_file():
        raise UsageError("no such driver file", where=str(path), hint="give the path of a Python file")
    spec = importlib.util.spec_from_file_location(f"trailbrake_user_driver_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise DataError("cannot be imported", where=str(path))
    module = importlib.util.module_from_spec(spec)
    folder = str(path.resolve().parent)
    if folder not in sys.path:  # a driver may import the modules beside it, as a script does
        sys.path.insert(0, folder)
    sys.modules[spec.name] = module  # dataclasses and pickling in the user's file look here
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:  # of the file, or of one that it imports
        raise DataError(error.msg, where=_place(path, error.filename, error.lineno)) from error
    except (Exception, SystemExit) as error:
        mine = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename) == path.absolute()]
        where = _place(path, None, mine[-1].lineno if mine else None)
        raise DataError(f"raised {type(error).__name__} on import: {error}", where=where) from error
    return module


def _place(path: Path, filename: str | None, line: int | None) -> str:
    """Return FILE:LINE, with the file as the user named it unless it is another one."""
    file = path if filename is None or Path(filename) == path.absolute() else filename
    return f"{file}:{line}" if line else str(file)


def _class_in(module: ModuleType, wanted: str, where: str) -> Any:
    classes = {
        name: value
        for name, value in inspect.getmembers(module, inspect.isclass)
        if value.__module__ == module.__name__ and hasattr(value, "act")
    }
    if wanted:
        if wanted not in classes:
            raise DataError("no such driver class", where=where, expected="a class with act(state, dt)", got=wanted,
                            hint=near(wanted, list(classes)) if classes else "")  # fmt: skip
        return classes[wanted]
    if "Driver" in classes:
        return classes["Driver"]
    if len(classes) == 1:
        return next(iter(classes.values()))
    raise DataError("holds no driver" if not classes else "holds several drivers", where=where,
                    expected="one class with act(state, dt), or one named Driver",
                    got=", ".join(classes) or "no such class",
                    hint="FILE.py:Class chooses one" if classes else "")  # fmt: skip


def needs_of(driver: object, where: str) -> frozenset[str]:
    """Return the driver's NEEDS as a set, or raise DriverError where the driver's shape is wrong."""
    for method in ("reset", "act"):
        if not callable(getattr(driver, method, None)):
            raise DriverError(f"the driver has no {method}()", where=where, hint="see CONTRIBUTING.md, a driver")
    needs: Any = getattr(driver, "NEEDS", None)
    if not isinstance(needs, set | frozenset | list | tuple) or not all(isinstance(name, str) for name in needs):
        raise DriverError("NEEDS is missing" if needs is None else "NEEDS is no set of texts", where=where,
                          expected='a set of field names, as in NEEDS = {"x", "y"}',
                          got="" if needs is None else repr(needs)[:80])  # fmt: skip
    unknown = sorted(set(needs) - STATE_FIELDS)
    if unknown:
        raise DriverError("NEEDS names a field that CarState does not have", where=where, got=unknown[0],
                          hint=near(unknown[0], sorted(STATE_FIELDS)))  # fmt: skip
    return frozenset(needs)
