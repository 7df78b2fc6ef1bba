"""Named shared-memory pages and locks on Linux and Windows, behind one class.

On Linux a page is a file of its name in the shared-memory file system (/dev/shm, or the folder that
TRAILBRAKE_SHM names); on Windows it is a named section backed by the page file. This module does not know the
contents of a page.

Two ways to reach a page on Linux. *Mapped* is the quicker one and never gives up the interpreter lock, but a
foreign process that truncates the file kills every process that touches its mapping (SIGBUS). *Unmapped* reads and
writes the same page cache by file calls (under 1 us each): a truncated file is merely short, and writing
makes it whole again. Use it for pages that foreign programs may open.
"""

import contextlib
import errno
import hashlib
import mmap
import os
import stat
import sys
from enum import Enum
from pathlib import Path

from trailbrake.errors import SimulatorError, UsageError

PAGE_SIZE = 4096
ENVIRONMENT = "TRAILBRAKE_SHM"


class LockState(Enum):
    """The state of a lock."""

    FREE = 0
    HELD = 1
    ABANDONED = 2  # its holder died without releasing it (Linux only: Windows forgets a dead holder's lock)


if sys.platform == "win32":
    import ctypes

    _kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
    _ntdll = ctypes.WinDLL("ntdll")
    _kernel32.CreateMutexW.restype = ctypes.c_void_p
    _kernel32.CreateMutexW.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_wchar_p)
    _kernel32.CreateFileMappingW.restype = ctypes.c_void_p
    _kernel32.CreateFileMappingW.argtypes = (
        ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_wchar_p
    )  # fmt: skip
    for _opener in (_kernel32.OpenMutexW, _kernel32.OpenFileMappingW):
        _opener.restype = ctypes.c_void_p
        _opener.argtypes = (ctypes.c_uint32, ctypes.c_int, ctypes.c_wchar_p)
    _kernel32.CloseHandle.argtypes = (ctypes.c_void_p,)
    _ntdll.NtQueryObject.argtypes = (
        ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p
    )  # fmt: skip
    _ERROR_FILE_NOT_FOUND, _ERROR_ALREADY_EXISTS = 2, 183
    _SYNCHRONIZE = 0x00100000
    _PAGE_READWRITE = 0x04
    _FILE_MAP_READ, _FILE_MAP_WRITE = 0x0004, 0x0002
    _PAGE_FILE = ctypes.c_void_p(-1)  # as the file of a section: none
    _OWN_HANDLES = 2  # of a Page: its own, and the one that `mmap` keeps

    def _section_exists(name: str) -> bool:
        # Never test with mmap: it *creates* the section when it is missing.
        handle = _kernel32.OpenFileMappingW(_FILE_MAP_READ, 0, name)
        if handle:
            _kernel32.CloseHandle(handle)
        return bool(handle)

    def _count_handles(handle: int) -> int | None:
        """Return how many handles of all processes lead to the object of `handle`; None if unknown."""
        # PUBLIC_OBJECT_BASIC_INFORMATION: Attributes, GrantedAccess, HandleCount, PointerCount, 10 reserved.
        basic = (ctypes.c_uint32 * 14)()
        failed = _ntdll.NtQueryObject(handle, 0, basic, ctypes.sizeof(basic), None)
        return None if failed else basic[2]

    class SharedPage:
        """One named page. Make it with `SharedMemory.create_page` or `SharedMemory.open_page`.

        Attributes:
            name: the page's name.
            created: whether this call made it, rather than finding it there.
        """

        def __init__(
            self, path: Path, name: str, size: int, *, created: bool, mapped: bool, watched: bool = False
        ) -> None:
            self.name, self.size, self._ours = name, size, created
            if created:
                self._handle = _kernel32.CreateFileMappingW(_PAGE_FILE, None, _PAGE_READWRITE, 0, size, str(path))
            else:
                self._handle = _kernel32.OpenFileMappingW(_FILE_MAP_READ | _FILE_MAP_WRITE, 0, str(path))
            error = ctypes.get_last_error()
            if not self._handle:
                raise FileNotFoundError(str(path)) if error == _ERROR_FILE_NOT_FOUND else ctypes.WinError(error)
            self.created = created and error != _ERROR_ALREADY_EXISTS
            try:
                self._map = mmap.mmap(-1, size, tagname=str(path))
            except OSError:
                _kernel32.CloseHandle(self._handle)
                raise

        def read(self, size: int, offset: int = 0) -> bytes:
            """Return a copy of up to `size` bytes from `offset`."""
            return self._map[offset : offset + size]

        def write(self, data: bytes, offset: int = 0) -> None:
            """Store `data` at `offset` with one copy."""
            self._map[offset : offset + len(data)] = data

        def is_current(self) -> bool:
            """Return whether the page would be there without us: one that was only opened goes with its last holder.

            The name of a section cannot be removed while a process holds it, so an opened page that only this process
            still holds is a removed one: close it. A page that two watchers hold exists for both.
            """
            return self._ours or self.is_held_by_others() is not False

        def is_held_by_others(self) -> bool | None:
            """Return whether another process has the page open; None where the system cannot say.

            A program that closes its handle and keeps its mapping is not counted; the section then has no name either.
            """
            count = _count_handles(self._handle) if self._handle else None
            return None if count is None else count > _OWN_HANDLES

        def close(self, *, remove: bool = False) -> None:
            """Close the page; the section disappears with its last handle, so `remove` changes nothing."""
            self._map.close()
            if self._handle:
                _kernel32.CloseHandle(self._handle)
            self._handle = None

    class SharedLock:
        """An exclusive lock that vanishes with its holder. Make it with `SharedMemory.acquire_lock`."""

        def __init__(self, path: Path) -> None:
            self._handle = _kernel32.CreateMutexW(None, 0, str(path))
            if ctypes.get_last_error() == _ERROR_ALREADY_EXISTS:
                self.close()
                raise BlockingIOError(str(path))

        def close(self) -> None:
            """Release the lock."""
            if self._handle:
                _kernel32.CloseHandle(self._handle)
            self._handle = None

    def _read_lock_state(path: Path) -> LockState:
        handle = _kernel32.OpenMutexW(_SYNCHRONIZE, 0, str(path))
        if handle:
            _kernel32.CloseHandle(handle)
        return LockState.HELD if handle else LockState.FREE

else:
    import fcntl
    import signal
    import struct

    # struct flock: a write lock on the whole file. Open-file-description locks (Linux) hold between two opens
    # in one process too, and their state can be read without taking them, so that reading never disturbs an owner.
    _WHOLE_FILE = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    _FLAGS = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC

    class SharedPage:
        """One named page. Make it with `SharedMemory.create_page` or `SharedMemory.open_page`.

        Attributes:
            name: the page's name.
            created: whether this call made it, rather than finding it there.
        """

        def __init__(
            self, path: Path, name: str, size: int, *, created: bool, mapped: bool, watched: bool = False
        ) -> None:
            self.name, self.size = name, size
            self._path = path
            self._fd, self.created = _open_file(path, created)
            self._map: mmap.mmap | None = None
            try:
                status = os.fstat(self._fd)
                if not stat.S_ISREG(status.st_mode):  # a pipe or a device of another program has no pages
                    raise OSError(errno.EINVAL, "it is no regular file")
                if status.st_size < size:
                    # Reserving the space at once reports a full file system here, not by a signal at the first store.
                    os.posix_fallocate(self._fd, 0, size)
                if watched:  # by a descriptor that cannot write: else we would see ourselves
                    writing, self._fd = self._fd, os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
                    os.close(writing)
                if mapped:
                    self._map = mmap.mmap(self._fd, size, access=mmap.ACCESS_READ if watched else mmap.ACCESS_WRITE)
            except OSError:
                self.close(remove=self.created)
                raise
            self._file = os.fstat(self._fd).st_ino

        def read(self, size: int, offset: int = 0) -> bytes:
            """Return a copy of up to `size` bytes from `offset`; fewer where a foreign process cut the file short."""
            if self._map is not None:
                return self._map[offset : offset + size]
            return os.pread(self._fd, size, offset)

        def write(self, data: bytes, offset: int = 0) -> None:
            """Store `data` at `offset` with one copy."""
            if self._map is not None:
                self._map[offset : offset + len(data)] = data
            else:
                os.pwrite(self._fd, data, offset)

        def is_current(self) -> bool:
            """Return whether the page's name still leads to this page (and not to a newer file, or to none)."""
            try:
                return os.stat(self._path, follow_symlinks=False).st_ino == self._file
            except OSError:
                return False

        def is_held_by_others(self) -> bool | None:
            """Return whether another process has the page open for writing; None where the system cannot say.

            Only a page from `SharedMemory.watch_page` knows. The kernel grants a read lease on a file that no process
            can write to. A mapping counts until it is undone or its process is dead. The lease is given back at once.
            """
            try:
                # A process that opens the file within these microseconds waits for us, and the kernel signals us: by
                # SIGURG, which is ignored, not by SIGIO, which ends a process.
                fcntl.fcntl(self._fd, fcntl.F_SETSIG, signal.SIGURG)
                fcntl.fcntl(self._fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            except BlockingIOError:
                return True
            except OSError:  # another user's file, or a file system without leases
                return None
            fcntl.fcntl(self._fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
            return False

        def close(self, *, remove: bool = False) -> None:
            """Close the page; with `remove` also remove its name, unless it leads to a newer page."""
            if self._map is not None:
                self._map.close()
                self._map = None
            if self._fd < 0:
                return
            if remove:
                self._file = os.fstat(self._fd).st_ino
                if self.is_current():
                    with contextlib.suppress(FileNotFoundError):
                        self._path.unlink()
            os.close(self._fd)
            self._fd = -1

    class SharedLock:
        """An exclusive lock that vanishes with its holder. Make it with `SharedMemory.acquire_lock`."""

        def __init__(self, path: Path) -> None:
            self._path = path
            while True:
                self._fd, _ = _open_file(path, True)
                try:
                    fcntl.fcntl(self._fd, fcntl.F_OFD_SETLK, _WHOLE_FILE)
                except OSError:
                    os.close(self._fd)
                    raise BlockingIOError(str(path)) from None
                # The last holder may have removed the file between our open and our lock: then our file has no name.
                with contextlib.suppress(FileNotFoundError):
                    if os.stat(path).st_ino == os.fstat(self._fd).st_ino:
                        return
                os.close(self._fd)

        def close(self) -> None:
            """Release the lock."""
            if self._fd >= 0:
                with contextlib.suppress(FileNotFoundError):
                    self._path.unlink()
                os.close(self._fd)
                self._fd = -1

    def _open_file(path: Path, create: bool) -> tuple[int, bool]:
        """Open `path`; return its descriptor and whether this call made it."""
        while create:
            try:
                return os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o666), True
            except FileExistsError:
                with contextlib.suppress(FileNotFoundError):  # removed in between: make it after all
                    return os.open(path, _FLAGS), False
        return os.open(path, _FLAGS), False

    def _read_lock_state(path: Path) -> LockState:
        try:
            fd = os.open(path, _FLAGS)
        except OSError:
            return LockState.FREE
        try:
            answer = fcntl.fcntl(fd, fcntl.F_OFD_GETLK, _WHOLE_FILE)
            held = struct.unpack_from("h", answer)[0] != fcntl.F_UNLCK
        finally:
            os.close(fd)
        return LockState.HELD if held else LockState.ABANDONED


class SharedMemory:
    """A folder of named pages and locks.

    Args:
        folder: where the pages are. None = TRAILBRAKE_SHM if set, else the public names: /dev/shm on Linux,
            the session's namespace on Windows. On Windows a folder only sets its names apart from all others.

    Attributes:
        folder: the folder, as an error line shows it.
    """

    def __init__(self, folder: "str | os.PathLike[str] | None" = None) -> None:
        chosen = folder if folder is not None else os.environ.get(ENVIRONMENT) or None
        self.folder = str(chosen or ("shared memory" if sys.platform == "win32" else "/dev/shm"))
        self._prefix = ""
        if sys.platform == "win32":
            if chosen is not None:
                self._prefix = hashlib.sha256(os.path.abspath(chosen).encode()).hexdigest()[:16] + "."
        elif not os.path.isdir(self.folder):
            raise UsageError(
                "the shared-memory folder is not there", where=self.folder, hint=f"make it, or set {ENVIRONMENT}"
            )

    def _page_path(self, name: str) -> Path:
        return Path(self._prefix + name) if sys.platform == "win32" else Path(self.folder, name)

    def find_place(self, name: str) -> str:
        """Return the path of a page; on Windows the name of its mapping."""
        return str(self._page_path(name))

    def create_page(self, name: str, size: int = PAGE_SIZE, *, mapped: bool = False) -> SharedPage:
        """Open the page, making it (zeroed) or growing it to `size` bytes where needed."""
        path = self._page_path(name)
        try:
            return SharedPage(path, name, size, created=True, mapped=mapped)
        except OSError as error:
            raise SimulatorError(
                f"cannot make the shared page: {error.strerror}", where=f"{self.folder}/{name}"
            ) from error

    def open_page(self, name: str, size: int = PAGE_SIZE, *, mapped: bool = False) -> SharedPage | None:
        """Open the page if it exists (growing a short one to `size`), else return None."""
        return self._open_existing(name, size, mapped, watched=False)

    def watch_page(self, name: str, size: int = PAGE_SIZE, *, mapped: bool = False) -> SharedPage | None:
        """Open the page as `open_page` does, but only for reading: `SharedPage.is_held_by_others` then works."""
        return self._open_existing(name, size, mapped, watched=True)

    def _open_existing(self, name: str, size: int, mapped: bool, *, watched: bool) -> SharedPage | None:
        if not self.page_exists(name):
            return None
        try:
            return SharedPage(self._page_path(name), name, size, created=False, mapped=mapped, watched=watched)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SimulatorError(
                f"cannot open the shared page: {error.strerror}", where=f"{self.folder}/{name}"
            ) from error

    def page_exists(self, name: str) -> bool:
        """Return whether the page exists. Its writer may be dead all the same."""
        if sys.platform == "win32":
            return _section_exists(str(self._page_path(name)))
        return os.path.exists(f"{self.folder}/{name}")

    def acquire_lock(self, name: str) -> SharedLock | None:
        """Take the exclusive lock `name`; None if another holder has it. A killed holder's lock is free again."""
        try:
            return SharedLock(self._page_path(f"{name}.lock"))
        except BlockingIOError:
            return None
        except OSError as error:
            raise SimulatorError(
                f"cannot make the lock: {error.strerror}", where=f"{self.folder}/{name}.lock"
            ) from error

    def read_lock_state(self, name: str) -> LockState:
        """Return the state of the lock `name` without taking it."""
        return _read_lock_state(self._page_path(f"{name}.lock"))
