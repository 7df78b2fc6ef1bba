"""Pages as other programs make, read and remove them: files on Linux, named sections on Windows, without our transport.

`pages(folder)` is a folder in either case: `pages(folder) / NAME` has those of a path's methods that the tests use.
A section lasts as long as somebody holds it: what is written here is held until `unlink`, or the end of the test run.
"""

import hashlib
import io
import mmap
import os
import sys
from pathlib import Path
from types import SimpleNamespace

_BLOCK = 4096
_held: dict[str, mmap.mmap] = {}


class Section(io.RawIOBase):
    """One named section, with the methods of a path; open, it is a file that begins at 0."""

    def __init__(self, name, parent):
        self.name, self.parent, self.key = name, parent, f"{parent.prefix}.{name}"
        self.at = 0

    def exists(self):
        import ctypes

        kernel = ctypes.WinDLL("kernel32")
        kernel.OpenFileMappingW.restype = ctypes.c_void_p
        handle = kernel.OpenFileMappingW(4, 0, self.key)
        if handle:
            kernel.CloseHandle(ctypes.c_void_p(handle))
        return bool(handle)

    def stat(self):
        if not self.exists():
            raise FileNotFoundError(self.name)
        size = _BLOCK
        while True:
            try:
                mmap.mmap(-1, size + 1, tagname=self.key).close()
            except OSError:  # more than the section has
                return SimpleNamespace(st_size=size)
            size += _BLOCK

    def read_bytes(self):
        size = self.stat().st_size
        with mmap.mmap(-1, size, tagname=self.key) as view:
            return view[:]

    def write_bytes(self, data):
        self.mapped(max(len(data), _BLOCK))[: len(data)] = data

    def mapped(self, size):
        if self.key not in _held or len(_held[self.key]) < size:
            _held[self.key] = mmap.mmap(-1, size, tagname=self.key)
        return _held[self.key]

    def unlink(self, missing_ok=False):
        if self.key in _held:
            _held.pop(self.key).close()
        elif not missing_ok:
            raise FileNotFoundError(self.name)

    def open(self, mode):
        assert mode == "r+b"
        self.stat()
        return self

    def write(self, data):
        with mmap.mmap(-1, self.at + len(data), tagname=self.key) as view:
            view[self.at : self.at + len(data)] = data
        self.at += len(data)

    def close(self):
        """Nothing is held by writing."""


class Sections:
    """The sections that a folder sets apart, see `trailbrake.transport.shm`."""

    def __init__(self, folder):
        self.folder = folder
        self.prefix = hashlib.sha256(os.path.abspath(folder).encode()).hexdigest()[:16]

    def __truediv__(self, name):
        return Section(name, self)

    def __fspath__(self):
        return str(self.folder)

    __str__ = __fspath__


def pages(folder):
    """Return `folder` as the place of the pages in it."""
    return Sections(Path(folder)) if sys.platform == "win32" else Path(folder)


def mapped(page, size=_BLOCK):
    """Make `page` with `size` bytes, zeroed where it is a file, and return it mapped."""
    if sys.platform == "win32":
        return page.mapped(size)
    with page.open("w+b") as file:
        file.truncate(size)
        return mmap.mmap(file.fileno(), size)


def seen(page, size=_BLOCK):
    """Return `page`, which is there, mapped as a reader does that does not ask for its size."""
    if sys.platform == "win32":
        assert page.exists()
        return mmap.mmap(-1, size, tagname=page.key)
    with page.open("r+b") as file:
        return mmap.mmap(file.fileno(), size)


def let_go():
    """Close everything that was made here and not removed."""
    while _held:
        _held.popitem()[1].close()
