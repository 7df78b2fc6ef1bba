"""How two ends meet on ports that the system chose: each writes its port into a folder that only they know."""

import os
from pathlib import Path


def publish(folder: "str | os.PathLike[str]", name: str, port: int) -> None:
    """Write down that `name` listens on `port` of this machine. Whoever looks sees the whole number or nothing."""
    path = Path(folder) / f"{name}.port"
    part = path.with_suffix(f".{os.getpid()}")
    part.write_text(str(port), encoding="ascii")
    part.replace(path)


def lookup(folder: "str | os.PathLike[str]", name: str) -> int | None:
    """Return the port on which `name` listens, None while it has not said so."""
    try:
        return int((Path(folder) / f"{name}.port").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def withdraw(folder: "str | os.PathLike[str]", name: str) -> None:
    """Take back what `publish` wrote."""
    (Path(folder) / f"{name}.port").unlink(missing_ok=True)
