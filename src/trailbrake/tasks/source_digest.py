"""`hash_source`: which code this is, so that results of other code are not mixed with those of this code."""

import functools
import hashlib
from pathlib import Path

from trailbrake.user_files import read_user_file

SOURCE_DIGITS = 24


@functools.cache
def hash_source() -> str:
    """Return a text that changes with the code and the data of this package: drivers, worlds, cars, tracks."""
    hashed = hashlib.sha256()
    root = Path(__file__).parents[1]
    for path in sorted((*root.rglob("*.py"), *root.rglob("*.toml"))):
        hashed.update(path.relative_to(root).as_posix().encode())
        hashed.update(read_user_file(path, "source"))
    return hashed.hexdigest()[:SOURCE_DIGITS]
