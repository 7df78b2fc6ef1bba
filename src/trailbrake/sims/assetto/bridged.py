"""The half of the Proton bridge that decides: which file of Linux goes by which name in the prefix, and when.

Source: protocol page assetto-custom-ai, sections 1 and 9. What is there counts on this wire: a CarControls<N> takes a
car, a SimState of zeros stops the time. So pages differ in when they may be there, on either side:

* *steady* pages, which only tell, are tied from the start: before the game makes them, else it makes its own.
* *followed* pages, which ask, are tied when a program of Linux makes the file, and let go when it removes it.
* *offered* pages are those, where the programs in the prefix are clients and the game is our host on Linux. Their
  sections must be there before a client makes its own; the file appears when somebody holds the section, and goes
  with its last holder.

A folder beside the pages holds a second link to each file, for the bridge to open, and the board (`bridge.py`). Its
steady files are put back under their names when a host removes them, so that a client's mapping outlives a host.
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
from trailbrake.sims.assetto import acpmf, bridge, codec, spec
from trailbrake.transport.shm import Lock, LockState, SharedMemory

FOLDER = "trailbrake-bridge"  # beside the pages; the name of the lock, too
AGAIN_LOOKS = 50  # after which a page that could not be tied is tried again: its owner may have ended


class Kind(Enum):
    """When a page is tied, see above."""

    STEADY = 0
    FOLLOWED = 1
    OFFERED = 2


@dataclass(frozen=True)
class Bridged:
    """One page: its name, its size in bytes with room for the bridge's token, and when it is tied."""

    name: str
    size: int
    kind: Kind


def pages(cars: int, *, clients: bool) -> list[Bridged]:
    """Return the pages of a session of `cars` cars; `clients`: the programs in the prefix are clients, not the game."""
    asks = Kind.OFFERED if clients else Kind.FOLLOWED
    tell = [acpmf.PHYSICS_NAME, acpmf.GRAPHICS_NAME, acpmf.STATIC_NAME]
    ask = [spec.SIM_STATE_V0, spec.SIM_STATE_V1]
    for car in range(cars):
        tell += [spec.car_name(car), spec.public_name(car)]
        ask.append(spec.controls_name(car))
    return [
        *(Bridged(name, codec.PAGE_SIZE, Kind.STEADY) for name in tell),
        *(Bridged(name, codec.PAGE_SIZE, asks) for name in ask),
        Bridged(spec.DEBUG_LINES, codec.DEBUG_SIZE + codec.PAGE_SIZE, asks),  # messages fill all of DEBUG_SIZE
    ]


def _inode(path: Path) -> int:
    """Return which file is at `path`; 0 = none."""
    try:
        return os.stat(path, follow_symlinks=False).st_ino
    except OSError:
        return 0


class Rope:
    """The Linux side of one page. `look` brings its files and its order up to date."""

    def __init__(self, page: Bridged, index: int, folder: Path, board: mmap.mmap, say: Callable[[str], None]) -> None:
        self.page = page
        self._index, self._board, self._say = index, board, say
        self.public, self.staged = folder / page.name, folder / FOLDER / page.name
        self._inode = 0  # of the staged file
        self._orders = 0  # given so far
        self._published = False  # of an offered page: whether its file has its name
        self._told = 0  # order whose outcome has been looked at
        self._why = ""  # it is not tied, as last said
        self._looks = 0  # since then

    def word(self, field: int) -> int:
        """Return a word of this page's entry on the board."""
        return int(bridge.word.unpack_from(self._board, bridge.entry(self._index, field))[0])

    @property
    def tied(self) -> bool:
        """Whether the newest order has been carried out, and the section is there."""
        return self.word(bridge.DONE) == self.word(bridge.ORDER) != 0 and self.word(bridge.STATE) == bridge.TIED

    @property
    def due(self) -> bool:
        """Whether an order waits to be carried out."""
        return self.word(bridge.DONE) != self.word(bridge.ORDER)

    def _order(self, *, tie: bool) -> None:
        self._orders += tie
        value = self._orders if tie else 0
        bridge.word.pack_into(self._board, bridge.entry(self._index, bridge.ORDER), value)

    def start(self) -> None:
        """Make what is there from the start."""
        kind = self.page.kind
        if kind is Kind.FOLLOWED:
            return
        # A file that a killed one of us has left is kept: programs in the prefix may hold the section over it.
        if not self.staged.is_file() or self.staged.stat().st_size != self.page.size:
            self.staged.unlink(missing_ok=True)
            self.staged.write_bytes(bytes(self.page.size))
        self._inode = _inode(self.staged)
        self._published = kind is Kind.OFFERED and _inode(self.public) == self._inode
        if kind is Kind.STEADY and _inode(self.public) != self._inode:
            self._name_it()
        self._order(tie=True)

    def _name_it(self) -> None:
        # In one step, over what an earlier bridge or host has left: nobody may find the name missing, or half of it.
        part = self.staged.with_name(f"{self.page.name}.part")
        part.unlink(missing_ok=True)
        os.link(self.staged, part)
        os.replace(part, self.public)

    def look(self) -> None:
        """Follow what programs on either side have done."""
        if self.page.kind is Kind.OFFERED:
            self._offer()
        elif self.page.kind is Kind.FOLLOWED:
            self._follow()
        elif (now := _inode(self.public)) != self._inode:
            if now:
                self._say(f"{self.page.name}: made anew on this side; who has it open in the prefix must open it again")
                self._stage(now)
            else:
                self._name_it()
        if self.word(bridge.DONE) == self.word(bridge.ORDER) != self._told:
            self._tell()
        elif self._why and self.word(bridge.ORDER) and not self.due:
            self._looks += 1
            if self._looks >= AGAIN_LOOKS:
                self._order(tie=True)

    def _stage(self, inode: int) -> None:
        self.staged.unlink(missing_ok=True)
        with contextlib.suppress(FileNotFoundError):  # removed again meanwhile
            os.link(self.public, self.staged, follow_symlinks=False)
            self._inode = inode
            self._order(tie=True)

    def _follow(self) -> None:
        now = _inode(self.public)
        if now == self._inode:
            return
        if now:
            self._stage(now)
        else:
            self._order(tie=False)
            self.staged.unlink(missing_ok=True)
            self._inode = 0

    def _offer(self) -> None:
        if not self.tied:  # the bridge is not there, or new: it has not counted yet
            return
        held = self.word(bridge.HOLDERS) > 0
        if held and not self._published and not _inode(self.public):
            self._published = True
            os.link(self.staged, self.public)
            self._say(f"{self.page.name}: a program in the prefix has it")
        elif self._published and not held:
            self._published = False
            if _inode(self.public) == self._inode:
                self.public.unlink(missing_ok=True)
            with self.staged.open("r+b") as file:  # the next one begins with zeros
                file.write(bytes(self.page.size))
            self._say(f"{self.page.name}: the program in the prefix that had it is gone")

    def _tell(self) -> None:
        self._told, self._looks = self.word(bridge.ORDER), 0
        why = reason(self.word(bridge.STATE), self.word(bridge.ERROR))
        if why != self._why and (why or self._told):
            self._say(f"{self.page.name}: {why or 'tied now'}")
        self._why = why

    def close(self) -> None:
        """Take away the names that are ours."""
        if self.page.kind is not Kind.FOLLOWED and _inode(self.public) == self._inode != 0:
            self.public.unlink(missing_ok=True)


def reason(state: int, error: int) -> str:
    """Return why a page is not tied, in words; "" where it is or need not be."""
    if state == bridge.TAKEN:
        return "the game has made its own before: end it, and start it again while the bridge runs"
    if state == bridge.FAILED:
        return f"the bridge cannot tie it (error {error})"
    return ""


class Ropes:
    """All pages of a session.

    Args:
        bridged: the pages.
        say: takes a line for the user.

    Attributes:
        staging: the folder that the bridge is given.
    """

    def __init__(self, bridged: list[Bridged], say: Callable[[str], None]) -> None:
        self._memory, self._bridged, self._say = SharedMemory(), bridged, say
        self._folder = Path(self._memory.folder)
        self.staging = self._folder / FOLDER
        self._lock: Lock | None = None
        self._board: mmap.mmap | None = None
        self.ropes: list[Rope] = []

    def open(self) -> None:
        """Make the files; SimulatorError where another bridge has the names, or there is no room."""
        self._lock = self._memory.lock(FOLDER)
        if self._lock is None:
            raise SimulatorError("another bridge has these names", where=self._memory.folder, hint="stop that one")
        try:
            self.staging.mkdir(exist_ok=True)
            there = self.staging.stat(follow_symlinks=False)
            if not stat.S_ISDIR(there.st_mode) or there.st_uid != os.getuid():  # anybody may write to /dev/shm
                raise SimulatorError("somebody else's folder is in the way", where=str(self.staging))
            listed = "".join(f"{page.size} {page.name}\n" for page in self._bridged)
            (self.staging / bridge.PAGES).write_text(listed, encoding="utf-8")
            board = self.staging / bridge.BOARD
            board.unlink(missing_ok=True)  # a killed one's bridge has the old, and soon sees that it is alone
            board.write_bytes(bytes(bridge.BOARD_SIZE))
            with board.open("r+b") as file:
                self._board = mmap.mmap(file.fileno(), bridge.BOARD_SIZE)
            for index, page in enumerate(self._bridged):
                rope = Rope(page, index, self._folder, self._board, self._say)
                self.ropes.append(rope)
                rope.start()
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                raise SimulatorError(
                    f"cannot make the bridge's files: {error.strerror}", where=str(self.staging)
                ) from error
            raise

    def look(self) -> None:
        """Bring everything up to date, and let the bridge know that we are there."""
        assert self._board is not None
        (beats,) = bridge.word.unpack_from(self._board, bridge.WATCHER_BEATS)
        bridge.word.pack_into(self._board, bridge.WATCHER_BEATS, (beats + 1) & 0x7FFFFFFF)
        for rope in self.ropes:
            rope.look()

    def beats(self) -> int:
        """Return how often the bridge has looked at its orders."""
        assert self._board is not None
        return int(bridge.word.unpack_from(self._board, bridge.BEATS)[0])

    @property
    def tied(self) -> int:
        """How many pages are tied."""
        return sum(rope.tied for rope in self.ropes)

    @property
    def settled(self) -> bool:
        """Whether every order has been carried out, well or badly."""
        return not any(rope.due for rope in self.ropes)

    def stop(self) -> None:
        """Ask the bridge to end."""
        if self._board is not None:
            bridge.word.pack_into(self._board, bridge.STOP, 1)

    def close(self) -> None:
        """Remove what is ours; the sections go with the bridge."""
        for rope in self.ropes:
            rope.close()
        self.ropes = []
        if self._board is not None:
            self._board.close()
            self._board = None
        if self._lock is not None:
            shutil.rmtree(self.staging, ignore_errors=True)
            self._lock.close()
            self._lock = None


@dataclass(frozen=True)
class BridgeLook:
    """What can be seen of a bridge from outside.

    Attributes:
        watcher: whether its Linux side is there: HELD; ABANDONED where it was killed.
        beats: of the half in the prefix; they advance while it lives.
        tied: number of pages that it has tied.
        wrong: name and reason of each page that it cannot tie.
    """

    watcher: LockState
    beats: int = 0
    tied: int = 0
    wrong: tuple[tuple[str, str], ...] = ()


def look(memory: SharedMemory) -> BridgeLook:
    """Look at the bridge beside the pages of `memory`, without touching it."""
    watcher = memory.lock_state(FOLDER)
    staging = Path(memory.folder) / FOLDER
    try:
        board = (staging / bridge.BOARD).read_bytes()
        listed = bridge.parse((staging / bridge.PAGES).read_text(encoding="utf-8"))
        states = list(_states(board, listed))
    except (OSError, ValueError, IndexError):
        return BridgeLook(watcher)
    (beats,) = bridge.word.unpack_from(board, bridge.BEATS)
    wrong = tuple((name, why) for name, state, error in states if (why := reason(state, error)))
    return BridgeLook(watcher, beats, sum(state == bridge.TIED for _, state, _ in states), wrong)


def _states(board: bytes, listed: list[tuple[str, int]]) -> Iterator[tuple[str, int, int]]:
    if len(board) < bridge.entry(len(listed), 0):
        raise ValueError(os.strerror(errno.EIO))
    for index, (name, _) in enumerate(listed):
        (state,) = bridge.word.unpack_from(board, bridge.entry(index, bridge.STATE))
        (error,) = bridge.word.unpack_from(board, bridge.entry(index, bridge.ERROR))
        yield name, state, error
