"""The debug logs of the real controller: three CSV files of sent messages, received messages and physics steps.

Source: protocol page beamng-coupling, section 12. The columns are the 1-based numbers of the message's doubles. The
page does not say which time the real logs have; here it is simulator time in s.
"""

from pathlib import Path
from struct import Struct
from typing import TextIO

from trailbrake.errors import UsageError

_KINDS = ("send", "receive", "physics")


class DebugLog:
    """Writes PATH_send.csv, PATH_receive.csv and PATH_physics.csv.

    Args:
        path: folder and common beginning of the three names.
        sent: number of doubles of a sent message.
        received: number of doubles of a received message.

    Attributes:
        time: s of simulator time of the present physics step; the host sets it.

    Raises:
        UsageError: a file cannot be opened.
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

    def write_sent(self, data: bytes) -> None:
        """Log a sent message."""
        self._write_row(0, self._sent.unpack(data))

    def write_received(self, data: bytes) -> None:
        """Log a received message, accepted or not."""
        self._write_row(1, self._received.unpack(data))

    def write_step(self) -> None:
        """Log a physics step."""
        self._write_row(2, ())

    def _write_row(self, kind: int, values: tuple[float, ...]) -> None:
        self._files[kind].write(",".join(map(repr, (self.time, *values))) + "\n")

    def close(self) -> None:
        """Close the files."""
        for file in self._files:
            file.close()
