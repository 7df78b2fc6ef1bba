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
from pathlib import Path

import platformdirs

_PACKAGE = Path(__file__).resolve().parent.parent
_IMPORT = re.compile(rb"^\s*(?:from|import)\s+(trailbrake(?:\.\w+)*)(?:\s+import\s+(\([^)]*\)|[^\n]*))?", re.M)
_KEEP = 4  # folders of other source states kept, newest first: switching branches stays warm


def _kernel_sources() -> list[Path]:
    """Return every module that imports `trailbrake.kernels`, and what those import, inside the package."""
    text = {path: path.read_bytes() for path in sorted(_PACKAGE.rglob("*.py"))}
    todo = [path for path, source in text.items() if b"from trailbrake.kernels import" in source]
    found: set[Path] = set()
    while todo:
        path = todo.pop()
        if path in found:
            continue
        found.add(path)
        for module, names in _IMPORT.findall(text[path]):
            base = _PACKAGE.parent.joinpath(*module.decode().split("."))
            # Any word after `import` may be a module: "as" and the rest name no file and fall away.
            leaves = [base, *(base / name for name in re.findall(r"\w+", names.decode()))]
            todo += [p for leaf in leaves for p in (leaf.with_suffix(".py"), leaf / "__init__.py") if p in text]
    return sorted(found)


def source_key() -> str:
    """Return the hash of all kernel sources (first 16 hex digits of SHA-256)."""
    digest = hashlib.sha256()
    for path in _kernel_sources():
        digest.update(path.relative_to(_PACKAGE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
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
