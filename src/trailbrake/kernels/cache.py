"""The folder of compiled kernels, keyed by the sources that they were compiled from.

numba's own cache compares only the file of the function it compiled: after an edit in another file, a cached caller
would still run the old code. So the name of the folder contains a hash of every module that a kernel can reach, and
NUMBA_CACHE_DIR is set to it before numba is imported.
"""

import contextlib
import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import platformdirs

_PACKAGE = Path(__file__).resolve().parent.parent
_IMPORT = re.compile(rb"^[ \t]*(?:from|import) (trailbrake(?:\.\w+)*)(?: import (\([^)]*\)|[^\n]*))?", re.M)
_WORD = re.compile(rb"\w+")
_KEEP = 4  # folders of other source states to keep, newest first, so that a switch of branches needs no compilation


def _read_kernel_sources() -> dict[bytes, bytes]:
    """Return the text of every module that imports `trailbrake.kernels`, and of what those import, by dotted name.

    It works on bytes and without `Path`, because every start of the program waits for it.
    """
    texts = dict(_read_modules())
    todo = [name for name, text in texts.items() if b"from trailbrake.kernels import" in text]
    found: dict[bytes, bytes] = {}
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found[name] = texts[name]
        for module, names in _IMPORT.findall(texts[name]):
            # Any word after `import` may be a module; words such as "as" name no file and drop out.
            leaves = [module, *(b"%b.%b" % (module, word) for word in _WORD.findall(names))]
            todo += [leaf for leaf in leaves if leaf in texts]
    return found


def _read_modules() -> Iterator[tuple[bytes, bytes]]:
    """Yield every module of the package: its dotted name, a package's without `__init__`, and its text."""
    top = os.fsencode(_PACKAGE.parent)
    for folder, _, files in os.walk(os.fsencode(_PACKAGE)):
        package = os.path.relpath(folder, top).replace(os.fsencode(os.sep), b".")
        for file in files:
            if file.endswith(b".py"):
                with open(os.path.join(folder, file), "rb") as module:
                    yield package if file == b"__init__.py" else b"%b.%b" % (package, file[:-3]), module.read()


def source_key() -> str:
    """Return the hash of all kernel sources (first 16 hex digits of SHA-256)."""
    digest = hashlib.sha256()
    for name, text in sorted(_read_kernel_sources().items()):
        digest.update(name + b"\0" + text + b"\0")
    return digest.hexdigest()[:16]


def prepare_folder() -> Path | None:
    """Create the cache folder, set NUMBA_CACHE_DIR to it, delete old ones; return it. A user's variable is kept.

    None where no folder can be created, as in a read-only home. Kernels must then be compiled in memory: numba would
    choose a folder of its own, which the key does not guard, and raise where it finds none.
    """
    if os.environ.get("NUMBA_CACHE_DIR"):
        return Path(os.environ["NUMBA_CACHE_DIR"])
    root = (
        Path(os.environ.get("TRAILBRAKE_CACHE") or platformdirs.user_cache_dir("trailbrake", appauthor=False))
        / "kernels"
    )
    folder = root / source_key()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)  # marks it as the newest; raises where another user owns it
    except OSError:
        return None
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    with contextlib.suppress(OSError):  # another process may prune at the same time
        others = sorted((p for p in root.iterdir() if p != folder), key=lambda p: p.stat().st_mtime, reverse=True)
        for old in others[_KEEP:]:
            shutil.rmtree(old, ignore_errors=True)
    return folder


def is_cold(folder: Path | None) -> bool:
    """Return whether the folder holds no compiled kernel, so that the first drive announces the compilation."""
    return folder is None or next(folder.rglob("*.nbi"), None) is None


def describe_compilation(folder: Path | None) -> str:
    """Return the line that says that kernels are compiled."""
    how = "once, a few seconds" if folder else "at each start: no folder for them can be written; set TRAILBRAKE_CACHE"
    return f"compiling kernels ({how})"
