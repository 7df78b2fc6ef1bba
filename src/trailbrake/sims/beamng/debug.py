"""The debug logs of the real controller: three CSV files of what was sent, what was received, and of physics steps.

Source: protocol page beamng-coupling, section 12. Columns have the 1-based numbers of the message's doubles. The page
does not tell what the real logs count time in; ours is s of simulator time.
"""

from pathlib import Path
from struct import Struct
from typing import TextIO

from trailbrake.errors import UsageError

_KINDS = ("send", "receive", "physics")


class DebugLog:
    """Writes PATH_send.csv, PATH_receive.csv and PATH_physics.csv.

    Args:
        path: path and beginning of the names.
        sent: doubles of a message that is sent.
        received: doubles of one that is received.

    Attributes:
        time: s, of the physics step at hand.

    Raises:
        UsageError: a file cannot be written.
    """

    def __init__(self, path: Path, sent: int, received: int) -> None:
        self.time = 0.0
        self._files: list[TextIO] = []
        try:
            for kind in _KINDS:
                self._files.append(path.with_name(f"{path.name}_{kind}.csv").open("w", encoding="ascii", newline="\n"))
        except OSError as error:
            self.close()
            raise UsageError(f"cannot write: {error.strerror}", where=f"--debug-file {path}") from error
        for file, count in zip(self._files, (sent, received, 0), strict=True):
            file.write(",".join(["time", *map(str, range(1, count + 1))]) + "\n")
        self._sent, self._received = Struct(f"<{sent}d"), Struct(f"<{received}d")

    def sent(self, data: bytes) -> None:
        """Write down a message that is sent."""
        self._write(0, self._sent.unpack(data))

    def received(self, data: bytes) -> None:
        """Write down a message that was received, accepted or not."""
        self._write(1, self._received.unpack(data))

    def step(self) -> None:
        """Write down a physics step."""
        self._write(2, ())

    def _write(self, kind: int, values: tuple[float, ...]) -> None:
        self._files[kind].write(",".join(map(repr, (self.time, *values))) + "\n")

    def close(self) -> None:
        """Close the files."""
        for file in self._files:
            file.close()
