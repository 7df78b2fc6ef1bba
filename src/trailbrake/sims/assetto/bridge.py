r"""The half of the Proton bridge that runs inside of the prefix: gives files of Linux the names of Windows' sections.

    python.exe bridge.py Z:\dev\shm\trailbrake-bridge

A script of its own for any Windows Python from 3.8 on: standard library only, nothing of ours, so that it needs no
installation there. What shall be tied when, `proton.py` on the Linux side decides; this does it, and says how it went.
Both meet on the *board*, a file that each maps: a header, then one entry for each line of the file `pages`, which has
the size and the name of a page. An order other than 0 asks for the section of that name over the file of that name
beside the board; another number asks for it anew, 0 to let go of it.

Source: protocol page assetto-custom-ai, section 9. Sections are known in the prefix only, and go with the last handle.
"""

from __future__ import annotations

import mmap
import struct
import sys
import time
from pathlib import Path
from typing import BinaryIO

PAGES, BOARD = "pages", "board"
BOARD_SIZE = 8192
# Little-endian unsigned words. Header: beats of the bridge, beats of the Linux side, 1 to ask the bridge to end.
BEATS, WATCHER_BEATS, STOP = 0, 4, 8
HEADER, ENTRY = 16, 20
# Of an entry: what is ordered; the last order carried out; the state then; how many others hold the section; why not.
ORDER, DONE, STATE, HOLDERS, ERROR = 0, 4, 8, 12, 16
TIED, TAKEN, FAILED = 1, 2, 3  # states; TAKEN: the name leads to somebody else's section
LOOK_S = 0.01  # between looks at the orders
COUNT_EVERY = 5  # looks; to ask who holds a section costs more
ALONE_S = 5.0  # without a beat of the Linux side after which the bridge ends
TOKEN = b"trailbr8"  # written to the end of a page, which no message reaches, to see whether it reaches the file

word = struct.Struct("<I")


def entry(index: int, field: int) -> int:
    """Return where on the board `field` of page `index` is."""
    return HEADER + ENTRY * index + field


def parse(text: str) -> list[tuple[str, int]]:
    """Return the name and the size in bytes of each page that the file `pages` lists."""
    return [(name, int(size)) for size, name in (line.split(" ", 1) for line in text.splitlines())]


if sys.platform == "win32":
    import ctypes
    import msvcrt

    _kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
    _kernel32.CreateFileMappingW.restype = ctypes.c_void_p
    _kernel32.CreateFileMappingW.argtypes = (
        ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_wchar_p
    )  # fmt: skip
    _kernel32.CloseHandle.argtypes = (ctypes.c_void_p,)
    _ntdll = ctypes.WinDLL("ntdll")
    _ntdll.NtQueryObject.argtypes = (
        ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p
    )  # fmt: skip
    _PAGE_READWRITE, _ERROR_ALREADY_EXISTS = 4, 183

    def tie(path: Path, name: str, size: int) -> tuple[int, int]:
        """Make the section `name` over the file at `path`; return (its handle or 0, an error number or 0)."""
        with open(path, "r+b") as file:
            handle: int = _kernel32.CreateFileMappingW(
                msvcrt.get_osfhandle(file.fileno()), None, _PAGE_READWRITE, 0, size, name
            )
            error = ctypes.get_last_error()
            if not handle:
                return 0, error or 1
            if error == _ERROR_ALREADY_EXISTS and not _leads_to(file, name, size):
                _kernel32.CloseHandle(handle)
                return 0, _ERROR_ALREADY_EXISTS
        return handle, 0

    def _leads_to(file: BinaryIO, name: str, size: int) -> bool:
        """Return whether the section that was there already is over this file: of an earlier bridge of ours."""
        try:
            view = mmap.mmap(-1, size, tagname=name)
        except OSError:  # smaller than ours
            return False
        with view:
            view[size - len(TOKEN) :] = TOKEN
            file.seek(size - len(TOKEN))
            same = file.read(len(TOKEN)) == TOKEN
            view[size - len(TOKEN) :] = bytes(len(TOKEN))
        return bool(same)

    def holders(handle: int) -> int:
        """Return how many handles of others lead to the section."""
        basic = (ctypes.c_uint32 * 14)()  # PUBLIC_OBJECT_BASIC_INFORMATION; the third is HandleCount
        failed = _ntdll.NtQueryObject(handle, 0, basic, ctypes.sizeof(basic), None)
        return 0 if failed else max(0, basic[2] - 1)

    class Tied:
        """One page of the list, and what became of the orders for it."""

        def __init__(self, board: mmap.mmap, index: int, folder: Path, name: str, size: int) -> None:
            self._board, self._index = board, index
            self._path, self._name, self._size = folder / name, name, size
            self._handle = self._order = 0
            for field in (DONE, STATE, HOLDERS, ERROR):  # an earlier bridge's; DONE first, it vouches for the others
                self._put(field, 0)

        def _put(self, field: int, value: int) -> None:
            word.pack_into(self._board, entry(self._index, field), value)

        def obey(self) -> None:
            """Do what is ordered, if that is new."""
            order = word.unpack_from(self._board, entry(self._index, ORDER))[0]
            if order == self._order:
                return
            self._order, error = order, 0
            if self._handle:
                _kernel32.CloseHandle(self._handle)
                self._handle = 0
            if order:
                try:
                    self._handle, error = tie(self._path, self._name, self._size)
                except OSError as failure:
                    error = failure.errno or 1
            state = TIED if self._handle else TAKEN if error == _ERROR_ALREADY_EXISTS else FAILED
            self._put(ERROR, error)
            self._put(HOLDERS, holders(self._handle) if self._handle else 0)
            self._put(STATE, state if order else 0)
            self._put(DONE, order)

        def count(self) -> None:
            """Tell how many others hold the section."""
            if self._handle:
                self._put(HOLDERS, holders(self._handle))

    def main(folder: Path) -> None:
        """Tie what is ordered until asked to end, or until nobody orders any more."""
        with open(folder / BOARD, "r+b") as file:
            board = mmap.mmap(file.fileno(), BOARD_SIZE)
        pages = parse((folder / PAGES).read_text(encoding="utf-8"))
        tied = [Tied(board, index, folder, name, size) for index, (name, size) in enumerate(pages)]
        looks, heard, heard_at = 0, 0, time.monotonic()
        while not word.unpack_from(board, STOP)[0]:
            looks = (looks + 1) & 0x7FFFFFFF
            word.pack_into(board, BEATS, looks)
            beats = word.unpack_from(board, WATCHER_BEATS)[0]
            if beats != heard:
                heard, heard_at = beats, time.monotonic()
            elif time.monotonic() - heard_at > ALONE_S:
                break
            for page in tied:
                page.obey()
                if looks % COUNT_EVERY == 0:
                    page.count()
            time.sleep(LOOK_S)

    if __name__ == "__main__":
        main(Path(sys.argv[1]))
