"""Two ends exchange the ports that the system chose for them, through a folder that only they know."""

import os
from pathlib import Path

from trailbrake.user_files import open_replacement


def publish_port(folder: "str | os.PathLike[str]", name: str, port: int) -> None:
    """Write down that `name` listens on `port` of this machine. A reader sees the whole number or nothing."""
    with open_replacement(Path(folder) / f"{name}.port") as file:
        file.write(str(port).encode("ascii"))


def lookup_port(folder: "str | os.PathLike[str]", name: str) -> int | None:
    """Return the port on which `name` listens, None while it has not published one."""
    try:
        return int((Path(folder) / f"{name}.port").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def withdraw_port(folder: "str | os.PathLike[str]", name: str) -> None:
    """Remove what `publish_port` wrote."""
    (Path(folder) / f"{name}.port").unlink(missing_ok=True)
