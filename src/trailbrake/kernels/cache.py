"""Where compiled kernels are kept, keyed by the sources they were compiled from.

Numba's own cache looks only at the file of the function it compiled: after an edit in another file a cached
caller goes on running the old code. So the folder's name carries a hash of every module that a kernel can
reach, and numba is told of the folder before it is imported.
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
_KEEP = 4  # folders of other source states kept, newest first: switching branches stays warm


def _kernel_sources() -> dict[bytes, bytes]:
    """Return the text of every module that imports `trailbrake.kernels`, and of what those import, by dotted name.

    In texts, and without Path: every start of the program waits for this.
    """
    texts = dict(_modules())
    todo = [name for name, text in texts.items() if b"from trailbrake.kernels import" in text]
    found: dict[bytes, bytes] = {}
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found[name] = texts[name]
        for module, names in _IMPORT.findall(texts[name]):
            # Any word after `import` may be a module: "as" and the rest name no file and fall away.
            leaves = [module, *(b"%b.%b" % (module, word) for word in _WORD.findall(names))]
            todo += [leaf for leaf in leaves if leaf in texts]
    return found


def _modules() -> Iterator[tuple[bytes, bytes]]:
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
    for name, text in sorted(_kernel_sources().items()):
        digest.update(name + b"\0" + text + b"\0")
    return digest.hexdigest()[:16]


def prepare() -> Path | None:
    """Choose the cache folder, name it to numba, drop old ones; return it. A user's NUMBA_CACHE_DIR is respected.

    None where no folder can be made, as in a read-only home: kernels must then be compiled in memory, because numba
    would look for a place of its own choice, which our key does not guard, and fail where there is none.
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
        os.utime(folder)  # the newest; fails where the folder is there but not ours to write
    except OSError:
        return None
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    with contextlib.suppress(OSError):  # another process may prune at the same time
        others = sorted((p for p in root.iterdir() if p != folder), key=lambda p: p.stat().st_mtime, reverse=True)
        for old in others[_KEEP:]:
            shutil.rmtree(old, ignore_errors=True)
    return folder


def is_cold(folder: Path | None) -> bool:
    """Return whether nothing is compiled yet, so that the first drive has to say that it compiles."""
    return folder is None or next(folder.rglob("*.nbi"), None) is None
