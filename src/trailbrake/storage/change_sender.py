"""`ChangeSender`: a thread that copies the changed files of a folder to its mirror."""

import sqlite3
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from trailbrake.errors import TrailbrakeError, UsageError
from trailbrake.storage.mirrored_files import MirroredFolder, Stamp, copy_file, digest_file, stamp_files, write_state
from trailbrake.storage.remote_folder import RemoteFolder
from trailbrake.system import steady_clock

SCAN_S = 5.0  # s between looks for changed files
RESEND_S = 60.0  # s between copies of a file that never stops changing, as curves
LAST_WAIT_S = 300.0  # s of wall time for the last copies
LARGE = 16 << 20  # bytes of a file that is not sent again where the store has one of its size: a recording


class ChangeSender:
    """Copies files that have changed, from a thread of its own.

    Args:
        mirrored: the folder.
        store: where its copy is.
        synced: digest of the primary file in the store, "" where it has none.
        say: takes lines for the user.

    Attributes:
        error: the last failure, "" where all that was tried since has worked.
    """

    def __init__(self, mirrored: MirroredFolder, store: RemoteFolder, synced: str, say: Callable[[str], None]) -> None:
        self.error = ""
        self._mirrored, self._store, self._synced, self._say = mirrored, store, synced, say
        self._key: str | None = None  # of the primary file, as it was left in the store
        self._seen: dict[str, Stamp] = {}
        self._sent: dict[str, tuple[Stamp, float]] = {}  # and when
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._send_until_ended, name="mirror", daemon=True)
        stamps = stamp_files(mirrored)
        for name, size in store.list_files().items():
            if name in stamps and stamps[name][1] == size and self._stays_as_it_is(name, size):
                self._sent[name] = stamps[name], -RESEND_S

    def _stays_as_it_is(self, name: str, size: int) -> bool:
        mirrored = self._mirrored
        return size >= LARGE or (not mirrored.primary and mirrored.is_fetched(name))

    def start(self) -> None:
        """Begin to look for changes."""
        self._thread.start()

    def finish(self) -> None:
        """Copy what is left and wait for that; `error` says what was not copied."""
        self._ended.set()
        self._thread.join(LAST_WAIT_S)
        if self._thread.is_alive():
            self.error = f"the store has not answered for {LAST_WAIT_S:.0f} s"

    def _send_until_ended(self) -> None:
        is_last = False
        while not is_last:
            is_last = self._ended.wait(SCAN_S)
            try:
                self.send_changes(is_last)
                self.error = ""
            except Exception as error:  # a fault of ours must not end the copies without a word
                text = str(error) if isinstance(error, TrailbrakeError) else f"{type(error).__name__}: {error}"
                if not self.error and not is_last:
                    self._say(f"{text}; tried again every {SCAN_S:.0f} s, and the folder here is whole")
                self.error = text

    def send_changes(self, is_last: bool) -> None:
        """Copy files that have changed and are at rest since the last look; where `is_last`, all that have changed.

        Raises:
            UsageError: the store or the disk refuses, or another command writes the same copy.
        """
        now = steady_clock.now()
        before, self._seen = self._seen, stamp_files(self._mirrored)
        for name, stamp in sorted(self._seen.items(), key=lambda item: item[1]):  # in the order of their changes
            sent, when = self._sent.get(name, (None, -RESEND_S))
            if stamp != sent and (is_last or before.get(name) == stamp or now - when >= RESEND_S):
                self._send_file(name)
                self._sent[name] = stamp, now

    def _send_file(self, name: str) -> None:
        # A copy is sent: the file may be replaced or grow meanwhile, and the digest must be that of what was sent.
        source = self._mirrored.folder / name
        with tempfile.TemporaryDirectory(prefix="trailbrake-mirror-") as folder:
            copy = Path(folder) / source.name
            try:
                copy_file(source, copy)
            except (OSError, sqlite3.Error, TrailbrakeError) as error:
                if not source.exists():
                    return
                raise UsageError("cannot copy a file for the mirror", where=str(source), got=str(error)) from error
            if name == self._mirrored.primary:
                self._send_primary(copy, name)
            else:
                self._store.send_file(copy, name)

    def _send_primary(self, copy: Path, name: str) -> None:
        digest = digest_file(copy)
        if digest != self._synced:
            if self._key is not None and self._store.read_key(name) != self._key:
                raise UsageError("another command writes the same mirror", where=f"{self._mirrored.url}/{name}",
                                 hint="end one of them")  # fmt: skip
            self._store.send_file(copy, name)
        self._synced, self._key = digest, self._store.read_key(name)
        write_state(self._mirrored, digest)
