"""Imports a Python file of the user's: a driver, a simulator. Errors name the file and the line."""

import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from trailbrake.errors import DataError, UsageError


def is_python_file(text: str) -> bool:
    """Return whether `text` is FILE.py or FILE.py:NAME."""
    return text.endswith(".py") or ".py:" in text


def split_file_text(text: str) -> tuple[Path, str]:
    """Return the file and the name in FILE.py or FILE.py:NAME; the name is "" where there is none."""
    path, _, name = text.rpartition(".py")  # the last: a folder's name may hold one, as ".pyenv" does
    return Path(path + ".py"), name.lstrip(":")


def import_user_file(path: Path, kind: str) -> ModuleType:
    """Import a file and return the module.

    Args:
        path: the file. Its folder joins `sys.path`: a file may import the modules beside it, as a script does.
        kind: what the file is to hold, for the errors: "driver".

    Raises:
        UsageError: there is no such file.
        DataError: the file cannot be parsed, or raises while it is imported.
    """
    if not path.is_file():
        raise UsageError(f"no such {kind} file", where=str(path), hint="give the path of a Python file")
    spec = importlib.util.spec_from_file_location(f"trailbrake_user_{kind}_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise DataError("cannot be imported", where=str(path))
    module = importlib.util.module_from_spec(spec)
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    sys.modules[spec.name] = module  # dataclasses and pickling in the user's file look here
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:  # of the file, or of one that it imports
        raise DataError(error.msg, where=_file_and_line(path, error.filename, error.lineno)) from error
    except (Exception, SystemExit) as error:
        mine = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename) == path.absolute()]
        where = _file_and_line(path, None, mine[-1].lineno if mine else None)
        raise DataError(f"raised {type(error).__name__} on import: {error}", where=where) from error
    return module


def _file_and_line(path: Path, filename: str | None, line: int | None) -> str:
    """Return FILE:LINE, with the file as the user named it unless it is another one."""
    file = path if filename is None or Path(filename) == path.absolute() else filename
    return f"{file}:{line}" if line else str(file)
