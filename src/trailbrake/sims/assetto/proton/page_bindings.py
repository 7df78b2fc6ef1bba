"""The Linux side of the Proton bridge: which file of Linux has which name in the prefix, and when.

Source: protocol page assetto-custom-ai, sections 1 and 9. On this wire the mere existence of a page has an effect: a
CarControls<N> takes a car, a SimState of zeros stops the time. So a page may exist only when its owner has made it, on
either side. `BindingMode` names the three ways:

* Pages with `ALWAYS` only report. They are bound from the start: before the game makes them, since it would
  otherwise make its own.
* Pages with `LINUX_FIRST` make requests. They are bound when a program of Linux makes the file, and released when it
  removes it.
* Pages with `PREFIX_FIRST` make requests too, and the programs in the prefix are the clients (the game is our host on
  Linux). Their sections must exist before a client makes its own. The file appears when a client opens the section,
  and disappears with the section's last holder.

A folder beside the pages holds a second link to each file, for the bridge to open, and the board
(`windows_bridge.py`). When a host removes an `ALWAYS` file, it is put back under its name, so that a client's mapping
outlives a host.
"""

import contextlib
import errno
import mmap
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from trailbrake.errors import SimulatorError
from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.proton import windows_bridge
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.transport.shm import LockState, SharedLock, SharedMemory

BRIDGE_FOLDER = "trailbrake-bridge"  # beside the pages; the name of the lock, too
RETRY_POLLS = 50  # polls until an unbound page gets another order: the owner of its name may have ended


class BindingMode(Enum):
    """When a page is bound; the module's docstring defines the three ways."""

    ALWAYS = 0
    LINUX_FIRST = 1
    PREFIX_FIRST = 2


@dataclass(frozen=True)
class BridgedPage:
    """One page: its name, its size in bytes with room for the bridge's token, and when it is bound."""

    name: str
    size: int
    mode: BindingMode


def list_bridged_pages(cars: int, *, clients: bool) -> list[BridgedPage]:
    """Return the pages of a session of `cars` cars; `clients`: the programs in the prefix are clients, not the game."""
    mode = BindingMode.PREFIX_FIRST if clients else BindingMode.LINUX_FIRST
    reports = [acpmf.PHYSICS_NAME, acpmf.GRAPHICS_NAME, acpmf.STATIC_NAME]
    requests = [spec.SIM_STATE_V0, spec.SIM_STATE_V1]
    for car in range(cars):
        reports += [spec.car_name(car), spec.public_name(car)]
        requests.append(spec.controls_name(car))
    return [
        *(BridgedPage(name, codec.PAGE_SIZE, BindingMode.ALWAYS) for name in reports),
        *(BridgedPage(name, codec.PAGE_SIZE, mode) for name in requests),
        BridgedPage(spec.DEBUG_LINES, codec.DEBUG_SIZE + codec.PAGE_SIZE, mode),  # messages fill all of DEBUG_SIZE
    ]


def _read_inode(path: Path) -> int:
    """Return the inode of the file at `path`; 0 = no file."""
    try:
        return os.stat(path, follow_symlinks=False).st_ino
    except OSError:
        return 0


class PageBinding:
    """The Linux side of one page. `poll_changes` brings its files and its order up to date."""

    def __init__(
        self, page: BridgedPage, index: int, folder: Path, board: mmap.mmap, say: Callable[[str], None]
    ) -> None:
        self.page = page
        self._index, self._board, self._say = index, board, say
        self.public, self.staged = folder / page.name, folder / BRIDGE_FOLDER / page.name
        self._inode = 0  # of the staged file
        self._order_count = 0  # written so far
        self._published = False  # of a `PREFIX_FIRST` page: whether its file has its public name
        self._reported_order = 0  # the order whose outcome was reported last
        self._reported_reason = ""  # why it is not bound; "" where it is
        self._polls_since_report = 0  # since that report

    def read_word(self, field: int) -> int:
        """Return a word of this page's entry on the board."""
        return int(windows_bridge.WORD.unpack_from(self._board, windows_bridge.entry_offset(self._index, field))[0])

    @property
    def is_bound(self) -> bool:
        """Whether the bridge has executed the newest order, and the section exists."""
        return (
            self.read_word(windows_bridge.DONE) == self.read_word(windows_bridge.ORDER) != 0
            and self.read_word(windows_bridge.STATE) == windows_bridge.BOUND
        )

    @property
    def is_pending(self) -> bool:
        """Whether the bridge has not yet executed the newest order."""
        return self.read_word(windows_bridge.DONE) != self.read_word(windows_bridge.ORDER)

    def _write_order(self, *, bind: bool) -> None:
        self._order_count += bind
        value = self._order_count if bind else 0
        offset = windows_bridge.entry_offset(self._index, windows_bridge.ORDER)
        windows_bridge.WORD.pack_into(self._board, offset, value)

    def create_file(self) -> None:
        """Create the file and write the order of a page that exists from the start."""
        kind = self.page.mode
        if kind is BindingMode.LINUX_FIRST:
            return
        # A killed bridge's file is kept: programs in the prefix may hold the section over it.
        if not self.staged.is_file() or self.staged.stat().st_size != self.page.size:
            self.staged.unlink(missing_ok=True)
            self.staged.write_bytes(bytes(self.page.size))
        self._inode = _read_inode(self.staged)
        self._published = kind is BindingMode.PREFIX_FIRST and _read_inode(self.public) == self._inode
        if kind is BindingMode.ALWAYS and _read_inode(self.public) != self._inode:
            self._publish_file()
        self._write_order(bind=True)

    def _publish_file(self) -> None:
        # In one step, over the file of an earlier bridge or host: no reader may find the name missing or half written.
        part = self.staged.with_name(f"{self.page.name}.part")
        part.unlink(missing_ok=True)
        os.link(self.staged, part)
        os.replace(part, self.public)

    def poll_changes(self) -> None:
        """Follow the changes that programs on either side have made."""
        if self.page.mode is BindingMode.PREFIX_FIRST:
            self._mirror_prefix_section()
        elif self.page.mode is BindingMode.LINUX_FIRST:
            self._mirror_linux_file()
        elif (now := _read_inode(self.public)) != self._inode:
            if now:
                self._say(f"{self.page.name}: made anew on this side; who has it open in the prefix must open it again")
                self._stage_file(now)
            else:
                self._publish_file()
        if self.read_word(windows_bridge.DONE) == self.read_word(windows_bridge.ORDER) != self._reported_order:
            self._report_outcome()
        elif self._reported_reason and self.read_word(windows_bridge.ORDER) and not self.is_pending:
            self._polls_since_report += 1
            if self._polls_since_report >= RETRY_POLLS:
                self._write_order(bind=True)

    def _stage_file(self, inode: int) -> None:
        self.staged.unlink(missing_ok=True)
        with contextlib.suppress(FileNotFoundError):  # removed again meanwhile
            os.link(self.public, self.staged, follow_symlinks=False)
            self._inode = inode
            self._write_order(bind=True)

    def _mirror_linux_file(self) -> None:
        now = _read_inode(self.public)
        if now == self._inode:
            return
        if now:
            self._stage_file(now)
        else:
            self._write_order(bind=False)
            self.staged.unlink(missing_ok=True)
            self._inode = 0

    def _mirror_prefix_section(self) -> None:
        if not self.is_bound:  # no bridge, or a new one, which has not counted yet
            return
        held = self.read_word(windows_bridge.HOLDERS) > 0
        if held and not self._published and not _read_inode(self.public):
            self._published = True
            os.link(self.staged, self.public)
            self._say(f"{self.page.name}: a program in the prefix has it")
        elif self._published and not held:
            self._published = False
            if _read_inode(self.public) == self._inode:
                self.public.unlink(missing_ok=True)
            with self.staged.open("r+b") as file:  # the next client begins with zeros
                file.write(bytes(self.page.size))
            self._say(f"{self.page.name}: the program in the prefix that had it is gone")

    def _report_outcome(self) -> None:
        self._reported_order, self._polls_since_report = self.read_word(windows_bridge.ORDER), 0
        why = failure_reason(self.read_word(windows_bridge.STATE), self.read_word(windows_bridge.ERROR))
        if why != self._reported_reason and (why or self._reported_order):
            self._say(f"{self.page.name}: {why or 'tied now'}")
        self._reported_reason = why

    def remove_names(self) -> None:
        """Remove the public names that the bridge owns."""
        if self.page.mode is not BindingMode.LINUX_FIRST and _read_inode(self.public) == self._inode != 0:
            self.public.unlink(missing_ok=True)


def failure_reason(state: int, error: int) -> str:
    """Return why a page is not bound, in words; "" where it is bound or no order was given."""
    if state == windows_bridge.TAKEN:
        return "the game has made its own before: end it, and start it again while the bridge runs"
    if state == windows_bridge.FAILED:
        return f"the bridge cannot tie it (error {error})"
    return ""


class PageBindings:
    """All pages of a session.

    Args:
        pages: the pages.
        say: receives lines for the user.

    Attributes:
        staging: the folder that the bridge reads.
    """

    def __init__(self, pages: list[BridgedPage], say: Callable[[str], None]) -> None:
        self._memory, self._pages, self._say = SharedMemory(), pages, say
        self._folder = Path(self._memory.folder)
        self.staging = self._folder / BRIDGE_FOLDER
        self._lock: SharedLock | None = None
        self._board: mmap.mmap | None = None
        self.bindings: list[PageBinding] = []

    def open(self) -> None:
        """Create the files; SimulatorError where another bridge has the names, or there is no room."""
        self._lock = self._memory.acquire_lock(BRIDGE_FOLDER)
        if self._lock is None:
            raise SimulatorError("another bridge has these names", where=self._memory.folder, hint="stop that one")
        try:
            self.staging.mkdir(exist_ok=True)
            there = self.staging.stat(follow_symlinks=False)
            if not stat.S_ISDIR(there.st_mode) or there.st_uid != os.getuid():  # every user may write to /dev/shm
                raise SimulatorError("somebody else's folder is in the way", where=str(self.staging))
            listed = "".join(f"{page.size} {page.name}\n" for page in self._pages)
            (self.staging / windows_bridge.PAGES).write_text(listed, encoding="utf-8")
            board = self.staging / windows_bridge.BOARD
            board.unlink(missing_ok=True)  # the bridge of a killed process maps the old file, and soon ends by itself
            board.write_bytes(bytes(windows_bridge.BOARD_SIZE))
            with board.open("r+b") as file:
                self._board = mmap.mmap(file.fileno(), windows_bridge.BOARD_SIZE)
            for index, page in enumerate(self._pages):
                binding = PageBinding(page, index, self._folder, self._board, self._say)
                self.bindings.append(binding)
                binding.create_file()
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                raise SimulatorError(
                    f"cannot make the bridge's files: {error.strerror}", where=str(self.staging)
                ) from error
            raise

    def poll_changes(self) -> None:
        """Bring all pages up to date, and advance the heartbeat that keeps the bridge alive."""
        assert self._board is not None
        (heartbeat,) = windows_bridge.WORD.unpack_from(self._board, windows_bridge.WATCHER_HEARTBEAT)
        windows_bridge.WORD.pack_into(self._board, windows_bridge.WATCHER_HEARTBEAT, (heartbeat + 1) & 0x7FFFFFFF)
        for binding in self.bindings:
            binding.poll_changes()

    def read_heartbeat(self) -> int:
        """Return how often the bridge has read its orders."""
        assert self._board is not None
        return int(windows_bridge.WORD.unpack_from(self._board, windows_bridge.HEARTBEAT)[0])

    @property
    def bound_count(self) -> int:
        """How many pages are bound."""
        return sum(binding.is_bound for binding in self.bindings)

    @property
    def all_settled(self) -> bool:
        """Whether the bridge has executed every order, successfully or not."""
        return not any(binding.is_pending for binding in self.bindings)

    def request_stop(self) -> None:
        """Write to the board that the bridge shall end."""
        if self._board is not None:
            windows_bridge.WORD.pack_into(self._board, windows_bridge.STOP, 1)

    def close(self) -> None:
        """Remove the files; the sections end with the bridge."""
        for binding in self.bindings:
            binding.remove_names()
        self.bindings = []
        if self._board is not None:
            self._board.close()
            self._board = None
        if self._lock is not None:
            shutil.rmtree(self.staging, ignore_errors=True)
            self._lock.close()
            self._lock = None


@dataclass(frozen=True)
class BridgeSnapshot:
    """The state of a bridge, as read from outside.

    Attributes:
        watcher: of its Linux side: HELD while it runs, ABANDONED where it was killed.
        heartbeat: of the half in the prefix; it advances while that runs.
        bound_count: number of pages that the bridge has bound.
        failed: name and reason of each page that the bridge cannot bind.
    """

    watcher: LockState
    heartbeat: int = 0
    bound_count: int = 0
    failed: tuple[tuple[str, str], ...] = ()


def read_bridge_snapshot(memory: SharedMemory) -> BridgeSnapshot:
    """Return the state of the bridge beside the pages of `memory`; changes nothing."""
    watcher = memory.read_lock_state(BRIDGE_FOLDER)
    staging = Path(memory.folder) / BRIDGE_FOLDER
    try:
        board = (staging / windows_bridge.BOARD).read_bytes()
        listed = windows_bridge.parse_pages((staging / windows_bridge.PAGES).read_text(encoding="utf-8"))
        states = list(_read_entry_states(board, listed))
    except (OSError, ValueError, IndexError):
        return BridgeSnapshot(watcher)
    (heartbeat,) = windows_bridge.WORD.unpack_from(board, windows_bridge.HEARTBEAT)
    failed = tuple((name, why) for name, state, error in states if (why := failure_reason(state, error)))
    bound_count = sum(state == windows_bridge.BOUND for _, state, _ in states)
    return BridgeSnapshot(watcher, heartbeat, bound_count, failed)


def _read_entry_states(board: bytes, pages: list[tuple[str, int]]) -> Iterator[tuple[str, int, int]]:
    if len(board) < windows_bridge.entry_offset(len(pages), 0):
        raise ValueError(os.strerror(errno.EIO))
    for index, (name, _) in enumerate(pages):
        (state,) = windows_bridge.WORD.unpack_from(board, windows_bridge.entry_offset(index, windows_bridge.STATE))
        (error,) = windows_bridge.WORD.unpack_from(board, windows_bridge.entry_offset(index, windows_bridge.ERROR))
        yield name, state, error
